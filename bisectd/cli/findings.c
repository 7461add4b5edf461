/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/findings.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BUSY_MOST    .10 /* of all CPUs, for others */
#define STOLEN_MOST  .005
#define CELSIUS_MOST 85

static void say(struct finding *f, const char *format, ...) PRINTF(2, 3);
static void say(struct finding *f, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(f->says, sizeof(f->says), format, args);
    va_end(args);
}

static void find_cpus(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    if (m->n_cores)
        say(f, "%" PRIu32 " on %" PRIu32 " core%s", m->n_cpus, m->n_cores,
            m->n_cores == 1 ? "" : "s");
    else
        say(f, "%" PRIu32, m->n_cpus);
    if (m->n_cpus == 1)
        f->advice = "whatever else runs takes turns with what is measured: measure cpu or counter, "
                    "not wall, or use a machine with more CPUs";
}

static void find_work(const struct machine *m, double busy, struct finding *f)
{
    if (isnan(busy))
        say(f, "load average %.2f", m->load);
    else
        say(f, "%.0f %% of its time goes to others now, load average %.2f", 100 * busy, m->load);
    if (busy > BUSY_MOST)
        f->advice =
            "something else works here: stop it, or measure what does not feel it (counter, "
            "syscalls counts); cpu feels it less than wall";
}

static void find_quota(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    if (isnan(m->quota_cpus)) {
        say(f, "none");
        return;
    }
    say(f, "%.3g CPUs", m->quota_cpus);
    f->advice = "over its quota a program stands still for the rest of a tenth of a second: run "
                "workers in a container or control group without one";
}

static void find_stolen(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    if (isnan(m->stolen))
        say(f, "not readable");
    else
        say(f, "%.2f %% of its time since boot went to other guests", 100 * m->stolen);
    if (m->stolen > STOLEN_MOST)
        f->advice = "the host of this virtual machine is shared: a dedicated one is quieter";
}

static void find_virtual(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    say(f, m->is_virtual == KNOWN_ON    ? "yes"
           : m->is_virtual == KNOWN_OFF ? "no"
                                        : "cannot be told");
    if (m->is_virtual == KNOWN_ON)
        f->advice = "neighbours and the host's clock show in times and cannot be seen from here; "
                    "runs that alternate, as bisectd takes them, make up for much of it";
}

static void find_governor(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    say(f, "%s", m->governor ? m->governor : "not readable");
    if (m->governor && strcmp(m->governor, "performance") != 0)
        f->advice = "clocks follow the load: cpupower frequency-set -g performance";
}

static void find_turbo(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    say(f, m->turbo == KNOWN_ON ? "on" : m->turbo == KNOWN_OFF ? "off" : "not readable");
    if (m->turbo == KNOWN_ON)
        f->advice = "clocks depend on heat and on other cores: echo 1 "
                    ">/sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 "
                    ">/sys/devices/system/cpu/cpufreq/boost";
}

static void find_smt(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    say(f, m->smt == KNOWN_ON ? "on" : m->smt == KNOWN_OFF ? "off" : "not readable");
    if (m->smt == KNOWN_ON)
        f->advice = "two CPUs share a core and slow each other: echo off "
                    ">/sys/devices/system/cpu/smt/control, or isolation: cpus, which leaves the "
                    "second one idle";
}

static void find_aslr(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    if (m->aslr < 0)
        say(f, "not readable");
    else
        say(f, m->aslr == 0 ? "off" : "on (randomize_va_space is %d)", m->aslr);
    if (m->aslr > 0)
        f->advice = "memory lies elsewhere in each run, which moves short times a little and evens "
                    "out over runs; a metric's layout: fixed stops it";
}

static void find_pages(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    say(f, "%s", m->huge_pages ? m->huge_pages : "not readable");
    if (m->huge_pages && strcmp(m->huge_pages, "always") == 0)
        f->advice = "whether memory comes in huge pages is luck, and shows in times and in rss: "
                    "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled";
}

static void find_swap(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    if (m->swap_bytes < 0)
        say(f, "not readable");
    else if (m->swap_bytes == 0)
        say(f, "none");
    else
        say(f, "%" PRId64 " of %" PRId64 " MiB in use", m->swap_used_bytes / MIB,
            m->swap_bytes / MIB);
    if (m->swap_used_bytes > 0)
        f->advice =
            "what is swapped out is slow at some moment of its own: give it more memory, or "
            "swapoff -a";
}

static void find_heat(const struct machine *m, double busy, struct finding *f)
{
    (void)busy;
    if (isnan(m->celsius))
        say(f, "not readable");
    else
        say(f, "%.0f °C", m->celsius);
    if (m->celsius > CELSIUS_MOST)
        f->advice = "so warm it may slow itself down: cool it, or measure with pauses";
}

/* clang-format off */
static const struct {
    const char *name;
    void (*find)(const struct machine *m, double busy, struct finding *f);
} rows[FINDINGS] = {
    {"CPUs",            find_cpus},
    {"other work",      find_work},
    {"CPU quota",       find_quota},
    {"stolen time",     find_stolen},
    {"virtual machine", find_virtual},
    {"governor",        find_governor},
    {"turbo",           find_turbo},
    {"SMT",             find_smt},
    {"ASLR",            find_aslr},
    {"huge pages",      find_pages},
    {"swap",            find_swap},
    {"temperature",     find_heat},
};
/* clang-format on */

void findings_of(const struct machine *m, double busy, struct finding out[FINDINGS])
{
    for (size_t i = 0; i < FINDINGS; i++) {
        out[i] = (struct finding){.name = rows[i].name};
        rows[i].find(m, busy, &out[i]);
    }
}
