/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Looking a range up in a repository, in a child process: fetching and walking may take minutes.
 *
 * The child is this program again, started with RESOLVE_FLAG. It reads one JSON object on stdin
 * and writes JSON lines on stdout: any number of {"progress": TEXT}, then {"range": …} or
 * {"error": {"code", "text", "hint"}}.
 */
#ifndef APP_RESOLVE_H
#define APP_RESOLVE_H

#include "app/loop.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/bisection.h"
#include "model/revision.h"
#include <stdbool.h>

#define RESOLVE_FLAG "--resolve-range"

struct resolver;

struct resolver_question {
    const char *data_dir;
    const char *bisection; /* id, to pin the ends under */
    const struct request *request;
};

/** Starts the child and watches it from the loop. */
MUST_CHECK enum err_code resolver_start(struct loop *l, const struct resolver_question *q,
                                        struct resolver **out, struct err *e);
/** Kills the child if it still runs. */
void resolver_free(struct resolver *r);
DEFINE_AUTO(struct resolver, resolver_free)

bool resolver_is_done(const struct resolver *r);
/** What the child is doing, for people; NULL: it has not said. Borrowed. */
const char *resolver_progress(const struct resolver *r);
/** Pre: done. Hands out what the child said last, for resolve_read(). */
void resolver_take(struct resolver *r, struct buf *out);

/** Pure and slow. The child's error, or ERR_IO if it ended without a word. */
MUST_CHECK enum err_code resolve_read(const struct buf *answer, struct range **out, struct err *e);

/** What the child does; its exit status. */
int resolve_child(void);

#endif
