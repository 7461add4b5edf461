/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace_diff.h"
#include "base/mem.h"
#include "formats/syscall.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

/* clang-format off */
static const char *const group_names[TRACE_GROUP_COUNT] = {
    [TRACE_DATABASE] = "database", [TRACE_JOURNAL] = "journal", [TRACE_WAL] = "wal",
    [TRACE_DIRECTORY] = "directory", [TRACE_OTHER] = "other",
};
static const struct {
    const char *end;
    enum trace_group group;
} ends[] = {
    {"-journal", TRACE_JOURNAL}, {"-wal", TRACE_WAL}, {"-shm", TRACE_WAL},
    {".sqlite", TRACE_DATABASE}, {".sqlite2", TRACE_DATABASE}, {".sqlite3", TRACE_DATABASE},
    {".db", TRACE_DATABASE}, {".db2", TRACE_DATABASE}, {".db3", TRACE_DATABASE},
    {".s3db", TRACE_DATABASE}, {".sl3", TRACE_DATABASE},
};
/* clang-format on */

const char *trace_group_name(enum trace_group g)
{
    return group_names[g];
}

static bool ends_with(const char *s, size_t n, const char *end)
{
    size_t n_end = strlen(end);

    return n > n_end && memcmp(s + n - n_end, end, n_end) == 0;
}

/** "x.db-mj0123ABCD", in which SQLite keeps together what is committed to several databases. */
static bool is_super_journal(const char *path)
{
    const char *mark = strstr(path, "-mj");
    size_t n = mark ? strspn(mark + 3, "0123456789ABCDEFabcdef#") : 0;

    return n > 0 && mark[3 + n] == '\0';
}

static enum trace_group group_by_name(const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < LEN(ends); i++)
        if (ends_with(path, n, ends[i].end))
            return ends[i].group;
    return is_super_journal(path) ? TRACE_JOURNAL : TRACE_OTHER;
}

/* ---- what a path is, by the other paths there are ---- */

struct paths {
    const char **items; /* sorted */
    size_t n;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** Of one table, where the second is NULL. */
static void paths_fill(struct paths *p, const struct trace_table *const sides[2])
{
    size_t n = trace_table_size(sides[0]) + (sides[1] ? trace_table_size(sides[1]) : 0);

    p->items = mem_array(n + 1, sizeof(*p->items));
    for (int side = 0; side < 2 && sides[side]; side++)
        for (size_t i = 0; i < trace_table_size(sides[side]); i++)
            p->items[p->n++] = trace_table_at(sides[side], i)->path;
    qsort(p->items, p->n, sizeof(*p->items), by_text);
}

static void paths_fini(struct paths *p)
{
    mem_free(p->items);
}
DEFINE_AUTO_FINI(struct paths, paths_fini)

/** Whether there is a path that begins with, or is, `path` and `end`. */
static bool paths_have(const struct paths *p, const char *path, const char *end, bool is_whole)
{
    AUTO(mem_free) char *want = mem_printf("%s%s", path, end);
    size_t n_want = strlen(want), low = 0, high = p->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(p->items[middle], want) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == p->n)
        return false;
    return is_whole ? strcmp(p->items[low], want) == 0 : strncmp(p->items[low], want, n_want) == 0;
}

static enum trace_group group_of(const struct paths *p, const char *path, bool is_directory)
{
    enum trace_group g = group_by_name(path);

    if (!*path)
        return TRACE_OTHER;
    if (is_directory || paths_have(p, path, strcmp(path, "/") == 0 ? "" : "/", false))
        return TRACE_DIRECTORY;
    if (g == TRACE_OTHER &&
        (paths_have(p, path, "-journal", true) || paths_have(p, path, "-wal", true)))
        return TRACE_DATABASE;
    return g;
}

/* ---- traces that were made in different ways ---- */

static bool has_files(const struct trace_table *t)
{
    for (size_t i = 0; i < trace_table_size(t); i++)
        if (*trace_table_at(t, i)->path)
            return true;
    return false;
}

