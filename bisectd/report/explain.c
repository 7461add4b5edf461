/* SPDX-License-Identifier: Apache-2.0 */
#include "report/explain.h"
#include "base/mem.h"
#include "formats/trace_diff.h"
#include "formats/trace_split.h"
#include "report/call_times.h"
#include "report/change.h"
#include "report/figure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of equal counts whose time differs by less than this share are noise. */
static const double least_share = .005;
static const double normal_95 = 1.96;

/* ---- what shares are of ---- */

struct unit {
    const char *name;
    double seconds;
};

/** Seconds in one of the metric's unit; nan: it is none of time. */
static double seconds_in(const char *unit)
{
    static const struct unit units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6},
                                        {"ms", 1e-3}, {"s", 1},     {"min", 60}};

    for (size_t i = 0; unit && i < LEN(units); i++)
        if (strcmp(units[i].name, unit) == 0)
            return units[i].seconds;
    return NAN;
}

/** Does the metric measure what the clock on the wall does? Not so processor time, nor a number
 *  that a program prints: that may be the time of anything. */
static bool is_elapsed(const struct metric *m)
{
    return m->kind == METRIC_WALL || m->kind == METRIC_TS;
}

bool explain_has_shares(const struct metric *m)
{
    return isfinite(seconds_in(m->unit)) && m->kind != METRIC_CPU && m->kind != METRIC_SYSCALLS;
}

static struct change choose_change(const struct explain_terms *t, const struct inspection *seen)
{
    const double unit_s = seconds_in(t->metric->unit);
    const double width = t->culprit->interval[1] - t->culprit->interval[0];
    const struct change none = {.seconds = NAN, .explained = NAN, .error = NAN};
    const struct stated verdict = {
        .seconds = t->culprit->delta * unit_s,
        .error = is_elapsed(t->metric) ? width * unit_s / (2 * normal_95) : INFINITY,
    };

    if (!explain_has_shares(t->metric))
        return none;
    struct change c = change_of(seen, verdict);
    /* If a run's length did not change with the metric, it is a share of nothing. */
    if (!is_elapsed(t->metric) && !(c.error < fmax(fabs(c.explained) / 2, .1)))
        return none;
    return c;
}

/* ---- a metric that is made of calls ---- */

static bool is_of_calls(const struct metric *m)
{
    return m->kind == METRIC_SYSCALLS;
}

static bool has_name(const char *list, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = list; *at;) {
        size_t len = strcspn(at, "+,");
        if (len == n && memcmp(at, name, n) == 0)
            return true;
        at += len + (at[len] != '\0');
    }
    return false;
}

static bool is_measured(const struct metric *m, const struct difference *d)
{
    return has_name(m->calls ? m->calls : METRIC_CALLS, d->call) &&
           (!m->path || trace_glob(m->path, d->path));
}

/** The metric's own calls over its change; the rest has no share. */
static void share_calls(struct explanation *v, const struct explain_terms *t)
{
    const struct metric *m = t->metric;
    const bool by_count = m->of != OF_TIME;
    const double whole = by_count ? t->culprit->delta : t->culprit->delta * seconds_in(m->unit);
    double sum = 0;

    for (size_t i = 0; i < v->n_differences; i++) {
        struct difference *d = &v->differences[i];
        const double *side = by_count ? d->count : d->seconds;
        if (!is_measured(m, d))
            continue;
        d->share = (side[AFTER] - side[BEFORE]) / whole;
        sum += d->share;
    }
    v->explained = fmin(fmax(sum, 0), 1);
}

/* ---- differences ---- */

static void add_rows(const struct inspected_run *r, struct trace_table *to)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        const struct inspected_call *c = &r->calls[i];
        const struct trace_row row = {
            .call = c->call,
            .path = c->path,
            .count = c->n,
            .errors = c->n_errors,
            .n_timed = c->n,
            .total_ns = (int64_t)(c->seconds * 1e9),
            .is_directory = c->is_directory,
        };
        trace_table_add(to, &row);
    }
}

static struct trace_diff *compare(const struct couples *p)
{
    AUTO(trace_table_free) struct trace_table *before = trace_table_new();
    AUTO(trace_table_free) struct trace_table *after = trace_table_new();

    for (uint32_t k = 0; k < p->n; k++) {
        add_rows(p->runs[k][BEFORE], before);
        add_rows(p->runs[k][AFTER], after);
    }
    return trace_diff_new(before, after, NAN);
}

