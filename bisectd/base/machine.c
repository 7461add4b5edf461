/* SPDX-License-Identifier: Apache-2.0 */
#include "base/machine.h"
#include "base/file.h"
#include "base/mem.h"
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MOST = 4 * MIB, CPUS_MOST = 4096 };

/** The file's text without white space at its end; false if it cannot be read. */
static bool slurp(const char *root, const char *path, struct buf *out)
{
    AUTO(mem_free) char *full = mem_printf("%s%s", root, path);

    buf_clear(out);
    if (file_read(full, FILE_MOST, out, NULL))
        return false;
    while (out->len > 0 && (unsigned char)out->data[out->len - 1] <= ' ')
        out->data[--out->len] = '\0';
    return true;
}

static bool slurp_number(const char *root, const char *path, double *out)
{
    AUTO(buf_fini) struct buf text = {0};
    char *end = NULL;

    if (!slurp(root, path, &text) || !text.len)
        return false;
    *out = strtod(text.data, &end);
    return end > text.data;
}

/** Calls `each` for the text of every file that the pattern names. */
static void each_file(const char *root, const char *pattern,
                      void (*each)(void *context, const char *text), void *context)
{
    AUTO(mem_free) char *full = mem_printf("%s%s", root, pattern);
    AUTO(buf_fini) struct buf text = {0};
    glob_t found = {0};

    if (glob(full, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (slurp("", found.gl_pathv[i], &text))
                each(context, buf_str(&text));
    globfree(&found);
}

/* ---- clocks and cores ---- */

static void add_governor(void *context, const char *text)
{
    char **governor = context;

    if (*governor && strcmp(*governor, text) == 0)
        return;
    const char *both = *governor ? "mixed" : text;
    mem_free(*governor);
    *governor = mem_dup(both);
}

static enum known read_turbo(const char *root)
{
    double value = 0;

    if (slurp_number(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", &value))
        return value != 0 ? KNOWN_OFF : KNOWN_ON;
    if (slurp_number(root, "/sys/devices/system/cpu/cpufreq/boost", &value))
        return value != 0 ? KNOWN_ON : KNOWN_OFF;
    return UNKNOWN;
}

struct cores {
    uint32_t n_cpus, n_cores;
    char *seen[CPUS_MOST]; /* lists of CPUs that share a core */
};

static void add_core(void *context, const char *text)
{
    struct cores *c = context;

    c->n_cpus++;
    for (uint32_t i = 0; i < c->n_cores; i++)
        if (strcmp(c->seen[i], text) == 0)
            return;
    if (c->n_cores < CPUS_MOST)
        c->seen[c->n_cores++] = mem_dup(text);
}

static void read_cores(const char *root, struct machine *m)
{
    struct cores *c = mem_alloc(sizeof(*c));

    each_file(root, "/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list", add_core, c);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    m->n_cpus = c->n_cpus ? c->n_cpus : online > 0 ? (uint32_t)online : 1;
    m->n_cores = c->n_cores;
    for (uint32_t i = 0; i < c->n_cores; i++)
        mem_free(c->seen[i]);
    mem_free(c);
}

static enum known read_smt(const char *root, const struct machine *m)
{
    double value = 0;

    if (m->n_cores > 0 && m->n_cores < m->n_cpus)
        return KNOWN_ON;
    if (slurp_number(root, "/sys/devices/system/cpu/smt/active", &value))
        return value != 0 ? KNOWN_ON : KNOWN_OFF;
    return m->n_cores > 0 ? KNOWN_OFF : UNKNOWN;
}

static void add_heat(void *context, const char *text)
{
    double *celsius = context, milli = strtod(text, NULL);

    /* Sensors that are not there read as 0, or as what no CPU survives. */
    if (milli > 0 && milli < 150000 && !(*celsius >= milli / 1000))
        *celsius = milli / 1000;
}

/* ---- memory ---- */

/** The word in brackets: "always [madvise] never". */
static char *chosen(const char *text)
{
    const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

    return close ? mem_dup_n(open + 1, (size_t)(close - open - 1)) : NULL;
}

static int64_t meminfo(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at ? strtoll(at + strlen(key), NULL, 10) * KIB : -1;
}

static void read_memory(const char *root, struct machine *m)
{
    AUTO(buf_fini) struct buf text = {0};

    m->swap_bytes = m->swap_used_bytes = -1;
    if (slurp(root, "/proc/meminfo", &text)) {
        int64_t left = meminfo(buf_str(&text), "SwapFree:");
        m->swap_bytes = meminfo(buf_str(&text), "SwapTotal:");
        m->swap_used_bytes = m->swap_bytes >= 0 && left >= 0 ? m->swap_bytes - left : -1;
    }
    if (slurp(root, "/sys/kernel/mm/transparent_hugepage/enabled", &text))
        m->huge_pages = chosen(buf_str(&text));
}

/* ---- quota ---- */

/** "QUOTA PERIOD" of version 2 in CPUs; nan for "max" and what cannot be read. */
static double quota_v2(const char *root, const char *group)
{
    AUTO(mem_free) char *path = mem_printf("/sys/fs/cgroup%s/cpu.max", group);
    AUTO(buf_fini) struct buf text = {0};
    double quota = 0, period = 0;

    if (!slurp(root, path, &text) || sscanf(buf_str(&text), "%lf %lf", &quota, &period) != 2)
        return nan("");
    return period > 0 ? quota / period : nan("");
}

/** The same of version 1, where -1 is none. */
static double quota_v1(const char *root, const char *group)
{
    AUTO(mem_free) char *quota_path = mem_printf("/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", group);
    AUTO(mem_free) char *period_path = mem_printf("/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", group);
    double quota = -1, period = 0;

    if (!slurp_number(root, quota_path, &quota) || !slurp_number(root, period_path, &period))
        return nan("");
    return quota > 0 && period > 0 ? quota / period : nan("");
}

/** The tightest of the group, which is cut short here, and of those above it. */
static double tightest(const char *root, char *group,
                       double (*quota)(const char *root, const char *group))
{
    double least = quota(root, "");

    for (char *slash; *group && (slash = strrchr(group, '/')) != NULL; *slash = '\0')
        least = fmin(least, quota(root, group));
    return least;
}

/** Lines "N:CONTROLLERS:PATH"; version 2 has none for controllers. */
static double read_quota(const char *root)
{
    AUTO(buf_fini) struct buf text = {0};
    double least = nan("");
    char *rest = NULL;

    if (!slurp(root, "/proc/self/cgroup", &text) || !text.len)
        return least;
    for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        if (controllers[1] == '\0')
            least = fmin(least, tightest(root, path, quota_v2));
        else if (strcmp(controllers, ":cpu") == 0 || strncmp(controllers, ":cpu,", 5) == 0)
            least = fmin(least, tightest(root, path, quota_v1));
    }
    return least;
}

/* ---- all of it ---- */

static enum known read_virtual(const char *root)
{
    AUTO(buf_fini) struct buf text = {0};

    if (slurp(root, "/sys/hypervisor/type", &text))
        return KNOWN_ON;
    if (!slurp(root, "/proc/cpuinfo", &text) || !strstr(buf_str(&text), "\nflags"))
        return UNKNOWN;
    return strstr(buf_str(&text), " hypervisor") ? KNOWN_ON : KNOWN_OFF;
}

void machine_read(const char *root, struct machine *m)
{
    struct cpu_times times = {0};
    double aslr = -1;

    *m = (struct machine){.load = nan(""), .stolen = nan(""), .celsius = nan("")};
    read_cores(root, m);
    slurp_number(root, "/proc/loadavg", &m->load);
    each_file(root, "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor", add_governor,
              &m->governor);
    m->turbo = read_turbo(root);
    m->smt = read_smt(root, m);
    m->aslr = slurp_number(root, "/proc/sys/kernel/randomize_va_space", &aslr) ? (int)aslr : -1;
    read_memory(root, m);
    if (machine_cpu_times(root, &times) && times.all > 0)
        m->stolen = (double)times.stolen / (double)times.all;
    each_file(root, "/sys/class/thermal/thermal_zone*/temp", add_heat, &m->celsius);
    each_file(root, "/sys/class/hwmon/hwmon*/temp*_input", add_heat, &m->celsius);
    m->is_virtual = read_virtual(root);
    m->quota_cpus = read_quota(root);
}

void machine_fini(struct machine *m)
{
    mem_free(m->governor);
    mem_free(m->huge_pages);
    m->governor = m->huge_pages = NULL;
}

void machine_note(const struct machine *m, struct buf *out)
{
    const size_t start = out->len;

    if (m->governor)
        buf_printf(out, "governor %s", m->governor);
    if (m->turbo != UNKNOWN)
        buf_printf(out, "%sturbo %s", out->len > start ? ", " : "",
                   m->turbo == KNOWN_ON ? "on" : "off");
    if (!isnan(m->celsius))
        buf_printf(out, "%s%.0f °C", out->len > start ? ", " : "", m->celsius);
}

/* ---- at work or not ---- */

bool machine_cpu_times(const char *root, struct cpu_times *out)
{
    AUTO(buf_fini) struct buf text = {0};
    uint64_t t[8] = {0}; /* user nice system idle iowait irq softirq steal; guests count as user */

    if (!slurp(root, "/proc/stat", &text) ||
        sscanf(buf_str(&text),
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) < 4)
        return false;
    *out = (struct cpu_times){.idle = t[3] + t[4], .stolen = t[7]};
    for (size_t i = 0; i < LEN(t); i++)
        out->all += t[i];
    return true;
}

double machine_busy(const struct cpu_times *before, const struct cpu_times *after)
{
    if (after->all <= before->all || after->idle < before->idle)
        return nan("");
    double idle = (double)(after->idle - before->idle);
    return fmax(0, 1 - idle / (double)(after->all - before->all));
}

int64_t machine_running(const char *root)
{
    AUTO(buf_fini) struct buf text = {0};
    static const char key[] = "\nprocs_running ";

    if (!slurp(root, "/proc/stat", &text))
        return -1;
    const char *at = strstr(buf_str(&text), key);
    return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}
