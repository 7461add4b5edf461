/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The posterior against a slow one: every commit and every set of commits weighed by itself, with
 * the runs' covariances written out and inverted. Only the values' noise and the list of weathers
 * are the evidence's own.
 */
#include "search/posterior.h"

#include "base/clock.h"
#include "base/mem.h"
#include "unit/run.h"
#include "world.h"
#include <math.h>
#include <string.h>

enum { MAX_COMMITS = 7, MAX_RUNS = 16, N_NODES = 33, N_DELTAS = 24 };

/** Commits in order, the good end first. */
struct graph {
    uint32_t n;
    int parents[MAX_COMMITS][2]; /* -1: none */
};

static const struct setting {
    const char *name;
    struct graph graph;
    double weight[MAX_COMMITS];
    uint32_t n_sampled, sampled[MAX_COMMITS]; /* in turn */
    uint32_t n_runs, n_hosts;
    double value[MAX_COMMITS]; /* of each commit */
    double host, drift;        /* the second host's level; how far levels wander in a run */
    double outlier;            /* added to the last run but one */
    double longest;            /* runs take a second; so much longer is the longest wait */
    enum worse worse;
    bool has_base; /* good is no ancestor of bad */
} settings[] = {
    /* clang-format off */
    {"a step on a line",
     {7, {{-1, -1}, {0, -1}, {1, -1}, {2, -1}, {3, -1}, {4, -1}, {5, -1}}}, {0, 1, 1, 1, 1, 1, 1},
     4, {0, 6, 3, 4}, 10, 1, {0, 0, 0, 0, 5, 5, 5}, 0, 0, 0, 1, WORSE_UP, false},
    {"ends alone, hardly apart",
     {7, {{-1, -1}, {0, -1}, {1, -1}, {2, -1}, {3, -1}, {4, -1}, {5, -1}}}, {0, 1, 2, 1, .5, 1, 3},
     2, {0, 6}, 6, 1, {0, 0, 0, 0, 1, 1, 1}, 0, 0, 0, 40, WORSE_EITHER, false},
    {"all revisions, a staircase",
     {7, {{-1, -1}, {0, -1}, {1, -1}, {2, -1}, {3, -1}, {4, -1}, {5, -1}}}, {0, 1, 2, 1, .5, 1, 3},
     7, {0, 6, 3, 1, 2, 4, 5}, 14, 1, {0, 0, 4, 4, 4, 9, 9}, 0, 0, 0, 1, WORSE_UP, false},
    {"a hump on two hosts that drift",
     {7, {{-1, -1}, {0, -1}, {1, -1}, {2, -1}, {3, -1}, {4, -1}, {5, -1}}}, {0, 1, 1, 1, 1, 1, 1},
     6, {0, 6, 3, 2, 4, 5}, 14, 2, {0, 0, 6, 6, 0, 0, 0}, 20, .7, 0, 9, WORSE_UP, false},
    {"a step down that is not asked for",
     {6, {{-1, -1}, {0, -1}, {1, -1}, {2, -1}, {3, -1}, {4, -1}}}, {0, 1, 1, 1, 1, 1},
     4, {0, 5, 2, 3}, 12, 2, {0, 0, 0, -2, -2, -2}, .5, .2, 0, 3, WORSE_UP, false},
    {"nothing, and an outlier",
     {5, {{-1, -1}, {0, -1}, {1, -1}, {2, -1}, {3, -1}}}, {0, 1, 1, 1, 1},
     3, {0, 4, 2}, 14, 1, {0}, 0, 0, 30, 2, WORSE_DOWN, false},
    {"two arms that merge",
     {7, {{-1, -1}, {0, -1}, {1, -1}, {1, -1}, {3, -1}, {2, 4}, {5, -1}}}, {0, 1, 1, 1, 1, 1, 1},
     5, {0, 6, 2, 4, 3}, 13, 2, {0, 0, 0, 4, 4, 4, 4}, 1, .3, 0, 5, WORSE_UP, false},
    {"an arm that changes beside the other",
     {7, {{-1, -1}, {0, -1}, {0, -1}, {2, -1}, {1, 3}, {4, -1}, {5, -1}}}, {0, 1, 2, 3, 1, 1, 1},
     6, {0, 6, 1, 3, 4, 2}, 14, 1, {0, 3, 0, 3, 6, 6, 6}, 0, 0, 0, 1, WORSE_EITHER, false},
    {"good is no ancestor of bad",
     {6, {{-1, -1}, {-1, -1}, {1, -1}, {2, -1}, {3, -1}, {4, -1}}}, {0, 0, 1, 1, 1, 1},
     4, {0, 5, 1, 3}, 11, 1, {0, 3, 3, 3, 3, 3}, 0, 0, 0, 1, WORSE_EITHER, true},
    /* clang-format on */
};
enum { N_SEEDS = 8 };

