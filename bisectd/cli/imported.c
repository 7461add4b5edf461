/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/imported.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stream.h"
#include "base/text.h"
#include "cli/question.h"
#include "commits/home.h"
#include "commits/lookup.h"
#include "config/config.h"
#include "formats/revision_map.h"
#include "model/check.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEX = 40, SHOWN_NAMES = 8, BLOCK = 64 * KIB, MAP_BYTES_MOST = 256 * MIB };
#define HOST_DEFAULT   "ci"
#define METRIC_UNNAMED "value" /* what nothing is stored by */

void imported_fini(struct imported *i)
{
    mem_free(i->project);
    mem_free(i->project_file);
    readings_fini(&i->readings);
    for (size_t k = 0; k < i->n; k++)
        mem_free(i->items[k].items);
    mem_free(i->items);
    *i = (struct imported){0};
}

/* ---- bytes ---- */

static enum err_code read_stream(int fd, const char *shown, struct buf *out, struct err *e)
{
    AUTO(stream_free) struct stream *s = stream_new(fd);
    size_t got = 1;

    while (got) {
        char *room = buf_room(out, BLOCK);
        if (stream_read(s, room, BLOCK, &got, e))
            return err_wrap(e, "%s", shown);
        out->len += got;
        if (out->len > IMPORT_BYTES_MOST) {
            err_set(e, ERR_LIMIT, "%s has more than %d MiB", shown, (int)(IMPORT_BYTES_MOST / MIB));
            return err_hint(e, "Split it: importing is the same in parts.");
        }
    }
    (void)buf_room(out, 1);
    out->data[out->len] = '\0';
    return ERR_OK;
}

static enum err_code read_file(const char *path, struct buf *out, struct err *e)
{
    struct stat st;

    if (strcmp(path, "-") == 0)
        return read_stream(STDIN_FILENO, "standard input", out, e);
    AUTO(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, errno, "open %s", path);
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        err_set(e, ERR_INVALID, "%s is a folder", path);
        return err_hint(e, "Name a file, or - for standard input.");
    }
    return read_stream(fd, path, out, e);
}

/* ---- the flags ---- */

static enum err_code read_where(const struct strings *given, struct pairs *out, struct err *e)
{
    for (size_t i = 0; i < given->n; i++) {
        const char *equals = strchr(given->items[i], '=');
        if (!equals || equals == given->items[i]) {
            err_set(e, ERR_INVALID, "--where: expected COLUMN=TEXT, got \"%s\"", given->items[i]);
            return err_hint(e, "For example --where metric=startup.");
        }
        AUTO(mem_free) char *key = mem_dup_n(given->items[i], (size_t)(equals - given->items[i]));
        if (pairs_get(out, key))
            return err_set(e, ERR_INVALID, "--where %s is given twice", key);
        pairs_add(out, key, equals + 1);
    }
    return ERR_OK;
}

static enum readings_format format_called(const char *name)
{
    size_t i = 0;

    while (name && readings_formats[i] && strcmp(readings_formats[i], name) != 0)
        i++;
    return name ? (enum readings_format)i : READINGS_AUTO;
}

static enum err_code read_rows(const char *path, const struct options *o, struct readings *out,
                               struct err *e)
{
    AUTO(buf_fini) struct buf bytes = {0};
    struct readings_query q = {
        .format = format_called(o->format), .revision = o->revision, .time = o->time};

    enum err_code code = read_where(&o->where, &q.where, e);
    if (!code)
        code = read_file(path, &bytes, e);
    if (!code && readings_parse(buf_str(&bytes), bytes.len, &q, out, e))
        code = err_wrap(e, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
    pairs_fini(&q.where);
    return code;
}

/* ---- the project ---- */

static enum err_code find_project(const struct options *o, struct imported *out,
                                  struct strings *map, struct err *e)
{
    AUTO(project_free) struct project *p = NULL;
    AUTO(mem_free) char *home = NULL;

