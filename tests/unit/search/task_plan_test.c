/* SPDX-License-Identifier: Apache-2.0 */
/* Several workers on one bisection: what each is given, what is broken off, and that a state
 * rebuilt from what was stored goes on as the one that lived. */
#include "base/mem.h"
#include "search/bisection.h"
#include "unit/run.h"
#include "world.h"
#include <stdio.h>
#include <string.h>

enum { N = 63, N_WORKERS = 4, STEPS_MOST = 400 };

/** A bisection of 64 revisions in a line, its tasks out, and all that happened to it. */
struct play {
    uint32_t culprit; /* values rise from 100 by 10 there */
    struct range *range;
    struct request *request;
    struct bisection *b;
    uint32_t n_out;
    struct task_spec *out[STEPS_MOST];
    /* What a store would hold */
    uint32_t n_events, n_issued, n_dropped;
    struct event events[STEPS_MOST];
    struct task_result results[STEPS_MOST];
    struct {
        uint32_t after; /* events */
        struct task_spec *spec;
    } issued[STEPS_MOST];
    uint32_t dropped[STEPS_MOST];
    bool is_finished;
};

static struct play *play_new(uint32_t culprit)
{
    struct world w = {.n = N, .confidence = .95, .seed = 3, .worse = WORSE_UP};
    struct play *p = mem_alloc(sizeof(*p));
    struct err e = {0};

    p->culprit = culprit;
    p->range = world_range(&w);
    p->request = world_request(&w);
    ck_assert_msg(bisection_new(p->request, p->range, &p->b, &e) == ERR_OK, "%s", e.text);
    return p;
}

static void play_free(struct play *p)
{
    for (uint32_t i = 0; i < p->n_issued; i++)
        task_spec_free(p->issued[i].spec);
    for (uint32_t i = 0; i < p->n_events; i++) {
        mem_free(p->results[i].environment.host);
        mem_free(p->results[i].builds);
        mem_free(p->results[i].runs);
    }
    bisection_free(p->b);
    request_free(p->request);
    range_free(p->range);
    mem_free(p);
}
DEFINE_AUTO(struct play, play_free)

static uint32_t revision_of(const struct play *p, const struct task_spec *t, uint32_t build)
{
    return range_find(p->range, &t->builds[build].revision);
}

static void forget(struct play *p, uint32_t ordinal)
{
    for (uint32_t i = 0; i < p->n_out; i++)
        if (p->out[i]->ordinal == ordinal) {
            memmove(&p->out[i], &p->out[i + 1], (--p->n_out - i) * sizeof(struct task_spec *));
            return;
        }
}

static void happen(struct play *p, const struct event *event, struct effects *f)
{
    ck_assert_uint_lt(p->n_events, STEPS_MOST);
    p->events[p->n_events++] = *event;
    if (event->kind == EVENT_RESULT)
        forget(p, event->ordinal);
    bisection_step(p->b, event, f);
    for (size_t i = 0; i < f->n_cancel; i++) {
        p->dropped[p->n_dropped++] = f->cancel[i];
        forget(p, f->cancel[i]);
    }
    for (size_t i = 0; i < f->n_issue; i++) {
        p->out[p->n_out++] = f->issue[i];
        p->issued[p->n_issued].after = p->n_events;
        p->issued[p->n_issued++].spec = TAKE(f->issue[i]);
    }
    p->is_finished = f->is_finished;
}

static void begin(struct play *p, struct effects *f)
{
    AUTO(effects_fini) struct effects first = {0};

    happen(p, &(struct event){.kind = EVENT_STARTED}, &first);
    ck_assert_uint_eq(p->n_out, 1);
    happen(p, &(struct event){.kind = EVENT_CAPACITY, .n_workers = N_WORKERS}, f);
}

/** A worker's report of a task; values differ a little from run to run. */
static struct event report(struct play *p, const struct task_spec *t)
{
    struct task_result *r = &p->results[p->n_events];

