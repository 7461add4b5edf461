/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "report/explain.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

enum { MAX_CALLS = 4, PAIRS = 4 };

/* What a run of one side does: calls, each with a path, a number and seconds; the rest of its time
 * goes by outside of calls. */
struct side {
    struct {
        const char *call, *path;
        uint64_t n;
        double seconds;
    } calls[MAX_CALLS];
    double elsewhere_s, user_s;
};

/* `slow`: how much slower the disk is in the k-th pair than when the verdict was measured; all
 * calls take so much longer. `jitter_s`: noise outside of calls, up and down by turns. */
struct scene {
    struct side sides[SIDES];
    double slow[PAIRS], jitter_s;
};

static double elapsed_of(const struct side *s, double slow)
{
    double sum = s->elsewhere_s;

    for (size_t i = 0; i < MAX_CALLS && s->calls[i].call; i++)
        sum += slow * s->calls[i].seconds;
    return sum;
}

static void add_timed(struct inspection *v, const struct scene *s, int side, int pair)
{
    struct inspected_run *r = inspection_add_run(v);
    const struct side *from = &s->sides[side];
    double jitter = (pair % 2 ? 1 : -1) * (side == AFTER ? 1 : -1) * s->jitter_s;

    r->build = (uint32_t)side;
    r->how = INSPECTED_TIMES;
    r->seconds = elapsed_of(from, s->slow[pair]) + jitter;
    for (size_t i = 0; i < MAX_CALLS && from->calls[i].call; i++) {
        struct inspected_call *c =
            inspected_run_add_call(r, from->calls[i].call, from->calls[i].path);
        c->n = from->calls[i].n;
        c->seconds = s->slow[pair] * from->calls[i].seconds;
    }
}

static void add_plain(struct inspection *v, const struct scene *s, int side)
{
    struct inspected_run *r = inspection_add_run(v);

    r->build = (uint32_t)side;
    r->how = INSPECTED_PLAIN;
    r->seconds = elapsed_of(&s->sides[side], 1);
    r->has_usage = true;
    r->usage.user_s = s->sides[side].user_s;
    r->usage.minor_faults = side ? 300 : 100;
}

static struct inspection *seen_of(const struct scene *s)
{
    struct inspection *v = mem_alloc(sizeof(*v));

    v->timed = mem_dup("fsync,wait4,write");
    for (int pair = 0; pair < PAIRS; pair++)
        for (int side = 0; side < SIDES; side++)
            add_timed(v, s, side, pair);
    for (int side = 0; side < SIDES; side++)
        add_plain(v, s, side);
    return v;
}

/* A verdict as the untraced runs of the scene give it, with an error of 1 %. */
static struct culprit culprit_of(const struct scene *s, double unit_s)
{
    struct culprit c = {.subject = NULL};

    c.good.mean = elapsed_of(&s->sides[BEFORE], 1) / unit_s;
    c.bad.mean = elapsed_of(&s->sides[AFTER], 1) / unit_s;
    c.delta = c.bad.mean - c.good.mean;
    c.interval[0] = c.delta * .98;
    c.interval[1] = c.delta * 1.02;
    return c;
}

#define DISK_AS_BEFORE                                                                             \
    {                                                                                              \
        1, 1, 1, 1                                                                                 \
    }

