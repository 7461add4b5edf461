/* SPDX-License-Identifier: Apache-2.0 */
/** Which queued task a worker that asks gets. */
#ifndef QUEUE_PICK_H
#define QUEUE_PICK_H

#include "base/clock.h"
#include "model/project.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A worker as the choice sees it. */
struct hand {
    const char *name;
    const char *platform;
    const struct strings *tags; /* NULL: none */
};

/** A queued task as the choice sees it. */
struct waiting {
    int64_t order; /* smaller is older */
    const char *bisection;
    const char *platform;
    const struct strings *tags;      /* a worker must have all of them; NULL: none */
    const struct strings *failed_by; /* workers it failed on; NULL: none */
    uint32_t n_leased;               /* tasks of its bisection that are leased now */
    int64_t waited_ns;               /* since it was queued or came back */
};

/** A failed task waits so long for another worker before one it failed on may have it again. */
#define PICK_GRACE_NS (30 * NS_PER_S)

/** Right platform and every tag asked for. */
bool hand_fits(const struct hand *h, const struct waiting *t);

/**
 * Index of the task for `h`, or SIZE_MAX for none.
 *
 * Of the tasks that fit: those it has not failed before those it has (which it gets only if none
 * of `others` fits without having failed it, or after PICK_GRACE_NS); then the bisection with
 * fewest leased tasks; then the oldest. `others`: live workers that take tasks; `h` itself may
 * be among them.
 */
size_t pick_task(const struct waiting *tasks, size_t n_tasks, const struct hand *h,
                 const struct hand *others, size_t n_others);

#endif
