/* SPDX-License-Identifier: Apache-2.0 */
#include "search/planner.h"

#include "base/mem.h"
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MAX_CHAINS = 32, N_UNBUILT = 24, N_BUILT = 20, N_DOUBTFUL = 12, N_ENDS = 2, N_REPEATS = 4 };
static_assert(N_UNBUILT + N_BUILT + 4 * N_DOUBTFUL / 3 + N_ENDS <= OUTLOOK_MAX_CHOICES,
              "room for all choices");
static const uint32_t repeats[N_REPEATS] = {1, 2, 4, 8};
static const double least_build_price = .9; /* cheaper builds are not worth more revisions */
static const double far_price = .01;        /* of a build's, for the length of the range */
const double planner_presumed_broken = .05;

/** The few best of many. */
struct shortlist {
    uint32_t n, cap;
    struct entry {
        uint32_t revision;
        double score;
    } items[N_UNBUILT];
};

static void shortlist_offer(struct shortlist *s, uint32_t revision, double score)
{
    uint32_t i = s->n;

    if (s->n == s->cap && s->items[--i].score >= score)
        return;
    for (; i > 0 && s->items[i - 1].score < score; i--)
        s->items[i] = s->items[i - 1];
    s->items[i] = (struct entry){revision, score};
    s->n += s->n < s->cap;
}

/** Of the last bit of an expected number of culprits: one more of them, or not. */
static double entropy_of(double p)
{
    p -= floor(p);
    return p <= 0 || p >= 1 ? 0 : -p * log2(p) - (1 - p) * log2(1 - p);
}

/** A build from the other end of the range is dearer than one beside the last built: enough to
 *  decide between equals. */
static double price_of(const struct planner *p, uint32_t revision, uint32_t n_runs)
{
    double away = fabs((double)revision - p->last_built) / p->dag->n;
    double build = fmax(p->build_price, least_build_price) * (1 + far_price * away);

    return (p->testable[revision] == TESTABLE_YES ? 0 : build) + p->task_price + n_runs;
}

/**
 * Where those in flight cut the range: how much of all mass is below a commit's nearest neighbours
 * among them.
 */
struct cuts {
    uint64_t *below, *above; /* of each commit: those that are, of it or it of them, ancestors */
    double *mass;            /* of each in flight */
};

static void cuts_fill(const struct planner *p, const double *mass, struct cuts *out)
{
    const struct dag *d = p->dag;

    out->below = mem_array(d->n, sizeof(*out->below));
    out->above = mem_array(d->n, sizeof(*out->above));
    out->mass = mem_array(p->n_pending, sizeof(*out->mass));
    for (uint32_t i = 0; i < p->n_pending; i++) {
        uint32_t v = p->pending[i].revision;
        out->below[v] |= UINT64_C(1) << i;
        out->above[v] |= UINT64_C(1) << i;
        out->mass[i] = isnan(mass[v]) ? 0 : mass[v];
    }
    for (uint32_t v = 0; v < d->n; v++)
        for (uint32_t e = d->first[v]; e < d->first[v + 1]; e++)
            out->below[v] |= out->below[d->parents[e]];
    for (uint32_t v = d->n; v-- > 0;)
        for (uint32_t e = d->first[v]; e < d->first[v + 1]; e++)
            out->above[d->parents[e]] |= out->above[v];
}

static void cuts_fini(struct cuts *c)
{
    mem_free(c->below);
    mem_free(c->above);
    mem_free(c->mass);
}
DEFINE_AUTO_FINI(struct cuts, cuts_fini)

/** What a split is worth once all in flight has told on which side of it the culprit is. */
static double cuts_entropy(const struct cuts *c, uint32_t v, double mass)
{
    double low = 0, high = 1;

    for (uint64_t left = c->below[v]; left; left &= left - 1)
        low = fmax(low, c->mass[__builtin_ctzll(left)]);
    for (uint64_t left = c->above[v]; left; left &= left - 1)
        high = fmin(high, c->mass[__builtin_ctzll(left)]);
    return high > low ? (high - low) * entropy_of((mass - low) / (high - low)) : 0;
}

static bool is_open(const struct planner *p, uint32_t v)
{
    return !p->is_barred[v] && p->testable[v] != TESTABLE_NO && v != p->good && v != p->bad;
}

static void shortlist_unbuilt(const struct planner *p, const double *mass, struct shortlist *plain,
                              struct shortlist *beside)
{
    AUTO(cuts_fini) struct cuts cuts = {0};

