/* SPDX-License-Identifier: Apache-2.0 */
/** Threads for slow pure work, on values that nobody else holds meanwhile. */
#ifndef APP_POOL_H
#define APP_POOL_H

#include "base/err.h"
#include <stdint.h>

struct pool;

/** Embedded first in what it works on. */
struct job {
    void (*run)(struct job *j);  /* in a thread of the pool */
    void (*done)(struct job *j); /* in the thread that calls pool_collect() */
    struct job *next;
};

MUST_CHECK enum err_code pool_new(uint32_t n_threads, struct pool **out, struct err *e);
/** Lets jobs under way end, and calls done() of all that ever were submitted. */
void pool_free(struct pool *p);
DEFINE_AUTO(struct pool, pool_free)

/** Readable when pool_collect() has something to do. */
int pool_fd(const struct pool *p);
void pool_submit(struct pool *p, struct job *j);
/** Calls done() of each job that has run, in the order they finished. */
void pool_collect(struct pool *p);

#endif