    r->environment.host = mem_dup("h");
    r->n_builds = t->n_builds;
    r->builds = mem_array(t->n_builds + 1, sizeof(*r->builds));
    r->n_runs = t->n_runs;
    r->runs = mem_array(t->n_runs + 1, sizeof(*r->runs));
    for (uint32_t i = 0; i < t->n_builds; i++) {
        bool is_reused = t->builds[i].artifact[0] && !t->builds[i].fresh;
        r->builds[i] = (struct build_result){.revision = t->builds[i].revision,
                                             .status = is_reused ? BUILD_REUSED : BUILD_OK,
                                             .seconds = is_reused ? 0 : 10};
        snprintf(r->builds[i].artifact, sizeof(r->builds[i].artifact), "%064x",
                 revision_of(p, t, i) + 1);
    }
    for (uint32_t i = 0; i < t->n_runs; i++) {
        bool is_bad = revision_of(p, t, t->runs[i].build) >= p->culprit;
        double value = 100 + (is_bad ? 10 : 0) + normal_of(t->runs[i].seed);
        r->runs[i] = (struct run_result){.run = i, .status = RUN_OK, .value = value, .seconds = 1};
    }
    return (struct event){.kind = EVENT_RESULT, .ordinal = t->ordinal, .result = r};
}

static const struct task_spec *task_at(const struct play *p, uint32_t revision)
{
    for (uint32_t i = 0; i < p->n_out; i++)
        if (revision_of(p, p->out[i], 0) == revision)
            return p->out[i];
    return NULL;
}

static const struct task_spec *task_of(const struct play *p, uint32_t ordinal)
{
    for (uint32_t i = 0; i < p->n_issued; i++)
        if (p->issued[i].spec->ordinal == ordinal)
            return p->issued[i].spec;
    return NULL;
}

START_TEST(workers_cut_the_range_among_them)
{
    AUTO(play_free) struct play *p = play_new(20);
    AUTO(effects_fini) struct effects f = {0};
    uint32_t edges[N_WORKERS + 1] = {0}, n = 1;

    begin(p, &f);
    ck_assert_uint_eq(p->n_out, N_WORKERS); /* one measures the ends */
    for (uint32_t v = 1; v < N; v++)
        if (task_at(p, v))
            edges[n++] = v;
    ck_assert_uint_eq(n, N_WORKERS);
    edges[n] = N;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t gap = edges[i + 1] - edges[i];
        ck_assert_msg(gap > N / 6 && gap <= N * 2 / 5, "%u to %u", edges[i], edges[i + 1]);
    }
}
END_TEST

/** Canceled builds are of revisions outside of the nearest ones measured below and above the
 *  culprit, and not issued again at once. */
START_TEST(what_became_useless_makes_room)
{
    AUTO(play_free) struct play *p = play_new(6 + 9 * (uint32_t)_i);
    AUTO(effects_fini) struct effects first = {0};
    uint32_t below = 0, above = N, n_canceled = 0;

    begin(p, &first);
    for (uint32_t turn = 0; !p->is_finished; turn++) {
        AUTO(effects_fini) struct effects f = {0};
        const struct task_spec *t = p->out[turn % p->n_out];
        uint32_t v = revision_of(p, t, 0), n_issued = p->n_issued;
        below = v < p->culprit && v > below ? v : below;
        above = v >= p->culprit && v < above ? v : above;
        struct event event = report(p, t);
        happen(p, &event, &f);
        if (p->is_finished || (p->n_out == 1 && p->out[0]->is_verification))
            break;
        for (size_t i = 0; i < f.n_cancel; i++, n_canceled++) {
            uint32_t c = revision_of(p, task_of(p, f.cancel[i]), 0);
            ck_assert_msg(c < below || c > above, "%u of %u to %u", c, below, above);
            for (uint32_t k = n_issued; k < p->n_issued; k++)
                ck_assert_uint_ne(revision_of(p, p->issued[k].spec, 0), c);
        }
    }
    ck_assert_uint_gt(n_canceled, 0);
}
END_TEST

/** However many workers there are, each begins another revision, and no more begin than the limit.
 */
START_TEST(a_crowd_of_workers_is_not_in_each_others_way)
{
    AUTO(play_free) struct play *p = play_new(20);
    AUTO(effects_fini) struct effects first = {0}, crowd = {0};
    uint32_t n = 0;

    happen(p, &(struct event){.kind = EVENT_STARTED}, &first);
    happen(p, &(struct event){.kind = EVENT_CAPACITY, .n_workers = 1000}, &crowd);
    for (uint32_t v = 1; v < N; v++)
        n += task_at(p, v) != NULL;
    ck_assert_uint_le(p->n_out, 48);
    ck_assert_uint_ge(p->n_out, 32);
    ck_assert_uint_eq(n, p->n_out - 1);
}
END_TEST

