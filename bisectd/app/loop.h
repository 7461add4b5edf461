/* SPDX-License-Identifier: Apache-2.0 */
/** Waiting for descriptors. One thread; callbacks note what they read and decide nothing. */
#ifndef APP_LOOP_H
#define APP_LOOP_H

#include "base/clock.h"
#include "base/err.h"

struct loop;
typedef void loop_ready(void *ctx);

MUST_CHECK enum err_code loop_new(struct loop **out, struct err *e);
void loop_free(struct loop *l);
DEFINE_AUTO(struct loop, loop_free)

/** Calls `ready` from loop_wait() while `fd` is readable or at its end. */
MUST_CHECK enum err_code loop_add(struct loop *l, int fd, loop_ready *ready, void *ctx,
                                  struct err *e);
/** Pre: not within a callback. */
void loop_remove(struct loop *l, int fd);
/** Waits until something is ready, or `until`. */
void loop_wait(struct loop *l, struct mono until);

#endif