static bool is_in(const struct graph *g, uint32_t commit, int revision)
{
    if (revision < 0 || (uint32_t)revision < commit)
        return false;
    return (uint32_t)revision == commit || is_in(g, commit, g->parents[revision][0]) ||
           is_in(g, commit, g->parents[revision][1]);
}

/** What both sides are asked about. */
struct question {
    const struct setting *of;
    uint32_t n_runs, revision[MAX_RUNS], host[MAX_RUNS];
    double at[MAX_RUNS], value[MAX_RUNS]; /* seconds */
    bool is_rate;
    struct scale scale;
    uint8_t is_above[MAX_COMMITS];
};

static void question_init(struct question *q, const struct setting *s, uint64_t seed, bool is_rate)
{
    double now = 0, drift = 0;

    *q = (struct question){.of = s, .n_runs = s->n_runs, .is_rate = is_rate};
    q->scale =
        is_rate ? (struct scale){.min_effect = .1} : (struct scale){.min_effect = 1, .floor = .05};
    for (uint32_t c = 1; c < s->graph.n; c++)
        q->is_above[c] = s->has_base;
    for (uint32_t i = 0; i < s->n_runs; i++) {
        uint64_t x = seed * 1000 + 4 * i;
        q->revision[i] = s->sampled[i % s->n_sampled];
        q->host[i] = (i + i / s->n_sampled) % s->n_hosts;
        now += 1 + floor((s->longest - 1) * uniform_of(x));
        q->at[i] = now;
        drift += s->drift * normal_of(x + 1);
        q->value[i] = 100 + s->value[q->revision[i]] + q->host[i] * s->host + drift +
                      normal_of(x + 2) + (i + 2 == s->n_runs ? s->outlier : 0);
        if (is_rate)
            q->value[i] = uniform_of(x) < (fabs(s->value[q->revision[i]]) > 1 ? .8 : .2);
    }
}

/* The slow way */

struct matrix {
    double at[MAX_RUNS][MAX_RUNS];
};

/** Gauss and Jordan's method; returns the log of the determinant, NAN if there is none. */
static double invert(const struct matrix *a, uint32_t n, struct matrix *inverse)
{
    struct matrix left = *a;
    double log_det = 0;

    memset(inverse, 0, sizeof(*inverse));
    for (uint32_t i = 0; i < n; i++)
        inverse->at[i][i] = 1;
    for (uint32_t j = 0; j < n; j++) {
        double pivot = left.at[j][j];
        if (pivot <= 1e-9 * a->at[j][j])
            return NAN;
        log_det += log(pivot);
        for (uint32_t k = 0; k < n; k++) {
            left.at[j][k] /= pivot;
            inverse->at[j][k] /= pivot;
        }
        for (uint32_t i = 0; i < n; i++) {
            double factor = i == j ? 0 : left.at[i][j];
            for (uint32_t k = 0; k < n; k++) {
                left.at[i][k] -= factor * left.at[j][k];
                inverse->at[i][k] -= factor * inverse->at[j][k];
            }
        }
    }
    return log_det;
}

/** Seconds are run lengths here. A run begins at least one after the one before on its host. */
static double distance(const struct question *q, uint32_t a, uint32_t b)
{
    double out = 0, last = -1;

    for (uint32_t i = a; i <= b; i++) {
        if (q->host[i] != q->host[a])
            continue;
        out += last < 0 ? 0 : fmax(q->at[i] - last, 1);
        last = q->at[i];
    }
    return out;
}