    if (o->project && question_names_file(o->project)) {
        if (project_load(o->project, &p, e))
            return e->code;
        if (o->metric && !project_metric(p, o->metric))
            return err_set(e, ERR_INVALID, "%s has no metric %s", o->project, o->metric);
        if (p->revision_map && !o->revision_map)
            strings_add(map, p->revision_map);
        out->project_file = mem_dup(o->project);
        out->project = mem_dup(p->name);
        return ERR_OK;
    }
    if (o->project) {
        out->project = mem_dup(o->project);
        return name_check("--project", o->project, e);
    }
    if (home_of(o->repo ? o->repo : ".", &home, NULL)) {
        err_set(e, ERR_INVALID, "--project is missing");
        return err_hint(e, "Name the project whose history this is, or its repository with --repo "
                           "DIR.");
    }
    out->project = question_project_name(home);
    return ERR_OK;
}

/* ---- commits ---- */

/** What a revision of the file is; the same text is looked up once. */
struct answer {
    const char *text; /* interned: equal texts are one pointer */
    struct revision revision;
    struct utc at;      /* of its commit; 0: not known */
    const char *reject; /* NULL: found */
};
struct answers {
    size_t n;
    struct answer *items; /* by pointer */
    struct revision_map map;
    struct lookup *repo; /* NULL: none */
    bool is_strict;      /* the repository was named: every commit is to be there */
    bool wants_time;
};

static void answers_fini(struct answers *a)
{
    mem_free(a->items);
    revision_map_fini(&a->map);
    lookup_free(a->repo);
}
DEFINE_AUTO_FINI(struct answers, answers_fini)

static int by_pointer(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;

    return (x->text > y->text) - (x->text < y->text);
}

static bool read_hex(const char *text, struct revision *out)
{
    char lower[HEX + 1] = {0};

    if (strlen(text) != HEX)
        return false;
    for (size_t i = 0; i < HEX; i++)
        lower[i] = (char)tolower((unsigned char)text[i]);
    return revision_parse(lower, out, NULL) == ERR_OK;
}

static const char unknown_commit[] =
    "the revision is no git commit: --revision-map or --repo may say which";

static void answer_fill(struct answers *all, struct answer *a)
{
    const struct revision *mapped = revision_map_find(&all->map, a->text);
    bool is_hash = true;

    if (mapped)
        a->revision = *mapped;
    else
        is_hash = read_hex(a->text, &a->revision);
    if (is_hash && !(all->repo && (all->is_strict || all->wants_time)))
        return;
    if (!all->repo) {
        a->reject = unknown_commit;
        return;
    }
    const char *name = is_hash ? a->revision.hex : a->text;
    if (lookup_commit(all->repo, name, &a->revision, &a->at, NULL) && (!is_hash || all->is_strict))
        a->reject = all->is_strict ? "the revision is no commit of --repo" : unknown_commit;
}

static enum err_code read_map(const char *path, struct revision_map *out, struct err *e)
{
    AUTO(buf_fini) struct buf bytes = {0};

    if (file_read(path, MAP_BYTES_MOST, &bytes, e) ||
        revision_map_parse(buf_str(&bytes), bytes.len, out, e))
        return err_wrap(e, "revision map %s", path);
    return ERR_OK;
}

static void collect(const struct readings *r, struct answers *all)
{
    all->items = mem_array(r->n + 1, sizeof(*all->items));
    for (size_t i = 0; i < r->n; i++) {
        all->items[i] = (struct answer){.text = r->items[i].revision};
        all->wants_time |= !r->items[i].has_time;
    }
    if (r->n)
        qsort(all->items, r->n, sizeof(*all->items), by_pointer);
    for (size_t i = 0; i < r->n; i++)
        if (i == 0 || all->items[i].text != all->items[i - 1].text)
            all->items[all->n++] = all->items[i];
}

static enum err_code find_commits(const struct options *o, const char *map,
                                  const struct readings *r, struct answers *all, struct err *e)
{
    if (map && read_map(map, &all->map, e))
        return e->code;
    if (lookup_open(o->repo ? o->repo : ".", &all->repo, o->repo ? e : NULL) && o->repo)
        return e->code;
    all->is_strict = o->repo != NULL;
    collect(r, all);
    for (size_t i = 0; i < all->n; i++)
        answer_fill(all, &all->items[i]);
    return ERR_OK;
}

static const struct answer *answer_of(const struct answers *all, const char *text)
{
    struct answer key = {.text = text};

    return bsearch(&key, all->items, all->n, sizeof(key), by_pointer);
}

/* ---- names ---- */

typedef const char *(*name_of_reading)(const struct reading *r);

static const char *metric_of(const struct reading *r)
{
    return r->metric;
}

static const char *platform_of(const struct reading *r)
{
    return r->platform;
}

/** A flag that names them all is no way to pool what are several things. */
static enum err_code check_one(const struct readings *r, name_of_reading name, const char *column,
                               struct err *e)
{
    const char *seen[SHOWN_NAMES];
    AUTO(buf_fini) struct buf list = {0};
    size_t n = 0;