static void add_difference(struct explanation *v, const struct trace_difference *from, uint32_t n)
{
    struct difference *d = explanation_add_difference(v);

    d->call = mem_dup(from->call);
    d->path = mem_dup(from->path);
    d->group = mem_dup(trace_group_name(from->group));
    d->is_wait = from->is_wait;
    for (int i = 0; i < SIDES; i++) {
        d->count[i] = (double)from->count[i] / n;
        d->seconds[i] = from->seconds[i] / n;
    }
}

static bool is_timed(const struct explanation *v, const char *call)
{
    return v->timed && has_name(v->timed, call);
}

/** Calls that were counted, differ, and were not timed: there are too many of them. */
static void add_counted(struct explanation *v, const struct couples *counted)
{
    AUTO(trace_diff_free) struct trace_diff *diff = compare(counted);

    for (size_t i = 0; i < diff->n; i++) {
        const struct trace_difference *from = &diff->items[i];
        if (from->count[BEFORE] == from->count[AFTER] || is_timed(v, from->call))
            continue;
        add_difference(v, from, counted->n);
        struct difference *d = &v->differences[v->n_differences - 1];
        d->seconds[BEFORE] = d->seconds[AFTER] = NAN;
    }
}

static void add_timed(struct explanation *v, const struct couples *timed)
{
    AUTO(trace_diff_free) struct trace_diff *diff = compare(timed);

    for (size_t i = 0; i < diff->n; i++)
        add_difference(v, &diff->items[i], timed->n);
}

/* ---- shares ---- */

static double gain(const struct difference *d)
{
    return d->seconds[AFTER] - d->seconds[BEFORE];
}

static double sum_of_shares(const struct explanation *v, bool waits)
{
    double sum = 0;

    for (size_t i = 0; i < v->n_differences; i++)
        if (v->differences[i].is_wait == waits && isfinite(v->differences[i].share))
            sum += v->differences[i].share;
    return sum;
}

static void scale_shares(struct explanation *v, bool waits, double factor)
{
    for (size_t i = 0; i < v->n_differences; i++)
        if (v->differences[i].is_wait == waits)
            v->differences[i].share *= factor;
}

/** `elsewhere`: the share of processor time outside of calls. */
static void share_time(struct explanation *v, double elsewhere)
{
    for (size_t i = 0; i < v->n_differences; i++) {
        struct difference *d = &v->differences[i];
        if (trace_rank_of(d->call, d->path) != TRACE_ATTENDS)
            d->share = gain(d) / v->change_s;
    }
    double work = sum_of_shares(v, false);
    if (work > 1)
        scale_shares(v, false, 1 / work);
    work = fmin(work, 1);
    double left = fmax(0, 1 - fmax(work, 0) - fmax(elsewhere, 0));
    double waits = sum_of_shares(v, true);
    if (waits > left)
        scale_shares(v, true, left / waits);
    v->explained = fmin(fmax(work + fmin(waits, left), 0), 1);
}

/** Adds an error in seconds to that of the explained share, which cannot be wrong by more than all
 *  of it. */
static void doubt(struct explanation *v, double error_s)
{
    const double error = hypot(v->explained_error, error_s / v->change_s);

    v->explained_error = isnan(error) ? NAN : fmin(error, 1 / normal_95);
}

static int by_share(const void *a, const void *b)
{
    const struct difference *x = a, *y = b;
    double p = isfinite(x->share) ? fabs(x->share) : -1;
    double q = isfinite(y->share) ? fabs(y->share) : -1;

    if (p != q)
        return p < q ? 1 : -1;
    p = fabs(x->count[AFTER] - x->count[BEFORE]);
    q = fabs(y->count[AFTER] - y->count[BEFORE]);
    if (p != q)
        return p < q ? 1 : -1;
    int by_call = strcmp(x->call, y->call);
    return by_call ? by_call : strcmp(x->path, y->path);
}

static bool is_noise(const struct explanation *v, const struct difference *d)
{
    if (d->count[BEFORE] != d->count[AFTER])
        return false;
    return v->basis != SHARE_OF_TIME || !(fabs(d->share) >= least_share);
}

static void forget(struct difference *d)
{
    mem_free(d->call);
    mem_free(d->path);
    mem_free(d->group);
}

static void rank(struct explanation *v)
{
    size_t n = 0;

    if (v->n_differences)
        qsort(v->differences, v->n_differences, sizeof(*v->differences), by_share);
    for (size_t i = 0; i < v->n_differences; i++) {
        if (is_noise(v, &v->differences[i]) || n == EXPLAIN_ROWS) {
            v->n_left_out++;
            forget(&v->differences[i]);
        } else {
            v->differences[n++] = v->differences[i];
        }
    }
    v->n_differences = n;
}