/** One weather: the inverse covariance without the level that all runs share. */
struct lens {
    struct matrix m;
    double log_prior;
};

static void lens_init(struct lens *l, const struct question *q, struct weather w,
                      const struct observed *runs)
{
    struct matrix cov = {{{0}}}, inverse;
    double rows[MAX_RUNS] = {0}, ones = 0;

    for (uint32_t i = 0; i < q->n_runs; i++)
        for (uint32_t k = i; k < q->n_runs; k++) {
            double shared = q->host[i] == q->host[k] ? w.host_var : 0;
            if (q->host[i] == q->host[k])
                shared += w.drift_var * exp(-distance(q, i, k) / w.drift_runs);
            cov.at[i][k] = cov.at[k][i] = shared + (i == k ? runs[i].noise : 0);
        }
    double log_det = invert(&cov, q->n_runs, &inverse);
    for (uint32_t i = 0; i < q->n_runs; i++)
        for (uint32_t k = 0; k < q->n_runs; k++) {
            rows[i] += inverse.at[i][k];
            ones += inverse.at[i][k];
        }
    for (uint32_t i = 0; i < q->n_runs; i++)
        for (uint32_t k = 0; k < q->n_runs; k++)
            l->m.at[i][k] = inverse.at[i][k] - rows[i] * rows[k] / ones;
    l->log_prior = log(w.prior) - .5 * (log_det + log(ones));
}

static double product(const struct lens *l, const struct question *q, const double *a,
                      const double *b)
{
    double sum = 0;

    for (uint32_t i = 0; i < q->n_runs; i++)
        for (uint32_t k = 0; k < q->n_runs; k++)
            sum += a[i] * l->m.at[i][k] * b[k];
    return sum;
}

static double part_below(double x)
{
    return .5 * erfc(-x / sqrt(2));
}

/** Evidence of one step with sums xx and xy; [0]: smaller than M, [1]: not. */
static void weigh_step(const struct question *q, double yy, double xx, double xy, double out[2])
{
    double power = q->n_runs - 1, noise = yy + q->scale.floor * q->scale.floor;

    out[0] = out[1] = 0;
    for (int j = 0; j < N_DELTAS; j++) {
        double delta = .45 * pow(20 / .45, j / (N_DELTAS - 1.)), y = delta * xy;
        double l = (y + sqrt(y * y + 4 * noise * power)) / (2 * noise);
        double curvature = power + noise * l * l;
        double mass = exp(power * log(l) - noise * l * l / 2 + y * l - delta * delta * xx / 2) /
                      sqrt(curvature) / N_DELTAS;
        double p = part_below(log(delta / (q->scale.min_effect * l)) * sqrt(curvature));
        out[0] += mass * (1 - p);
        out[1] += mass * p;
    }
}

static double weigh_none(const struct question *q, double yy)
{
    double power = q->n_runs - 1, noise = yy + q->scale.floor * q->scale.floor;

    return pow(power / noise, power / 2) * exp(-power / 2) / sqrt(2 * power);
}

/** Sizes too small become M, the least likely first; the others follow. */
static void enlarge(double *size, const struct matrix *inverse, double sigma, uint32_t n, double m)
{
    for (uint32_t round = 0; round < n; round++) {
        uint32_t least = n;
        double lack = 1e-9, by = 0;
        for (uint32_t i = 0; i < n; i++) {
            double this = (m - fabs(size[i])) / (sigma * sqrt(inverse->at[i][i]));
            if (this <= lack)
                continue;
            lack = this;
            least = i;
            by = size[i] > 0 ? m - size[i] : -m - size[i];
        }
        for (uint32_t i = 0; i < n && least < n; i++)
            size[i] += by * inverse->at[i][least] / inverse->at[least][least];
    }
}