    if (p->n_pending > 0)
        cuts_fill(p, mass, &cuts);
    for (uint32_t v = 0; v < p->dag->n; v++) {
        if (!is_open(p, v) || isnan(mass[v]) || p->posterior->weight[v] <= 0)
            continue;
        /* An artifact of an earlier bisection makes it testable before it is sampled. */
        if (p->testable[v] != TESTABLE_UNKNOWN && evidence_find(p->evidence, v) != UINT32_MAX)
            continue;
        shortlist_offer(plain, v, p->p_builds[v] * entropy_of(mass[v]));
        if (p->n_pending > 0)
            shortlist_offer(beside, v, p->p_builds[v] * cuts_entropy(&cuts, v, mass[v]));
    }
}

static void shortlist_built(const struct planner *p, const double *mass, struct shortlist *built)
{
    for (uint32_t i = 0; i < p->evidence->n; i++) {
        const struct sampled *s = &p->evidence->sampled[i];
        double below = 0;
        if (!is_open(p, s->revision))
            continue;
        for (uint32_t k = 0; k < p->posterior->n_classes; k++)
            if (s->is_ancestor[p->posterior->classes[k].first])
                below += mass[k];
        shortlist_offer(built, s->revision, entropy_of(below));
    }
}

static void choices_add(struct outlook *o, const struct shortlist *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t k = 0;
        while (k < o->n_choices && o->choices[k] != s->items[i].revision)
            k++;
        if (k == o->n_choices)
            o->choices[o->n_choices++] = s->items[i].revision;
    }
}

/** The best cuts of something believed of each commit, the same for all of a class. */
static void choices_by(const struct planner *p, const double *of_class, uint32_t n_unbuilt,
                       uint32_t n_built, struct outlook *o)
{
    const struct posterior *post = p->posterior;
    uint32_t n_plain = p->n_pending > 0 ? n_unbuilt / 3 : n_unbuilt * 2 / 3;
    struct shortlist plain = {.cap = n_plain}, beside = {.cap = n_unbuilt * 2 / 3},
                     built = {.cap = n_built};
    double *mass = mem_array(p->dag->n, sizeof(*mass));
    double *belief = mem_array(p->dag->n, sizeof(*belief));

    for (uint32_t c = 0; c < p->dag->n; c++)
        if (post->class_of[c] != UINT32_MAX)
            belief[c] = of_class[post->class_of[c]] * post->weight[c] /
                        post->classes[post->class_of[c]].weight;
    dag_masses(p->dag, belief, .01, MAX_CHAINS, mass);
    shortlist_unbuilt(p, mass, &plain, &beside);
    shortlist_built(p, of_class, &built);
    choices_add(o, &plain);
    choices_add(o, &beside);
    choices_add(o, &built);
    mem_free(belief);
    mem_free(mass);
}

/** Where one commit is likely already: what is open about the others, in parts of one. */
static bool doubt_fill(const struct posterior *post, double *of_class)
{
    double all = 0, top = 0;

    for (uint32_t k = 0; k < post->n_classes; k++) {
        double here = posterior_class(post, k);
        top = fmax(top, here / post->classes[k].n);
        of_class[k] = fmax(here * (1 - here / post->classes[k].n), 0);
        all += of_class[k];
    }
    for (uint32_t k = 0; k < post->n_classes && all > 0; k++)
        of_class[k] /= all;
    return top > .5 && all > 0;
}

static void choices_fill(const struct planner *p, struct outlook *o)
{
    const struct posterior *post = p->posterior;
    const uint32_t ends[N_ENDS] = {p->good, p->bad};
    double *of_class = mem_array(post->n_classes + 1, sizeof(*of_class));

    for (uint32_t k = 0; k < post->n_classes; k++)
        of_class[k] = p->is_blind ? post->classes[k].weight : posterior_class(post, k);
    choices_by(p, of_class, N_UNBUILT, N_BUILT, o);
    if (!p->is_blind && doubt_fill(post, of_class))
        choices_by(p, of_class, N_DOUBTFUL, N_DOUBTFUL / 3, o);
    mem_free(of_class);
    for (size_t i = 0; i < LEN(ends); i++)
        if (!p->is_barred[ends[i]] && p->testable[ends[i]] != TESTABLE_NO &&
            (p->testable[ends[i]] == TESTABLE_YES ||
             evidence_find(p->evidence, ends[i]) != UINT32_MAX)) /* by stored samples alone */
            o->choices[o->n_choices++] = ends[i];
}

/** A choice of revision and repeats, and at most how much it can tell for its price. */
struct option {
    uint32_t choice;
    struct probe probe; /* its information: the chance that it can be had */
    double bound;
    bool is_bound_tight; /* what is in flight is counted */
};

static uint32_t options_fill(const struct planner *p, const struct outlook *o,
                             struct option *options)
{
    uint32_t n = 0;
    struct mixture m;