    for (size_t i = 0; i < r->n && n < SHOWN_NAMES; i++) {
        size_t k = 0;
        while (k < n && seen[k] != name(&r->items[i]))
            k++;
        if (k == n)
            seen[n++] = name(&r->items[i]);
    }
    if (n < 2)
        return ERR_OK;
    for (size_t i = 0; i < n; i++)
        buf_printf(&list, "%s\"%s\"", i ? ", " : "", seen[i]);
    err_set(e, ERR_INVALID, "--%s names one %s, and the file has several: %s%s", column, column,
            buf_str(&list), n == SHOWN_NAMES ? " …" : "");
    return err_hint(e, "Choose one with --where %s=TEXT.", column);
}

static enum err_code check_name(const char *name, const char *column, struct err *e)
{
    if (!*name) {
        err_set(e, ERR_INVALID, "the file does not say which %s this is", column);
        return err_hint(e, "Name it with --%s.", column);
    }
    if (name_check(column, name, NULL)) {
        err_set(e, ERR_INVALID, "\"%s\" is no name of a %s here", name, column);
        return err_hint(e,
                        "Choose it with --where %s=TEXT, and name it as the project does with "
                        "--%s.",
                        column, column);
    }
    return ERR_OK;
}

static enum err_code series_at(struct imported *out, const struct imported_series *names,
                               struct imported_series **found, struct err *e)
{
    for (size_t i = out->n; i-- > 0;) { /* the last one, mostly */
        struct imported_series *s = &out->items[i];
        *found = s;
        if (s->metric == names->metric && s->platform == names->platform && s->host == names->host)
            return ERR_OK;
    }
    if (check_name(names->metric, "metric", e) || check_name(names->platform, "platform", e))
        return e->code;
    if (out->n == IMPORT_SERIES_MOST) {
        err_set(e, ERR_LIMIT, "more than %d series in one file", IMPORT_SERIES_MOST);
        return err_hint(e, "Choose some with --where COLUMN=TEXT.");
    }
    out->items = mem_resize(out->items, out->n + 1, sizeof(*out->items));
    *found = &out->items[out->n++];
    **found = *names;
    return ERR_OK;
}

/* ---- points ---- */

static void add_point(struct imported_series *s, const struct reading *r, const struct answer *a)
{
    struct utc at = r->has_time ? r->at : a->at;

    if (s->n == s->cap) {
        s->cap = 2 * s->cap + 64;
        s->items = mem_resize(s->items, s->cap, sizeof(*s->items));
    }
    at.ns -= at.ns % NS_PER_MS;
    s->items[s->n++] = (struct point){.revision = a->revision, .at = at, .value = r->value + 0.0};
}

static void apply_flags(const struct options *o, struct imported_series *names)
{
    names->metric = o->metric ? o->metric : names->metric;
    names->platform = o->platform ? o->platform : names->platform;
    names->host = o->host ? o->host : names->host;
}

/** As it was before it was imported, where the file is a list of `history`. */
static const char *own_host(const char *host)
{
    size_t n = strlen(POINTS_HOST);

    return strncmp(host, POINTS_HOST, n) == 0 && host[n] ? host + n : host;
}

static enum err_code sort_out(const struct options *o, const struct answers *all,
                              struct imported *out, struct err *e)
{
    struct readings *r = &out->readings;
    /* Equal names are one pointer, also where flags give them. */
    const char *here = readings_name(r, platform_here()), *ci = readings_name(r, HOST_DEFAULT);
    const char *value = readings_name(r, METRIC_UNNAMED);

