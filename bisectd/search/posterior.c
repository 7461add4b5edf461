/* SPDX-License-Identifier: Apache-2.0 */
#include "search/posterior.h"

#include "base/mem.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Prior masses; what is left belongs to a step in the direction asked for. */
static const double prior_none = .1, prior_reversed = .03, prior_merge_base = .05;
static const double prior_steps[MAX_STEPS + 1] = {0, 0, .12, .015, .003};
static const double prior_mixed = .02; /* ... of steps that do not all go one way, as a part */

enum { FEW_CLASSES = 6, MANY_CLASSES = 48 };
enum { MAX_READINGS = 50 }; /* two, three and four of FEW_CLASSES in all ways */

/** What is left unlooked at. Logs; windows are below the best. */
static const struct pruning {
    uint32_t max_classes;
    double weather_window; /* of weathers */
    double reading_window; /* of several steps beside the best of all */
    double growth_window;  /* such a reading is tried with one step more */
    double least_gain;     /* that another step must explain */
    uint32_t max_grown;    /* readings that are tried with one step more */
} prunings[] = {
    /* Few are weighed in full. Many have very many pairs. */
    {FEW_CLASSES, INFINITY, INFINITY, INFINITY, -INFINITY, MAX_READINGS},
    {MANY_CLASSES, 4, 8, 4, -3, 8},
    {UINT32_MAX, 4, 8, 4, 2, 8},
};

static const struct pruning *pruning_for(uint32_t n_classes)
{
    const struct pruning *out = prunings;

    while (n_classes > out->max_classes)
        out++;
    return out;
}

struct posterior *posterior_new(uint32_t n_commits, const double *weight, bool is_rate,
                                enum worse worse, const uint8_t *is_above_base)
{
    struct posterior *p = mem_alloc(sizeof(*p));
    double total = 0;

    p->is_rate = is_rate;
    p->worse = worse;
    p->weight = mem_array(n_commits, sizeof(*p->weight));
    p->class_of = mem_array(n_commits, sizeof(*p->class_of));
    p->classes = mem_array(1, sizeof(*p->classes));
    p->n_classes = 1;
    p->classes[0] = (struct hypothesis){.first = UINT32_MAX};
    for (uint32_t c = 0; c < n_commits; c++)
        total += weight[c];
    assert(total > 0);
    for (uint32_t c = 0; c < n_commits; c++) {
        p->weight[c] = weight[c] / total;
        p->class_of[c] = weight[c] > 0 ? 0 : UINT32_MAX;
        if (weight[c] <= 0)
            continue;
        if (p->classes[0].n++ == 0)
            p->classes[0].first = c;
        p->classes[0].weight += p->weight[c];
    }
    p->p_none = 1;
    if (is_above_base) {
        p->has_merge_base = true;
        p->is_above_base = mem_array(n_commits, 1);
        memcpy(p->is_above_base, is_above_base, n_commits);
    }
    return p;
}

void posterior_free(struct posterior *p)
{
    if (!p)
        return;
    mem_free(p->weight);
    mem_free(p->class_of);
    mem_free(p->classes);
    mem_free(p->readings);
    mem_free(p->inclusion);
    mem_free(p->is_above_base);
    mem_free(p);
}

void posterior_refine(struct posterior *p, const struct evidence *e, uint32_t slot)
{
    const uint8_t *is_ancestor = e->sampled[slot].is_ancestor;
    /* part[k][side]: the new number of the members of class k on that side. */
    uint32_t(*part)[2] = mem_array(p->n_classes, sizeof(*part));
    struct hypothesis *next = mem_array(2 * (size_t)p->n_classes, sizeof(*next));
    uint32_t n = 0;

    memset(part, 0xff, p->n_classes * sizeof(*part));
    for (uint32_t c = 0; c < e->n_commits; c++) {
        if (p->class_of[c] == UINT32_MAX)
            continue;
        uint32_t *to = &part[p->class_of[c]][is_ancestor[c] ? 1 : 0];
        if (*to == UINT32_MAX) {
            *to = n;
            next[n++] = (struct hypothesis){.first = c};
        }
        next[*to].n++;
        next[*to].weight += p->weight[c];
        p->class_of[c] = *to;
    }
    mem_free(part);
    mem_free(p->classes);
    p->classes = next;
    p->n_classes = n;
    p->n_readings = 0;
    p->inclusion = mem_resize(p->inclusion, n, sizeof(*p->inclusion));
    memset(p->inclusion, 0, n * sizeof(*p->inclusion));
}

