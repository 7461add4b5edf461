/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of the belief whatever the model: what it does not depend on, and what it sums to.
 * Runs are handed to a struct bisection as results of workers, and the belief is read back from its
 * verdict, so that nothing here knows how it is computed. */
#include "search/bisection.h"

#include "base/hash.h"
#include "base/mem.h"
#include "unit/run.h"
#include "world.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COMMITS = 16, MOST_SHOTS = 64, N_SEEDS = 12, N_HOSTS = 3, START_S = 1000 };
static const double same = 1e-6; /* of two probabilities */

/** One run: of which commit, where, when, and what came of it. */
struct shot {
    uint32_t commit, host, number;
    int64_t at_s;
    double value;
};

/** A history and the runs taken in it. */
struct tale {
    struct range *range;
    struct request *request;
    struct shot shots[MOST_SHOTS];
    uint32_t n, order[MOST_SHOTS]; /* in which the runs are handed over */
    char hosts[N_HOSTS][16];
};

static void tale_fini(struct tale *t)
{
    range_free(t->range);
    request_free(t->request);
}
DEFINE_AUTO_FINI(struct tale, tale_fini)

/* clang-format off */
static const struct kind {
    const char *name;
    struct world w;
    uint32_t n_hosts;
    double host_step, drift; /* added with each host; with each second */
    double p_wild;           /* of a run that is far too high */
} kinds[] = {
    {"normal noise, in a line", {.n = 12, .level = 100, .effect = 6, .sd = 2, .worse = WORSE_UP}, 1, 0, 0, 0},
    {"normal noise, merges", {.n = 15, .level = 100, .effect = 5, .sd = 2, .p_merge = .35, .worse = WORSE_UP}, 1, 0, 0, 0},
    {"direction unknown", {.n = 12, .level = 100, .effect = -4, .sd = 2, .p_merge = .35, .worse = WORSE_EITHER}, 1, 0, 0, 0},
    {"no change", {.n = 15, .level = 100, .sd = 2, .p_merge = .35, .worse = WORSE_EITHER}, 1, 0, 0, 0},
    {"hosts of different speed", {.n = 15, .level = 100, .effect = 12, .sd = 3, .p_merge = .35, .worse = WORSE_UP}, 3, 20, 0, 0},
    {"a level that drifts", {.n = 15, .level = 100, .effect = 8, .sd = 2, .p_merge = .35, .worse = WORSE_UP}, 1, 0, .1, 0},
    {"wild runs", {.n = 15, .level = 100, .effect = 6, .sd = 2, .p_merge = .35, .worse = WORSE_UP}, 1, 0, 0, .08},
    {"values without a spread", {.n = 15, .level = 100, .effect = 10, .p_merge = .35, .worse = WORSE_UP}, 1, 0, 0, 0},
    {"pass or fail", {.n = 15, .level = .1, .effect = .8, .is_rate = true, .p_merge = .35, .worse = WORSE_UP}, 1, 0, 0, 0},
};
/* clang-format on */

static bool is_bad(const struct range *r, uint32_t culprit, uint32_t v)
{
    if (v == culprit)
        return true;
    for (uint32_t i = 0; i < r->commits[v].n_parents; i++)
        if (is_bad(r, culprit, r->commits[v].parents[i]))
            return true;
    return false;
}

static double value_of(const struct kind *k, bool is_bad, const struct shot *s, uint64_t key)
{
    double level = k->w.level + (is_bad ? k->w.effect : 0);

    if (k->w.is_rate)
        return uniform_of(key) < level;
    double wild = uniform_of(key + 1) < k->p_wild ? 15 * k->w.sd : 0;
    return level + k->host_step * s->host + k->drift * (double)(s->at_s - START_S) +
           k->w.sd * normal_of(key + 2) + wild;
}

/** Ends four times each, and twenty runs anywhere; the culprit is anywhere too. */
static void tale_init(struct tale *t, const struct kind *k, uint64_t seed)
{
    struct world w = k->w;
    uint32_t numbers[MOST_COMMITS] = {0};

    w.seed = seed;
    w.confidence = .95;
    w.min_effect_percent = k->w.is_rate ? 20 : 1;
    *t = (struct tale){.range = world_range(&w), .request = world_request(&w), .n = 28};
    uint32_t culprit = 1 + (uint32_t)(uniform_of(seed * 31 + 7) * w.n);
    for (uint32_t i = 0; i < t->n; i++) {
        struct shot *s = &t->shots[i];
        uint64_t key = mix64(seed * 1000 + i);
        s->commit = i < 8 ? (i % 2 == 0 ? 0 : w.n) : (uint32_t)(uniform_of(key + 10) * (w.n + 1));
        s->host = (uint32_t)(uniform_of(key + 11) * k->n_hosts);
        s->number = numbers[s->commit]++;
        s->at_s = START_S + 3 * i;
        s->value = value_of(k, is_bad(t->range, culprit, s->commit), s, key);
        t->order[i] = i;
    }
    for (uint32_t h = 0; h < N_HOSTS; h++)
        snprintf(t->hosts[h], sizeof(t->hosts[h]), "host-%u", h);
}