/* ---- resources ---- */

/* clang-format off */
static const struct book {
    const char *name, *unit;
    size_t offset;
    bool is_real;
} books[] = {
    {"user CPU",                 "s",     offsetof(struct usage, user_s),        true},
    {"system CPU",               "s",     offsetof(struct usage, system_s),      true},
    {"page faults",              "",      offsetof(struct usage, minor_faults),  false},
    {"page faults from disk",    "",      offsetof(struct usage, major_faults),  false},
    {"context switches, waiting", "",     offsetof(struct usage, waits),         false},
    {"context switches, forced", "",      offsetof(struct usage, preemptions),   false},
    {"read from disks",          "bytes", offsetof(struct usage, read_bytes),    false},
    {"written to disks",         "bytes", offsetof(struct usage, written_bytes), false},
};
/* clang-format on */

static double amount_of(const struct usage *u, const struct book *b)
{
    const char *at = (const char *)u + b->offset;

    return b->is_real ? *(const double *)(const void *)at
                      : (double)*(const int64_t *)(const void *)at;
}

static void add_resources(struct explanation *v, const struct couples *plain)
{
    if (plain->n == 0 || !plain->runs[0][BEFORE]->has_usage)
        return;
    for (size_t i = 0; i < LEN(books); i++) {
        struct resource *r = explanation_add_resource(v);
        r->name = mem_dup(books[i].name);
        r->unit = mem_dup(books[i].unit);
        for (uint32_t k = 0; k < plain->n; k++)
            for (int side = 0; side < SIDES; side++)
                r->amount[side] += amount_of(&plain->runs[k][side]->usage, &books[i]) / plain->n;
    }
}

/** By one pair: they differ little from run to run. */
static void add_instructions(struct explanation *v, const struct couples *counted)
{
    if (counted->n == 0)
        return;
    struct resource *r = explanation_add_resource(v);
    const char *by = counted->runs[0][BEFORE]->by ? counted->runs[0][BEFORE]->by : "";
    r->name = mem_printf("instructions (%.*s)", (int)strcspn(by, " "), by);
    r->unit = mem_dup("");
    for (int side = 0; side < SIDES; side++)
        r->amount[side] = counted->runs[0][side]->count;
}

/** What processor time is a share of: the change in elapsed time; that in processor time where this
 *  is the metric. */
static double whole_of(const struct explain_terms *t, const struct explanation *v)
{
    if (t->metric->kind == METRIC_CPU)
        return t->culprit->delta * seconds_in(t->metric->unit);
    return v->change_s;
}

static void share_resources(struct explanation *v, double whole)
{
    for (size_t i = 0; i < v->n_resources; i++) {
        struct resource *r = &v->resources[i];
        if (strcmp(r->unit, "s") == 0)
            r->share = (r->amount[AFTER] - r->amount[BEFORE]) / whole;
    }
}

/* ---- symbols ---- */

/* A difference of samples is noise below so many times the square root of their number. */
enum { SYMBOLS_MOST = 20 };
static const double least_deviation = 4;

static struct symbol *symbol_of(struct explanation *v, const struct inspected_call *c)
{
    for (size_t i = 0; i < v->n_symbols; i++)
        if (strcmp(v->symbols[i].name, c->call) == 0 && strcmp(v->symbols[i].object, c->path) == 0)
            return &v->symbols[i];
    struct symbol *s = explanation_add_symbol(v);
    s->name = mem_dup(c->call);
    s->object = mem_dup(c->path);
    return s;
}

static double gain_of(const struct symbol *s)
{
    return s->seconds[AFTER] - s->seconds[BEFORE];
}

static int by_gain(const void *a, const void *b)
{
    double x = fabs(gain_of(a)), y = fabs(gain_of(b));

    return (x < y) - (x > y);
}

/** `period_s` is what one sample of a run stands for. */
static void drop_noise(struct explanation *v, double period_s)
{
    size_t n = 0;

    if (v->n_symbols)
        qsort(v->symbols, v->n_symbols, sizeof(*v->symbols), by_gain);
    for (size_t i = 0; i < v->n_symbols; i++) {
        struct symbol *s = &v->symbols[i];
        double noise = sqrt((s->seconds[BEFORE] + s->seconds[AFTER]) * period_s);
        if (n < SYMBOLS_MOST && fabs(gain_of(s)) > least_deviation * noise) {
            v->symbols[n++] = *s;
            continue;
        }
        mem_free(s->name);
        mem_free(s->object);
    }
    v->n_symbols = n;
}

