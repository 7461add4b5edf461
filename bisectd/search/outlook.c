/* SPDX-License-Identifier: Apache-2.0 */
#include "search/outlook.h"

#include "base/mem.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { N_SCENARIOS = 16 };
static_assert(OUTLOOK_MAX_CHOICES <= 64 && OUTLOOK_MAX_PENDING <= 64, "each has a bit of a mark");
static const double least_weight = 2e-4;  /* hypotheses below this do not guide, of a few classes */
static const double least_reading = 3e-3; /* the same for several steps at once, which guide */
static const double least_several = .3;   /* ... once they are this likely, */
static const double settled_part = .9;    /* ... or one commit has this part of single steps */
enum { FEW_CLASSES = 16 };

struct cell {
    uint32_t class;
    uint64_t pending; /* bit i: that one is bad if the culprit is here */
    double weight;    /* prior */
    uint32_t next;    /* of the same class; UINT32_MAX */
};

/** Steps in these cells; a run's level depends on the set of steps that have come in. */
struct atom {
    double weight;
    uint32_t n, cells[MAX_STEPS];
    uint32_t level; /* of the empty set, among the levels; set s is s further on */
};

static double least_of(const struct posterior *p)
{
    return least_weight * fmin(1, FEW_CLASSES / (double)p->n_classes);
}

static bool does_guide(const struct posterior *p, uint32_t k, bool is_blind)
{
    return is_blind || p->classes[k].p_any >= least_of(p);
}

/** One sweep for all: bit i of a commit's mark says that it is revision i or an ancestor of it. */
static uint64_t *marks_of(const struct dag *dag, const uint32_t *revisions, uint32_t n)
{
    uint64_t *marks = mem_array(dag->n, sizeof(*marks));
    uint32_t last = 0;

    for (uint32_t i = 0; i < n; i++) {
        marks[revisions[i]] |= UINT64_C(1) << i;
        last = revisions[i] > last ? revisions[i] : last;
    }
    for (uint32_t v = last + 1; v-- > 0;)
        for (uint32_t e = dag->first[v]; marks[v] && e < dag->first[v + 1]; e++)
            marks[dag->parents[e]] |= marks[v];
    return marks;
}

static uint64_t *pending_marks(const struct outlook *o, const struct dag *dag)
{
    uint32_t revisions[OUTLOOK_MAX_PENDING];

    for (uint32_t i = 0; i < o->n_pending; i++)
        revisions[i] = o->pending[i].revision;
    return marks_of(dag, revisions, o->n_pending);
}

static uint32_t find_cell(struct outlook *o, uint32_t *first_of_class, uint32_t class,
                          uint64_t pending)
{
    for (uint32_t i = first_of_class[class]; i != UINT32_MAX; i = o->cells[i].next)
        if (o->cells[i].pending == pending)
            return i;
    if ((o->n_cells & (o->n_cells - 1)) == 0)
        o->cells = mem_resize(o->cells, o->n_cells ? 2 * (size_t)o->n_cells : 1, sizeof(*o->cells));
    o->cells[o->n_cells] = (struct cell){class, pending, 0, first_of_class[class]};
    return first_of_class[class] = o->n_cells++;
}

/** Finds the cell of each commit that guides; UINT32_MAX for the others. */
static void fill_cells(struct outlook *o, const struct posterior *p, const struct dag *dag,
                       bool is_blind, uint32_t *first_of_class, uint32_t *cell_of)
{
    uint64_t *marks = pending_marks(o, dag);

    memset(first_of_class, 0xff, p->n_classes * sizeof(*first_of_class));
    for (uint32_t c = 0; c < dag->n; c++) {
        uint32_t k = p->class_of[c];
        cell_of[c] = UINT32_MAX;
        if (k == UINT32_MAX || !does_guide(p, k, is_blind))
            continue;
        cell_of[c] = find_cell(o, first_of_class, k, marks[c]);
        o->cells[cell_of[c]].weight += p->weight[c];
    }
    mem_free(marks);
}

