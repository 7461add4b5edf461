/* SPDX-License-Identifier: Apache-2.0 */
/** The machine that samples are taken on. */
#ifndef MEASURE_HOST_H
#define MEASURE_HOST_H

#include "model/task.h"

/** Fills kernel, cpu (with governor, turbo and temperature where they can be read), n_cpus and
 * load, and host where it is NULL. Unknown parts stay "unknown". */
void host_describe(struct environment *env);
/** "linux-x64" and the like, by this machine. Caller frees with mem_free. */
char *host_platform(void);

/** What holds for a metric: its own word, else the project's, else its kind's. Where there is only
 *  one core, who asks for CPUs of its own gets the host alone. */
enum isolation host_isolation(const struct project *p, const struct metric *m);
/** "exclusive", "cpus" or "none". */
const char *host_isolation_name(enum isolation i);

#endif
