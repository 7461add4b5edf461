/* SPDX-License-Identifier: Apache-2.0 */
#include "search/whitened.h"

#include "base/mem.h"
#include <math.h>
#include <string.h>

enum { MIN_SLOTS = 16 };

void whitened_init(struct whitened *w, struct weather weather)
{
    *w = (struct whitened){.weather = weather};
}

void whitened_fini(struct whitened *w)
{
    mem_free(w->inner);
    mem_free(w->with_y);
    mem_free(w->seen);
    mem_free(w->means);
    mem_free(w->hosts);
    *w = (struct whitened){0};
}

void whitened_reset(struct whitened *w, uint32_t n_slots)
{
    struct weather weather = w->weather;
    uint32_t cap = w->slot_cap > MIN_SLOTS ? w->slot_cap : MIN_SLOTS;

    while (cap < n_slots)
        cap *= 2;
    whitened_fini(w);
    w->weather = weather;
    w->slot_cap = cap;
    w->inner = mem_array((size_t)cap * cap, sizeof(*w->inner));
    w->with_y = mem_array(cap, sizeof(*w->with_y));
    w->seen = mem_array(cap, sizeof(*w->seen));
}

/** Value first, then the slots; two states each. */
static double *means_of(const struct whitened *w, uint32_t host)
{
    return w->means + 2 * (size_t)host * (w->slot_cap + 1);
}

static void add_host(struct whitened *w, uint32_t host)
{
    size_t width = 2 * (size_t)(w->slot_cap + 1);

    if (host < w->n_hosts)
        return;
    w->hosts = mem_resize(w->hosts, host + 1, sizeof(*w->hosts));
    w->means = mem_resize(w->means, (host + 1) * width, sizeof(*w->means));
    for (; w->n_hosts <= host; w->n_hosts++) {
        w->hosts[w->n_hosts] = (struct host_state){.is_seen = false};
        memset(w->means + w->n_hosts * width, 0, width * sizeof(*w->means));
    }
}

static double kept(const struct whitened *w, double gap)
{
    return w->weather.drift_var > 0 ? exp(-gap / w->weather.drift_runs) : 0;
}

/** The host's states after `gap` run lengths without a look; returns what is kept of the drift. */
static double let_pass(const struct whitened *w, struct host_state *h, double gap)
{
    double keep = kept(w, gap);

    if (!h->is_seen) {
        *h = (struct host_state){true, {w->weather.host_var, 0, w->weather.drift_var}};
        return 0;
    }
    h->var[1] *= keep;
    h->var[2] = keep * keep * h->var[2] + (1 - keep * keep) * w->weather.drift_var;
    return keep;
}

void whitened_add(struct whitened *w, uint32_t slot, uint32_t host, double gap, double noise,
                  double value)
{
    add_host(w, host);
    struct host_state *h = &w->hosts[host];
    double *means = means_of(w, host), keep = let_pass(w, h, gap);
    bool is_still = w->weather.host_var == 0 && w->weather.drift_var == 0;
    double var = noise + h->var[0] + 2 * h->var[1] + h->var[2];
    double gain[2] = {(h->var[0] + h->var[1]) / var, (h->var[1] + h->var[2]) / var};

    w->n_slots = slot >= w->n_slots ? slot + 1 : w->n_slots;
    w->n_runs++;
    w->last_host = host;
    w->log_det += log(var);
    if (is_still) {
        w->inner[(size_t)slot * w->slot_cap + slot] += 1 / noise;
        w->with_y[slot] += value / noise;
        w->yy += value * value / noise;
        return;
    }
    /* Innovations take the place of the values in the first state of each. */
    for (uint32_t i = 0; i <= w->n_slots; i++)
        means[2 * i + 1] *= keep;
    double seen_y = value - means[0] - means[1];
    means[0] += gain[0] * seen_y;
    means[1] += gain[1] * seen_y;
    w->yy += seen_y * seen_y / var;
    double *seen = w->seen;
    for (uint32_t i = 0; i < w->n_slots; i++) {
        double *m = means + 2 * (i + 1);
        seen[i] = (i == slot) - m[0] - m[1];
        m[0] += gain[0] * seen[i];
        m[1] += gain[1] * seen[i];
    }
    for (uint32_t i = 0; i < w->n_slots; i++) {
        double *row = w->inner + (size_t)i * w->slot_cap, part = seen[i] / var;
        for (uint32_t k = 0; k < w->n_slots; k++)
            row[k] += part * seen[k];
        w->with_y[i] += part * seen_y;
    }
    h->var[0] -= gain[0] * gain[0] * var;
    h->var[1] -= gain[0] * gain[1] * var;
    h->var[2] -= gain[1] * gain[1] * var;
}

/** What a run on the host that ran last would find of its offset and drift. */
static void look_ahead(const struct whitened *w, struct sums *out)
{
    struct host_state h = w->hosts[w->last_host];
    const double *means = means_of(w, w->last_host);
    double keep = let_pass(w, &h, 1);

    out->now_var = h.var[0] + 2 * h.var[1] + h.var[2];
    out->now_y = means[0] + keep * means[1];
    for (uint32_t i = 0; i < w->n_slots; i++) {
        out->now[i] = means[2 * (i + 1)] + keep * means[2 * (i + 1) + 1];
        out->now_one += out->now[i];
    }
}

void whitened_sums(const struct whitened *w, struct sums *out)
{
    uint32_t n = w->n_slots;
    double one_y = 0;

    *out = (struct sums){.n_slots = n, .n_runs = w->n_runs};
    out->inner = mem_array((size_t)n * n + 3 * (size_t)n + 1, sizeof(*out->inner));
    out->with_y = out->inner + (size_t)n * n;
    out->with_one = out->with_y + n;
    out->now = out->with_one + n;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < n; k++)
            out->with_one[i] += w->inner[(size_t)i * w->slot_cap + k];
        out->ones += out->with_one[i];
        one_y += w->with_y[i];
    }
    out->mean = one_y / out->ones;
    out->yy = fmax(w->yy - one_y * out->mean, 0);
    for (uint32_t i = 0; i < n; i++) {
        double part = out->with_one[i] / out->ones;
        for (uint32_t k = 0; k < n; k++)
            out->inner[(size_t)i * n + k] =
                w->inner[(size_t)i * w->slot_cap + k] - part * out->with_one[k];
        out->with_y[i] = w->with_y[i] - part * one_y;
    }
    out->log_norm = -.5 * (w->log_det + log(out->ones));
    look_ahead(w, out);
}

void sums_fini(struct sums *s)
{
    mem_free(s->inner);
    *s = (struct sums){0};
}