/* Expected values by hand: seconds of calls gained, over seconds gained. */
static const struct {
    const char *name;
    struct scene scene;
    double want_explained, want_first; /* share of the first row */
    const char *first_call, *first_path;
} shares[] = {
    {"all of the change is fsync",
     {{{.calls = {{"fsync", "/x.db", 2, .01}}, .elsewhere_s = .1},
       {.calls = {{"fsync", "/x.db", 402, 1.01}}, .elsewhere_s = .1}},
      DISK_AS_BEFORE,
      0},
     1,
     1,
     "fsync",
     "/x.db"},
    {"a busy loop of half the size takes a third",
     {{{.calls = {{"fsync", "/x.db", 2, .01}}, .elsewhere_s = .1, .user_s = .1},
       {.calls = {{"fsync", "/x.db", 402, 1.01}}, .elsewhere_s = .6, .user_s = .6}},
      DISK_AS_BEFORE,
      0},
     2.0 / 3,
     2.0 / 3,
     "fsync",
     "/x.db"},
    {"a disk that is slower now, and not evenly, does not make calls out to be more than all",
     {{{.calls = {{"fsync", "/x.db", 2, .01}}, .elsewhere_s = .1},
       {.calls = {{"fsync", "/x.db", 402, 1.01}}, .elsewhere_s = .1}},
      {5, 20, 8, 11},
      0},
     1,
     1,
     "fsync",
     "/x.db"},
    {"where elapsed time is noise, the verdict's change is what counts",
     {{{.calls = {{"fsync", "/x.db", 2, .01}}, .elsewhere_s = 10},
       {.calls = {{"fsync", "/x.db", 402, .06}}, .elsewhere_s = 10.05}},
      DISK_AS_BEFORE,
      2},
     .5,
     .5,
     "fsync",
     "/x.db"},
    {"calls of threads that sum up to more than the change are scaled down to it",
     {{{.calls = {{"fsync", "/a", 1, 0}, {"write", "/b", 1, 0}}, .elsewhere_s = 1},
       {.calls = {{"fsync", "/a", 9, 3}, {"write", "/b", 9, 1}}, .elsewhere_s = -1}},
      DISK_AS_BEFORE,
      0},
     1,
     .75,
     "fsync",
     "/a"},
    {"who waits for a child explains nothing by that",
     {{{.calls = {{"fsync", "/x.db", 2, 0}, {"wait4", "", 1, 0}}, .user_s = .1},
       {.calls = {{"fsync", "/x.db", 402, .6}, {"wait4", "", 1, .4}}, .user_s = .3}},
      DISK_AS_BEFORE,
      0},
     .6,
     .6,
     "fsync",
     "/x.db"},
    {"who waits for somebody outside is credited with what is left",
     {{{.calls = {{"fsync", "/x.db", 2, 0}, {"poll", "", 1, 0}}, .user_s = .1},
       {.calls = {{"fsync", "/x.db", 402, .6}, {"poll", "", 1, 4}},
        .elsewhere_s = -3.6,
        .user_s = .4}},
      DISK_AS_BEFORE,
      0},
     .7,
     .6,
     "fsync",
     "/x.db"},
    {"calls that take less time explain nothing of what takes more",
     {{{.calls = {{"fsync", "/x.db", 402, 1}}, .elsewhere_s = 1},
       {.calls = {{"fsync", "/x.db", 2, 0}}, .elsewhere_s = 4}},
      DISK_AS_BEFORE,
      0},
     0,
     -.5,
     "fsync",
     "/x.db"},
};

static void near(const char *name, const char *what, double got, double want)
{
    ck_assert_msg(fabs(got - want) < 1e-6, "%s: %s is %g, not %g", name, what, got, want);
}

START_TEST(shares_are_as_by_hand)
{
    AUTO(inspection_free) struct inspection *seen = seen_of(&shares[_i].scene);
    struct culprit c = culprit_of(&shares[_i].scene, 1e-3);
    AUTO(metric_free) struct metric *m = metric_new("start", METRIC_WALL);
    const struct explain_terms terms = {.metric = m, .culprit = &c};
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);

    ck_assert_msg(v->error == NULL, "%s: %s", shares[_i].name, v->error);
    ck_assert_int_eq(v->basis, SHARE_OF_TIME);
    near(shares[_i].name, "explained", v->explained, shares[_i].want_explained);
    ck_assert_msg(v->n_differences > 0, "%s", shares[_i].name);
    ck_assert_str_eq(v->differences[0].call, shares[_i].first_call);
    ck_assert_str_eq(v->differences[0].path, shares[_i].first_path);
    near(shares[_i].name, "the first share", v->differences[0].share, shares[_i].want_first);
}
END_TEST

START_TEST(instructions_are_told_by_what_has_counted_them)
{
    const struct scene *s = &shares[0].scene;
    const struct culprit c = culprit_of(s, 1e-3);
    AUTO(inspection_free) struct inspection *seen = seen_of(s);
    AUTO(metric_free) struct metric *m = metric_new("start", METRIC_WALL);
    const struct explain_terms terms = {.metric = m, .culprit = &c};

    for (int side = 0; side < SIDES; side++) {
        struct inspected_run *r = inspection_add_run(seen);
        r->build = (uint32_t)side;
        r->how = INSPECTED_INSTRUCTIONS;
        r->count = side ? 3e9 : 1e9;
        r->by = mem_dup("callgrind of valgrind-3.19.0");
    }
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);
    const struct resource *last = &v->resources[v->n_resources - 1];
    ck_assert_str_eq(last->name, "instructions (callgrind)");
    ck_assert(last->amount[BEFORE] == 1e9 && last->amount[AFTER] == 3e9 && isnan(last->share));
}
END_TEST