void posterior_exclude(struct posterior *p, uint32_t n_commits, const uint8_t *is_excluded)
{
    uint32_t *to = mem_array(p->n_classes + 1, sizeof(*to)), n = 0;

    for (uint32_t k = 0; k < p->n_classes; k++)
        p->classes[k] = (struct hypothesis){.first = UINT32_MAX};
    for (uint32_t c = 0; c < n_commits; c++) {
        if (is_excluded[c]) {
            p->weight[c] = 0;
            p->class_of[c] = UINT32_MAX;
        }
        if (p->class_of[c] == UINT32_MAX)
            continue;
        struct hypothesis *h = &p->classes[p->class_of[c]];
        h->first = h->n++ == 0 ? c : h->first;
        h->weight += p->weight[c];
    }
    for (uint32_t k = 0; k < p->n_classes; k++) { /* those left without a member go */
        to[k] = n;
        if (p->classes[k].n > 0)
            p->classes[n++] = p->classes[k];
    }
    p->n_classes = n;
    for (uint32_t c = 0; c < n_commits; c++)
        if (p->class_of[c] != UINT32_MAX)
            p->class_of[c] = to[p->class_of[c]];
    mem_free(to);
}

/** Prior mass of a step with this sign, over all candidates. */
static double prior_of_sign(const struct posterior *p, int higher)
{
    double step = 1 - prior_none - (p->has_merge_base ? prior_merge_base : 0);

    if (!p->is_rate)
        step -= prior_steps[2] + prior_steps[3] + prior_steps[4];
    if (p->worse == WORSE_EITHER)
        return step / 2;
    return higher == (p->worse == WORSE_UP) ? step - prior_reversed : prior_reversed;
}

static bool is_allowed(const struct posterior *p, int higher)
{
    return p->worse == WORSE_EITHER || higher == (p->worse == WORSE_UP);
}

/** Which sampled revisions are bad: if the culprit is in class k, and after the classes, if the
 *  merge base is. */
static uint8_t *sides_of(const struct posterior *p, const struct evidence *e)
{
    uint8_t *is_bad = mem_array(((size_t)p->n_classes + 2) * e->n + 1, 1), *row = is_bad;

    for (uint32_t k = 0; k < p->n_classes; k++, row += e->n)
        for (uint32_t i = 0; i < e->n; i++)
            row[i] = e->sampled[i].is_ancestor[p->classes[k].first];
    for (uint32_t i = 0; i < e->n && p->has_merge_base; i++)
        row[i] = p->is_above_base[e->sampled[i].revision];
    return is_bad;
}

/* One weather's view: sums over the bad side of every class. */
struct view {
    struct sums sums;
    double log_prior; /* what the weather alone makes of it included */
    double log_best;  /* with the best single step, a constant apart */
    double *across;   /* row by row: what two classes' bad sides share; the merge base's is last */
    double *with_y, *with_one, *now;
};

static void view_fini(struct view *v)
{
    sums_fini(&v->sums);
    mem_free(v->across);
    mem_free(v->with_y);
}

/** Where the sides of each row differ from the row before: on a line in a slot or so. */
struct turns {
    uint32_t *first; /* turns of row k are slots[first[k] .. first[k + 1] - 1] */
    uint32_t *slots;
};