static void fill_shares(struct outlook *o, const struct posterior *p, const struct dag *dag,
                        const uint32_t *cell_of)
{
    uint64_t *marks = marks_of(dag, o->choices, o->n_choices);

    o->shares = mem_array((size_t)o->n_choices * o->n_cells + 1, sizeof(*o->shares));
    for (uint32_t c = 0; c < dag->n; c++) {
        if (cell_of[c] == UINT32_MAX)
            continue;
        for (uint64_t left = marks[c]; left; left &= left - 1)
            o->shares[(size_t)__builtin_ctzll(left) * o->n_cells + cell_of[c]] += p->weight[c];
    }
    for (uint32_t i = 0; i < o->n_choices; i++)
        for (uint32_t k = 0; k < o->n_cells; k++) {
            double *share = &o->shares[(size_t)i * o->n_cells + k];
            *share = fmin(*share / o->cells[k].weight, 1);
        }
    mem_free(marks);
}

static uint32_t add_level(struct outlook *o, const struct side *side, double sigma)
{
    if ((o->n_levels & (o->n_levels - 1)) == 0)
        o->levels =
            mem_resize(o->levels, o->n_levels ? 2 * (size_t)o->n_levels : 1, sizeof(*o->levels));
    o->levels[o->n_levels] =
        (struct component){.mean = side->mean, .var = side->var, .run_var = sigma * sigma};
    return o->n_levels++;
}

static void add_atom(struct outlook *o, const struct atom *a)
{
    if (a->weight < o->least_weight)
        return;
    if ((o->n_atoms & (o->n_atoms - 1)) == 0)
        o->atoms = mem_resize(o->atoms, o->n_atoms ? 2 * (size_t)o->n_atoms : 1, sizeof(*o->atoms));
    o->atoms[o->n_atoms++] = *a;
}

/** One step in a class, with a sign: an atom for each of its cells. */
static void add_step(struct outlook *o, const struct hypothesis *h, int higher, uint32_t first_cell)
{
    const struct fit *f = &h->fit[higher];

    if (h->p[higher] < o->least_weight)
        return;
    uint32_t level = add_level(o, &f->good, f->sigma);
    add_level(o, &f->bad, f->sigma);
    for (uint32_t i = first_cell; i != UINT32_MAX; i = o->cells[i].next)
        add_atom(o, &(struct atom){.weight = h->p[higher] * o->cells[i].weight / h->weight,
                                   .n = 1,
                                   .cells = {i},
                                   .level = level});
}

/** Several steps, each in any cell of its class. */
static void add_reading(struct outlook *o, const struct posterior *p, const struct reading *r,
                        const uint32_t *first_of_class)
{
    struct atom a = {.n = r->n, .level = o->n_levels};
    uint32_t at[MAX_STEPS];

    for (uint32_t set = 0; set < 1u << r->n; set++) {
        struct side side = reading_level(r, set);
        add_level(o, &side, r->sigma);
    }
    for (uint32_t j = 0; j < r->n; j++)
        if ((at[j] = first_of_class[r->classes[j]]) == UINT32_MAX)
            return; /* a class that the commits in it no longer weigh anything in */
    for (uint32_t j = 0; j < r->n;) {
        a.weight = r->p;
        for (uint32_t i = 0; i < r->n; i++) {
            a.cells[i] = at[i];
            a.weight *= o->cells[at[i]].weight / p->classes[r->classes[i]].weight;
        }
        add_atom(o, &a);
        for (j = 0; j < r->n; j++) { /* the next combination of cells */
            if ((at[j] = o->cells[at[j]].next) != UINT32_MAX)
                break;
            at[j] = first_of_class[r->classes[j]];
        }
    }
}

