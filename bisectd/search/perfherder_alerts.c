/* SPDX-License-Identifier: Apache-2.0 */
#include "search/perfherder_alerts.h"

#include "base/mem.h"
#include <math.h>

const struct alert_rule alert_rule_usual = {
    .min_back = 12, .max_back = 24, .fore = 12, .t = 7, .threshold = 2};

struct push_level push_level_of(const struct push *nearest, int step, uint32_t n,
                                enum push_weights weights)
{
    struct push_level level = {0};
    double sum = 0, all = 0, squares = 0;

    for (uint32_t k = 0; k < n; k++) {
        const struct push *p = nearest + step * (int64_t)k;
        double weight = weights == WEIGHTS_LINEAR ? (double)(n - k) / n : 1;
        for (uint32_t i = 0; i < p->n; i++) {
            sum += weight * p->values[i];
            all += weight;
        }
        level.n += p->n;
    }
    level.mean = sum / all;
    for (uint32_t k = 0; k < n; k++) {
        const struct push *p = nearest + step * (int64_t)k;
        for (uint32_t i = 0; i < p->n; i++)
            squares += (p->values[i] - level.mean) * (p->values[i] - level.mean);
    }
    level.variance = level.n > 1 ? squares / (level.n - 1) : 0;
    return level;
}

double push_t(const struct push_level *back, const struct push_level *fore)
{
    double step = fabs(fore->mean - back->mean);
    double variance = back->variance / back->n + fore->variance / fore->n;

    if (step == 0)
        return 0;
    return variance > 0 ? step / sqrt(variance) : INFINITY;
}

/** What stands on the two sides of a push. */
struct sides {
    uint32_t n_back, n_fore; /* pushes */
    uint32_t back_values, fore_values;
    double t;
};

static struct sides sides_of(const struct push *pushes, uint32_t n, uint32_t at, uint32_t seen,
                             const struct alert_rule *rule)
{
    struct sides s = {0};
    uint32_t reach = seen > rule->min_back ? seen : rule->min_back;

    reach = reach < rule->max_back ? reach : rule->max_back;
    while (s.back_values < rule->max_back && s.n_back < at && s.n_back < reach)
        s.back_values += pushes[at - ++s.n_back].n;
    while (s.fore_values < rule->fore && at + s.n_fore < n)
        s.fore_values += pushes[at + s.n_fore++].n;
    struct push_level back = push_level_of(&pushes[at - 1], -1, s.n_back, WEIGHTS_LINEAR);
    struct push_level fore = push_level_of(&pushes[at], 1, s.n_fore, WEIGHTS_LINEAR);
    s.t = push_t(&back, &fore);
    return s;
}

static struct push_change change_of(const struct push *pushes, uint32_t at, const struct sides *s)
{
    struct push_change c = {
        .at = at,
        .t = s->t,
        .before = push_level_of(&pushes[at - 1], -1, s->n_back, WEIGHTS_EVEN).mean,
        .after = push_level_of(&pushes[at], 1, s->n_fore, WEIGHTS_EVEN).mean,
    };

    c.percent = c.before == 0 ? 0 : 100 * fabs(c.after - c.before) / c.before;
    return c;
}

static bool is_change(const struct sides *all, uint32_t n, uint32_t at,
                      const struct alert_rule *rule)
{
    const struct sides *s = &all[at];

    if (s->back_values < rule->min_back || s->fore_values < rule->fore || s->t <= rule->t)
        return false;
    return all[at - 1].t <= s->t && (at + 1 == n || all[at + 1].t <= s->t);
}

uint32_t push_changes_find(const struct push *pushes, uint32_t n, const struct alert_rule *rule,
                           struct push_change **out)
{
    struct sides *all = mem_array((size_t)n + 1, sizeof(*all));
    uint32_t seen = 0, n_found = 0;

    *out = NULL;
    for (uint32_t at = 1; at < n; at++) {
        all[at] = sides_of(pushes, n, at, seen, rule);
        seen = all[at].t > rule->t ? 0 : seen + 1;
    }
    for (uint32_t at = 1; at < n; at++) {
        if (!is_change(all, n, at, rule))
            continue;
        *out = mem_resize(*out, n_found + 1, sizeof(**out));
        (*out)[n_found++] = change_of(pushes, at, &all[at]);
    }
    mem_free(all);
    return n_found;
}

bool push_change_is_alert(const struct push_change *c, const struct alert_rule *rule)
{
    return rule->is_absolute ? fabs(c->after - c->before) >= rule->threshold
                             : c->percent >= rule->threshold;
}
