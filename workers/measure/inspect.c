/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/inspect.h"
#include "base/clock.h"
#include "base/mem.h"
#include "workers/measure/kind.h"
#include "workers/measure/tracing.h"
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of runs in this order, and one that counts instructions after all others; past the first
 * four no more once this has taken so long. Untraced ones stand on both sides of two that are
 * timed: a machine that becomes slower or faster all the while is the same for both. */
/* clang-format off */
static const enum inspected_how plan[] = {
    INSPECTED_PLAIN, INSPECTED_COUNTS,
    INSPECTED_TIMES, INSPECTED_TIMES, INSPECTED_PLAIN, INSPECTED_SYMBOLS,
    INSPECTED_PLAIN, INSPECTED_TIMES, INSPECTED_TIMES, INSPECTED_PLAIN,
    INSPECTED_PLAIN, INSPECTED_TIMES, INSPECTED_TIMES, INSPECTED_PLAIN,
    INSPECTED_PLAIN, INSPECTED_TIMES, INSPECTED_TIMES, INSPECTED_PLAIN,
    INSPECTED_PLAIN, INSPECTED_TIMES, INSPECTED_TIMES, INSPECTED_PLAIN,
    INSPECTED_PLAIN, INSPECTED_TIMES, INSPECTED_TIMES, INSPECTED_PLAIN,
};
/* clang-format on */
enum { PAIRS_LEAST = 4 };
#define ENOUGH_NS (30 * NS_PER_S)

/* Counting every call may slow a run down a hundredfold: no longer than this. */
enum { COUNTS_SLOWDOWN = 40 };
#define COUNTS_LEAST_NS (10 * NS_PER_S)

/* Looks at what tracing costs: before the first pair that is timed, then one before each. */
enum { COSTS_FIRST = 3, COSTS_MOST = 32 };

/* Busier than this, a run keeps more than one CPU at work. */
static const double busy_most = 1.05;

struct inspector {
    const struct schedule *base;
    struct inspection *out;
    struct tracing tracing;
    struct job_outcome outcome; /* of the last run */
    int64_t plain_ns;           /* the longest untraced run */
    bool is_busy;               /* an untraced run kept more than one CPU at work */
    double count;               /* ... and of instructions, where they were counted; nan: not */
    char by[80];
    bool is_warm[INSPECTION_BUILDS];
    struct trace_cost cost;
    size_t n_costs;
    struct trace_cost costs[COSTS_MOST];
};

/* ---- one run ---- */

static void note_outcome(void *context, const struct job_outcome *o)
{
    struct inspector *in = context;

    in->outcome = *o;
}

struct execution {
    const char *command;
    int64_t timeout_ns; /* 0: the metric's */
    bool is_another;    /* none of the metric's: it just runs to its end */
    bool is_counted;    /* its instructions are; else its time is taken */
};

/** Elapsed time of the command, to its end or to its being ready, or its instructions: what it
 *  prints is no matter. */
static struct metric *metric_of(const struct inspector *in, const struct execution *x, bool is_warm)
{
    struct metric *m = metric_copy(in->base->metric);

    mem_free(m->command);
    m->command = mem_dup(x->command);
    if (x->is_another) {
        mem_free(TAKE(m->ready));
        m->is_cold = false;
    }
    if (m->kind != METRIC_TS || x->is_another)
        m->kind = METRIC_WALL;
    if (x->is_counted) {
        m->kind = METRIC_COUNTER;
        mem_free(TAKE(m->event));
    }
    m->reduce = REDUCE_UNSET;
    m->n_warmup = is_warm || x->is_another ? 0 : m->n_warmup;
    if (x->timeout_ns > 0 && x->timeout_ns < m->timeout_ns)
        m->timeout_ns = x->timeout_ns;
    mem_free(TAKE(m->file));
    mem_free(TAKE(m->regex));
    mem_free(TAKE(m->pointer));
    return m;
}