static void turns_init(struct turns *t, const uint8_t *is_bad, uint32_t n_rows, uint32_t n_slots)
{
    t->first = mem_array((size_t)n_rows + 1, sizeof(*t->first));
    t->slots = mem_array((size_t)n_rows * n_slots + 1, sizeof(*t->slots));
    for (uint32_t k = 0; k < n_rows; k++) {
        const uint8_t *row = is_bad + (size_t)k * n_slots, *before = row - (k > 0 ? n_slots : 0);
        uint32_t n = t->first[k];
        for (uint32_t i = 0; i < n_slots; i++)
            if (row[i] != (k > 0 ? before[i] : 0))
                t->slots[n++] = i;
        t->first[k + 1] = n;
    }
}

static void turns_fini(struct turns *t)
{
    mem_free(t->first);
    mem_free(t->slots);
}

/** `n` rows of sides. */
static void view_init(struct view *v, const struct whitened *w, const uint8_t *is_bad,
                      const struct turns *turns, uint32_t n)
{
    whitened_sums(w, &v->sums);
    uint32_t n_slots = v->sums.n_slots;
    double *row = mem_array(n_slots + 1, sizeof(*row)), y = 0, one = 0, now = 0;

    v->log_prior = log(w->weather.prior) + v->sums.log_norm;
    v->across = mem_array((size_t)n * n, sizeof(*v->across));
    v->with_y = mem_array(3 * (size_t)n, sizeof(*v->with_y));
    v->with_one = v->with_y + n;
    v->now = v->with_one + n;
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t t = turns->first[k]; t < turns->first[k + 1]; t++) {
            uint32_t i = turns->slots[t];
            double sign = is_bad[(size_t)k * n_slots + i] ? 1 : -1;
            y += sign * v->sums.with_y[i];
            one += sign * v->sums.with_one[i];
            now += sign * v->sums.now[i];
            for (uint32_t j = 0; j < n_slots; j++)
                row[j] += sign * v->sums.inner[(size_t)i * n_slots + j];
        }
        v->with_y[k] = y;
        v->with_one[k] = one;
        v->now[k] = now;
        double sum = 0;
        for (uint32_t l = 0; l <= k; l++) {
            for (uint32_t t = turns->first[l]; t < turns->first[l + 1]; t++) {
                uint32_t i = turns->slots[t];
                sum += is_bad[(size_t)l * n_slots + i] ? row[i] : -row[i];
            }
            v->across[(size_t)k * n + l] = v->across[(size_t)l * n + k] = sum;
        }
    }
    mem_free(row);
}

/** What belief works on: the views of the weathers that matter. */
struct sight {
    const struct evidence *evidence;
    const uint8_t *is_bad;
    uint32_t n_rows; /* classes and, last, the merge base */
    uint32_t n_views;
    struct view views[MAX_WEATHERS];
    const struct pruning *pruning;
    double log_best; /* of any hypothesis yet */
};

/** No step at all; there may be no row either, when every candidate is excluded. */
static struct split split_of_none(const struct view *v)
{
    return (struct split){.n = v->sums.n_runs,
                          .n_hosts = 1,
                          .s_yy = v->sums.yy,
                          .mean = v->sums.mean,
                          .ones = v->sums.ones};
}

static struct split split_of(const struct view *v, uint32_t k, uint32_t n_rows)
{
    return (struct split){
        .n = v->sums.n_runs,
        .n_hosts = 1,
        .s_yy = v->sums.yy,
        .s_xx = v->across[(size_t)k * n_rows + k],
        .s_xy = v->with_y[k],
        .mean = v->sums.mean,
        .ones = v->sums.ones,
        .bad_ones = v->with_one[k],
    };
}