START_TEST(numbers_are_means_of_a_run)
{
    const struct scene *s = &shares[1].scene;
    AUTO(inspection_free) struct inspection *seen = seen_of(s);
    struct culprit c = culprit_of(s, 1e-3);
    AUTO(metric_free) struct metric *m = metric_new("start", METRIC_WALL);
    const struct explain_terms terms = {.metric = m, .culprit = &c};
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);
    const struct difference *d = &v->differences[0];

    ck_assert_double_eq(d->count[BEFORE], 2);
    ck_assert_double_eq(d->count[AFTER], 402);
    ck_assert_double_eq_tol(d->seconds[BEFORE], .01, 1e-6);
    ck_assert_double_eq_tol(d->seconds[AFTER], 1.01, 1e-6);
    ck_assert_str_eq(d->group, "database");
    ck_assert_uint_eq(v->n_timed, PAIRS);
    ck_assert_uint_eq(v->n_plain, 1);
    ck_assert_str_eq(v->resources[0].name, "user CPU");
    ck_assert_double_eq_tol(v->resources[0].share, 1.0 / 3, 1e-6);
    ck_assert_double_eq_tol(v->metric_delta, 1500, 1e-6);
    ck_assert_msg(strstr(v->message, "explain 67 % of the change") != NULL, "%s", v->message);
    ck_assert_msg(strstr(v->message, "fsync on /x.db, 2 calls before and 402 after") != NULL, "%s",
                  v->message);
}
END_TEST

/* Shares only where the metric's unit is time that goes by. */
static const struct {
    const char *name;
    enum metric_kind kind;
    const char *unit;
    enum share_basis want;
} units[] = {
    {"elapsed time in ms", METRIC_WALL, "ms", SHARE_OF_TIME},
    {"a start until it is ready", METRIC_TS, "ms", SHARE_OF_TIME},
    {"elapsed time in s", METRIC_WALL, "s", SHARE_OF_TIME},
    {"a time that the program prints", METRIC_VALUE, "us", SHARE_OF_TIME},
    {"a number of calls", METRIC_SYSCALLS, "calls", SHARE_OF_COUNT},
    {"a score", METRIC_VALUE, "points", SHARE_OF_NOTHING},
    {"a number without unit", METRIC_VALUE, "", SHARE_OF_NOTHING},
    {"memory", METRIC_RSS, "MiB", SHARE_OF_NOTHING},
    {"processor time, of which waiting is none", METRIC_CPU, "ms", SHARE_OF_NOTHING},
};

START_TEST(shares_need_a_unit_of_elapsed_time)
{
    const struct scene *s = &shares[1].scene;
    AUTO(inspection_free) struct inspection *seen = seen_of(s);
    struct culprit c = culprit_of(s, 1e-3);
    AUTO(metric_free) struct metric *m = metric_new("m", units[_i].kind);
    const struct explain_terms terms = {.metric = m, .culprit = &c};

    mem_free(m->unit);
    m->unit = mem_dup(units[_i].unit);
    ck_assert_int_eq(explain_has_shares(m), units[_i].want == SHARE_OF_TIME);
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);
    ck_assert_msg(v->basis == units[_i].want, "%s", units[_i].name);
    ck_assert_msg(isfinite(v->explained) == (units[_i].want != SHARE_OF_NOTHING), "%s",
                  units[_i].name);
    ck_assert_str_eq(v->differences[0].call, "fsync");
}
END_TEST

/* Expected shares by hand: 400 more on /x.db, 30 more on /y. */
static const struct {
    const char *spec;
    double delta, want, want_second;
} counted[] = {
    {"syscalls:calls=fsync", 430, 1, 30.0 / 430},
    {"syscalls:calls=fsync,path=*.db", 400, 1, NAN},
    {"syscalls:calls=fsync+fdatasync", 860, .5, 30.0 / 860},
    {"syscalls:calls=fsync,of=time", 1250, .88, .08},
};