/** Whether more than one step is worth a thought: not while a single one is being looked for. */
static bool do_several_guide(const struct posterior *p)
{
    double several = 0, single = 0, top = 0;

    for (uint32_t i = 0; i < p->n_readings; i++)
        several += p->readings[i].p;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        double here = p->classes[k].p[0] + p->classes[k].p[1];
        single += here;
        top = fmax(top, here);
    }
    return several > least_several || several > single || top > settled_part * single;
}

static void fill_atoms(struct outlook *o, const struct posterior *p, const uint32_t *first_of_class)
{
    add_atom(
        o, &(struct atom){.weight = p->p_none, .level = add_level(o, &p->none.all, p->none.sigma)});
    for (uint32_t k = 0; k < p->n_classes; k++)
        for (int higher = 0; higher < 2; higher++)
            add_step(o, &p->classes[k], higher, first_of_class[k]);
    for (uint32_t i = 0; i < p->n_readings && do_several_guide(p); i++)
        if (p->readings[i].p >= least_reading)
            add_reading(o, p, &p->readings[i], first_of_class);
}

/** Nothing is known but that there may be a step. */
static void fill_atoms_blind(struct outlook *o)
{
    static const struct side good = {.mean = 0, .var = .2}, bad = {.mean = 3, .var = .2};
    uint32_t level = add_level(o, &good, o->is_rate ? 0 : 1);

    add_level(o, &bad, o->is_rate ? 0 : 1);
    for (uint32_t i = 0; i < o->n_cells; i++)
        add_atom(
            o, &(struct atom){.weight = o->cells[i].weight, .n = 1, .cells = {i}, .level = level});
}

/** What a run in flight finds under an atom. */
static const struct component *level_at(const struct outlook *o, const struct atom *a,
                                        uint32_t pending)
{
    uint32_t set = 0;

    for (uint32_t j = 0; j < a->n; j++)
        set |= (o->cells[a->cells[j]].pending >> pending & 1) << j;
    return &o->levels[a->level + set];
}

/** The atom at a place between 0 and 1 of all their weight. */
static const struct atom *atom_at(const struct outlook *o, double place)
{
    double left = 0;
    uint32_t i = 0;

    for (uint32_t k = 0; k < o->n_atoms; k++)
        left += o->atoms[k].weight;
    left *= place;
    while (i + 1 < o->n_atoms && left > o->atoms[i].weight)
        left -= o->atoms[i++].weight;
    return &o->atoms[i];
}

/** Where in its distribution the i-th thing in flight ends up in scenario s: each takes all of a
 *  row of evenly spaced places in another order. */
static double place_of(uint32_t s, uint32_t i)
{
    static const uint32_t strides[] = {5, 3, 11, 7, 13, 9, 15, 1};
    uint32_t at = s * strides[i % LEN(strides)] + i / LEN(strides) + 3 * i;

    return (at % N_SCENARIOS + .5) / N_SCENARIOS;
}

/** Weights of all atoms once all in flight has ended as it does in scenario s. */
static void fill_scenario(struct outlook *o, uint32_t s)
{
    double *weights = o->scenarios + (size_t)s * o->n_atoms, top = -INFINITY;
    const struct atom *truth = atom_at(o, (s + .5) / N_SCENARIOS);

    for (uint32_t k = 0; k < o->n_atoms; k++)
        weights[k] = log(o->atoms[k].weight);
    for (uint32_t i = 0; i < o->n_pending; i++) {
        uint32_t n = o->pending[i].n_runs;
        double y = component_outcome(level_at(o, truth, i), o->is_rate, n, place_of(s, i));
        for (uint32_t k = 0; k < o->n_atoms; k++)
            weights[k] += component_log(level_at(o, &o->atoms[k], i), o->is_rate, n, y);
    }
    for (uint32_t k = 0; k < o->n_atoms; k++)
        top = fmax(top, weights[k]);
    for (uint32_t k = 0; k < o->n_atoms; k++)
        weights[k] = exp(weights[k] - top);
}

