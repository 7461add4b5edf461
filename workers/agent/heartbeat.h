/* SPDX-License-Identifier: Apache-2.0 */
/** Keeping a lease alive while its task is worked on, and learning when it is not ours any more. */
#ifndef AGENT_HEARTBEAT_H
#define AGENT_HEARTBEAT_H

#include "base/err.h"
#include "model/task.h"
#include "wire/http.h"
#include <stdbool.h>

struct heartbeat;

/** Starts a thread that renews every lease->renew_ns, and soon after the activity has changed. It
 *  has its own connection, by `o`. The lease must outlive it. */
MUST_CHECK enum err_code heartbeat_new(const struct http_options *o, const struct lease *lease,
                                       struct heartbeat **out, struct err *e);
void heartbeat_free(struct heartbeat *h);
DEFINE_AUTO(struct heartbeat, heartbeat_free)

/** What is being done, as people see it: "measuring 1a2b3c4 3/8". */
void heartbeat_tell(struct heartbeat *h, const char *format, ...) PRINTF(2, 3);
/** True once the coordinator has said that the lease is over: the task must stop. */
bool heartbeat_is_lost(struct heartbeat *h);

#endif
