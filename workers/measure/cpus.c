/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/cpus.h"
#include "base/file.h"
#include "base/mem.h"
#include <stdlib.h>

enum { LIST_BYTES = 4 * KIB };

/** The lowest CPU of the core that has this one; itself where it is not told. */
static int core_of(const char *root, int cpu)
{
    AUTO(mem_free)
    char *path =
        mem_printf("%s/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", root, cpu);
    AUTO(buf_fini) struct buf list = {0};
    char *end = NULL;

    if (file_read(path, LIST_BYTES, &list, NULL))
        return cpu;
    long first = strtol(buf_str(&list), &end, 10);
    return end > buf_str(&list) && first >= 0 && first < CPU_SETSIZE ? (int)first : cpu;
}

bool cpus_split(const char *root, const cpu_set_t *allowed, struct cpus *out)
{
    cpu_set_t cores, taken;
    int cores_of[CPU_SETSIZE];

    CPU_ZERO(&cores);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        cores_of[cpu] = CPU_ISSET(cpu, allowed) ? core_of(root, cpu) : -1;
        if (cores_of[cpu] >= 0)
            CPU_SET(cores_of[cpu], &cores);
    }
    const int n_rest = (CPU_COUNT(&cores) + 1) / 2;
    if (CPU_COUNT(&cores) < 2)
        return false;
    int n_seen = 0, rank[CPU_SETSIZE];
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        rank[cpu] = CPU_ISSET(cpu, &cores) ? n_seen++ : -1;
    CPU_ZERO(&taken);
    CPU_ZERO(&out->measuring);
    CPU_ZERO(&out->rest);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        const int core = cores_of[cpu];
        if (core < 0)
            continue;
        if (rank[core] < n_rest)
            CPU_SET(cpu, &out->rest);
        else if (!CPU_ISSET(core, &taken))
            CPU_SET(cpu, &out->measuring);
        CPU_SET(core, &taken);
    }
    return true;
}

bool cpus_here(struct cpus *out)
{
    cpu_set_t allowed;

    return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && cpus_split("", &allowed, out);
}
