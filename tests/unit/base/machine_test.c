/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/machine.h"
#include "base/mem.h"
#include "unit/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct file {
    const char *path, *text;
};

#define CPU "/sys/devices/system/cpu/"

/* clang-format off */
static const struct {
    const char *name;
    struct file files[12];
    struct machine want; /* with 0 where it is not looked at */
    const char *note;
} rows[] = {
    {"a laptop",
     {{CPU "cpu0/topology/thread_siblings_list", "0,2\n"}, {CPU "cpu1/topology/thread_siblings_list", "1,3\n"},
      {CPU "cpu2/topology/thread_siblings_list", "0,2\n"}, {CPU "cpu3/topology/thread_siblings_list", "1,3\n"},
      {CPU "cpu0/cpufreq/scaling_governor", "powersave\n"}, {CPU "cpu1/cpufreq/scaling_governor", "powersave\n"},
      {CPU "intel_pstate/no_turbo", "0\n"},
      {"/sys/class/thermal/thermal_zone0/temp", "0\n"}, {"/sys/class/thermal/thermal_zone1/temp", "61400\n"},
      {"/sys/class/hwmon/hwmon3/temp1_input", "48000\n"},
      {"/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"},
      {"/proc/meminfo", "MemTotal: 100 kB\nSwapTotal:       2048 kB\nSwapFree:        1024 kB\n"}},
     {.n_cpus = 4, .n_cores = 2, .load = NAN, .governor = (char *)"powersave", .turbo = KNOWN_ON, .smt = KNOWN_ON,
      .aslr = -1, .huge_pages = (char *)"always", .swap_bytes = 2048 * KIB, .swap_used_bytes = 1024 * KIB,
      .stolen = NAN, .quota_cpus = NAN, .celsius = 61.4, .is_virtual = UNKNOWN},
     "governor powersave, turbo on, 61 °C"},
    {"a guest",
     {{CPU "cpu0/topology/thread_siblings_list", "0\n"}, {CPU "cpu1/topology/thread_siblings_list", "1\n"},
      {"/proc/cpuinfo", "processor : 0\nflags\t\t: fpu hypervisor lahf_lm\n"}, {"/proc/loadavg", "1.25 2 3 1/2 3\n"},
      {"/proc/stat", "cpu  100 0 100 600 0 0 0 200 50 0\ncpu0 1 2\nprocs_running 3\nprocs_blocked 0\n"},
      {"/proc/sys/kernel/randomize_va_space", "2\n"}, {"/proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n"}},
     {.n_cpus = 2, .n_cores = 2, .load = 1.25, .turbo = UNKNOWN, .smt = KNOWN_OFF, .aslr = 2, .stolen = .2, .quota_cpus = NAN,
      .celsius = NAN, .is_virtual = KNOWN_ON},
     ""},
    {"a server",
     {{CPU "cpu0/topology/thread_siblings_list", "0\n"}, {CPU "cpu10/topology/thread_siblings_list", "10\n"},
      {CPU "cpu0/cpufreq/scaling_governor", "performance\n"}, {CPU "cpu10/cpufreq/scaling_governor", "powersave\n"},
      {CPU "cpufreq/boost", "0\n"}, {CPU "smt/active", "0\n"}, {"/proc/cpuinfo", "processor: 0\nflags : fpu\n"},
      {"/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n"}},
     {.n_cpus = 2, .n_cores = 2, .load = NAN, .governor = (char *)"mixed", .turbo = KNOWN_OFF, .smt = KNOWN_OFF, .aslr = -1,
      .huge_pages = (char *)"never", .swap_bytes = -1, .swap_used_bytes = -1, .stolen = NAN, .quota_cpus = NAN, .celsius = NAN, .is_virtual = KNOWN_OFF},
     "governor mixed, turbo off"},
    {"a container, version 2",
     {{"/proc/self/cgroup", "0::/a/b\n"}, {"/sys/fs/cgroup/cpu.max", "max 100000\n"},
      {"/sys/fs/cgroup/a/cpu.max", "150000 100000\n"}, {"/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"}},
     {.load = NAN, .turbo = UNKNOWN, .smt = UNKNOWN, .aslr = -1, .swap_bytes = -1, .swap_used_bytes = -1,
      .stolen = NAN, .celsius = NAN, .is_virtual = UNKNOWN, .quota_cpus = 1.5},
     ""},
    {"a container, version 1",
     {{"/proc/self/cgroup", "9:name=systemd:/\n3:cpuset:/x\n2:cpu,cpuacct:/a\n0::/\n"},
      {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"}, {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n"}, {"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"}},
     {.load = NAN, .turbo = UNKNOWN, .smt = UNKNOWN, .aslr = -1, .swap_bytes = -1, .swap_used_bytes = -1,
      .stolen = NAN, .celsius = NAN, .is_virtual = UNKNOWN, .quota_cpus = .5},
     ""},
};