void outlook_fill(struct outlook *o, const struct dag *dag, const struct posterior *p,
                  bool is_blind)
{
    uint32_t *cell_of = mem_array(dag->n, sizeof(*cell_of));
    uint32_t *first_of_class = mem_array(p->n_classes, sizeof(*first_of_class));

    o->is_rate = p->is_rate;
    o->least_weight = least_of(p);
    fill_cells(o, p, dag, is_blind, first_of_class, cell_of);
    fill_shares(o, p, dag, cell_of);
    if (is_blind)
        fill_atoms_blind(o);
    else
        fill_atoms(o, p, first_of_class);
    if (o->n_pending > 0) {
        o->scenarios = mem_array((size_t)N_SCENARIOS * o->n_atoms, sizeof(*o->scenarios));
        for (uint32_t s = 0; s < N_SCENARIOS; s++)
            fill_scenario(o, s);
    }
    mem_free(cell_of);
    mem_free(first_of_class);
}

void outlook_fini(struct outlook *o)
{
    mem_free(o->cells);
    mem_free(o->shares);
    mem_free(o->atoms);
    mem_free(o->levels);
    mem_free(o->scenarios);
}

/** The part of an atom's weight where exactly the steps of a set have come in at a choice. */
static double part_of(const struct outlook *o, const struct atom *a, uint32_t choice, uint32_t set)
{
    double part = 1;

    for (uint32_t j = 0; j < a->n; j++) {
        double share = o->shares[(size_t)choice * o->n_cells + a->cells[j]];
        part *= set >> j & 1 ? share : 1 - share;
    }
    return part;
}

/** A part of an atom's weight, and its place in the mixture. */
struct piece {
    uint32_t atom, place;
    double part;
};
enum { MAX_PIECES = 1024 };

static uint32_t fill_mixture(const struct outlook *o, uint32_t choice, struct mixture *m,
                             struct piece *pieces)
{
    uint32_t n = 0;

    *m = (struct mixture){.is_rate = o->is_rate};
    for (uint32_t k = 0; k < o->n_atoms; k++) {
        const struct atom *a = &o->atoms[k];
        for (uint32_t set = 0; set < 1u << a->n; set++) {
            struct component c = o->levels[a->level + set];
            double part = part_of(o, a, choice, set);
            c.weight = a->weight * part;
            if (c.weight < o->least_weight)
                continue;
            uint32_t place = mixture_add(m, &c);
            if (pieces && n < MAX_PIECES)
                pieces[n++] = (struct piece){k, place, part};
        }
    }
    return n;
}

void outlook_mixture(const struct outlook *o, uint32_t choice, struct mixture *out)
{
    fill_mixture(o, choice, out, NULL);
}

typedef double (*measure)(const struct mixture *m, uint32_t n_runs);

/** The mean over all scenarios. */
static double mean_of(const struct outlook *o, uint32_t choice, uint32_t n_runs, measure of)
{
    struct piece pieces[MAX_PIECES];
    struct mixture m;
    uint32_t n = fill_mixture(o, choice, &m, pieces);
    double bits = 0;

    if (o->n_pending == 0)
        return of(&m, n_runs);
    for (uint32_t s = 0; s < N_SCENARIOS; s++) {
        const double *weights = o->scenarios + (size_t)s * o->n_atoms;
        m.total = 0;
        for (uint32_t i = 0; i < m.n; i++)
            m.items[i].weight = 0;
        for (uint32_t i = 0; i < n; i++) {
            double weight = weights[pieces[i].atom] * pieces[i].part;
            m.items[pieces[i].place].weight += weight;
            m.total += weight;
        }
        bits += m.total > 0 ? of(&m, n_runs) / N_SCENARIOS : 0;
    }
    return bits;
}

double outlook_bits(const struct outlook *o, uint32_t choice, uint32_t n_runs)
{
    return mean_of(o, choice, n_runs, mixture_bits);
}

double outlook_bound_bits(const struct outlook *o, uint32_t choice, uint32_t n_runs)
{
    return mean_of(o, choice, n_runs, mixture_bound_bits);
}
