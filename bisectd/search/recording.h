/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One search as lines of JSON, so that another program can be fed the same and be held to the same
 * decisions, one by one. In this order:
 *
 *     {"request": …, "range": …, "workers": W, "verify": true}    what is asked, by how many at
 * once
 *     {"event": "started", "samples": […], "builds": [], …}       what happens, named as stored
 *     {"event": "capacity", "n_workers": 3, …}
 *     {"begin": 4, "worker": "worker-0", "host": "host-0"}        a worker takes task 4
 *     {"event": "result", "ordinal": 4, "worker": …, "result": …, …}
 *     {"verdict": …}                                              at the end
 *
 * Each event also says what is decided on it: "issue" (task specs), "cancel" (ordinals),
 * "posterior" and "finished". Request, range, result, specs and verdict are those of model/.
 */
#ifndef SEARCH_RECORDING_H
#define SEARCH_RECORDING_H

#include "base/buf.h"
#include "search/bisection.h"

void recording_question(struct buf *out, const struct request *request, const struct range *range,
                        uint32_t n_workers, bool has_verification);
void recording_begin(struct buf *out, const struct task_spec *task, const char *worker,
                     const char *host);
/** Pre: the event is one that a simulation has: started, capacity or result; `b` has taken it. */
void recording_event(struct buf *out, const struct bisection *b, const struct event *event,
                     const struct effects *effects);
void recording_verdict(struct buf *out, const struct bisection *b);

#endif
