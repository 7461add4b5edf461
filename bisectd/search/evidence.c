/* SPDX-License-Identifier: Apache-2.0 */
#include "search/evidence.h"

#include "base/mem.h"
#include "base/numbers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double wide_sds = 2.5, wild_sds = 6; /* so far from its level a run is wide, wild */
static const double most_wide = .12,
                    most_wild = .12; /* ... unless more than this part of all are */
static const double few_runs = 3;
enum { MANY_ALIKE = 4 };     /* runs that make a level of their own */
enum { MOST_DRIFTING = 96 }; /* sampled revisions; with more, drift would cost too much to follow */

void moments_add(struct moments *m, double value)
{
    double off = value - m->mean;

    m->n += 1;
    m->mean += off / m->n;
    m->ss += off * (value - m->mean);
}

void moments_merge(struct moments *m, const struct moments *other)
{
    if (other->n == 0)
        return;
    double n = m->n + other->n;
    double off = other->mean - m->mean;
    m->ss += other->ss + off * off * m->n * other->n / n;
    m->mean += off * other->n / n;
    m->n = n;
}

/* Weathers: calm first; the rest are alternatives that the runs may speak for. */
static const struct weather alone[] = {
    {0, 0, 1, .7},
    {0, .5, 20, .1},
    {0, 1.5, 50, .1},
    {0, 9, 40, .1},
};
/* Hosts with levels of their own: none, like the noise, or far apart. */
static const struct {
    double var, prior;
} levels[] = {{0, .5}, {1, .2}, {100, .3}};

struct evidence *evidence_new(uint32_t n_commits)
{
    struct evidence *e = mem_alloc(sizeof(*e));

    e->n_commits = n_commits;
    return e;
}

void evidence_free(struct evidence *e)
{
    if (!e)
        return;
    for (uint32_t i = 0; i < e->n; i++) {
        mem_free(e->sampled[i].is_ancestor);
        mem_free(e->sampled[i].hosts);
        mem_free(e->sampled[i].n_runs);
    }
    for (uint32_t i = 0; i < e->n_hosts; i++)
        mem_free(e->hosts[i]);
    for (uint32_t i = 0; i < e->n_weathers; i++)
        whitened_fini(&e->weathers[i]);
    mem_free(e->sampled);
    mem_free(e->hosts);
    mem_free(e->runs);
    mem_free(e);
}

uint32_t evidence_find(const struct evidence *e, uint32_t revision)
{
    for (uint32_t i = 0; i < e->n; i++)
        if (e->sampled[i].revision == revision)
            return i;
    return UINT32_MAX;
}

static uint32_t host_slot(struct evidence *e, const char *host)
{
    for (uint32_t i = 0; i < e->n_hosts; i++)
        if (!strcmp(e->hosts[i], host))
            return i;
    e->hosts = mem_resize(e->hosts, e->n_hosts + 1, sizeof(*e->hosts));
    e->hosts[e->n_hosts] = mem_dup(host);
    for (uint32_t i = 0; i < e->n; i++) {
        struct sampled *s = &e->sampled[i];
        s->hosts = mem_resize(s->hosts, e->n_hosts + 1, sizeof(*s->hosts));
        s->hosts[e->n_hosts] = (struct moments){0};
        s->n_runs = mem_resize(s->n_runs, e->n_hosts + 1, sizeof(*s->n_runs));
        s->n_runs[e->n_hosts] = 0;
    }
    return e->n_hosts++;
}

/** Order of time, with whatever tells two runs of one moment apart. */
static bool is_before(const struct observed *a, const struct observed *b)
{
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns;
    if (a->number != b->number)
        return a->number < b->number;
    return a->value < b->value;
}