START_TEST(of_a_number_of_calls_these_have_shares)
{
    static const struct scene s = {
        {{.calls = {{"fsync", "/x.db", 2, 0}, {"fsync", "/y", 1, 0}, {"read", "/z", 1, 0}}},
         {.calls = {{"fsync", "/x.db", 402, 1}, {"fsync", "/y", 31, .1}, {"read", "/z", 9, 0}}}},
        DISK_AS_BEFORE,
        0};
    AUTO(inspection_free) struct inspection *seen = seen_of(&s);
    struct culprit c = {.delta = counted[_i].delta};
    AUTO(metric_free) struct metric *m = NULL;
    struct err e = {0};

    ck_assert_msg(metric_from_spec(counted[_i].spec, &m, &e) == ERR_OK, "%s", e.text);
    const struct explain_terms terms = {.metric = m, .culprit = &c};
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);
    near(counted[_i].spec, "explained", v->explained, counted[_i].want);
    ck_assert_str_eq(v->differences[0].path, "/x.db");
    for (size_t i = 0; i < v->n_differences; i++) {
        const struct difference *d = &v->differences[i];
        ck_assert(strcmp(d->call, "read") != 0 || isnan(d->share));
        if (strcmp(d->path, "/y") == 0 && isnan(counted[_i].want_second))
            ck_assert(isnan(d->share));
        else if (strcmp(d->path, "/y") == 0)
            near(counted[_i].spec, "the second share", d->share, counted[_i].want_second);
    }
}
END_TEST

START_TEST(of_processor_time_the_books_have_shares)
{
    const struct scene *s = &shares[1].scene; /* 500 ms more user time */
    AUTO(inspection_free) struct inspection *seen = seen_of(s);
    struct culprit c = {.delta = 625};
    AUTO(metric_free) struct metric *m = metric_new("m", METRIC_CPU);
    const struct explain_terms terms = {.metric = m, .culprit = &c};
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);

    ck_assert_double_eq_tol(v->resources[0].share, .8, 1e-6);
}
END_TEST

/* Samples of functions, before and after, at 1,000 a second. */
static const struct {
    const char *name, *object;
    uint64_t n[SIDES];
    bool is_noise; /* below 4 standard deviations of a Poisson count */
} functions[] = {
    {"busy", "app", {100, 600}, false},
    {"steady", "app", {400, 410}, true},
    {"gone", "libx.so", {90, 0}, false},
    {"busy", "libx.so", {1, 2}, true},
};

START_TEST(functions_that_are_busier_are_named)
{
    AUTO(inspection_free) struct inspection *seen = seen_of(&shares[1].scene); /* 1.5 s slower */
    struct culprit c = culprit_of(&shares[1].scene, 1e-3);
    AUTO(metric_free) struct metric *m = metric_new("m", METRIC_WALL);
    const struct explain_terms terms = {.metric = m, .culprit = &c};

    for (uint32_t side = 0; side < SIDES; side++) {
        struct inspected_run *r = inspection_add_run(seen);
        r->build = side;
        r->how = INSPECTED_SYMBOLS;
        for (size_t i = 0; i < LEN(functions); i++) {
            struct inspected_call *s;
            if (functions[i].n[side] == 0)
                continue;
            s = inspected_run_add_call(r, functions[i].name, functions[i].object);
            s->n = functions[i].n[side];
            s->seconds = (double)s->n / 1000;
        }
    }
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);
    ck_assert_uint_eq(v->n_symbols, 2);
    ck_assert_str_eq(v->symbols[0].name, "busy");
    ck_assert_str_eq(v->symbols[0].object, "app");
    ck_assert_double_eq_tol(v->symbols[0].seconds[AFTER], .6, 1e-9);
    ck_assert_double_eq_tol(v->symbols[0].share, .5 / 1.5, 1e-6);
    ck_assert_str_eq(v->symbols[1].name, "gone");
    ck_assert_double_eq_tol(v->symbols[1].share, -.09 / 1.5, 1e-6);
    ck_assert_double_eq_tol(v->explained, 2.0 / 3, 1e-6); /* by calls, as without */
}
END_TEST

