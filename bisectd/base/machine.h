/* SPDX-License-Identifier: Apache-2.0 */
/** What a machine is like to measure on, as /proc and /sys tell it. */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include "base/auto.h"
#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/** A switch that may not be readable. */
enum known { KNOWN_OFF, KNOWN_ON, UNKNOWN };

struct machine {
    uint32_t n_cpus;  /* online */
    uint32_t n_cores; /* of these; 0: not told */
    double load;      /* 1-minute average; nan: not told */
    char *governor;   /* of frequency, "mixed" if they differ; NULL: not readable */
    enum known turbo; /* clocks above the nominal one while there is room for it */
    enum known smt;   /* several CPUs share a core */
    int aslr;         /* randomize_va_space: 0, 1 or 2; -1: not readable */
    char *huge_pages; /* transparent: "always", "madvise" or "never"; NULL: not readable */
    int64_t swap_bytes, swap_used_bytes; /* -1: not readable */
    double quota_cpus; /* of this process's control groups, the tightest; nan: none */
    double stolen;  /* share of time since boot that a hypervisor gave to others; nan: not told */
    double celsius; /* the warmest sensor; nan: none */
    enum known is_virtual;
};

/** `root` goes before /proc and /sys; "" but in tests. What cannot be read is left unknown. */
void machine_read(const char *root, struct machine *out);
void machine_fini(struct machine *m);
DEFINE_AUTO_FINI(struct machine, machine_fini)

/** "governor powersave, turbo on, 61 °C": those of the three that can be read; nothing for none. */
void machine_note(const struct machine *m, struct buf *out);

/** Where the time of all CPUs went since boot, in ticks. */
struct cpu_times {
    uint64_t all, idle, stolen;
};
/** False where it is not told. */
bool machine_cpu_times(const char *root, struct cpu_times *out);
/** Share of the time between two looks in which CPUs were at work, for whom ever; nan: none. */
double machine_busy(const struct cpu_times *before, const struct cpu_times *after);
/** Threads that run or could run at this moment, the caller among them; -1: not told. */
int64_t machine_running(const char *root);

#endif