    for (size_t i = 0; i < r->n; i++) {
        const struct reading *x = &r->items[i];
        const struct answer *a = answer_of(all, x->revision);
        struct imported_series names = {.metric = x->metric, .platform = here, .host = ci};
        struct imported_series *s = NULL;
        if (!*x->metric && o->dry_run)
            names.metric = value;
        if (*x->platform)
            names.platform = x->platform;
        if (*x->host)
            names.host = readings_name(r, own_host(x->host));
        apply_flags(o, &names);
        if (a->reject) {
            readings_reject(r, a->reject, x->line);
            continue;
        }
        if (!x->has_time && !a->at.ns) {
            readings_reject(r, "no time, and no repository that has the commit's", x->line);
            continue;
        }
        if (series_at(out, &names, &s, e))
            return e->code;
        out->is_unnamed |= !*x->metric && !o->metric;
        add_point(s, x, a);
        out->n_points++;
    }
    return ERR_OK;
}

/** A point and its place in the file. */
struct placed {
    struct point point;
    size_t at;
};

static int by_identity(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = strcmp(x->point.revision.hex, y->point.revision.hex);

    if (order)
        return order;
    if (x->point.at.ns != y->point.at.ns)
        return x->point.at.ns < y->point.at.ns ? -1 : 1;
    if (x->point.value != y->point.value)
        return x->point.value < y->point.value ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int by_time(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->point.at.ns != y->point.at.ns)
        return x->point.at.ns < y->point.at.ns ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool is_equal(const struct point *a, const struct point *b)
{
    return revision_equal(&a->revision, &b->revision) && a->at.ns == b->at.ns &&
           a->value == b->value;
}

/** Numbers equal points, so that a file that has a value twice has it twice, however often it is
 *  imported; then puts them in order of time. */
static void settle(struct imported_series *s)
{
    struct placed *all = mem_array(s->n + 1, sizeof(*all));

    for (size_t i = 0; i < s->n; i++)
        all[i] = (struct placed){s->items[i], i};
    qsort(all, s->n, sizeof(*all), by_identity);
    for (size_t i = 1; i < s->n; i++)
        if (is_equal(&all[i].point, &all[i - 1].point))
            all[i].point.nth = all[i - 1].point.nth + 1;
    qsort(all, s->n, sizeof(*all), by_time);
    for (size_t i = 0; i < s->n; i++)
        s->items[i] = all[i].point;
    mem_free(all);
}

/** What most of the rows lack; NULL: none was refused. */
static const struct reject *main_reject(const struct readings *r)
{
    const struct reject *most = NULL;

    for (size_t k = 0; k < r->n_rejects; k++)
        if (!most || r->rejects[k].n > most->n)
            most = &r->rejects[k];
    return most;
}

/* Nothing to import is an error; what stands in its way most often is the hint. */
static enum err_code check_some(const struct imported *i, const char *path, struct err *e)
{
    const struct readings *r = &i->readings;
    const struct reject *most = main_reject(r);
    const char *shown = strcmp(path, "-") == 0 ? "standard input" : path;
    AUTO(buf_fini) struct buf columns = {0};

    if (i->n_points)
        return ERR_OK;
    for (size_t k = 0; k < r->columns.n; k++)
        buf_printf(&columns, "%s%s", k ? ", " : "", r->columns.items[k]);
    const char *names = columns.len ? buf_str(&columns) : "none";
    if (r->n_rows == 0) {
        err_set(e, ERR_INVALID, "%s has no rows", shown);
        return err_hint(e, "Columns: %s", names);
    }
    err_set(e, ERR_INVALID, "none of the %zu rows of %s is a point", r->n_rows, shown);
    if (r->no_column)
        return err_hint(e, "--where: there is no column %s. Columns: %s", r->no_column, names);
    if (most)
        return err_hint(e, "%zu: %s; first in row %zu. Columns: %s", most->n, most->reason,
                        most->line, names);
    return err_hint(e, "%zu were passed over by --where.", r->n_passed_over);
}

enum err_code imported_read(const char *path, const struct options *o, struct imported *out,
                            struct err *e)
{
    AUTO(answers_fini) struct answers commits = {0};
    AUTO(strings_fini) struct strings map = {0};

    if (o->revision_map)
        strings_add(&map, o->revision_map);
    if (find_project(o, out, &map, e) || read_rows(path, o, &out->readings, e))
        return e->code;
    if ((o->metric && (check_name(o->metric, "metric", e) ||
                       check_one(&out->readings, metric_of, "metric", e))) ||
        (o->platform && (check_name(o->platform, "platform", e) ||
                         check_one(&out->readings, platform_of, "platform", e))))
        return e->code;
    if (find_commits(o, map.n ? map.items[0] : NULL, &out->readings, &commits, e) ||
        sort_out(o, &commits, out, e) || check_some(out, path, e))
        return e->code;
    for (size_t i = 0; i < out->n; i++)
        settle(&out->items[i]);
    return ERR_OK;
}