bool evidence_add(struct evidence *e, uint32_t revision, const char *host,
                  const struct observed *run, uint32_t *slot)
{
    uint32_t h = host_slot(e, host ? host : ""), at = (uint32_t)e->n_runs;
    uint32_t i = evidence_find(e, revision);
    bool is_new = i == UINT32_MAX;

    if (is_new) {
        i = e->n++;
        e->sampled = mem_resize(e->sampled, e->n, sizeof(*e->sampled));
        e->sampled[i] = (struct sampled){
            .revision = revision,
            .is_ancestor = mem_array(e->n_commits, sizeof(uint8_t)),
            .hosts = mem_array(e->n_hosts, sizeof(struct moments)),
            .n_runs = mem_array(e->n_hosts, sizeof(uint32_t)),
        };
    }
    if (at == e->runs_cap) {
        e->runs_cap = 2 * e->runs_cap + 32;
        e->runs = mem_resize(e->runs, e->runs_cap, sizeof(*e->runs));
    }
    struct observed new = *run;
    new.slot = i;
    new.host = h;
    new.is_wild = false;
    new.noise = 1;
    e->sampled[i].n_runs[h]++;
    e->sampled[i].n_all++;
    for (; at > 0 && is_before(&new, &e->runs[at - 1]); at--)
        e->runs[at] = e->runs[at - 1];
    e->runs[at] = new;
    e->n_runs += 1;
    if (at < e->n_whitened)
        e->n_whitened = 0;
    moments_add(&e->sampled[i].all, run->value);
    moments_add(&e->sampled[i].hosts[h], run->value);
    *slot = i;
    return is_new;
}

/* Wild runs */

/** The runs of one revision on one host, sorted; returns how many. */
static uint32_t values_of(const struct evidence *e, uint32_t slot, uint32_t host, double *room)
{
    uint32_t n = 0;

    if (e->sampled[slot].n_runs[host] == 0)
        return 0;
    for (uint32_t i = 0; i < (uint32_t)e->n_runs; i++)
        if (e->runs[i].slot == slot && e->runs[i].host == host)
            room[n++] = e->runs[i].value;
    numbers_sort(room, n);
    return n;
}

/** Standard deviation of a run from the median distance to the median of its revision, widened
 *  where it rests on few; INFINITY where on less than two. */
static double robust_sd(const struct evidence *e)
{
    double *room = mem_array(2 * (size_t)e->n_runs + 1, sizeof(*room));
    double *off = room + (size_t)e->n_runs;
    uint32_t n_off = 0;

    for (uint32_t s = 0; s < e->n; s++)
        for (uint32_t h = 0; h < e->n_hosts; h++) {
            uint32_t n = values_of(e, s, h, room), skipped = n > 0 ? (n - 1) / 2 : 0;
            double center = n > 0 ? numbers_median(room, n) : 0,
                   wider = n > 1 ? sqrt(n / (n - 1.)) : 0;
            for (uint32_t i = 0; i < n; i++) /* as many distances as degrees of freedom */
                if (i != skipped)
                    off[n_off++] = wider * fabs(room[i] - center);
        }
    numbers_sort(off, n_off);
    double sd = n_off < 2 ? INFINITY : off[(4 * n_off - 1) / 5] / 1.28 * (1 + few_runs / n_off);
    mem_free(room);
    return sd;
}

/** Is the center of another revision on this host near? */
static bool has_company(const struct evidence *e, const double *medians, uint32_t s, uint32_t h,
                        double sd)
{
    double own = medians[s * e->n_hosts + h];

    for (uint32_t other = 0; other < e->n; other++)
        if (other != s && fabs(medians[other * e->n_hosts + h] - own) <= wide_sds * M_SQRT2 * sd)
            return true;
    return false;
}

/** Center of each revision's runs on each host; NAN where there is none to rely on: a lone run, two
 *  that do not agree, or a few at a level that no other revision has, which may be wild alike. */
static double *centers_of(const struct evidence *e, double sd)
{
    size_t n_all = (size_t)e->n * e->n_hosts;
    double *centers = mem_array(n_all + 1, sizeof(*centers));
    double *medians = mem_array(n_all + 1, sizeof(*medians));
    double *room = mem_array((size_t)e->n_runs + 1, sizeof(*room));

    for (uint32_t s = 0; s < e->n; s++)
        for (uint32_t h = 0; h < e->n_hosts; h++) {
            uint32_t n = values_of(e, s, h, room);
            bool is_one = n >= 3 || (n == 2 && room[1] - room[0] <= wide_sds * M_SQRT2 * sd);
            medians[s * e->n_hosts + h] = n > 0 ? numbers_median(room, n) : NAN;
            centers[s * e->n_hosts + h] = is_one ? medians[s * e->n_hosts + h] : NAN;
        }
    for (uint32_t s = 0; s < e->n; s++)
        for (uint32_t h = 0; h < e->n_hosts; h++)
            if (e->sampled[s].n_runs[h] < MANY_ALIKE && !has_company(e, medians, s, h, sd))
                centers[s * e->n_hosts + h] = NAN;
    mem_free(medians);
    mem_free(room);
    return centers;
}

