/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/pick.h"

#include <string.h>

static bool has(const struct strings *s, const char *item)
{
    return s && strings_has(s, item);
}

bool hand_fits(const struct hand *h, const struct waiting *t)
{
    if (strcmp(h->platform, t->platform))
        return false;
    for (size_t i = 0; t->tags && i < t->tags->n; i++)
        if (!has(h->tags, t->tags->items[i]))
            return false;
    return true;
}

/** Somebody who has not failed this task could take it. */
static bool has_other(const struct waiting *t, const struct hand *others, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (hand_fits(&others[i], t) && !has(t->failed_by, others[i].name))
            return true;
    return false;
}

struct favourite {
    size_t index; /* SIZE_MAX: none yet */
    bool has_failed;
};

static bool is_better(const struct waiting *a, bool a_failed, const struct waiting *b,
                      bool b_failed)
{
    if (a_failed != b_failed)
        return b_failed;
    if (a->n_leased != b->n_leased)
        return a->n_leased < b->n_leased;
    return a->order < b->order;
}

size_t pick_task(const struct waiting *tasks, size_t n_tasks, const struct hand *h,
                 const struct hand *others, size_t n_others)
{
    struct favourite best = {.index = SIZE_MAX};

    for (size_t i = 0; i < n_tasks; i++) {
        const struct waiting *t = &tasks[i];
        if (!hand_fits(h, t))
            continue;
        bool has_failed = has(t->failed_by, h->name);
        if (has_failed && t->waited_ns < PICK_GRACE_NS && has_other(t, others, n_others))
            continue;
        if (best.index == SIZE_MAX || is_better(t, has_failed, &tasks[best.index], best.has_failed))
            best = (struct favourite){.index = i, .has_failed = has_failed};
    }
    return best.index;
}