    for (uint32_t i = 0; i < o->n_choices; i++) {
        uint32_t v = o->choices[i];
        double p_works = p->testable[v] == TESTABLE_YES ? 1 : p->p_builds[v];
        outlook_mixture(o, i, &m);
        for (size_t r = 0; r < N_REPEATS; r++) {
            double price = price_of(p, v, repeats[r]);
            options[n++] = (struct option){
                .choice = i,
                .probe = {v, repeats[r], p_works, price},
                .bound = p_works * mixture_bound_bits(&m, repeats[r]) / price,
                .is_bound_tight = o->n_pending == 0,
            };
        }
    }
    return n;
}

static struct option *likeliest(struct option *options, uint32_t n)
{
    struct option *best = options;

    for (uint32_t i = 1; i < n; i++)
        if (options[i].bound > best->bound)
            best = &options[i];
    return best;
}

/** The option that may be best is looked at closer, in three steps, until none can beat the best
 *  that was. What is in flight only lowers the information, so the bound without it holds too. */
static struct probe best_of(const struct outlook *o, struct option *options, uint32_t n)
{
    struct probe best = {.revision = UINT32_MAX};
    double best_rate = 0;

    while (n > 0) {
        struct option *c = likeliest(options, n);
        struct probe probe = c->probe;
        if (c->bound <= best_rate * (1 + 1e-9))
            break;
        if (!c->is_bound_tight) {
            double bits = outlook_bound_bits(o, c->choice, probe.n_runs);
            c->bound = fmin(c->bound, bits * probe.info_bits / probe.price_runs);
            c->is_bound_tight = true;
            continue;
        }
        probe.info_bits *= outlook_bits(o, c->choice, probe.n_runs);
        *c = options[--n];
        if (probe.info_bits / probe.price_runs > best_rate * (1 + 1e-9)) {
            best = probe;
            best_rate = probe.info_bits / probe.price_runs;
        }
    }
    return best;
}

struct probe planner_choose(const struct planner *p)
{
    AUTO(outlook_fini) struct outlook o = {0};
    struct option options[OUTLOOK_MAX_CHOICES * N_REPEATS];

    for (uint32_t i = 0; i < p->n_pending; i++)
        o.pending[o.n_pending++] = p->pending[i];
    choices_fill(p, &o);
    outlook_fill(&o, p->dag, p->posterior, p->is_blind);
    return best_of(&o, options, options_fill(p, &o, options));
}

void planner_rates(const struct planner *p, double *rates)
{
    AUTO(outlook_fini) struct outlook o = {0};

    while (o.n_choices < p->n_pending) {
        o.choices[o.n_choices] = p->pending[o.n_choices].revision;
        o.n_choices++;
    }
    outlook_fill(&o, p->dag, p->posterior, p->is_blind);
    for (uint32_t i = 0; i < o.n_choices; i++) {
        rates[i] = 0;
        for (size_t r = 0; r < N_REPEATS; r++)
            rates[i] = fmax(rates[i], outlook_bits(&o, i, repeats[r]) /
                                          price_of(p, o.choices[i], repeats[r]));
    }
}

/** Chance that something `distance` away from a broken commit works, when `gap` away something
 * does. */
static double p_beyond(uint32_t distance, uint32_t gap)
{
    return log1p(distance) / log1p(gap);
}

static double p_between_broken(uint32_t n_probes)
{
    static const double by_probes[] = {1, .5, .3, .15};

    return n_probes < LEN(by_probes) ? by_probes[n_probes] : .02;
}

void planner_p_builds(const uint8_t *testable, uint32_t n, double *p_builds)
{
    uint32_t left = UINT32_MAX; /* the last commit whose state is known */
    uint32_t n_probes = 0;      /* broken ones in a row up to it */

    for (uint32_t v = 0; v < n; v++)
        p_builds[v] = testable[v] == TESTABLE_NO ? 0 : 1;
    for (uint32_t v = 0; v <= n; v++) {
        if (v < n && testable[v] == TESTABLE_UNKNOWN)
            continue;
        bool left_broken = left != UINT32_MAX && testable[left] == TESTABLE_NO;
        bool right_broken = v < n && testable[v] == TESTABLE_NO;
        uint32_t from = left == UINT32_MAX ? 0 : left + 1;
        uint32_t in_row = n_probes;
        for (uint32_t w = v; right_broken && w < n && testable[w] != TESTABLE_YES; w++)
            in_row += testable[w] == TESTABLE_NO;
        for (uint32_t u = from; u < v && u < n; u++) {
            uint32_t gap = v - from + 1;
            if (left_broken && right_broken)
                p_builds[u] = p_between_broken(in_row);
            else if (left_broken)
                p_builds[u] = p_beyond(u - left, gap);
            else if (right_broken)
                p_builds[u] = p_beyond(v - u, gap);
            else
                p_builds[u] = .98;
        }
        if (v < n) {
            n_probes = testable[v] == TESTABLE_NO ? n_probes + 1 : 0;
            left = v;
        }
    }
}