/* What is believed in the end */

struct belief {
    enum verdict_kind kind;
    double p_none, min_effect, p[MOST_COMMITS]; /* by the commit's index in the tale's range */
};

/** Each run is a task of its own, which a worker brings back. */
static void hand_over(struct bisection *b, const struct tale *t, uint32_t i, enum run_status status)
{
    const struct shot *s = &t->shots[i];
    struct task_build build = {.revision = t->range->commits[s->commit].id};
    struct task_run run = {.number = s->number};
    struct task_spec spec = {
        .ordinal = i, .n_builds = 1, .builds = &build, .n_runs = 1, .runs = &run};
    AUTO(task_result_free) struct task_result *r = mem_alloc(sizeof(*r));

    bisection_issued(b, &spec);
    r->environment.host = mem_dup(t->hosts[s->host]);
    struct build_result *built = task_result_add_build(r);
    built->revision = build.revision;
    built->status = BUILD_OK;
    built->seconds = 1;
    snprintf(built->artifact, sizeof(built->artifact), "%064x", s->commit + 1);
    struct run_result *done = task_result_add_run(r);
    done->status = status;
    done->value = status == RUN_OK ? s->value : NAN;
    done->at.ns = s->at_s * NS_PER_S;
    done->seconds = 1;
    bisection_absorb(b, &(struct event){.kind = EVENT_RESULT, .ordinal = i, .result = r});
}

static void read_belief(const struct bisection *b, const struct range *range, struct belief *out)
{
    AUTO(verdict_fini) struct verdict v = {0};

    bisection_verdict(b, &v);
    *out =
        (struct belief){.kind = v.kind, .p_none = v.p_no_change, .min_effect = v.min_effect_value};
    for (size_t i = 0; i < v.n_candidates; i++)
        out->p[range_find(range, &v.candidates[i].revision)] = v.candidates[i].probability;
    for (size_t i = 0; i < v.n_culprits; i++)
        out->p[range_find(range, &v.culprits[i].revision)] = v.culprits[i].probability;
}

/** Believes the tale, told in the commits' order of `range`; what else happens comes last. */
static void believe(const struct tale *t, const struct range *range, const struct event *started,
                    uint32_t n_cannot, struct belief *out)
{
    AUTO(bisection_free) struct bisection *b = NULL;
    AUTO(effects_fini) struct effects f = {0};
    struct err e = {0};

    ck_assert_msg(bisection_new(t->request, range, &b, &e) == ERR_OK, "%s", e.text);
    bisection_skip_verification(b);
    bisection_absorb(b, started ? started : &(struct event){.kind = EVENT_STARTED});
    for (uint32_t i = 0; i < t->n; i++)
        hand_over(b, t, t->order[i], RUN_OK);
    for (uint32_t i = 0; i < n_cannot; i++) /* tried once more */
        hand_over(b, t, i, RUN_CANNOT);
    bisection_decide(b, &f);
    read_belief(b, t->range, out);
}

static void believe_plainly(const struct tale *t, struct belief *out)
{
    believe(t, t->range, NULL, 0, out);
}

static void assert_same(const struct belief *a, const struct belief *b, const char *name,
                        uint64_t seed)
{
    ck_assert_msg(fabs(a->p_none - b->p_none) <= same, "%s, seed %u: p_no_change %.9g, then %.9g",
                  name, (unsigned)seed, a->p_none, b->p_none);
    for (uint32_t v = 0; v < MOST_COMMITS; v++) /* what is below .001 is not shown */
        ck_assert_msg(fabs(a->p[v] - b->p[v]) <= same || fmax(a->p[v], b->p[v]) < .001 + same,
                      "%s, seed %u: commit %u %.9g, then %.9g", name, (unsigned)seed, v, a->p[v],
                      b->p[v]);
    ck_assert_msg(a->kind == b->kind, "%s, seed %u: another verdict", name, (unsigned)seed);
}

/* What it does not depend on */

static void shuffle(uint32_t *order, uint32_t n, uint64_t key)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)(uniform_of(key + i) * i), held = order[j];
        order[j] = order[i - 1];
        order[i - 1] = held;
    }
}

START_TEST(the_order_of_handing_over_does_not_matter)
{
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        AUTO(tale_fini) struct tale t;
        struct belief a, b;
        tale_init(&t, &kinds[_i], seed);
        believe_plainly(&t, &a);
        shuffle(t.order, t.n, seed * 99991);
        believe_plainly(&t, &b);
        assert_same(&a, &b, kinds[_i].name, seed);
    }
}
END_TEST