/** Sum of squares that the best single step leaves. */
static double least_rest(const struct view *v, uint32_t n_rows)
{
    double least = v->sums.yy;

    for (uint32_t k = 0; k < n_rows; k++) {
        double xx = v->across[(size_t)k * n_rows + k];
        if (xx > 0)
            least = fmin(least, v->sums.yy - v->with_y[k] * v->with_y[k] / xx);
    }
    return fmax(least, 0);
}

/** Drops the weathers that the best step under them speaks against. */
static void drop_views(struct sight *s, double floor)
{
    double best = -INFINITY;
    uint32_t n = 0;

    for (uint32_t g = 0; g < s->n_views; g++) {
        struct view *v = &s->views[g];
        double power = fmax(v->sums.n_runs - 2, 0);
        v->log_best = v->log_prior - power / 2 * log(least_rest(v, s->n_rows) + floor * floor);
        best = fmax(best, v->log_best);
    }
    for (uint32_t g = 0; g < s->n_views; g++) {
        if (s->views[g].log_best < best - s->pruning->weather_window)
            view_fini(&s->views[g]);
        else
            s->views[n++] = s->views[g];
    }
    s->n_views = n;
}

static void sight_init(struct sight *s, const struct posterior *p, const struct evidence *e,
                       const uint8_t *is_bad)
{
    *s = (struct sight){.evidence = e,
                        .is_bad = is_bad,
                        .n_rows = p->n_classes + (p->has_merge_base ? 1 : 0),
                        .pruning = pruning_for(p->n_classes),
                        .log_best = -INFINITY};
    if (p->is_rate)
        return;
    struct turns turns;
    turns_init(&turns, is_bad, s->n_rows, e->n);
    s->n_views = e->n_weathers;
    for (uint32_t g = 0; g < s->n_views; g++)
        view_init(&s->views[g], &e->weathers[g], is_bad, &turns, s->n_rows);
    turns_fini(&turns);
    drop_views(s, p->scale.floor);
}

static void sight_fini(struct sight *s)
{
    for (uint32_t g = 0; g < s->n_views; g++)
        view_fini(&s->views[g]);
}

/** What the next run finds where none of the steps counts: the drift of the moment included. The
 *  steps count by x - hidden, where hidden is what the drift's estimate has taken for itself. */
static struct side seen_now(const struct view *v, double sigma)
{
    double rest = 1 - v->sums.now_one;

    return (struct side){v->sums.now_y + v->sums.mean * rest,
                         sigma * sigma * (v->sums.now_var + rest * rest / v->sums.ones)};
}

static double hidden_part(const struct view *v, uint32_t k)
{
    return v->now[k] + v->with_one[k] / v->sums.ones * (1 - v->sums.now_one);
}

/** A weighted sum of sides, as one. */
struct blend {
    double w, mean, mean2, var;
};

static void blend_add(struct blend *b, double w, struct side s)
{
    b->w += w;
    b->mean += w * s.mean;
    b->mean2 += w * s.mean * s.mean;
    b->var += w * s.var;
}

static struct side blend_side(const struct blend *b)
{
    double mean = b->mean / b->w;

    return (struct side){mean, b->var / b->w + fmax(b->mean2 / b->w - mean * mean, 0)};
}

static struct side side_at(struct side now, struct side step, double x)
{
    return (struct side){now.mean + step.mean * x, now.var + step.var * x * x};
}

/** One step on the bad side of row k, over all weathers. */
static void fit_row(const struct posterior *p, const struct sight *s, uint32_t k, int sign,
                    struct fit *out)
{
    struct fit fits[MAX_WEATHERS];
    struct blend good = {0}, bad = {0}, step = {0};
    double sigma = 0;

