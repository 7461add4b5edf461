/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/quiet.h"
#include "base/clock.h"
#include "base/machine.h"
#include <math.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#define GLANCE_NS (4 * NS_PER_MS)
#define LOOK_NS   (200 * NS_PER_MS)
enum { GLANCES = 5, REST_TIMES = 10 };

bool quiet_is_needed(const struct metric *m)
{
    return m->kind != METRIC_EXIT && m->kind != METRIC_RSS && m->kind != METRIC_COUNTER;
}

static void nap(int64_t ns)
{
    nanosleep(&(struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S}, NULL);
}

/** How many threads could run besides this one, as a share of the CPUs; nan: not told. */
static double glance(void)
{
    const long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t n = 0;

    for (int i = 0; i < GLANCES; i++) {
        int64_t running = machine_running("");
        if (running < 1)
            return nan("");
        n += running - 1;
        nap(GLANCE_NS);
    }
    double busy = (double)n / GLANCES / (double)(n_cpus > 0 ? n_cpus : 1);
    return busy < 1 ? busy : 1;
}

static double look(void)
{
    struct cpu_times before, after;

    if (!machine_cpu_times("", &before))
        return nan("");
    nap(LOOK_NS);
    return machine_cpu_times("", &after) ? machine_busy(&before, &after) : nan("");
}

static void note(const struct quiet *q, struct clip *log, double busy, int64_t waited_ns)
{
    char waited[32];

    duration_format(waited_ns, waited);
    if (busy > q->most_busy)
        clip_printf(log,
                    "this machine is not quiet: %.0f %% of it is at work for others (%.0f %% would "
                    "do); waited %s, measuring all the same\n",
                    100 * busy, 100 * q->most_busy, waited);
    else
        clip_printf(log, "waited %s for this machine to be quiet\n", waited);
}

enum err_code quiet_wait(struct quiet *q, struct clip *log,
                         bool (*may_go_on)(void *context, double busy), void *context,
                         struct err *e)
{
    const int64_t begin_ns = mono_now().ns;
    double busy = q->patience_ns > 0 ? glance() : 0;

    if (!(busy > q->most_busy)) /* quiet, or not told */
        return ERR_OK;
    if (begin_ns < q->rest_until_ns) {
        note(q, log, busy, 0);
        return ERR_OK;
    }
    while (busy > q->most_busy && mono_now().ns - begin_ns < q->patience_ns) {
        if (may_go_on && !may_go_on(context, busy))
            return err_set(e, ERR_TIMEOUT, "stopped");
        busy = look();
    }
    const int64_t waited_ns = mono_now().ns - begin_ns;
    if (busy > q->most_busy)
        q->rest_until_ns = mono_now().ns + REST_TIMES * waited_ns;
    note(q, log, busy, waited_ns);
    return ERR_OK;
}