static int64_t runs_known(const struct bisection *b)
{
    struct verdict *v = mem_alloc(sizeof(*v));

    bisection_verdict(b, v);
    int64_t n = v->cost.n_runs;
    verdict_free(v);
    return n;
}

START_TEST(a_result_that_crossed_its_cancellation_counts)
{
    AUTO(play_free) struct play *p = play_new(20);
    const struct task_spec *canceled = NULL;

    for (int i = 0; !canceled; i++) {
        AUTO(effects_fini) struct effects f = {0};
        if (i == 0) {
            begin(p, &f);
            continue;
        }
        ck_assert(!p->is_finished);
        struct event event = report(p, p->out[0]);
        happen(p, &event, &f);
        canceled = f.n_cancel > 0 ? task_of(p, f.cancel[0]) : NULL;
    }
    AUTO(effects_fini) struct effects late = {0};
    int64_t before = runs_known(p->b);
    struct event event = report(p, canceled);
    happen(p, &event, &late);
    ck_assert_int_eq(runs_known(p->b), before + canceled->n_runs);
}
END_TEST

/** As the daemon does after a restart. */
static struct bisection *rebuild(const struct play *p)
{
    struct bisection *b = NULL;
    struct err e = {0};

    ck_assert_msg(bisection_new(p->request, p->range, &b, &e) == ERR_OK, "%s", e.text);
    for (uint32_t i = 0, k = 0; i < p->n_events; i++) {
        bisection_absorb(b, &p->events[i]);
        for (; k < p->n_issued && p->issued[k].after == i + 1; k++)
            bisection_issued(b, p->issued[k].spec);
    }
    for (uint32_t i = 0; i < p->n_dropped; i++)
        bisection_dropped(b, p->dropped[i]);
    return b;
}

/** What the one that lived has issued and dropped since then is what `again` says. */
static void assert_same(const struct play *p, uint32_t n_issued, uint32_t n_dropped,
                        const struct effects *again)
{
    ck_assert_uint_eq(p->n_issued - n_issued, again->n_issue);
    ck_assert_uint_eq(p->n_dropped - n_dropped, again->n_cancel);
    ck_assert(p->is_finished == again->is_finished);
    for (size_t i = 0; i < again->n_issue; i++) {
        const struct task_spec *a = p->issued[n_issued + i].spec, *b = again->issue[i];
        ck_assert_uint_eq(a->ordinal, b->ordinal);
        ck_assert_uint_eq(a->n_runs, b->n_runs);
        ck_assert_str_eq(a->builds[0].revision.hex, b->builds[0].revision.hex);
    }
}

/** Tasks end in another order than they began, by _i; each decision is made twice. */
START_TEST(a_rebuilt_state_decides_the_same)
{
    AUTO(play_free) struct play *p = play_new(5 + 6 * (uint32_t)_i);
    AUTO(effects_fini) struct effects first = {0};

    begin(p, &first);
    for (uint32_t turn = 0; !p->is_finished; turn++) {
        AUTO(effects_fini) struct effects live = {0}, again = {0};
        AUTO(bisection_free) struct bisection *b = rebuild(p);
        uint32_t at = (uint32_t)(uniform_of(1000 * (uint64_t)_i + turn) * p->n_out);
        uint32_t n_issued = p->n_issued, n_dropped = p->n_dropped;
        struct event event = report(p, p->out[at]);

        bisection_step(b, &event, &again);
        happen(p, &event, &live);
        assert_same(p, n_issued, n_dropped, &again);
    }
    struct verdict *v = mem_alloc(sizeof(*v));
    bisection_verdict(p->b, v);
    ck_assert_int_eq(v->kind, VERDICT_CULPRIT);
    ck_assert_uint_eq(range_find(p->range, &v->culprits[0].revision), p->culprit);
    verdict_free(v);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {workers_cut_the_range_among_them, 1},
        {what_became_useless_makes_room, 6},
        {a_crowd_of_workers_is_not_in_each_others_way, 1},
        {a_result_that_crossed_its_cancellation_counts, 1},
        {a_rebuilt_state_decides_the_same, 8},
    };

    return unit_run("task_plan", tests, LEN(tests));
}