/** *ok: the command ended well. */
static enum err_code run_command(struct inspector *in, const struct task_run *run,
                                 const struct execution *x, bool *ok, struct err *e)
{
    AUTO(metric_free) struct metric *m = metric_of(in, x, in->is_warm[run->build]);
    struct task_run one = *run;
    struct task_spec spec = *in->base->spec;
    struct schedule s = *in->base;
    struct run_result *results = NULL;
    size_t n = 0;

    spec.runs = &one;
    spec.n_runs = 1;
    s.metric = m;
    s.spec = &spec;
    s.progress = NULL;
    s.ended = note_outcome;
    s.onlooker = in;
    in->outcome = (struct job_outcome){0};
    enum err_code code = schedule_run(&s, &results, &n, e);
    *ok = !code && n > 0 && results[n - 1].status == RUN_OK;
    in->count = *ok ? results[n - 1].value : NAN;
    snprintf(in->by, sizeof(in->by), "%s",
             *ok && results[n - 1].reason ? results[n - 1].reason : "");
    for (size_t i = 0; i < n; i++)
        run_result_fini(&results[i]);
    mem_free(results);
    in->is_warm[run->build] = true;
    return code;
}

static struct inspected_run *add_run(struct inspector *in, const struct task_run *run,
                                     enum inspected_how how)
{
    struct inspected_run *r = inspection_add_run(in->out);

    r->build = run->build;
    r->how = how;
    r->seconds =
        (double)(in->outcome.end == JOB_READY ? in->outcome.ready_ns : in->outcome.wall_ns) / 1e9;
    return r;
}

/* ---- three ways ---- */

/** The first two where they like, which tells whether they keep several CPUs busy; then where the
 *  traced ones are: a call may take longer on another CPU. */
static enum err_code look_plain(struct inspector *in, const struct task_run *run, bool *ok,
                                struct err *e)
{
    AUTO(buf_fini) struct buf command = {0};

    if (in->out->n_runs < INSPECTION_BUILDS)
        buf_adds(&command, in->base->metric->command);
    else
        tracing_pin(&in->tracing, in->base->metric->command, &command);
    const struct execution x = {.command = buf_str(&command)};
    if (run_command(in, run, &x, ok, e) || !*ok)
        return e->code;
    struct inspected_run *r = add_run(in, run, INSPECTED_PLAIN);
    r->has_usage = true;
    r->usage = in->outcome.usage;
    if (in->outcome.wall_ns > in->plain_ns)
        in->plain_ns = in->outcome.wall_ns;
    in->is_busy |= (double)in->outcome.cpu_ns > busy_most * (double)in->outcome.wall_ns;
    in->tracing.cpu = in->is_busy ? -1 : in->tracing.cpu;
    return ERR_OK;
}

static enum err_code look_counts(struct inspector *in, const struct task_run *run, bool *ok,
                                 struct err *e)
{
    AUTO(buf_fini) struct buf command = {0};

    tracing_count(&in->tracing, in->base->metric->command, &command);
    const struct execution x = {.command = buf_str(&command),
                                .timeout_ns = COUNTS_SLOWDOWN * in->plain_ns + COUNTS_LEAST_NS};
    if (run_command(in, run, &x, ok, e) || !*ok)
        return e->code;
    tracing_read_counts(&in->tracing, add_run(in, run, INSPECTED_COUNTS));
    return ERR_OK;
}

/** One more look at what tracing costs, by a program of trivial calls. */
static enum err_code weigh_once(struct inspector *in, const struct task_run *run, struct err *e)
{
    AUTO(buf_fini) struct buf command = {0};
    bool ok = false;

    tracing_weigh(&in->tracing, &command);
    const struct execution x = {
        .command = buf_str(&command), .timeout_ns = COUNTS_LEAST_NS, .is_another = true};
    if (run_command(in, run, &x, &ok, e))
        return e->code;
    if (ok && in->n_costs < COSTS_MOST && tracing_read_cost(&in->tracing, &in->costs[in->n_costs]))
        in->n_costs++;
    return ERR_OK;
}