/** Evidence of several steps at once, and how large each is. */
static double weigh_steps(const struct question *q, double yy, uint32_t n, const struct matrix *xx,
                          const double *xy, double *size)
{
    double m = q->scale.min_effect, power = q->n_runs - 1. - n, total = 0, shares = 1;
    double least = q->scale.floor * q->scale.floor, rest = yy + least;
    struct matrix inverse;
    double log_det = power < 1 ? NAN : invert(xx, n, &inverse);

    if (isnan(log_det))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        size[i] = 0;
        for (uint32_t k = 0; k < n; k++)
            size[i] += inverse.at[i][k] * xy[k];
        rest -= size[i] * xy[i];
        shares *= i > 0 ? i : 1;
    }
    rest = fmax(rest, least);
    double sigma = sqrt(rest / power);
    double out = pow(power / rest, power / 2) * exp(-power / 2) / sqrt(2 * power) *
                 pow(2 * M_PI, n / 2.) / exp(log_det / 2);
    for (uint32_t i = 0; i < n; i++) {
        out *= part_below((fabs(size[i]) - m) / (sigma * sqrt(inverse.at[i][i])));
        total += fmax(fabs(size[i]), m);
    }
    out *= shares / pow(total, n) / log(20 / .45) / (1 + 16 * sigma * sigma / (total * total));
    enlarge(size, &inverse, sigma, n, m);
    return out;
}

/* Rates: the exact one and a grid. */

static double node(int i, double exact)
{
    return i == 0 ? exact : (i - .5) / (N_NODES - 1);
}

/** Evidence that runs with x fail more (sign 1) or less; out as of weigh_step(). */
static void weigh_rates(const struct question *q, const double *x, int sign, double out[2])
{
    double prior = 0;

    out[0] = out[1] = 0;
    for (int a = 0; a < N_NODES; a++)
        for (int b = 0; b < N_NODES; b++) {
            double rate[2] = {node(a, 0), node(b, 1)};
            double w = (a ? .3 / (N_NODES - 1) : .7) * (b ? .3 / (N_NODES - 1) : .7);
            if (rate[1] < rate[0])
                continue;
            prior += w;
            for (uint32_t i = 0; i < q->n_runs; i++) {
                double fails = rate[(x[i] > 0) == (sign > 0)];
                w *= q->value[i] > 0 ? fails : 1 - fails;
            }
            out[rate[1] - rate[0] >= q->scale.min_effect] += w;
        }
    out[0] /= prior;
    out[1] /= prior;
}

static double weigh_rate_none(const struct question *q)
{
    double out = 0;

    for (int a = -2; a < N_NODES - 1; a++) {
        double w = a == -2 ? .35 : a == -1 ? .25 : .4 / (N_NODES - 1);
        double rate = a == -2 ? 0 : a == -1 ? 1 : (a + .5) / (N_NODES - 1);
        for (uint32_t i = 0; i < q->n_runs; i++)
            w *= q->value[i] > 0 ? rate : 1 - rate;
        out += w;
    }
    return out;
}

/* All together */

struct answer {
    double none, reversed, hump, base, of[MAX_COMMITS]; /* masses, then probabilities */
    double total;
};

struct enumeration {
    const struct question *q;
    uint32_t n_lenses;
    struct lens lenses[MAX_WEATHERS];
    double y[MAX_RUNS], x[MAX_COMMITS + 1][MAX_RUNS]; /* the last: the merge base */
    double weight[MAX_COMMITS];                       /* sums to 1 */
    struct answer answer;
};

static void enumeration_init(struct enumeration *n, const struct question *q,
                             const struct evidence *e)
{
    const struct setting *s = q->of;
    double total = 0;

    *n = (struct enumeration){.q = q, .n_lenses = q->is_rate ? 0 : e->n_weathers};
    for (uint32_t g = 0; g < n->n_lenses; g++)
        lens_init(&n->lenses[g], q, e->weathers[g].weather, e->runs);
    for (uint32_t c = 0; c < s->graph.n; c++)
        total += s->weight[c];
    for (uint32_t c = 0; c < s->graph.n; c++)
        n->weight[c] = s->weight[c] / total;
    for (uint32_t i = 0; i < q->n_runs; i++) {
        n->y[i] = q->value[i] - 100;
        n->x[MAX_COMMITS][i] = q->is_above[q->revision[i]];
        for (uint32_t c = 0; c < s->graph.n; c++)
            n->x[c][i] = is_in(&s->graph, c, (int)q->revision[i]);
    }
}

