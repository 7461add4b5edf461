/* SPDX-License-Identifier: Apache-2.0 */
/** Which CPUs are for measuring under `isolation: cpus`, and which for the rest. */
#ifndef MEASURE_CPUS_H
#define MEASURE_CPUS_H

#include <sched.h>
#include <stdbool.h>

struct cpus {
    cpu_set_t measuring; /* one CPU of each of these cores; what shares it stays idle */
    cpu_set_t rest;      /* all CPUs of the other cores */
};

/**
 * Of the cores that this process may use, the upper half measures, rounded down, and the lower half
 * does the rest: it has CPU 0, which takes most interrupts. False: there is only one core.
 *
 * `root` goes before /sys; "" but in tests. `allowed`: CPUs of this process.
 */
bool cpus_split(const char *root, const cpu_set_t *allowed, struct cpus *out);
/** For this machine and process. */
bool cpus_here(struct cpus *out);

#endif
