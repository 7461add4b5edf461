/* SPDX-License-Identifier: Apache-2.0 */
#include "search/planner.h"

#include "base/mem.h"
#include <math.h>
#include <stddef.h>

enum { MAX_CHAINS = 32, N_UNBUILT = 16, N_BUILT = 12, MAX_COMPONENTS = 64, N_NODES = 7 };
enum { MAX_FIELD = 32 }; /* bits of a mark; both lists and both ends */
static const uint32_t repeats[] = {1, 2, 4, 8};
static const double least_build_price = 2; /* cheaper builds are not worth more revisions */
static const double least_weight = 2e-4;   /* hypotheses below this do not guide */
const double planner_presumed_broken = .05;

/** Gauss-Hermite nodes and weights for a standard normal. */
static const double node_x[N_NODES] = {
    -3.750439717725742, -2.366759410734541, -1.154405394739968, 0,
    1.154405394739968,  2.366759410734541,  3.750439717725742};
static const double node_w[N_NODES] = {.000548268855972, .030757123967586, .240123178605013,
                                       .457142857142857, .240123178605013, .030757123967586,
                                       .000548268855972};

/** One hypothesis, and what it expects of a run at the revision looked at. */
struct component {
    double weight, mean, var, run_var;
};
struct mixture {
    uint32_t n;
    double total;
    struct component items[MAX_COMPONENTS];
};

static void mixture_add(struct mixture *m, double weight, const struct side *side, double sigma)
{
    if (weight < least_weight || m->n == MAX_COMPONENTS)
        return;
    m->total += weight;
    m->items[m->n++] = (struct component){weight, side->mean, side->var, sigma * sigma};
}

/** share[k]: the part of class k's weight that would make the revision bad. */
static void mixture_fill(const struct posterior *p, const double *share, struct mixture *m)
{
    m->n = 0;
    m->total = 0;
    mixture_add(m, p->p_none, &p->none.all, p->none.sigma);
    for (uint32_t k = 0; k < p->n_classes; k++)
        for (int higher = 0; higher < 2; higher++) {
            const struct hypothesis *h = &p->classes[k];
            const struct fit *f = &h->fit[higher];
            mixture_add(m, h->p[higher] * (1 - share[k]), &f->good, f->sigma);
            mixture_add(m, h->p[higher] * share[k], &f->bad, f->sigma);
        }
}

/** Information in the mean of n runs, in nats. */
static double information_normal(const struct mixture *m, uint32_t n_runs)
{
    double sd[MAX_COMPONENTS], info = 0;

    for (uint32_t i = 0; i < m->n; i++)
        sd[i] = sqrt(m->items[i].var + m->items[i].run_var / n_runs);
    for (uint32_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < N_NODES; j++) {
            double y = m->items[i].mean + sd[i] * node_x[j];
            double mix = 0;
            for (uint32_t l = 0; l < m->n; l++) {
                double z = (y - m->items[l].mean) / sd[l];
                mix += m->items[l].weight / m->total * exp(-z * z / 2) / sd[l];
            }
            double own = exp(-node_x[j] * node_x[j] / 2) / sd[i];
            info += m->items[i].weight / m->total * node_w[j] * log(own / mix);
        }
    return info;
}

/** ln of the gamma function; lgamma writes a global, which threads would race for. */
static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

/** Chance of `fails` in n runs when the rate itself is uncertain (beta-binomial, by moments). */
static double p_fails(const struct component *c, uint32_t n, uint32_t fails)
{
    double mean = fmin(fmax(c->mean, 1e-6), 1 - 1e-6);
    double room = mean * (1 - mean);
    double strength = c->var > 1e-9 ? fmax(room / c->var - 1, .1) : 1e6;
    double a = mean * strength, b = (1 - mean) * strength;

    return exp(log_gamma(n + 1) - log_gamma(fails + 1) - log_gamma(n - fails + 1) +
               log_gamma(a + fails) + log_gamma(b + n - fails) - log_gamma(a + b + n) +
               log_gamma(a + b) - log_gamma(a) - log_gamma(b));
}

static double information_rate(const struct mixture *m, uint32_t n_runs)
{
    double info = 0;

    for (uint32_t fails = 0; fails <= n_runs; fails++) {
        double p[MAX_COMPONENTS], mix = 0;
        for (uint32_t i = 0; i < m->n; i++) {
            p[i] = p_fails(&m->items[i], n_runs, fails);
            mix += m->items[i].weight / m->total * p[i];
        }
        for (uint32_t i = 0; i < m->n; i++)
            if (p[i] > 0)
                info += m->items[i].weight / m->total * p[i] * log(p[i] / mix);
    }
    return info;
}

static double information(const struct posterior *p, const struct mixture *m, uint32_t n_runs)
{
    double nats = p->is_rate ? information_rate(m, n_runs) : information_normal(m, n_runs);

    return fmax(nats / M_LN2, 0);
}

/** Revisions under consideration, and the part of each class that would make each of them bad. */
struct field {
    uint32_t n;
    uint32_t revisions[MAX_FIELD];
    double *shares; /* of all classes, for the first revision, then for the next */
};

static bool does_guide(const struct hypothesis *h)
{
    return fmax(h->p[0], h->p[1]) >= least_weight;
}