static void weigh_one(const struct enumeration *n, const double *x, int sign, double out[2])
{
    out[0] = out[1] = 0;
    if (n->q->is_rate)
        weigh_rates(n->q, x, sign, out);
    for (uint32_t g = 0; g < n->n_lenses; g++) {
        const struct lens *l = &n->lenses[g];
        double one[2];
        weigh_step(n->q, product(l, n->q, n->y, n->y), product(l, n->q, x, x),
                   sign * product(l, n->q, x, n->y), one);
        out[0] += exp(l->log_prior) * one[0];
        out[1] += exp(l->log_prior) * one[1];
    }
}

/** Evidence of a step at each of the commits, and their sizes in the likeliest weather. */
static double weigh_set(const struct enumeration *n, const uint32_t *commits, uint32_t n_set,
                        double *size)
{
    double out = 0, best = 0;

    for (uint32_t g = 0; g < n->n_lenses; g++) {
        const struct lens *l = &n->lenses[g];
        struct matrix xx = {{{0}}};
        double xy[MAX_STEPS], sizes[MAX_STEPS];
        for (uint32_t i = 0; i < n_set; i++) {
            xy[i] = product(l, n->q, n->x[commits[i]], n->y);
            for (uint32_t k = 0; k < n_set; k++)
                xx.at[i][k] = product(l, n->q, n->x[commits[i]], n->x[commits[k]]);
        }
        double p = exp(l->log_prior) *
                   weigh_steps(n->q, product(l, n->q, n->y, n->y), n_set, &xx, xy, sizes);
        out += p;
        if (p <= best)
            continue;
        best = p;
        memcpy(size, sizes, sizeof(sizes));
    }
    return out;
}

static bool is_asked(const struct question *q, bool is_up)
{
    return q->of->worse == WORSE_EITHER || is_up == (q->of->worse == WORSE_UP);
}

static void add_set(struct enumeration *n, const uint32_t *commits, uint32_t n_set)
{
    static const double prior[MAX_STEPS + 1] = {0, 0, .12, .015, .003};
    double size[MAX_STEPS] = {0}, sum = 0, p = weigh_set(n, commits, n_set, size) * prior[n_set];
    bool is_up = false, is_down = false;

    for (uint32_t i = 0; i < n_set; i++) {
        p *= (i + 1) * n->weight[commits[i]];
        sum += size[i];
        *(size[i] > 0 ? &is_up : &is_down) = true;
    }
    p *= is_up && is_down ? .02 : 1;
    bool is_hump = fabs(sum) < n->q->scale.min_effect || !is_asked(n->q, sum > 0);
    n->answer.total += p;
    n->answer.hump += is_hump ? p : 0;
    for (uint32_t i = 0; i < n_set; i++)
        n->answer.of[commits[i]] += !is_hump && is_asked(n->q, size[i] > 0) ? p : 0;
}

/** Every set with these commits and later ones that the runs can tell apart. */
static void add_sets(struct enumeration *n, uint32_t *commits, uint32_t n_set)
{
    uint32_t first = n_set > 0 ? commits[n_set - 1] + 1 : 0;

    if (n_set > 1)
        add_set(n, commits, n_set);
    for (uint32_t c = first; c < n->q->of->graph.n && n_set < MAX_STEPS; c++) {
        bool is_apart = n->weight[c] > 0;
        for (uint32_t i = 0; i < n_set; i++)
            is_apart &= memcmp(n->x[c], n->x[commits[i]], sizeof(n->x[c])) != 0;
        commits[n_set] = c;
        if (is_apart)
            add_sets(n, commits, n_set + 1);
    }
}