/** Whether `bare`, which has no files, has a call that is one on files in `full`. */
static bool lacks_files(const struct trace_table *bare, const struct trace_table *full)
{
    if (has_files(bare))
        return false;
    for (size_t i = 0; i < trace_table_size(full); i++) {
        const struct trace_row *row = trace_table_at(full, i);
        if (*row->path && trace_table_find(bare, row->call, ""))
            return true;
    }
    return false;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int by_base(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    int order = strcmp(base_of(x), base_of(y));

    return order ? order : strcmp(x, y);
}

/** The absolute paths of the table, each once. */
static void absolutes_fill(struct paths *p, const struct trace_table *t)
{
    size_t n = 0;

    p->items = mem_array(trace_table_size(t) + 1, sizeof(*p->items));
    for (size_t i = 0; i < trace_table_size(t); i++)
        if (*trace_table_at(t, i)->path == '/')
            p->items[p->n++] = trace_table_at(t, i)->path;
    qsort(p->items, p->n, sizeof(*p->items), by_base);
    for (size_t i = 0; i < p->n; i++)
        if (n == 0 || strcmp(p->items[n - 1], p->items[i]) != 0)
            p->items[n++] = p->items[i];
    p->n = n;
}

/** Where the paths begin whose last part is `base`, or would. */
static size_t find_base(const struct paths *p, const char *base)
{
    size_t low = 0, high = p->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(base_of(p->items[middle]), base) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Of absolute paths the one that ends in the relative one; NULL: none, or several. */
static const char *only_ending_in(const struct paths *p, const char *relative)
{
    const char *found = NULL, *base = base_of(relative);
    size_t n = strlen(relative);

    for (size_t i = find_base(p, base); i < p->n && strcmp(base_of(p->items[i]), base) == 0; i++) {
        size_t len = strlen(p->items[i]);
        if (len <= n || p->items[i][len - n - 1] != '/' ||
            strcmp(p->items[i] + len - n, relative) != 0)
            continue;
        if (found)
            return NULL;
        found = p->items[i];
    }
    return found;
}

/** What the row's path is called on the other side, whose paths are `others` (sorted) and, of these
 *  the absolute ones, `absolutes`; its own are `own`. */
static const char *name_there(const char *path, const struct paths *own, const struct paths *others,
                              const struct paths *absolutes)
{
    const char *relative = strncmp(path, "./", 2) == 0 ? path + 2 : path;

    if (!*base_of(path) || *path == '/' || paths_have(others, path, "", true))
        return path;
    const char *there = only_ending_in(absolutes, relative);
    return there && !paths_have(own, there, "", true) ? there : path;
}

/** The table with its paths as the other one names them. Caller frees. */
static struct trace_table *aligned(const struct trace_table *t, const struct trace_table *other,
                                   bool is_by_call)
{
    AUTO(paths_fini) struct paths own = {0};
    AUTO(paths_fini) struct paths others = {0};
    AUTO(paths_fini) struct paths absolutes = {0};
    struct trace_table *to = trace_table_new();

    paths_fill(&own, (const struct trace_table *const[]){t, NULL});
    paths_fill(&others, (const struct trace_table *const[]){other, NULL});
    absolutes_fill(&absolutes, other);
    for (size_t i = 0; i < trace_table_size(t); i++) {
        struct trace_row row = *trace_table_at(t, i);
        row.path = is_by_call ? "" : name_there(row.path, &own, &others, &absolutes);
        row.is_directory = row.is_directory && !is_by_call;
        trace_table_add(to, &row);
    }
    return to;
}

/* ---- pairs of rows ---- */

/** A row of one side or of both, or several that vary in their names alone. */
struct entry {
    const char *call, *path; /* path: as it is, of the first row */
    char *normal;            /* NULL: the path stands for itself */
    bool is_directory;
    struct trace_row side[2]; /* sums */
};

struct entries {
    struct entry *items;
    size_t n;
};

static void entries_fini(struct entries *s)
{
    for (size_t i = 0; i < s->n; i++)
        mem_free(s->items[i].normal);
    mem_free(s->items);
}
DEFINE_AUTO_FINI(struct entries, entries_fini)

static struct entry *entry_of(struct entries *s, const struct trace_row *row, int side)
{
    struct entry *x = &s->items[s->n++];

    *x = (struct entry){.call = row->call, .path = row->path, .is_directory = row->is_directory};
    x->side[side] = *row;
    return x;
}

/** Rows of `side`; with those of the other side that have the same call and path if `is_first`,
 *  else without them. */
static void add_side(struct entries *s, const struct trace_table *const sides[2], int side)
{
    char normal[TRACE_PATH_BYTES];

    for (size_t i = 0; i < trace_table_size(sides[side]); i++) {
        const struct trace_row *row = trace_table_at(sides[side], i);
        const struct trace_row *other = trace_table_find(sides[!side], row->call, row->path);
        if (other && side == 1)
            continue;
        struct entry *x = entry_of(s, row, side);
        if (other) {
            x->side[!side] = *other;
            x->is_directory = x->is_directory || other->is_directory;
            continue;
        }
        trace_path_normal(row->path, normal, sizeof(normal));
        x->normal = mem_dup(normal);
    }
}

/** Those without a partner last, sorted so that those of one normal form are neighbours. */
static int by_normal(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = (x->normal != NULL) - (y->normal != NULL);

    if (order)
        return order;
    order = strcmp(x->call, y->call);
    if (!order)
        order = strcmp(x->normal ? x->normal : x->path, y->normal ? y->normal : y->path);
    return order ? order : strcmp(x->path, y->path);
}

static void add_sums(struct trace_row *to, const struct trace_row *from)
{
    to->count += from->count;
    to->errors += from->errors;
    to->n_timed += from->n_timed;
    if (__builtin_add_overflow(to->total_ns, from->total_ns, &to->total_ns))
        to->total_ns = INT64_MAX;
}

static bool is_alike(const struct entry *a, const struct entry *b)
{
    return a->normal && b->normal && strcmp(a->call, b->call) == 0 &&
           strcmp(a->normal, b->normal) == 0;
}

/** Folds entries of one normal form into one; an entry alone in its form goes by its own path. */
static void fold(struct entries *s)
{
    size_t n = 0;

    qsort(s->items, s->n, sizeof(*s->items), by_normal);
    for (size_t i = 0; i < s->n;) {
        struct entry x = s->items[i];
        size_t next = i + 1;
        for (; next < s->n && is_alike(&x, &s->items[next]); next++) {
            for (int side = 0; side < 2; side++)
                add_sums(&x.side[side], &s->items[next].side[side]);
            x.is_directory = x.is_directory || s->items[next].is_directory;
            mem_free(s->items[next].normal);
        }
        if (next == i + 1)
            mem_free(TAKE(x.normal));
        s->items[n++] = x;
        i = next;
    }
    s->n = n;
}

/* ---- differences ---- */

static bool has_times(const struct trace_table *t)
{
    return trace_table_size(t) == 0 || trace_table_sum(t).n_timed > 0;
}

static struct trace_difference difference_of(const struct entry *x, const struct paths *paths,
                                             const bool has_seconds[2])
{
    struct trace_difference d = {
        .call = mem_dup(x->call),
        .path = mem_dup(x->normal ? x->normal : x->path),
        .group = group_of(paths, x->path, x->is_directory),
        .is_wait = syscall_waits(x->call, x->path),
        .share = NAN,
    };

    for (int side = 0; side < 2; side++) {
        d.count[side] = x->side[side].count;
        d.errors[side] = x->side[side].errors;
        d.seconds[side] = has_seconds[side] ? (double)x->side[side].total_ns / 1e9 : NAN;
    }
    return d;
}

static double count_change(const struct trace_difference *d)
{
    return (double)d->count[1] - (double)d->count[0];
}

static double seconds_change(const struct trace_difference *d)
{
    double change = d->seconds[1] - d->seconds[0];

    return isnan(change) ? 0 : change;
}

static bool is_none(const struct trace_difference *d)
{
    return d->count[0] == d->count[1] && d->errors[0] == d->errors[1] && seconds_change(d) == 0;
}

static void set_shares(struct trace_diff *d, double metric_delta_s)
{
    double whole = 0;
    bool has_metric = !isnan(metric_delta_s) && metric_delta_s != 0 && d->has_seconds;

    for (size_t i = 0; i < d->n; i++)
        if (!d->items[i].is_wait)
            whole +=
                fabs(d->has_seconds ? seconds_change(&d->items[i]) : count_change(&d->items[i]));
    if (has_metric)
        whole = metric_delta_s;
    d->explained = has_metric ? 0 : NAN;
    for (size_t i = 0; i < d->n; i++) {
        struct trace_difference *x = &d->items[i];
        if (x->is_wait || whole == 0)
            continue;
        x->share = (d->has_seconds ? seconds_change(x) : count_change(x)) / whole;
        d->explained += x->share; /* stays nan without a metric */
    }
}

static double size_of(const struct trace_difference *x, bool has_seconds)
{
    double n = (double)x->count[0] + (double)x->count[1];
    double calls = fabs(count_change(x));

    if (!has_seconds)
        return calls;
    double cost = n > 0 ? calls * (x->seconds[0] + x->seconds[1]) / n : 0;
    return fmax(fabs(seconds_change(x)), cost);
}

/** A total order, so that the list does not depend on the order of the tables. */
static int by_size(const void *a, const void *b)
{
    const struct trace_difference *x = a, *y = b;

    if (x->is_wait != y->is_wait)
        return x->is_wait - y->is_wait;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1;
    double calls_x = fabs(count_change(x)), calls_y = fabs(count_change(y));
    if (calls_x != calls_y)
        return calls_x < calls_y ? 1 : -1;
    int order = strcmp(x->call, y->call);
    return order ? order : strcmp(x->path, y->path);
}

static struct trace_diff *diff_new(const struct trace_table *before,
                                   const struct trace_table *after, double metric_delta_s)
{
    const struct trace_table *const sides[2] = {before, after};
    const bool has_seconds[2] = {has_times(before), has_times(after)};
    struct trace_diff *d = mem_alloc(sizeof(*d));
    AUTO(paths_fini) struct paths paths = {0};
    AUTO(entries_fini) struct entries entries = {0};

    paths_fill(&paths, sides);
    entries.items =
        mem_array(trace_table_size(before) + trace_table_size(after) + 1, sizeof(*entries.items));
    add_side(&entries, sides, 0);
    add_side(&entries, sides, 1);
    fold(&entries);
    d->has_seconds =
        has_seconds[0] && has_seconds[1] && trace_table_size(before) + trace_table_size(after) > 0;
    d->items = mem_array(entries.n + 1, sizeof(*d->items));
    for (size_t i = 0; i < entries.n; i++) {
        struct trace_difference x = difference_of(&entries.items[i], &paths, has_seconds);
        if (is_none(&x)) {
            mem_free(x.call);
            mem_free(x.path);
            continue;
        }
        d->items[d->n++] = x;
    }
    set_shares(d, metric_delta_s);
    for (size_t i = 0; i < d->n; i++)
        d->items[i].size = size_of(&d->items[i], d->has_seconds);
    qsort(d->items, d->n, sizeof(*d->items), by_size);
    return d;
}

struct trace_diff *trace_diff_new(const struct trace_table *before, const struct trace_table *after,
                                  double metric_delta_s)
{
    bool is_by_call = lacks_files(before, after) || lacks_files(after, before);
    AUTO(trace_table_free) struct trace_table *first = aligned(before, after, is_by_call);
    AUTO(trace_table_free) struct trace_table *second = aligned(after, first, is_by_call);
    struct trace_diff *d = diff_new(first, second, metric_delta_s);

    d->is_by_call = is_by_call;
    return d;
}

void trace_diff_free(struct trace_diff *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n; i++) {
        mem_free(d->items[i].call);
        mem_free(d->items[i].path);
    }
    mem_free(d->items);
    mem_free(d);
}

/* ---- JSON ---- */

json *trace_diff_to_json(const struct trace_diff *d, size_t most)
{
    json *list = json_new_array();

    for (size_t i = 0; i < d->n && i < most; i++) {
        const struct trace_difference *x = &d->items[i];
        json *count = json_new_array(), *seconds = json_new_array(), *o = json_new_object();
        for (int side = 0; side < 2; side++) {
            json_push(count, json_new_int((int64_t)x->count[side]));
            json_push(seconds, json_new_real(x->seconds[side]));
        }
        json_put(o, "call", json_new_string(x->call));
        json_put(o, "path", json_new_string(x->path));
        json_put(o, "group", json_new_string(trace_group_name(x->group)));
        json_put(o, "count", count);
        json_put(o, "seconds", seconds);
        json_push(list, json_put(o, "share", json_new_real(x->share)));
    }
    return list;
}