/** How far a run is from the center of its revision, or else from the nearest on its host. */
static double distance_of(const struct evidence *e, const double *centers, const struct observed *r)
{
    double own = centers[r->slot * e->n_hosts + r->host], nearest = INFINITY;

    if (!isnan(own))
        return fabs(r->value - own);
    for (uint32_t s = 0; s < e->n; s++)
        if (!isnan(centers[s * e->n_hosts + r->host]))
            nearest = fmin(nearest, fabs(r->value - centers[s * e->n_hosts + r->host]));
    return nearest < INFINITY ? nearest : 0;
}

/** A wide run counts as one with so much more variance, in powers of two. */
static double widened(double sds)
{
    return sds <= wide_sds ? 1 : exp2(ceil(2 * log2(sds / wide_sds)));
}

/** Fills each run's noise; returns how many are wild. */
static uint32_t mark_wild(struct evidence *e)
{
    uint32_t n_runs = (uint32_t)e->n_runs, n_wide = 0, n_wild = 0;
    double sd = robust_sd(e), *noise = mem_array(n_runs + 1, sizeof(*noise));
    bool is_sure = sd > 0 && sd < INFINITY;
    double *centers = is_sure ? centers_of(e, sd) : NULL;

    for (uint32_t i = 0; i < n_runs; i++) {
        double sds = is_sure ? distance_of(e, centers, &e->runs[i]) / sd : 0;
        noise[i] = widened(sds);
        n_wide += sds > wide_sds;
        n_wild += sds > wild_sds;
        e->runs[i].is_wild = sds > wild_sds;
    }
    /* Many are no exception but the rule, and then no run is above doubt. */
    bool is_rule = n_wide > fmax(1, most_wide * n_runs) || n_wild > fmax(1, most_wild * n_runs);
    for (uint32_t i = 0; i < n_runs; i++) {
        struct observed *r = &e->runs[i];
        double now = is_rule ? 1 : noise[i];
        if (r->noise != now && i < e->n_whitened)
            e->n_whitened = 0;
        r->noise = now;
        r->is_wild &= !is_rule;
    }
    e->n_wide = is_rule ? n_runs : n_wide;
    mem_free(centers);
    mem_free(noise);
    return is_rule ? 0 : n_wild;
}

static void recount(struct evidence *e)
{
    for (uint32_t s = 0; s < e->n; s++) {
        e->sampled[s].all = (struct moments){0};
        for (uint32_t h = 0; h < e->n_hosts; h++)
            e->sampled[s].hosts[h] = (struct moments){0};
    }
    for (uint32_t i = 0; i < (uint32_t)e->n_runs; i++) {
        const struct observed *r = &e->runs[i];
        if (r->is_wild)
            continue;
        moments_add(&e->sampled[r->slot].all, r->value);
        moments_add(&e->sampled[r->slot].hosts[r->host], r->value);
    }
}

/* Weathers */

static void choose_weathers(struct evidence *e)
{
    uint32_t n = 0, n_levels = e->n_hosts > 1 ? LEN(levels) : 1;

    for (uint32_t l = 0; l < n_levels; l++)
        for (uint32_t i = 0; i < LEN(alone); i++, n++) {
            struct weather w = alone[i];
            if (i > 0 && e->n > MOST_DRIFTING)
                break;
            w.host_var = n_levels > 1 ? levels[l].var : 0;
            w.prior *= n_levels > 1 ? levels[l].prior : 1;
            if (n >= e->n_weathers)
                whitened_init(&e->weathers[n], w);
            e->weathers[n].weather = w;
        }
    if (n == e->n_weathers)
        return;
    for (uint32_t g = n; g < e->n_weathers; g++)
        whitened_fini(&e->weathers[g]);
    e->n_weathers = n;
    e->n_whitened = 0;
}

/** Run lengths since the last run of its host; at least one. */
static double gap_of(const struct observed *run, const struct observed *before)
{
    if (!before || run->seconds <= 0)
        return 1;
    double gap = (double)(run->at_ns - before->at_ns) / 1e9 / fmax(run->seconds, 1e-3);
    return fmin(fmax(gap, 1), 1e6);
}

