/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Looking into a culprit: it and its parent are run in turn, in five ways.
 *
 *     plain   untraced: elapsed time, and what the kernel's books say
 *     counts  strace -c: every call counted, for what the two differ in
 *     times   strace -T of these calls alone, with --seccomp-bpf, so that other calls cost nothing
 *     symbols perf with the clock of the processor: which functions it is busy in, where perf works
 *     instructions  counted as metric kind counter does it, once and last: callgrind is slow
 *
 * A traced call takes longer, by an amount that a program of trivial calls shows beforehand, each
 * time anew; it is taken off. On two CPUs that amount is ten times as large and as unsteady as on
 * one: tracer and traced share a CPU, unless the first untraced runs kept more than one busy; later
 * untraced ones are on that CPU, too.
 */
#ifndef MEASURE_INSPECT_H
#define MEASURE_INSPECT_H

#include "model/inspection.h"
#include "workers/measure/schedule.h"

/**
 * Takes the runs of an inspection, fewer than asked for where they take long. The last pair that is
 * asked for counts instructions.
 *
 * `base`:  as for schedule_run; `metric` tells the command, and when it is done or ready.
 * Outputs: *out, with its error set where there is nothing to see; caller frees.
 * Errors:  ours, as of schedule_run.
 */
MUST_CHECK enum err_code inspect(const struct schedule *base, struct inspection **out,
                                 struct err *e);

#endif