    if (p->is_rate) {
        struct split split;
        evidence_split(s->evidence, s->is_bad + (size_t)k * s->evidence->n, &split);
        fit_rate(&split, sign, p->scale, out);
        return;
    }
    *out = (struct fit){.log_effect = -INFINITY, .log_small = -INFINITY};
    for (uint32_t g = 0; g < s->n_views; g++) {
        const struct view *v = &s->views[g];
        struct split split = split_of(v, k, s->n_rows);
        fit_normal(&split, sign, p->scale, &fits[g]);
        out->log_effect = log_add(out->log_effect, fits[g].log_effect + v->log_prior);
        out->log_small = log_add(out->log_small, fits[g].log_small + v->log_prior);
    }
    for (uint32_t g = 0; g < s->n_views && out->log_effect > -INFINITY; g++) {
        const struct view *v = &s->views[g];
        const struct fit *f = &fits[g];
        double w = exp(f->log_effect + v->log_prior - out->log_effect);
        if (w < 1e-3)
            continue;
        struct side now = seen_now(v, f->sigma);
        double hidden = hidden_part(v, k);
        blend_add(&good, w, side_at(now, f->step, -hidden));
        blend_add(&bad, w, side_at(now, f->step, 1 - hidden));
        blend_add(&step, w, f->step);
        sigma += w * f->sigma;
    }
    if (good.w <= 0)
        return;
    out->good = blend_side(&good);
    out->bad = blend_side(&bad);
    out->step = blend_side(&step);
    out->sigma = sigma / good.w;
}

static void fit_none(const struct posterior *p, const struct sight *s, struct fit_none *out)
{
    struct fit_none fits[MAX_WEATHERS];
    struct blend all = {0};
    double sigma = 0;

    if (p->is_rate) {
        struct split split;
        evidence_split(s->evidence, s->is_bad, &split); /* either side of any cut: all runs */
        fit_rate_none(&split, out);
        return;
    }
    *out = (struct fit_none){.log_none = -INFINITY};
    for (uint32_t g = 0; g < s->n_views; g++) {
        const struct view *v = &s->views[g];
        struct split split = split_of_none(v);
        fit_normal_none(&split, p->scale, &fits[g]);
        out->log_none = log_add(out->log_none, fits[g].log_none + v->log_prior);
    }
    for (uint32_t g = 0; g < s->n_views; g++) {
        const struct view *v = &s->views[g];
        double w = exp(fits[g].log_none + v->log_prior - out->log_none);
        blend_add(&all, w, seen_now(v, fits[g].sigma));
        sigma += w * fits[g].sigma;
    }
    out->all = blend_side(&all);
    out->sigma = sigma / all.w;
}

/** log of the evidence that the merge base and all above it are bad, good alone good. */
static double merge_base_log(const struct posterior *p, const struct sight *s)
{
    double out = -INFINITY;
    struct fit fit;

    for (int higher = 0; higher < 2; higher++) {
        if (!is_allowed(p, higher))
            continue;
        fit_row(p, s, p->n_classes, higher ? 1 : -1, &fit);
        double share = p->worse == WORSE_EITHER ? .5 : 1;
        out = log_add(out, fit.log_effect + log(prior_merge_base * share));
    }
    return out;
}

/* Several steps */

/** Prior of exactly these steps, in any order and directions. */
static double prior_of_reading(const struct posterior *p, const struct reading *r)
{
    double out = prior_steps[r->n];
    bool has[2] = {false, false};

    for (uint32_t i = 0; i < r->n; i++)
        has[r->size[i] > 0] = true;
    if (has[0] && has[1])
        out *= prior_mixed;

    for (uint32_t i = 0; i < r->n; i++)
        out *= (i + 1) * p->classes[r->classes[i]].weight;
    return out;
}

/** Steps that come to no change worth a name in a direction asked for. */
static bool is_hump(const struct posterior *p, const struct fit_steps *f, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += f->size[i];
    return fabs(sum) < p->scale.min_effect || !is_allowed(p, sum > 0);
}

static void steps_of(const struct view *v, const struct reading *r, uint32_t n_rows,
                     struct steps *out)
{
    *out = (struct steps){.n = r->n};
    for (uint32_t i = 0; i < r->n; i++) {
        out->s_xy[i] = v->with_y[r->classes[i]];
        for (uint32_t j = 0; j < r->n; j++)
            out->s_xx[i][j] = v->across[(size_t)r->classes[i] * n_rows + r->classes[j]];
    }
}