static const struct {
    const char *name;
    struct cpu_times before, after;
    double want;
} looks[] = {
    {"half idle",      {.all = 100, .idle = 50}, {.all = 300, .idle = 150}, .5},
    {"all idle",       {.all = 100, .idle = 50}, {.all = 200, .idle = 150}, 0},
    {"all at work",    {.all = 100, .idle = 50}, {.all = 200, .idle = 50}, 1},
    {"no time between", {.all = 100, .idle = 50}, {.all = 100, .idle = 50}, NAN},
    {"idle time that went back", {.all = 100, .idle = 50}, {.all = 200, .idle = 40}, NAN},
};
/* clang-format on */

static void build(const char *root, const struct file *files, size_t n)
{
    struct err e = {0};

    for (size_t i = 0; i < n && files[i].path; i++) {
        AUTO(mem_free) char *path = mem_printf("%s%s", root, files[i].path);
        AUTO(mem_free) char *folder = mem_dup_n(path, (size_t)(strrchr(path, '/') - path));
        ck_assert_msg(file_mkdirs(folder, 0700, &e) == ERR_OK, "%s", e.text);
        ck_assert_int_eq(file_write(path, files[i].text, strlen(files[i].text), 0600, &e), ERR_OK);
    }
}

static void check_number(const char *name, double got, double want)
{
    ck_assert_msg(isnan(want) ? isnan(got) : fabs(got - want) < 1e-9, "%s: %g", name, got);
}

static void check_text(const char *name, const char *got, const char *want)
{
    ck_assert_msg(want ? got && strcmp(got, want) == 0 : !got, "%s: %s", name, got ? got : "none");
}

START_TEST(machines_are_read)
{
    AUTO(machine_fini) struct machine m;
    AUTO(buf_fini) struct buf note = {0};
    const struct machine *want = &rows[_i].want;
    const char *name = rows[_i].name;
    char root[] = "/tmp/machine-test-XXXXXX";
    struct err e = {0};

    ck_assert_ptr_nonnull(mkdtemp(root));
    build(root, rows[_i].files, LEN(rows[_i].files));
    machine_read(root, &m);
    ck_assert_int_eq(file_remove_tree(root, &e), ERR_OK);
    ck_assert_msg((!want->n_cpus || m.n_cpus == want->n_cpus) && m.n_cores == want->n_cores,
                  "%s: %u on %u", name, m.n_cpus, m.n_cores);
    check_number(name, m.load, want->load);
    check_text(name, m.governor, want->governor);
    check_text(name, m.huge_pages, want->huge_pages);
    ck_assert_msg(m.turbo == want->turbo && m.smt == want->smt, "%s: turbo %d smt %d", name,
                  (int)m.turbo, (int)m.smt);
    ck_assert_msg(m.is_virtual == want->is_virtual, "%s: virtual %d", name, (int)m.is_virtual);
    ck_assert_msg(m.aslr == want->aslr, "%s: aslr %d", name, m.aslr);
    ck_assert_msg(m.swap_bytes == want->swap_bytes && m.swap_used_bytes == want->swap_used_bytes,
                  "%s: swap", name);
    check_number(name, m.stolen, want->stolen);
    check_number(name, m.quota_cpus, want->quota_cpus);
    check_number(name, m.celsius, want->celsius);
    machine_note(&m, &note);
    check_text(name, buf_str(&note), rows[_i].note);
}
END_TEST

START_TEST(times_between_two_looks)
{
    check_number(looks[_i].name, machine_busy(&looks[_i].before, &looks[_i].after), looks[_i].want);
}
END_TEST

START_TEST(this_machine_is_at_work)
{
    struct cpu_times before, after;

    ck_assert(machine_cpu_times("", &before));
    ck_assert_int_ge(machine_running(""), 1);
    do /* until the clock of the counters has ticked */
        ck_assert(machine_cpu_times("", &after));
    while (after.all == before.all);
    double busy = machine_busy(&before, &after);
    ck_assert(isnan(busy) || (busy >= 0 && busy <= 1));
    ck_assert(!machine_cpu_times("/nowhere", &before));
    ck_assert_int_eq(machine_running("/nowhere"), -1);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {machines_are_read, LEN(rows)},
        {times_between_two_looks, LEN(looks)},
        {this_machine_is_at_work, 1},
    };

    return unit_run("machine", tests, LEN(tests));
}
