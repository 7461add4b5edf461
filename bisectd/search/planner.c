/* SPDX-License-Identifier: Apache-2.0 */
#include "search/planner.h"

#include "base/mem.h"
#include "search/mixture.h"
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MAX_CHAINS = 32, N_UNBUILT = 16, N_BUILT = 12, N_ENDS = 2, MAX_PENDING = 16 };
enum { MAX_CHOICES = N_UNBUILT + N_BUILT + N_ENDS, MAX_FIELD = MAX_CHOICES + MAX_PENDING };
static_assert(MAX_FIELD <= 64, "a revision has a bit of a mark");
enum { N_SCENARIOS = 16 };
static const uint32_t repeats[] = {1, 2, 4, 8};
enum { N_REPEATS = 4 };
static const double least_build_price = 2; /* cheaper builds are not worth more revisions */
static const double least_weight = 2e-4;   /* hypotheses below this do not guide */
const double planner_presumed_broken = .05;

/**
 * Revisions under consideration: those in flight, then those to choose from. Candidates of a class
 * that those in flight treat alike form a cell.
 */
struct field {
    uint32_t n, n_pending;
    uint32_t revisions[MAX_FIELD];
    uint32_t n_cells;
    struct cell *cells;
    double *shares; /* of all cells, for the first choice, then for the next: the part of the cell's
                       weight that would make the revision bad */
    uint32_t n_atoms;
    struct atom *atoms;
};

struct cell {
    uint32_t class;
    uint64_t pending; /* bit i: revision i is bad if the culprit is here */
    double weight;    /* prior */
    uint32_t next;    /* of the same class; UINT32_MAX */
};

/** What is believed in, one at a time: a step in a cell with a sign, or no change. */
struct atom {
    double weight;
    uint32_t cell; /* UINT32_MAX: no change */
    struct component good, bad;
};

static bool does_guide(const struct hypothesis *h)
{
    return fmax(h->p[0], h->p[1]) >= least_weight;
}

/** One sweep for all: bit i of a commit's mark says that it is revision i or an ancestor of it. */
static uint64_t *field_marks(const struct planner *p, const struct field *f)
{
    uint64_t *marks = mem_array(p->dag->n, sizeof(*marks));
    uint32_t last = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        marks[f->revisions[i]] |= UINT64_C(1) << i;
        last = f->revisions[i] > last ? f->revisions[i] : last;
    }
    for (uint32_t v = last + 1; v-- > 0;)
        for (uint32_t e = p->dag->first[v]; marks[v] && e < p->dag->first[v + 1]; e++)
            marks[p->dag->parents[e]] |= marks[v];
    return marks;
}

static uint32_t field_cell(struct field *f, uint32_t *first_of_class, uint32_t class,
                           uint64_t pending)
{
    for (uint32_t i = first_of_class[class]; i != UINT32_MAX; i = f->cells[i].next)
        if (f->cells[i].pending == pending)
            return i;
    if ((f->n_cells & (f->n_cells - 1)) == 0)
        f->cells = mem_resize(f->cells, f->n_cells ? 2 * (size_t)f->n_cells : 1, sizeof(*f->cells));
    f->cells[f->n_cells] = (struct cell){class, pending, 0, first_of_class[class]};
    return first_of_class[class] = f->n_cells++;
}

/** Finds the cell of each commit; UINT32_MAX for those that do not guide. */
static uint32_t *field_cells(const struct planner *p, struct field *f, const uint64_t *marks)
{
    const struct posterior *post = p->posterior;
    uint64_t is_pending = (UINT64_C(1) << f->n_pending) - 1;
    uint32_t *cell_of = mem_array(p->dag->n, sizeof(*cell_of));
    uint32_t *first_of_class = mem_array(post->n_classes, sizeof(*first_of_class));

    memset(first_of_class, 0xff, post->n_classes * sizeof(*first_of_class));
    for (uint32_t c = 0; c < p->dag->n; c++) {
        uint32_t k = post->class_of[c];
        cell_of[c] = UINT32_MAX;
        if (k == UINT32_MAX || !does_guide(&post->classes[k]))
            continue;
        cell_of[c] = field_cell(f, first_of_class, k, marks[c] & is_pending);
        f->cells[cell_of[c]].weight += post->weight[c];
    }
    mem_free(first_of_class);
    return cell_of;
}

static void field_shares(const struct planner *p, struct field *f)
{
    uint64_t *marks = field_marks(p, f);
    uint32_t *cell_of = field_cells(p, f, marks);

    f->shares = mem_array((size_t)(f->n - f->n_pending) * f->n_cells + 1, sizeof(*f->shares));
    for (uint32_t c = 0; c < p->dag->n; c++) {
        if (cell_of[c] == UINT32_MAX)
            continue;
        for (uint64_t left = marks[c] >> f->n_pending; left; left &= left - 1)
            f->shares[(size_t)__builtin_ctzll(left) * f->n_cells + cell_of[c]] +=
                p->posterior->weight[c];
    }
    for (uint32_t i = 0; i < f->n - f->n_pending; i++)
        for (uint32_t k = 0; k < f->n_cells; k++) {
            double *share = &f->shares[(size_t)i * f->n_cells + k];
            *share = fmin(*share / f->cells[k].weight, 1);
        }
    mem_free(marks);
    mem_free(cell_of);
}