START_TEST(what_workers_are_called_does_not_matter)
{
    static const char *const others[N_HOSTS] = {"zebra", "m", "aardvark"};

    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        AUTO(tale_fini) struct tale t;
        struct belief a, b;
        tale_init(&t, &kinds[_i], seed);
        believe_plainly(&t, &a);
        for (uint32_t h = 0; h < N_HOSTS; h++)
            snprintf(t.hosts[h], sizeof(t.hosts[h]), "%s", others[h]);
        believe_plainly(&t, &b);
        assert_same(&a, &b, kinds[_i].name, seed);
    }
}
END_TEST

static bool are_parents_placed(const struct commit *c, const uint32_t *place)
{
    for (uint32_t i = 0; i < c->n_parents; i++)
        if (place[c->parents[i]] == UINT32_MAX)
            return false;
    return true;
}

/** The same commits in another order in which parents come first. */
static struct range *reorder(const struct range *from, uint64_t key, bool *is_other)
{
    struct range *r = range_copy(from);
    struct commit *commits = mem_array(from->n, sizeof(*commits));
    uint32_t place[MOST_COMMITS];

    memset(place, 0xff, sizeof(place));
    *is_other = false;
    for (uint32_t at = 0; at < from->n; at++) {
        uint32_t ready[MOST_COMMITS], n = 0;
        for (uint32_t v = 0; v < from->n; v++)
            if (place[v] == UINT32_MAX && are_parents_placed(&from->commits[v], place))
                ready[n++] = v;
        uint32_t v = ready[(uint32_t)(uniform_of(key + at) * n)];
        place[v] = at;
        *is_other |= v != at;
        commits[at] = r->commits[v];
        for (uint32_t i = 0; i < commits[at].n_parents; i++)
            commits[at].parents[i] = place[commits[at].parents[i]];
    }
    mem_free(r->commits);
    r->commits = commits;
    r->good = place[from->good];
    r->bad = place[from->bad];
    return r;
}

START_TEST(another_order_of_the_same_history_does_not_matter)
{
    uint32_t n_others = 0;

    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        AUTO(tale_fini) struct tale t;
        AUTO(range_free) struct range *other = NULL;
        struct belief a, b;
        bool is_other;
        tale_init(&t, &kinds[_i], seed);
        other = reorder(t.range, seed * 77773, &is_other);
        n_others += is_other;
        believe_plainly(&t, &a);
        believe(&t, other, NULL, 0, &b);
        assert_same(&a, &b, kinds[_i].name, seed);
    }
    ck_assert(n_others >= N_SEEDS / 2 || kinds[_i].w.p_merge == 0);
}
END_TEST

/** y = factor * x + shift; a negative factor turns the direction that is worse. */
static const struct {
    const char *name;
    double factor, shift;
} changes[] = {
    {"in ns instead of s", 1e9, 0},     {"a thousandth", 1e-3, 0},  {"an offset of 1,000", 1, 1000},
    {"an offset below zero", 1, -1000}, {"another scale", 1.8, 32}, {"upside down", -1, 0},
};

static void change_values(struct tale *t, double factor, double shift)
{
    enum worse *worse = &t->request->project->metrics[0]->worse;

    for (uint32_t i = 0; i < t->n; i++)
        t->shots[i].value = factor * t->shots[i].value + shift;
    if (factor < 0 && *worse != WORSE_EITHER)
        *worse = *worse == WORSE_UP ? WORSE_DOWN : WORSE_UP;
}

/** The minimum effect is a percentage of the good level: another one where the level is shifted.
 *  With `is_automatic` it is half a standard deviation, and follows by itself. */
static void check_change(const struct kind *k, uint64_t seed, size_t change, bool is_automatic)
{
    AUTO(tale_fini) struct tale t;
    struct belief a, b;
    double factor = changes[change].factor, shift = changes[change].shift;

    tale_init(&t, k, seed);
    double percent = t.request->min_effect_percent;
    if (is_automatic)
        t.request->min_effect_percent = -1;
    believe_plainly(&t, &a);
    if (!is_automatic) {
        double level = 100 * a.min_effect / percent;
        t.request->min_effect_percent =
            percent * fabs(factor) * level / fabs(factor * level + shift);
    }
    change_values(&t, factor, shift);
    believe_plainly(&t, &b);
    ck_assert_msg(fabs(b.min_effect / (fabs(factor) * a.min_effect) - 1) < 1e-9,
                  "%s, %s: another minimum effect", k->name, changes[change].name);
    AUTO(mem_free) char *name = mem_printf("%s, %s", k->name, changes[change].name);
    assert_same(&a, &b, name, seed);
}

START_TEST(units_do_not_matter)
{
    for (size_t i = 0; i < LEN(changes) && !kinds[_i].w.is_rate; i++)
        for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
            check_change(&kinds[_i], seed, i, false);
}
END_TEST

