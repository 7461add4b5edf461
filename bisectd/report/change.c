/* SPDX-License-Identifier: Apache-2.0 */
#include "report/change.h"
#include "base/numbers.h"
#include "formats/trace_split.h"
#include "formats/trace_table.h"
#include "report/call_times.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- couples ---- */

enum { STALLS_LEAST = 5 };
/* So many standard deviations from the median, by the median of deviations, are no noise. */
static const double stall = 5, normal_mad = 1.4826;

static double elapsed_gain(const struct couples *p, uint32_t k)
{
    return p->runs[k][AFTER]->seconds - p->runs[k][BEFORE]->seconds;
}

/** Sorts x. */
static double median(double *x, uint32_t n)
{
    numbers_sort(x, n);
    return numbers_median(x, n);
}

static void drop_stalls(struct couples *p)
{
    double x[INSPECTION_RUNS];
    uint32_t n = 0;

    if (p->n < STALLS_LEAST)
        return;
    for (uint32_t k = 0; k < p->n; k++)
        x[k] = elapsed_gain(p, k);
    const double middle = median(x, p->n);
    for (uint32_t k = 0; k < p->n; k++)
        x[k] = fabs(elapsed_gain(p, k) - middle);
    const double most = stall * normal_mad * median(x, p->n);
    for (uint32_t k = 0; k < p->n; k++)
        if (fabs(elapsed_gain(p, k) - middle) <= most)
            memmove(p->runs[n++], p->runs[k], sizeof(p->runs[k]));
    p->n = n;
}

struct couples couples_of(const struct inspection *seen, enum inspected_how how)
{
    struct couples p = {0};
    uint32_t n[SIDES] = {0};

    for (size_t i = 0; i < seen->n_runs; i++) {
        const struct inspected_run *r = &seen->runs[i];
        if (r->how == how && n[r->build] < INSPECTION_RUNS)
            p.runs[n[r->build]++][r->build] = r;
    }
    p.n = n[BEFORE] < n[AFTER] ? n[BEFORE] : n[AFTER];
    drop_stalls(&p);
    return p;
}

/* ---- moments ---- */

/* Where Student's distribution of 1, 2, ... degrees of freedom has what the normal one has at 1. */
static const double student[] = {1.84, 1.32, 1.20, 1.14, 1.11, 1.09, 1.08, 1.07, 1.06};

struct moments moments_of(const double *x, uint32_t n)
{
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    for (uint32_t i = 0; i < n; i++)
        squares += (x[i] - sum / n) * (x[i] - sum / n);
    const double wider = n < 2 ? INFINITY : n - 2 < LEN(student) ? student[n - 2] : 1;
    return (struct moments){.mean = n ? sum / n : NAN,
                            .error = n < 2 ? INFINITY : wider * sqrt(squares / (n - 1) / n)};
}

/* ---- ways of knowing ---- */

enum { PLAIN, BOOKED, TRACED, STATED, WAYS };

/* What tracing adds to elapsed time is known but for so many times what it adds to a call: a
 * sleeper who wakes into a tracer meets cold caches, and its log is written to the same disk. */
static const double costs_unknown = 2;
/* The kernel's books leave out what others on the machine hold a run up by, outside of calls: such
 * a part of its user time, and what they do not know of at all: such a part of everything. */
static const double user_delayed = .3, unbooked = .05;
/* Other minutes and other CPUs make the verdict's change another one, by such a part of it. */
static const double stated_elsewhere = .1;
/* Nothing is known better than to such a part of it. */
static const double error_least = 1e-3;
/* So many standard errors are a contradiction. */
static const double contradiction = 3;

/** Calls of the timed runs: both sides of all, by call and path. Caller frees. */
static struct trace_table *calls_of(const struct couples *p)
{
    struct trace_table *sum = trace_table_new();

    for (uint32_t k = 0; k < p->n; k++)
        for (int side = 0; side < SIDES; side++) {
            const struct inspected_run *r = p->runs[k][side];
            for (size_t i = 0; i < r->n_calls; i++)
                trace_table_add(sum, &(struct trace_row){
                                         .call = r->calls[i].call,
                                         .path = r->calls[i].path,
                                         .count = r->calls[i].n,
                                         .n_timed = r->calls[i].n,
                                         .total_ns = (int64_t)(r->calls[i].seconds * 1e9),
                                     });
        }
    return sum;
}

/** Of the timed runs: the calls that work and whose time tracing tells; those and all others that
 *  do not wait for a part of the program itself; the number of all. */
struct work {
    double seconds, in_calls;
    uint64_t n;
};

static struct work work_of(const struct inspection *seen, const struct trace_table *all,
                           const struct inspected_run *r)
{
    struct work w = {0};

    for (size_t i = 0; i < r->n_calls; i++) {
        const struct inspected_call *c = &r->calls[i];
        const struct trace_row *sum = trace_table_find(all, c->call, c->path);
        const enum trace_rank rank = trace_rank_of(c->call, c->path);
        w.n += c->n;
        if (rank != TRACE_ATTENDS)
            w.in_calls += c->seconds;
        if (rank == TRACE_WORKS &&
            !(sum && call_times_are_cheap(seen, (double)sum->total_ns / 1e9, (double)sum->count)))
            w.seconds += c->seconds;
    }
    return w;
}

struct timed {
    struct moments calls, elapsed;
    struct moments rest;      /* calls less what their part of the elapsed time makes of them */
    struct moments outside;   /* elapsed less calls */
    double in_calls, n_calls; /* more, of the culprit */
};