/** Fills r from the weather under which it is likeliest; r->p is the log of its evidence and
 *  prior over all. */
static void weigh_reading(const struct posterior *p, const struct sight *s, struct reading *r)
{
    double best = -INFINITY;

    r->p = -INFINITY;
    for (uint32_t g = 0; g < s->n_views; g++) {
        const struct view *v = &s->views[g];
        struct split split = split_of(v, r->classes[0], s->n_rows);
        struct steps steps;
        struct fit_steps f;
        steps_of(v, r, s->n_rows, &steps);
        fit_steps(&split, &steps, p->scale, &f);
        double log_p = f.log_effect + v->log_prior;
        r->p = log_add(r->p, log_p);
        if (!(log_p > best))
            continue;
        best = log_p;
        r->is_hump = is_hump(p, &f, r->n);
        r->sigma = f.sigma;
        memcpy(r->size, f.size, sizeof(r->size));
        memcpy(r->cov, f.cov, sizeof(r->cov));
        r->now = seen_now(v, f.sigma);
        for (uint32_t i = 0; i < r->n; i++)
            r->hidden[i] = hidden_part(v, r->classes[i]);
    }
    if (r->p > -INFINITY)
        r->p += log(prior_of_reading(p, r));
}

struct side reading_level(const struct reading *r, uint32_t set)
{
    struct side out = r->now;
    double in[MAX_STEPS];

    for (uint32_t i = 0; i < r->n; i++) {
        in[i] = (set >> i & 1) - r->hidden[i];
        out.mean += in[i] * r->size[i];
        for (uint32_t j = 0; j <= i; j++)
            out.var += (i == j ? 1 : 2) * in[i] * in[j] * r->cov[i][j];
    }
    out.var = fmax(out.var, 0);
    return out;
}

/** Sum of squares that two steps leave, by the view of the likeliest weather. */
static double rest_of_two(const struct view *v, uint32_t k, uint32_t l, uint32_t n_rows)
{
    double a = v->across[(size_t)k * n_rows + k], b = v->across[(size_t)l * n_rows + l];
    double c = v->across[(size_t)k * n_rows + l], det = a * b - c * c;

    if (det <= 1e-9 * a * b)
        return INFINITY;
    double y = v->with_y[k], z = v->with_y[l];
    return fmax(v->sums.yy - (b * y * y - 2 * c * y * z + a * z * z) / det, 0);
}

static void offer_reading(struct posterior *p, struct sight *s, const struct reading *r)
{
    uint32_t i = p->n_readings;

    if (!(r->p > s->log_best - s->pruning->reading_window))
        return;
    s->log_best = fmax(s->log_best, r->p);
    if (i == MAX_READINGS && p->readings[--i].p >= r->p)
        return;
    for (; i > 0 && p->readings[i - 1].p < r->p; i--)
        p->readings[i] = p->readings[i - 1];
    p->readings[i] = *r;
    p->n_readings += p->n_readings < MAX_READINGS;
}

static void read_pairs(struct posterior *p, struct sight *s)
{
    double power = s->views[0].sums.n_runs - 2, least[MAX_WEATHERS];

    for (uint32_t g = 0; g < s->n_views; g++)
        least[g] = (least_rest(&s->views[g], s->n_rows) + p->scale.floor * p->scale.floor) *
                   exp(-2 * s->pruning->least_gain / power);
    for (uint32_t k = 0; k < p->n_classes; k++)
        for (uint32_t l = k + 1; l < p->n_classes; l++) {
            bool is_worth = false;
            for (uint32_t g = 0; g < s->n_views && !is_worth; g++)
                is_worth = rest_of_two(&s->views[g], k, l, s->n_rows) < least[g];
            if (!is_worth)
                continue;
            struct reading r = {.n = 2, .classes = {k, l}};
            weigh_reading(p, s, &r);
            offer_reading(p, s, &r);
        }
}