static int by_ns(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int64_t median_ns(int64_t ns[COSTS_MOST], size_t n)
{
    if (n)
        qsort(ns, n, sizeof(*ns), by_ns);
    return n ? ns[n / 2] : 0;
}

/** What tracing costs: the median of all looks, since other work on the machine may meet one. */
static enum err_code weigh(struct inspector *in, const struct task_run *run, struct err *e)
{
    int64_t call_ns[COSTS_MOST], elapsed_ns[COSTS_MOST];

    for (int i = in->n_costs ? COSTS_FIRST - 1 : 0; i < COSTS_FIRST; i++)
        if (weigh_once(in, run, e))
            return e->code;
    for (size_t i = 0; i < in->n_costs; i++) {
        call_ns[i] = in->costs[i].call_ns;
        elapsed_ns[i] = in->costs[i].elapsed_ns;
    }
    in->cost = (struct trace_cost){.call_ns = median_ns(call_ns, in->n_costs),
                                   .elapsed_ns = median_ns(elapsed_ns, in->n_costs)};
    in->out->cost_us = (double)in->cost.call_ns / 1e3;
    return ERR_OK;
}

static enum err_code look_times(struct inspector *in, const struct task_run *run, bool *ok,
                                struct err *e)
{
    AUTO(buf_fini) struct buf command = {0};

    tracing_time(&in->tracing, in->base->metric->command, &command);
    const struct execution x = {.command = buf_str(&command)};
    if (run_command(in, run, &x, ok, e) || !*ok)
        return e->code;
    tracing_read_times(&in->tracing, &in->cost, add_run(in, run, INSPECTED_TIMES));
    return ERR_OK;
}

/** Not for a program that is stopped once it is ready: what it did is read when it has ended. */
static enum err_code look_symbols(struct inspector *in, const struct task_run *run, bool *ok,
                                  struct err *e)
{
    AUTO(buf_fini) struct buf command = {0};

    *ok = false;
    if (in->base->metric->ready ||
        !tracing_sample(&in->tracing, in->base->metric->command, &command))
        return ERR_OK;
    const struct execution x = {.command = buf_str(&command)};
    if (run_command(in, run, &x, ok, e) || !*ok)
        return e->code;
    tracing_read_samples(&in->tracing, add_run(in, run, INSPECTED_SYMBOLS));
    return ERR_OK;
}

/** Not for a program that is stopped once it is ready, nor for one that would take too long. */
static enum err_code look_instructions(struct inspector *in, const struct task_run *run, bool *ok,
                                       struct err *e)
{
    const int64_t most_ns = COUNTS_SLOWDOWN * in->plain_ns;

    *ok = false;
    if (in->base->metric->ready || (counter_is_simulated() && most_ns > ENOUGH_NS))
        return ERR_OK;
    const struct execution x = {.command = in->base->metric->command,
                                .timeout_ns = most_ns + COUNTS_LEAST_NS,
                                .is_counted = true};
    if (run_command(in, run, &x, ok, e) || !*ok)
        return e->code;
    struct inspected_run *r = add_run(in, run, INSPECTED_INSTRUCTIONS);
    r->count = in->count;
    r->by = mem_dup(in->by);
    return ERR_OK;
}

/* clang-format off */
static enum err_code (*const looks[])(struct inspector *in, const struct task_run *run, bool *ok,
                                      struct err *e) = {
    [INSPECTED_PLAIN]  = look_plain,
    [INSPECTED_COUNTS] = look_counts,
    [INSPECTED_TIMES]  = look_times,
    [INSPECTED_SYMBOLS] = look_symbols,
    [INSPECTED_INSTRUCTIONS] = look_instructions,
};
static const char *const words[] = {
    [INSPECTED_PLAIN]  = "untraced",
    [INSPECTED_COUNTS] = "with all calls counted",
    [INSPECTED_TIMES]  = "with calls timed",
    [INSPECTED_SYMBOLS] = "with functions sampled",
    [INSPECTED_INSTRUCTIONS] = "with instructions counted",
};
/* clang-format on */

/* ---- all of it ---- */

/** *ok: both ran; what one alone showed is no use. */
static enum err_code take_pair(struct inspector *in, size_t pair, enum inspected_how how, bool *ok,
                               struct err *e)
{
    const struct schedule *s = in->base;
    const size_t n_before = in->out->n_runs;

    *ok = true;
    if (how == INSPECTED_TIMES && weigh(in, &s->spec->runs[INSPECTION_BUILDS * pair], e))
        return e->code;
    for (size_t i = 0; i < INSPECTION_BUILDS && *ok; i++) {
        const size_t at = INSPECTION_BUILDS * pair + i;
        const struct task_run *run = &s->spec->runs[at];
        clip_printf(s->log, "\n== looking into %.12s, %s\n",
                    s->spec->builds[run->build].revision.hex, words[how]);
        if (s->progress)
            s->progress(s->context, at, &s->spec->builds[run->build].revision);
        if (looks[how](in, run, ok, e))
            return e->code;
    }
    while (!*ok && in->out->n_runs > n_before)
        inspection_drop_run(in->out);
    return ERR_OK;
}

static bool is_complete(const struct inspector *in)
{
    for (int i = 0; i < INSPECTION_BUILDS; i++)
        if (!in->base->builds[i].folder) {
            in->out->error = mem_printf(
                "%.12s cannot be built: %s", in->base->spec->builds[i].revision.hex,
                in->base->builds[i].reason ? in->base->builds[i].reason : "no reason given");
            return false;
        }
    return true;
}

static enum err_code take_pairs(struct inspector *in, struct err *e)
{
    const int64_t begin_ns = mono_now().ns;
    const size_t n = in->base->spec->n_runs / INSPECTION_BUILDS;
    bool ok = false;

    for (size_t pair = 0; pair < LEN(plan) && pair + 1 < n; pair++) {
        if (pair >= PAIRS_LEAST && mono_now().ns - begin_ns > ENOUGH_NS)
            break;
        if (take_pair(in, pair, plan[pair], &ok, e))
            return e->code;
        if (!ok && plan[pair] == INSPECTED_PLAIN) {
            in->out->error = mem_dup("the command failed this time");
            return ERR_OK;
        }
        if (plan[pair] == INSPECTED_COUNTS)
            tracing_choose(&in->tracing, in->base->metric, in->out);
    }
    return take_pair(in, n - 1, INSPECTED_INSTRUCTIONS, &ok, e);
}

/** The last CPU that runs may use: the first is where interrupts come. */
static int pin_to(const cpu_set_t *cpus)
{
    cpu_set_t may;
    int last = -1;

    if (cpus)
        may = *cpus;
    else if (sched_getaffinity(0, sizeof(may), &may) != 0)
        return -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &may))
            last = i;
    return last;
}

enum err_code inspect(const struct schedule *base, struct inspection **out, struct err *e)
{
    AUTO(inspection_free) struct inspection *found = mem_alloc(sizeof(*found));
    struct inspector in = {.base = base, .out = found};
    struct job_place place = base->place;
    struct err why = {0};

    place.out = base->out;
    const struct job_place seen = sandbox_place(&base->project->sandbox, &place);
    if (tracing_init(&in.tracing, place.tmp, &seen, pin_to(base->cpus), &why))
        found->error = mem_dup(why.text);
    else if (is_complete(&in) && take_pairs(&in, e)) {
        tracing_fini(&in.tracing);
        return e->code;
    }
    found->is_pinned = in.tracing.cpu >= 0;
    found->timed = in.tracing.calls ? mem_dup(in.tracing.calls) : NULL;
    tracing_fini(&in.tracing);
    *out = TAKE(found);
    return ERR_OK;
}