static struct timed timed_of(const struct inspection *seen, const struct couples *p)
{
    AUTO(trace_table_free) struct trace_table *all = calls_of(p);
    double calls[INSPECTION_RUNS], elapsed[INSPECTION_RUNS];
    double rest[INSPECTION_RUNS], outside[INSPECTION_RUNS];
    struct timed t = {.n_calls = 0};

    for (uint32_t k = 0; k < p->n; k++) {
        const struct work before = work_of(seen, all, p->runs[k][BEFORE]);
        const struct work after = work_of(seen, all, p->runs[k][AFTER]);
        calls[k] = after.seconds - before.seconds;
        elapsed[k] = elapsed_gain(p, k);
        outside[k] = elapsed[k] - calls[k];
        t.in_calls += (after.in_calls - before.in_calls) / p->n;
        t.n_calls += ((double)after.n - (double)before.n) / p->n;
    }
    t.calls = moments_of(calls, p->n);
    t.elapsed = moments_of(elapsed, p->n);
    t.outside = moments_of(outside, p->n);
    for (uint32_t k = 0; k < p->n; k++)
        rest[k] = calls[k] - t.calls.mean / t.elapsed.mean * elapsed[k];
    t.rest = moments_of(rest, p->n);
    return t;
}

static struct moments plain_change(const struct couples *p)
{
    double elapsed[INSPECTION_RUNS] = {0};

    for (uint32_t k = 0; k < p->n; k++)
        elapsed[k] = elapsed_gain(p, k);
    return moments_of(elapsed, p->n);
}

/** What goes by in calls, and in user mode: on one CPU, nothing else takes time. */
static struct moments booked_change(const struct inspection *seen, const struct couples *plain,
                                    const struct timed *t)
{
    double user[INSPECTION_RUNS] = {0}, faults = 0;

    if (plain->n == 0 || !plain->runs[0][BEFORE]->has_usage || !seen->is_pinned)
        return (struct moments){NAN, INFINITY};
    for (uint32_t k = 0; k < plain->n; k++) {
        const struct usage *before = &plain->runs[k][BEFORE]->usage;
        const struct usage *after = &plain->runs[k][AFTER]->usage;
        user[k] = after->user_s - before->user_s;
        faults += (double)(after->minor_faults - before->minor_faults) / plain->n;
    }
    const struct moments m = moments_of(user, plain->n);
    const double sum = t->in_calls + m.mean;
    const double wrong[] = {m.error, user_delayed * m.mean, unbooked * sum, FAULT_S * faults,
                            seen->cost_us * 1e-6 * t->n_calls};
    double error = 0;

    for (size_t i = 0; i < LEN(wrong); i++)
        error = hypot(error, wrong[i]);
    return (struct moments){sum, error};
}

static bool contradicts(struct moments m, struct moments other)
{
    return isfinite(m.error) &&
           fabs(m.mean - other.mean) > contradiction * hypot(m.error, other.error);
}

/** `m` with another way of knowing it, by inverse squares of errors. */
static struct moments joined(struct moments m, struct moments other)
{
    if (!isfinite(other.error))
        return m;
    other.error = fmax(other.error, error_least * fabs(other.mean));
    if (!isfinite(m.error))
        return other;
    const double a = 1 / (m.error * m.error), b = 1 / (other.error * other.error);
    return (struct moments){.mean = (a * m.mean + b * other.mean) / (a + b),
                            .error = 1 / sqrt(a + b)};
}

struct change change_of(const struct inspection *seen, struct stated verdict)
{
    const struct couples timed = couples_of(seen, INSPECTED_TIMES);
    const struct couples plain = couples_of(seen, INSPECTED_PLAIN);

    if (timed.n == 0)
        return (struct change){.seconds = NAN, .explained = NAN, .error = NAN};
    const struct timed t = timed_of(seen, &timed);
    const double tracing = costs_unknown * seen->cost_us * 1e-6 * fabs(t.n_calls);
    struct moments ways[WAYS] = {
        [PLAIN] = plain_change(&plain),
        [BOOKED] = booked_change(seen, &plain, &t),
        [TRACED] = {t.elapsed.mean, hypot(t.outside.error, tracing)},
        [STATED] = {verdict.seconds, hypot(verdict.error, stated_elsewhere * verdict.seconds)},
    };
    struct moments m = {NAN, INFINITY};

    for (int i = 0; i < WAYS; i++) {
        if (i == PLAIN || i == STATED)
            ways[i].error = hypot(ways[i].error, t.calls.error);
        if ((isfinite(verdict.error) && ways[i].mean * verdict.seconds <= 0) ||
            contradicts(m, ways[i]))
            ways[i].error = INFINITY; /* not what the verdict, or those before, are about */
        m = joined(m, ways[i]);
    }
    if (!isfinite(m.error)) /* a single pair has no errors to compare */
        m.mean = isfinite(verdict.error) ? verdict.seconds : t.elapsed.mean;
    const double ratio = t.calls.mean / m.mean;
    const double of_change = fmin(fabs(ratio), 1) * m.error; /* no share passes 1 */
    const double error = hypot(fmin(t.rest.error, t.calls.error), of_change) / fabs(m.mean);
    return (struct change){
        .seconds = m.mean,
        .is_traced = ways[TRACED].error < m.error * M_SQRT2,
        .explained = ratio,
        .error = isfinite(error) ? error : NAN,
    };
}