static void add_singles(struct enumeration *n)
{
    const struct question *q = n->q;
    bool is_either = q->of->worse == WORSE_EITHER;
    double prior = 1 - .1 - (q->of->has_base ? .05 : 0) - (q->is_rate ? 0 : .12 + .015 + .003);

    for (int sign = -1; sign <= 1; sign += 2) {
        double share = is_either ? prior / 2 : is_asked(q, sign > 0) ? prior - .03 : .03, out[2];
        for (uint32_t c = 0; c < q->of->graph.n; c++) {
            weigh_one(n, n->x[c], sign, out);
            double p = out[1] * share * n->weight[c], small = out[0] * share * n->weight[c];
            *(is_asked(q, sign > 0) ? &n->answer.of[c] : &n->answer.reversed) += p;
            n->answer.none += small;
            n->answer.total += p + small;
        }
        if (!q->of->has_base || !is_asked(q, sign > 0))
            continue;
        weigh_one(n, n->x[MAX_COMMITS], sign, out);
        n->answer.base += out[1] * .05 * (is_either ? .5 : 1);
        n->answer.total += out[1] * .05 * (is_either ? .5 : 1);
    }
}

static void enumerate(struct enumeration *n)
{
    double none = n->q->is_rate ? weigh_rate_none(n->q) : 0;
    uint32_t commits[MAX_STEPS];

    for (uint32_t g = 0; g < n->n_lenses; g++)
        none += exp(n->lenses[g].log_prior) *
                weigh_none(n->q, product(&n->lenses[g], n->q, n->y, n->y));
    n->answer.none = n->answer.total = .1 * none;
    add_singles(n);
    if (!n->q->is_rate)
        add_sets(n, commits, 0);
}

/* The fast way */

static struct posterior *believe(const struct question *q, struct evidence *e)
{
    const struct setting *s = q->of;
    struct posterior *p = posterior_new(s->graph.n, s->weight, q->is_rate, s->worse,
                                        s->has_base ? q->is_above : NULL);

    for (uint32_t i = 0; i < q->n_runs; i++) {
        struct observed run = {
            .at_ns = (int64_t)q->at[i] * NS_PER_S, .seconds = 1, .number = i, .value = q->value[i]};
        uint32_t slot;
        if (!evidence_add(e, q->revision[i], q->host[i] ? "second" : "first", &run, &slot))
            continue;
        for (uint32_t c = 0; c < s->graph.n; c++)
            e->sampled[slot].is_ancestor[c] = is_in(&s->graph, c, (int)q->revision[i]);
        posterior_refine(p, e, slot);
    }
    evidence_settle(e, q->is_rate);
    posterior_update(p, e, q->scale);
    return p;
}

static void compare(const struct setting *s, uint64_t seed, bool is_rate)
{
    struct question q;
    struct enumeration n;

    question_init(&q, s, seed, is_rate);
    AUTO(evidence_free) struct evidence *e = evidence_new(s->graph.n);
    AUTO(posterior_free) struct posterior *p = believe(&q, e);
    enumeration_init(&n, &q, e);
    enumerate(&n);
    struct answer *a = &n.answer;
    const double pairs[][2] = {{p->p_none, a->none},
                               {p->p_reversed, a->reversed},
                               {p->p_hump, a->hump},
                               {p->p_merge_base, a->base}};
    static const char *const names[] = {"none", "reversed", "hump", "merge base"};
    for (uint32_t i = 0; i < LEN(pairs); i++)
        ck_assert_msg(fabs(pairs[i][0] - pairs[i][1] / a->total) < 1e-6,
                      "%s, seed %d, %s: %.9f, slowly %.9f", s->name, (int)seed, names[i],
                      pairs[i][0], pairs[i][1] / a->total);
    for (uint32_t c = 0; c < s->graph.n; c++)
        ck_assert_msg(fabs(posterior_of(p, c) - a->of[c] / a->total) < 1e-6,
                      "%s, seed %d, commit %u: %.9f, slowly %.9f", s->name, (int)seed, c,
                      posterior_of(p, c), a->of[c] / a->total);
}

START_TEST(numbers_agree_with_enumeration)
{
    for (uint64_t seed = 0; seed < N_SEEDS; seed++)
        compare(&settings[_i], seed, false);
}
END_TEST

START_TEST(rates_agree_with_enumeration)
{
    for (uint64_t seed = 0; seed < N_SEEDS; seed++)
        compare(&settings[_i], seed, true);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {numbers_agree_with_enumeration, LEN(settings)},
        {rates_agree_with_enumeration, LEN(settings)},
    };

    return unit_run("enumeration", tests, LEN(tests));
}