/** One sweep for all: bit i of a commit's mark says that it is revision i or an ancestor of it. */
static uint32_t *field_marks(const struct planner *p, const struct field *f, uint32_t *n_marked)
{
    uint32_t *marks = mem_array(p->dag->n, sizeof(*marks)), last = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        marks[f->revisions[i]] |= UINT32_C(1) << i;
        last = f->revisions[i] > last ? f->revisions[i] : last;
    }
    for (uint32_t v = last + 1; v-- > 0;)
        for (uint32_t e = p->dag->first[v]; marks[v] && e < p->dag->first[v + 1]; e++)
            marks[p->dag->parents[e]] |= marks[v];
    *n_marked = last + 1;
    return marks;
}

static void field_fill(const struct planner *p, struct field *f)
{
    const struct posterior *post = p->posterior;
    uint32_t n_marked, *marks = field_marks(p, f, &n_marked);

    f->shares = mem_array((size_t)f->n * post->n_classes, sizeof(*f->shares));
    for (uint32_t c = 0; c < n_marked; c++) {
        uint32_t k = post->class_of[c];
        if (k == UINT32_MAX || !does_guide(&post->classes[k]))
            continue;
        for (uint32_t left = marks[c]; left; left &= left - 1)
            f->shares[(size_t)__builtin_ctz(left) * post->n_classes + k] += post->weight[c];
    }
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t k = 0; k < post->n_classes; k++) {
            double *share = &f->shares[(size_t)i * post->n_classes + k];
            *share = fmin(*share / post->classes[k].weight, 1);
        }
    mem_free(marks);
}

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

static double entropy_of(double p)
{
    return p <= 0 || p >= 1 ? 0 : -p * log2(p) - (1 - p) * log2(1 - p);
}

static double price_of(const struct planner *p, uint32_t revision, uint32_t n_runs)
{
    double build =
        p->testable[revision] == TESTABLE_YES ? 0 : fmax(p->build_price, least_build_price);
    return build + p->task_price + n_runs;
}

static void consider(const struct planner *p, const struct field *f, uint32_t at,
                     struct probe *best)
{
    struct mixture m;
    uint32_t revision = f->revisions[at];
    double p_works = p->testable[revision] == TESTABLE_YES ? 1 : p->p_builds[revision];

    mixture_fill(p->posterior, f->shares + (size_t)at * p->posterior->n_classes, &m);
    for (size_t i = 0; i < LEN(repeats); i++) {
        struct probe c = {
            .revision = revision,
            .n_runs = repeats[i],
            .info_bits = p_works * information(p->posterior, &m, repeats[i]),
            .price_runs = price_of(p, revision, repeats[i]),
        };
        double best_rate = best->price_runs > 0 ? best->info_bits / best->price_runs : 0;
        if (c.info_bits / c.price_runs > best_rate * (1 + 1e-9))
            *best = c;
    }
}

static void shortlist_fill(const struct planner *p, struct shortlist *unbuilt,
                           struct shortlist *built)
{
    uint32_t n = p->dag->n;
    double *belief = mem_array(n, sizeof(*belief));
    double *mass = mem_array(n, sizeof(*mass));

    for (uint32_t c = 0; c < n; c++)
        belief[c] = posterior_of(p->posterior, c);
    dag_masses(p->dag, belief, .01, MAX_CHAINS, mass);
    for (uint32_t v = 0; v < n; v++) {
        if (p->is_barred[v] || p->testable[v] == TESTABLE_NO || v == p->good || v == p->bad)
            continue;
        /* An artifact of an earlier bisection makes it testable before it is sampled. */
        bool is_new =
            p->testable[v] == TESTABLE_UNKNOWN || evidence_find(p->evidence, v) == UINT32_MAX;
        if (is_new && !isnan(mass[v]) && p->posterior->weight[v] > 0)
            shortlist_offer(unbuilt, v, p->p_builds[v] * entropy_of(mass[v]));
    }
    for (uint32_t i = 0; i < p->evidence->n; i++) {
        const struct sampled *s = &p->evidence->sampled[i];
        uint32_t v = s->revision;
        if (p->is_barred[v] || p->testable[v] == TESTABLE_NO || v == p->good || v == p->bad)
            continue;
        double below = 0;
        for (uint32_t k = 0; k < p->posterior->n_classes; k++)
            if (s->is_ancestor[p->posterior->classes[k].first])
                below += posterior_class(p->posterior, k);
        shortlist_offer(built, v, entropy_of(below));
    }
    mem_free(belief);
    mem_free(mass);
}

static void field_add(struct field *f, const struct shortlist *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        f->revisions[f->n++] = s->items[i].revision;
}

struct probe planner_choose(const struct planner *p)
{
    struct probe best = {.revision = UINT32_MAX};
    struct shortlist unbuilt = {.cap = N_UNBUILT}, built = {.cap = N_BUILT};
    const uint32_t ends[] = {p->good, p->bad};
    struct field f = {0};

    shortlist_fill(p, &unbuilt, &built);
    field_add(&f, &unbuilt);
    field_add(&f, &built);
    for (size_t i = 0; i < LEN(ends); i++)
        if (!p->is_barred[ends[i]] && p->testable[ends[i]] == TESTABLE_YES)
            f.revisions[f.n++] = ends[i];
    field_fill(p, &f);
    for (uint32_t i = 0; i < f.n; i++)
        consider(p, &f, i, &best);
    mem_free(f.shares);
    return best;
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
