/* SPDX-License-Identifier: Apache-2.0 */
/** Answers given to requests with an Idempotency-Key, so that a repeat gets the same one. */
#ifndef STORE_ANSWERS_H
#define STORE_ANSWERS_H

#include "base/hash.h"
#include "store/store.h"

#define ANSWER_KEEP_NS (24 * 3600 * NS_PER_S)

struct answer {
    int status;
    char *body;
};
void answer_fini(struct answer *a);
DEFINE_AUTO_FINI(struct answer, answer_fini)

/** `scope` is method, path and caller. ERR_NOT_FOUND: first of its kind, go on.
 *  ERR_CONFLICT: the key was used with another request. */
MUST_CHECK enum err_code store_answer_get(struct store *s, const char *scope, const char *key,
                                          const struct digest *request, struct answer *out,
                                          struct err *e);
/** Also forgets those older than ANSWER_KEEP_NS, a few at a time. */
MUST_CHECK enum err_code store_answer_put(struct store *s, const char *scope, const char *key,
                                          const struct digest *request, int status,
                                          const char *body, struct utc now, struct err *e);

#endif