static bool has_class(const struct reading *r, uint32_t k)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->classes[i] == k)
            return true;
    return false;
}

static bool is_known(const struct posterior *p, const struct reading *r)
{
    for (uint32_t i = 0; i < p->n_readings; i++) {
        uint32_t n = 0;
        for (uint32_t j = 0; j < r->n && p->readings[i].n == r->n; j++)
            n += has_class(&p->readings[i], r->classes[j]);
        if (n == r->n)
            return true;
    }
    return false;
}

/** The likeliest readings of n steps, with one step more. */
static void grow_readings(struct posterior *p, struct sight *s, uint32_t n)
{
    struct reading grown[MAX_READINGS];
    uint32_t n_grown = 0;

    for (uint32_t i = 0; i < p->n_readings && n_grown < s->pruning->max_grown; i++)
        if (p->readings[i].n == n && p->readings[i].p > s->log_best - s->pruning->growth_window)
            grown[n_grown++] = p->readings[i];
    for (uint32_t i = 0; i < n_grown; i++)
        for (uint32_t k = 0; k < p->n_classes; k++) {
            struct reading r = {.n = n + 1};
            if (has_class(&grown[i], k))
                continue;
            memcpy(r.classes, grown[i].classes, sizeof(r.classes));
            r.classes[n] = k;
            if (is_known(p, &r))
                continue;
            weigh_reading(p, s, &r);
            offer_reading(p, s, &r);
        }
}

static void read_several(struct posterior *p, struct sight *s)
{
    p->readings = mem_resize(p->readings, MAX_READINGS, sizeof(*p->readings));
    p->n_readings = 0;
    if (p->is_rate || s->views[0].sums.n_runs < 6)
        return;
    read_pairs(p, s);
    for (uint32_t n = 2; n < MAX_STEPS; n++)
        grow_readings(p, s, n);
    /* Whatever order they came in. */
    while (p->n_readings > 0 &&
           p->readings[p->n_readings - 1].p < s->log_best - s->pruning->reading_window)
        p->n_readings--;
}

/* All together */

static double entropy_part(double p)
{
    return p > 0 ? -p * log2(p) : 0;
}

static void posterior_entropy(struct posterior *p, uint32_t n_commits)
{
    p->entropy_bits =
        entropy_part(p->p_none) + entropy_part(p->p_reversed) + entropy_part(p->p_merge_base);
    for (uint32_t c = 0; c < n_commits; c++)
        p->entropy_bits += entropy_part(posterior_of(p, c));
}

/** From logs to probabilities. */
static void normalize(struct posterior *p, const struct sight *s, double log_none, double log_small)
{
    double log_base = p->has_merge_base ? merge_base_log(p, s) : -INFINITY;
    double total = log_add(log_add(log_none, log_small), log_base);

    for (uint32_t k = 0; k < p->n_classes; k++)
        total = log_add(total, log_add(p->classes[k].p[0], p->classes[k].p[1]));
    for (uint32_t i = 0; i < p->n_readings; i++)
        total = log_add(total, p->readings[i].p);
    p->p_none = exp(log_none - total) + exp(log_small - total);
    p->p_merge_base = exp(log_base - total);
    p->p_reversed = p->p_hump = 0;
    p->inclusion = mem_resize(p->inclusion, p->n_classes, sizeof(*p->inclusion));
    for (uint32_t k = 0; k < p->n_classes; k++) {
        p->inclusion[k] = 0;
        for (int higher = 0; higher < 2; higher++) {
            double *one = &p->classes[k].p[higher];
            *one = exp(*one - total);
            *(is_allowed(p, higher) ? &p->inclusion[k] : &p->p_reversed) += *one;
        }
        p->classes[k].p_any = p->classes[k].p[0] + p->classes[k].p[1];
    }
    for (uint32_t i = 0; i < p->n_readings; i++) {
        struct reading *r = &p->readings[i];
        r->p = exp(r->p - total);
        p->p_hump += r->is_hump ? r->p : 0;
        for (uint32_t j = 0; j < r->n; j++) {
            bool is_named = !r->is_hump && is_allowed(p, r->size[j] > 0);
            p->classes[r->classes[j]].p_any += r->p;
            double *here = &p->inclusion[r->classes[j]];
            *here = fmin(*here + (is_named ? r->p : 0), 1);
        }
    }
}