START_TEST(calls_too_many_to_time_are_told_by_number)
{
    AUTO(inspection_free) struct inspection *seen = mem_alloc(sizeof(*seen));
    struct culprit c = {.delta = 5};
    AUTO(metric_free) struct metric *m = metric_new("m", METRIC_WALL);
    const struct explain_terms terms = {.metric = m, .culprit = &c};

    seen->timed = mem_dup("fsync");
    for (uint32_t side = 0; side < SIDES; side++) {
        struct inspected_run *r = inspection_add_run(seen);
        r->build = side;
        r->how = INSPECTED_COUNTS;
        inspected_run_add_call(r, "getppid", "")->n = side ? 5000000 : 10;
        inspected_run_add_call(r, "fsync", "")->n = side ? 9 : 1;
        inspected_run_add_call(r, "brk", "")->n = 3;
    }
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);
    ck_assert_uint_eq(v->n_differences, 1); /* fsync is timed, brk does not differ */
    ck_assert_str_eq(v->differences[0].call, "getppid");
    ck_assert_double_eq(v->differences[0].count[AFTER], 5000000);
    ck_assert(isnan(v->differences[0].seconds[AFTER]));
    ck_assert(isnan(v->differences[0].share));
}
END_TEST

/* 60000 writes of .14 us that tracing states as 1.1 us each, in a run of 11.7 ms, become 200 syncs.
 * What explains it is the syncs, less the writes: all. */
START_TEST(many_cheap_calls_are_bounded_by_untraced_runs)
{
    static const double elapsed_ms[SIDES] = {11.7, 24}, user_ms[SIDES] = {4.8, 4},
                        system_ms[SIDES] = {6.5, 6};
    AUTO(inspection_free) struct inspection *seen = mem_alloc(sizeof(*seen));
    const struct culprit c = {.delta = 12.3, .interval = {12.1, 12.5}};
    AUTO(metric_free) struct metric *m = metric_new("m", METRIC_WALL);
    const struct explain_terms terms = {.metric = m, .culprit = &c};

    seen->cost_us = 6;
    seen->is_pinned = true;
    for (uint32_t k = 0; k < INSPECTION_BUILDS * PAIRS; k++) {
        const uint32_t side = k % 2;
        struct inspected_run *r = inspection_add_run(seen);
        r->build = side;
        r->seconds = elapsed_ms[side] * 1e-3 * (k % 4 < 2 ? 1.01 : .99);
        r->has_usage = true;
        r->usage.user_s = user_ms[side] * 1e-3;
        r->usage.system_s = system_ms[side] * 1e-3;
        r = inspection_add_run(seen);
        r->build = side;
        r->how = INSPECTED_TIMES;
        r->seconds = side ? .03 : .4;
        struct inspected_call *call =
            inspected_run_add_call(r, side ? "fsync" : "write", side ? "/x.db" : "/dev/null");
        call->n = side ? 200 : 60000;
        call->seconds = side ? .0206 : .068;
    }
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);
    const double twice = 1.96 * v->explained_error;
    ck_assert_msg(v->explained <= 1 && v->explained + twice >= 1 && twice < .4, "%g +- %g",
                  v->explained, twice);
    ck_assert_str_eq(v->differences[0].call, "fsync");
    ck_assert_str_eq(v->differences[1].call, "write");
    ck_assert_msg(v->differences[1].share < -.4 && v->differences[1].share > -11.7 / 12.3,
                  "the writes have %g", v->differences[1].share);
}
END_TEST

START_TEST(what_could_not_be_seen_is_said)
{
    AUTO(inspection_free) struct inspection *seen = mem_alloc(sizeof(*seen));
    struct culprit c = {.delta = 5};
    AUTO(metric_free) struct metric *m = metric_new("m", METRIC_WALL);
    const struct explain_terms terms = {.metric = m, .culprit = &c};

    if (_i == 0)
        seen->error = mem_dup("the worker has no strace");
    AUTO(explanation_free) struct explanation *v = explain(&terms, seen);
    ck_assert_ptr_nonnull(v->error);
    ck_assert_msg(strncmp(v->message, "no explanation: ", 16) == 0, "%s", v->message);
    ck_assert(isnan(v->explained));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {shares_are_as_by_hand, LEN(shares)},
        {numbers_are_means_of_a_run, 1},
        {instructions_are_told_by_what_has_counted_them, 1},
        {shares_need_a_unit_of_elapsed_time, LEN(units)},
        {of_a_number_of_calls_these_have_shares, LEN(counted)},
        {of_processor_time_the_books_have_shares, 1},
        {functions_that_are_busier_are_named, 1},
        {calls_too_many_to_time_are_told_by_number, 1},
        {many_cheap_calls_are_bounded_by_untraced_runs, 1},
        {what_could_not_be_seen_is_said, 2},
    };

    return unit_run("explain", tests, LEN(tests));
}