static void whiten(struct evidence *e)
{
    const struct observed **last = mem_array(e->n_hosts + 1, sizeof(*last));

    for (uint32_t g = 0; g < e->n_weathers; g++)
        if (e->weathers[g].slot_cap < e->n)
            e->n_whitened = 0;
    for (uint32_t g = 0; g < e->n_weathers && e->n_whitened == 0; g++)
        whitened_reset(&e->weathers[g], e->n);
    for (uint32_t i = 0; i < (uint32_t)e->n_runs; i++) {
        const struct observed *r = &e->runs[i];
        double gap = gap_of(r, last[r->host]);
        last[r->host] = r;
        if (i < e->n_whitened)
            continue;
        for (uint32_t g = 0; g < e->n_weathers; g++)
            whitened_add(&e->weathers[g], r->slot, r->host, gap, r->noise,
                         r->value - e->runs[0].value);
    }
    for (uint32_t g = 0; g < e->n_weathers; g++)
        e->weathers[g].n_slots = e->n;
    e->n_whitened = (uint32_t)e->n_runs;
    mem_free(last);
}

void evidence_settle(struct evidence *e, bool is_rate)
{
    if (is_rate || e->n_runs == 0)
        return;
    uint32_t n_wild = mark_wild(e);
    if (n_wild > 0 || e->n_wild > 0)
        recount(e);
    e->n_wild = n_wild;
    choose_weathers(e);
    whiten(e);
}

/** The same from what neighbours in time differ, which a slow drift does not widen. */
static double successive_sd(const struct evidence *e)
{
    double *last = mem_array((size_t)e->n * e->n_hosts + 1, sizeof(*last)), sum = 0, n = 0;

    for (uint32_t i = 0; i < e->n * e->n_hosts; i++)
        last[i] = NAN;
    for (uint32_t i = 0; i < (uint32_t)e->n_runs; i++) {
        const struct observed *r = &e->runs[i];
        double *before = &last[r->slot * e->n_hosts + r->host];
        if (r->is_wild)
            continue;
        if (!isnan(*before)) {
            sum += (r->value - *before) * (r->value - *before) / 2;
            n += 1;
        }
        *before = r->value;
    }
    mem_free(last);
    return n > 0 ? sqrt(sum / n) : 0;
}

double evidence_within_sd(const struct evidence *e, double *dof)
{
    double ss = 0;

    *dof = 0;
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t h = 0; h < e->n_hosts; h++) {
            const struct moments *m = &e->sampled[i].hosts[h];
            if (m->n < 2)
                continue;
            ss += m->ss;
            *dof += m->n - 1;
        }
    return *dof > 0 ? fmin(sqrt(ss / *dof), successive_sd(e)) : 0;
}

void split_add(struct split *out, const struct moments side[2])
{
    double n = side[0].n + side[1].n;

    if (n == 0)
        return;
    double xx = side[0].n * side[1].n / n;
    double step = side[1].mean - side[0].mean;
    out->n += n;
    out->n_hosts += 1;
    out->s_xx += xx;
    out->s_xy += xx * step;
    out->s_yy += side[0].ss + side[1].ss + xx * step * step;
    out->mean = (out->ones * out->mean + side[0].n * side[0].mean + side[1].n * side[1].mean) /
                (out->ones + n);
    out->ones += n;
    out->bad_ones += side[1].n;
    moments_merge(&out->good, &side[0]);
    moments_merge(&out->bad, &side[1]);
}

void evidence_split_pair(const struct evidence *e, uint32_t good_slot, uint32_t bad_slot,
                         struct split *out)
{
    *out = (struct split){0};
    for (uint32_t h = 0; h < e->n_hosts; h++) {
        struct moments side[2] = {e->sampled[good_slot].hosts[h], e->sampled[bad_slot].hosts[h]};
        split_add(out, side);
    }
}

void evidence_split(const struct evidence *e, const uint8_t *side, struct split *out)
{
    *out = (struct split){0};
    for (uint32_t h = 0; h < e->n_hosts; h++) {
        struct moments both[2] = {{.n = 0}, {.n = 0}};
        for (uint32_t i = 0; i < e->n; i++)
            if (side[i] != LEFT_OUT)
                moments_merge(&both[side[i]], &e->sampled[i].hosts[h]);
        split_add(out, both);
    }
}