static void add_symbols(struct explanation *v, const struct couples *sampled, double whole)
{
    double period_s = 0;

    for (uint32_t k = 0; k < sampled->n; k++)
        for (int side = 0; side < SIDES; side++) {
            const struct inspected_run *r = sampled->runs[k][side];
            for (size_t i = 0; i < r->n_calls; i++) {
                const struct inspected_call *c = &r->calls[i];
                symbol_of(v, c)->seconds[side] += c->seconds / sampled->n;
                period_s = c->n ? c->seconds / (double)c->n / sampled->n : period_s;
            }
        }
    drop_noise(v, period_s);
    for (size_t i = 0; i < v->n_symbols; i++)
        v->symbols[i].share = gain_of(&v->symbols[i]) / whole;
}

static double user_share(const struct explanation *v)
{
    return v->n_resources && isfinite(v->resources[0].share) ? v->resources[0].share : 0;
}

/* ---- words ---- */

static void say_difference(const struct difference *d, struct buf *out)
{
    struct figure_scale plain = {1, "", NULL};

    buf_adds(out, d->call);
    if (d->path[0])
        buf_printf(out, " on %s", d->path);
    buf_adds(out, ", ");
    figure_value(out, d->count[BEFORE], plain);
    buf_adds(out, " calls before and ");
    figure_value(out, d->count[AFTER], plain);
    buf_adds(out, " after");
}

static char *say(const struct explanation *v)
{
    AUTO(buf_fini) struct buf out = {0};

    if (v->n_differences == 0) {
        buf_adds(&out, "no system call differs between the culprit and its parent");
        return buf_take(&out);
    }
    if (isfinite(v->explained))
        buf_printf(&out, "system calls explain %.0f %% of the change; ", 100 * v->explained);
    buf_adds(&out, "what differs most is ");
    say_difference(&v->differences[0], &out);
    return buf_take(&out);
}

static struct explanation *begin(const struct explain_terms *t, const struct inspection *seen)
{
    struct explanation *v = mem_alloc(sizeof(*v));

    v->culprit = t->culprit->revision;
    v->parent = t->parent;
    v->metric_name = mem_dup(t->metric->name);
    v->metric_unit = mem_dup(t->metric->unit);
    v->metric_delta = t->culprit->delta;
    v->change_s = v->explained = v->explained_error = NAN;
    v->timed = seen->timed ? mem_dup(seen->timed) : NULL;
    return v;
}

static void fail(struct explanation *v, const char *why)
{
    v->error = mem_dup(why);
    v->message = mem_printf("no explanation: %s", why);
}

struct explanation *explain(const struct explain_terms *t, const struct inspection *seen)
{
    struct explanation *v = begin(t, seen);
    const struct couples plain = couples_of(seen, INSPECTED_PLAIN);
    const struct couples counted = couples_of(seen, INSPECTED_COUNTS);
    const struct couples timed = couples_of(seen, INSPECTED_TIMES);
    const struct couples sampled = couples_of(seen, INSPECTED_SYMBOLS);
    const struct couples instructions = couples_of(seen, INSPECTED_INSTRUCTIONS);

    v->n_plain = plain.n;
    v->n_counted = counted.n;
    v->n_timed = timed.n;
    if (seen->error || (counted.n == 0 && timed.n == 0)) {
        fail(v, seen->error ? seen->error : "neither could be run while being traced");
        return v;
    }
    struct change change = choose_change(t, seen);
    v->basis = isfinite(change.seconds) ? SHARE_OF_TIME : SHARE_OF_NOTHING;
    v->change_s = change.seconds;
    v->is_change_traced = change.is_traced;
    v->explained_error = change.error;
    add_resources(v, &plain);
    add_instructions(v, &instructions);
    share_resources(v, whole_of(t, v));
    add_symbols(v, &sampled, whole_of(t, v));
    add_timed(v, &timed);
    if (is_of_calls(t->metric)) {
        v->basis = t->metric->of == OF_TIME ? SHARE_OF_TIME : SHARE_OF_COUNT;
        share_calls(v, t);
    }
    add_counted(v, &counted);
    if (isfinite(v->change_s)) {
        doubt(v, call_times_settle(v, seen));
        share_time(v, user_share(v));
    }
    rank(v);
    v->message = say(v);
    return v;
}
