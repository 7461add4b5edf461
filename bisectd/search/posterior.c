/* SPDX-License-Identifier: Apache-2.0 */
#include "search/posterior.h"

#include "base/mem.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Prior masses; what is left belongs to a step in the direction asked for. */
static const double prior_none = .1, prior_reversed = .03, prior_merge_base = .05;

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

static void fit_both(const struct posterior *p, const struct split *s, int sign, struct fit *out)
{
    if (p->is_rate)
        fit_rate(s, sign, p->scale, out);
    else
        fit_normal(s, sign, p->scale, out);
}

/** Prior mass of a step with this sign, over all candidates. */
static double prior_of_sign(const struct posterior *p, int higher)
{
    double step = 1 - prior_none - (p->has_merge_base ? prior_merge_base : 0);

    if (p->worse == WORSE_EITHER)
        return step / 2;
    return higher == (p->worse == WORSE_UP) ? step - prior_reversed : prior_reversed;
}

/** Which sampled revisions are bad if the culprit is in class k. */
static void class_sides(const struct posterior *p, const struct evidence *e, uint32_t k,
                        uint8_t *is_bad)
{
    for (uint32_t i = 0; i < e->n; i++)
        is_bad[i] = e->sampled[i].is_ancestor[p->classes[k].first];
}

/** log of the evidence that the merge base and all above it are bad, good alone good. */
static double merge_base_log(const struct posterior *p, const struct evidence *e, uint8_t *is_bad)
{
    double out = -INFINITY;
    struct split split;
    struct fit fit;

    for (uint32_t i = 0; i < e->n; i++)
        is_bad[i] = p->is_above_base[e->sampled[i].revision];
    evidence_split(e, is_bad, &split);
    for (int higher = 0; higher < 2; higher++) {
        if (p->worse != WORSE_EITHER && higher != (p->worse == WORSE_UP))
            continue;
        fit_both(p, &split, higher ? 1 : -1, &fit);
        double share = p->worse == WORSE_EITHER ? .5 : 1;
        out = log_add(out, fit.log_effect + log(prior_merge_base * share));
    }
    return out;
}

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

void posterior_update(struct posterior *p, const struct evidence *e, struct scale scale)
{
    uint8_t *is_bad = mem_array(e->n + 1, 1);
    struct split split;
    double total, log_small = -INFINITY, log_base = -INFINITY;

    p->scale = scale;
    evidence_split(e, is_bad, &split);
    if (p->is_rate)
        fit_rate_none(&split, &p->none);
    else
        fit_normal_none(&split, scale, &p->none);
    double log_none = p->none.log_none + log(prior_none);
    total = log_none;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        struct hypothesis *h = &p->classes[k];
        class_sides(p, e, k, is_bad);
        evidence_split(e, is_bad, &split);
        for (int higher = 0; higher < 2; higher++) {
            double log_prior = log(prior_of_sign(p, higher) * h->weight);
            fit_both(p, &split, higher ? 1 : -1, &h->fit[higher]);
            h->p[higher] = h->fit[higher].log_effect + log_prior;
            log_small = log_add(log_small, h->fit[higher].log_small + log_prior);
            total = log_add(total, h->p[higher]);
        }
    }
    if (p->has_merge_base)
        log_base = merge_base_log(p, e, is_bad);
    total = log_add(log_add(total, log_small), log_base);
    mem_free(is_bad);

    p->p_none = exp(log_none - total) + exp(log_small - total);
    p->p_merge_base = exp(log_base - total);
    p->p_reversed = 0;
    for (uint32_t k = 0; k < p->n_classes; k++)
        for (int higher = 0; higher < 2; higher++) {
            p->classes[k].p[higher] = exp(p->classes[k].p[higher] - total);
            if (p->worse != WORSE_EITHER && higher != (p->worse == WORSE_UP))
                p->p_reversed += p->classes[k].p[higher];
        }
    posterior_entropy(p, e->n_commits);
}

double posterior_class(const struct posterior *p, uint32_t k)
{
    const struct hypothesis *h = &p->classes[k];

    return p->worse == WORSE_EITHER ? h->p[0] + h->p[1] : h->p[p->worse == WORSE_UP];
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