START_TEST(units_do_not_matter_to_a_minimum_effect_of_its_own)
{
    struct kind k = kinds[_i];

    if (k.w.is_rate || k.w.sd == 0)
        return;
    k.w.level = 10; /* so that half a standard deviation is more than 1 %, shifted or not */
    for (size_t i = 0; i < LEN(changes); i++)
        if (fabs(changes[i].shift) < 100)
            for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
                check_change(&k, seed, i, true);
}
END_TEST

/* Runs that tell nothing */

START_TEST(what_could_not_be_measured_tells_nothing)
{
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        AUTO(tale_fini) struct tale t;
        struct belief a, b;
        tale_init(&t, &kinds[_i], seed);
        believe_plainly(&t, &a);
        believe(&t, t.range, NULL, 8, &b);
        assert_same(&a, &b, kinds[_i].name, seed);
    }
}
END_TEST

START_TEST(runs_outside_the_range_tell_nothing)
{
    struct stored_sample strangers[4];

    for (uint32_t i = 0; i < LEN(strangers); i++) {
        strangers[i] =
            (struct stored_sample){.value = 1e3 * i, .host = "host-0", .at.ns = 5 * i * NS_PER_S};
        snprintf(strangers[i].revision.hex, sizeof(strangers[i].revision.hex), "%040x", 0xbad + i);
    }
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        AUTO(tale_fini) struct tale t;
        struct belief a, b;
        struct event started = {
            .kind = EVENT_STARTED, .n_samples = LEN(strangers), .samples = strangers};
        tale_init(&t, &kinds[_i], seed);
        believe_plainly(&t, &a);
        believe(&t, t.range, &started, 0, &b);
        assert_same(&a, &b, kinds[_i].name, seed);
    }
}
END_TEST

/** A run of an end is as likely whichever commit it was. */
START_TEST(runs_of_the_ends_tell_no_candidates_apart)
{
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        AUTO(tale_fini) struct tale t;
        struct belief b;
        tale_init(&t, &kinds[_i], seed);
        t.n = 8;
        believe_plainly(&t, &b);
        for (uint32_t v = 2; v < t.range->n; v++)
            ck_assert_msg(fabs(b.p[v] - b.p[1]) <= same, "%s, seed %u: commits 1 and %u",
                          kinds[_i].name, (unsigned)seed, v);
    }
}
END_TEST

/* What it sums to */

/** With one candidate and no direction there are two answers: it, or nothing. */
START_TEST(two_answers_sum_to_one)
{
    struct kind k = kinds[_i];

    k.w.n = 1;
    k.w.worse = WORSE_EITHER;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        AUTO(tale_fini) struct tale t;
        struct belief b;
        tale_init(&t, &k, seed);
        believe_plainly(&t, &b);
        ck_assert_msg(fabs(b.p_none + b.p[1] - 1) <= (b.p[1] > 0 ? same : .001), "%s, seed %u: %g",
                      k.name, (unsigned)seed, b.p_none + b.p[1]);
    }
}
END_TEST

/** None, or at least one; several steps may be believed in at once. A hump, which is neither, and
 *  candidates below .001 are not shown; in these tales they are little. */
START_TEST(answers_share_one)
{
    struct kind k = kinds[_i];

    k.w.worse = WORSE_EITHER;
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        AUTO(tale_fini) struct tale t;
        struct belief b;
        double sum = 0, most = 0;
        tale_init(&t, &k, seed);
        believe_plainly(&t, &b);
        for (uint32_t v = 0; v < t.range->n; v++) {
            sum += b.p[v];
            most = fmax(most, b.p[v]);
        }
        ck_assert_msg(b.p_none >= 0 && most + b.p_none <= 1 + same, "%s, seed %u: %g and %g",
                      k.name, (unsigned)seed, b.p_none, most);
        ck_assert_msg(sum + b.p_none >= .9, "%s, seed %u: %g", k.name,
                      (unsigned)seed, sum + b.p_none);
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {the_order_of_handing_over_does_not_matter, LEN(kinds)},
        {what_workers_are_called_does_not_matter, LEN(kinds)},
        {another_order_of_the_same_history_does_not_matter, LEN(kinds)},
        {units_do_not_matter, LEN(kinds)},
        {units_do_not_matter_to_a_minimum_effect_of_its_own, LEN(kinds)},
        {what_could_not_be_measured_tells_nothing, LEN(kinds)},
        {runs_outside_the_range_tell_nothing, LEN(kinds)},
        {runs_of_the_ends_tell_no_candidates_apart, LEN(kinds)},
        {two_answers_sum_to_one, LEN(kinds)},
        {answers_share_one, LEN(kinds)},
    };

    return unit_run("properties", tests, LEN(tests));
}
