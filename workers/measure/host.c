/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/host.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/mem.h"
#include "base/text.h"
#include "workers/measure/cpus.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { CPUINFO_BYTES = 16 * MIB, NAME_BYTES = 120 };

/** The value of the first line "model name : …" or what other machines call it. */
static char *cpu_name(const char *machine)
{
    static const char *const keys[] = {"model name", "Model", "cpu model", "Hardware", "CPU part"};
    AUTO(buf_fini) struct buf info = {0};
    AUTO(buf_fini) struct buf clean = {0};

    if (file_read("/proc/cpuinfo", CPUINFO_BYTES, &info, NULL))
        return mem_dup(machine);
    for (size_t i = 0; i < LEN(keys); i++) {
        const char *line = strstr(buf_str(&info), keys[i]);
        const char *value = line ? strchr(line, ':') : NULL;
        if (!value)
            continue;
        value += 1 + strspn(value + 1, " \t");
        text_clean(&clean, value, strcspn(value, "\n"), NAME_BYTES);
        return buf_take(&clean);
    }
    return mem_dup(machine);
}

/** The processor's name, and what can be read of its clocks and heat at this moment. */
static char *describe_cpu(const char *machine)
{
    AUTO(machine_fini) struct machine now;
    AUTO(mem_free) char *name = cpu_name(machine);
    AUTO(buf_fini) struct buf note = {0};

    machine_read("", &now);
    machine_note(&now, &note);
    return note.len ? mem_printf("%s (%s)", name, buf_str(&note)) : TAKE(name);
}

void host_describe(struct environment *env)
{
    struct utsname u;
    double load = nan("");

    if (uname(&u) != 0)
        memset(&u, 0, sizeof(u));
    if (!env->host)
        env->host = mem_dup(*u.nodename ? u.nodename : "unknown");
    mem_free(env->kernel);
    env->kernel = *u.release ? mem_printf("%s %s", u.sysname, u.release) : mem_dup("unknown");
    mem_free(env->cpu);
    env->cpu = describe_cpu(*u.machine ? u.machine : "unknown");
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    env->n_cpus = n_cpus > 0 ? (uint32_t)n_cpus : 1;
    if (getloadavg(&load, 1) != 1)
        load = 0;
    env->load = load;
}

char *host_platform(void)
{
    /* clang-format off */
    static const struct {
        const char *machine, *name;
    } names[] = {
        {"x86_64", "x64"}, {"aarch64", "arm64"}, {"i686", "x86"}, {"armv7l", "arm"},
    };
    /* clang-format on */
    struct utsname u;

    if (uname(&u) != 0)
        return mem_dup("linux");
    for (size_t i = 0; i < LEN(names); i++)
        if (strcmp(u.machine, names[i].machine) == 0)
            return mem_printf("linux-%s", names[i].name);
    return mem_printf("linux-%s", u.machine);
}

enum isolation host_isolation(const struct project *p, const struct metric *m)
{
    enum isolation i = m->isolation;

    if (i == ISOLATION_DEFAULT)
        i = p->isolation;
    if (i == ISOLATION_DEFAULT)
        i = metric_isolation(m);
    struct cpus cpus;
    return i == ISOLATION_CPUS && !cpus_here(&cpus) ? ISOLATION_EXCLUSIVE : i;
}

const char *host_isolation_name(enum isolation i)
{
    return i == ISOLATION_NONE ? "none" : i == ISOLATION_CPUS ? "cpus" : "exclusive";
}