static void field_add_atom(struct field *f, double weight, uint32_t cell, const struct side *good,
                           const struct side *bad, double sigma)
{
    if (weight < least_weight)
        return;
    f->atoms[f->n_atoms++] = (struct atom){
        .weight = weight,
        .cell = cell,
        .good = {.mean = good->mean, .var = good->var, .run_var = sigma * sigma},
        .bad = {.mean = bad->mean, .var = bad->var, .run_var = sigma * sigma},
    };
}

static void field_atoms(const struct planner *p, struct field *f)
{
    const struct posterior *post = p->posterior;

    f->atoms = mem_array(2 * (size_t)f->n_cells + 1, sizeof(*f->atoms));
    field_add_atom(f, post->p_none, UINT32_MAX, &post->none.all, &post->none.all, post->none.sigma);
    for (uint32_t i = 0; i < f->n_cells; i++)
        for (int higher = 0; higher < 2; higher++) {
            const struct hypothesis *h = &post->classes[f->cells[i].class];
            const struct fit *fit = &h->fit[higher];
            field_add_atom(f, h->p[higher] * f->cells[i].weight / h->weight, i, &fit->good,
                           &fit->bad, fit->sigma);
        }
}

static void field_fini(struct field *f)
{
    mem_free(f->cells);
    mem_free(f->shares);
    mem_free(f->atoms);
}
DEFINE_AUTO_FINI(struct field, field_fini)

static void mixture_fill(const struct field *f, const double *shares, struct mixture *m)
{
    for (uint32_t i = 0; i < f->n_atoms; i++) {
        const struct atom *a = &f->atoms[i];
        double share = a->cell == UINT32_MAX ? 0 : shares[a->cell];
        struct component good = a->good, bad = a->bad;
        good.weight = a->weight * (1 - share);
        bad.weight = a->weight * share;
        if (good.weight >= least_weight)
            mixture_add(m, &good);
        if (bad.weight >= least_weight)
            mixture_add(m, &bad);
    }
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
        if (is_new && !isnan(mass[v]))
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

static void field_fill(const struct planner *p, struct field *f)
{
    struct shortlist unbuilt = {.cap = N_UNBUILT}, built = {.cap = N_BUILT};
    const uint32_t ends[N_ENDS] = {p->good, p->bad};

    shortlist_fill(p, &unbuilt, &built);
    field_add(f, &unbuilt);
    field_add(f, &built);
    for (size_t i = 0; i < LEN(ends); i++)
        if (!p->is_barred[ends[i]] && p->testable[ends[i]] == TESTABLE_YES)
            f->revisions[f->n++] = ends[i];
    field_shares(p, f);
    field_atoms(p, f);
}

/** A choice of revision and repeats, and at most how much it can tell for its price. */
struct option {
    uint32_t at;
    struct probe probe;
    double bound;
};

static uint32_t options_fill(const struct planner *p, const struct field *f,
                             struct mixture *mixtures, struct option *options)
{
    uint32_t n = 0;

    for (uint32_t at = 0; at < f->n - f->n_pending; at++) {
        struct mixture *m = &mixtures[at];
        uint32_t revision = f->revisions[f->n_pending + at];
        double p_works = p->testable[revision] == TESTABLE_YES ? 1 : p->p_builds[revision];
        *m = (struct mixture){.is_rate = p->posterior->is_rate};
        mixture_fill(f, f->shares + (size_t)at * f->n_cells, m);
        for (size_t i = 0; i < LEN(repeats); i++) {
            struct option *o = &options[n++];
            double price_runs = price_of(p, revision, repeats[i]);
            *o = (struct option){.at = at, .probe = {revision, repeats[i], p_works, price_runs}};
            o->bound = p_works * mixture_bound_bits(m, repeats[i]) / o->probe.price_runs;
        }
    }
    return n;
}

struct probe planner_choose(const struct planner *p)
{
    AUTO(field_fini) struct field f = {0};
    struct option options[MAX_CHOICES * N_REPEATS];
    struct probe best = {.revision = UINT32_MAX};
    double best_rate = 0;

    field_fill(p, &f);
    struct mixture *mixtures = mem_array(MAX_CHOICES, sizeof(*mixtures));
    uint32_t n = options_fill(p, &f, mixtures, options);
    while (n > 0) {
        uint32_t next = 0;
        for (uint32_t i = 1; i < n; i++)
            if (options[i].bound > options[next].bound)
                next = i;
        struct option o = options[next];
        if (o.bound <= best_rate)
            break;
        options[next] = options[--n];
        o.probe.info_bits *= mixture_bits(&mixtures[o.at], o.probe.n_runs);
        double rate = o.probe.info_bits / o.probe.price_runs;
        if (rate > best_rate * (1 + 1e-9)) {
            best = o.probe;
            best_rate = rate;
        }
    }
    mem_free(mixtures);
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
