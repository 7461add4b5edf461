/* SPDX-License-Identifier: Apache-2.0 */
#include "search/evidence.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

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
    }
    for (uint32_t i = 0; i < e->n_hosts; i++)
        mem_free(e->hosts[i]);
    mem_free(e->sampled);
    mem_free(e->hosts);
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
    }
    return e->n_hosts++;
}

bool evidence_add(struct evidence *e, uint32_t revision, const char *host, double value,
                  uint32_t *slot)
{
    uint32_t h = host_slot(e, host ? host : "");
    uint32_t i = evidence_find(e, revision);
    bool is_new = i == UINT32_MAX;

    if (is_new) {
        i = e->n++;
        e->sampled = mem_resize(e->sampled, e->n, sizeof(*e->sampled));
        e->sampled[i] = (struct sampled){
            .revision = revision,
            .is_ancestor = mem_array(e->n_commits, sizeof(uint8_t)),
            .hosts = mem_array(e->n_hosts, sizeof(struct moments)),
        };
    }
    moments_add(&e->sampled[i].all, value);
    moments_add(&e->sampled[i].hosts[h], value);
    e->n_runs += 1;
    *slot = i;
    return is_new;
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
    return *dof > 0 ? sqrt(ss / *dof) : 0;
}

/** One host's share of a split. */
static void split_add(struct split *out, const struct moments side[2])
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

void evidence_split(const struct evidence *e, const uint8_t *is_bad, struct split *out)
{
    *out = (struct split){0};
    for (uint32_t h = 0; h < e->n_hosts; h++) {
        struct moments side[2] = {{.n = 0}, {.n = 0}};
        for (uint32_t i = 0; i < e->n; i++)
            moments_merge(&side[is_bad[i] ? 1 : 0], &e->sampled[i].hosts[h]);
        split_add(out, side);
    }
}