static double p_unsteady(const struct sight *s)
{
    double calm = -INFINITY, all = -INFINITY;

    for (uint32_t g = 0; g < s->n_views; g++) {
        const struct view *v = &s->views[g];
        all = log_add(all, v->log_best);
        if (v->sums.now_var == 0)
            calm = log_add(calm, v->log_best);
    }
    return s->n_views > 0 ? 1 - exp(calm - all) : 0;
}

void posterior_update(struct posterior *p, const struct evidence *e, struct scale scale)
{
    struct sight s;
    double log_small = -INFINITY;

    p->scale = scale;
    uint8_t *is_bad = sides_of(p, e);
    sight_init(&s, p, e, is_bad);
    fit_none(p, &s, &p->none);
    double log_none = p->none.log_none + log(prior_none);
    s.log_best = log_none;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        struct hypothesis *h = &p->classes[k];
        for (int higher = 0; higher < 2; higher++) {
            double log_prior = log(prior_of_sign(p, higher) * h->weight);
            fit_row(p, &s, k, higher ? 1 : -1, &h->fit[higher]);
            h->p[higher] = h->fit[higher].log_effect + log_prior;
            log_small = log_add(log_small, h->fit[higher].log_small + log_prior);
            s.log_best = fmax(s.log_best, h->p[higher]);
        }
    }
    read_several(p, &s);
    normalize(p, &s, log_none, log_small);
    p->p_unsteady = p_unsteady(&s);
    sight_fini(&s);
    mem_free(is_bad);
    posterior_entropy(p, e->n_commits);
}

double posterior_class(const struct posterior *p, uint32_t k)
{
    return p->inclusion ? p->inclusion[k] : 0;
}

double posterior_beside(const struct posterior *p, const uint32_t *classes, uint32_t n,
                        struct plain plain)
{
    double out = 0;

    for (uint32_t i = 0; i < p->n_readings; i++) {
        const struct reading *r = &p->readings[i];
        double largest = 0;
        bool is_beside = false;
        for (uint32_t j = 0; j < r->n; j++)
            largest = fmax(largest, fabs(r->size[j]));
        double least = fmax(plain.sds * r->sigma, plain.part * largest);
        for (uint32_t j = 0; j < r->n; j++) {
            bool is_named = !is_allowed(p, r->size[j] > 0) || fabs(r->size[j]) < least;
            for (uint32_t l = 0; l < n; l++)
                is_named |= classes[l] == r->classes[j];
            is_beside |= !is_named;
        }
        out += !r->is_hump && is_beside ? r->p : 0;
    }
    return out;
}

bool posterior_wants_reference(const struct posterior *p)
{
    return p->p_unsteady > .5;
}

double posterior_of(const struct posterior *p, uint32_t c)
{
    uint32_t k = p->class_of[c];

    if (k == UINT32_MAX)
        return 0;
    return posterior_class(p, k) * p->weight[c] / p->classes[k].weight;
}

uint32_t posterior_best_class(const struct posterior *p)
{
    uint32_t best = UINT32_MAX;
    double high = 0;

    for (uint32_t k = 0; k < p->n_classes; k++)
        if (posterior_class(p, k) > high) {
            high = posterior_class(p, k);
            best = k;
        }
    return best;
}
