/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/crew.h"
#include "unit/run.h"
#include <string.h>

static const char metrics[] = "# HELP bisectd_bisections Bisections by state.\n"
                              "bisectd_bisections{state=\"queued\"} 1\n"
                              "bisectd_bisections{state=\"resolving\"} 2\n"
                              "bisectd_bisections{state=\"running\"} 4\n"
                              "bisectd_bisections{state=\"done\"} 8\n"
                              "bisectd_clients 3\n"
                              "# TYPE bisectd_local_workers gauge\n"
                              "bisectd_local_workers{platform=\"an \\\"odd\\\\ one\"} 5\n"
                              "bisectd_private 1";

START_TEST(a_daemon_is_read)
{
    AUTO(crew_fini) struct crew c;

    crew_read(metrics, &c);
    ck_assert_int_eq(c.n_local, 5);
    ck_assert_str_eq(c.platform, "an \"odd\\ one");
    ck_assert(c.is_private);
    ck_assert_int_eq(c.n_clients, 3);
    ck_assert_int_eq(c.n_unfinished, 7);
}
END_TEST

START_TEST(what_is_not_said_is_nothing)
{
    static const char *const texts[] = {"", "\n\n", "bisectd_private",
                                        "bisectd_local_workers{platform=\"",
                                        "bisectd_local_workers 7\nbisectd_clients x"};
    AUTO(crew_fini) struct crew c;

    crew_read(texts[_i], &c);
    ck_assert(!c.is_private && c.n_local == 0 && c.n_clients == 0 && c.n_unfinished == 0);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    struct crew crew;
    int64_t n_workers;
    const char *platform;
    bool fits, may_go;
} rows[] = {
    {"as asked for",                    {1, (char *)(uintptr_t)"p", true, 1, 0},  1, "p",  true,  true},
    {"nothing asked for",               {3, (char *)(uintptr_t)"p", true, 1, 0},  0, NULL, true,  true},
    {"more workers wanted",             {1, (char *)(uintptr_t)"p", true, 1, 0},  3, "p",  false, true},
    {"another platform",                {1, (char *)(uintptr_t)"p", true, 1, 0},  0, "q",  false, true},
    {"another, while one is watched",   {1, (char *)(uintptr_t)"p", true, 2, 1},  0, "q",  false, false},
    {"another, one interrupted",        {1, (char *)(uintptr_t)"p", true, 1, 1},  0, "q",  false, true},
    {"another, of a service",           {1, (char *)(uintptr_t)"p", false, 1, 0}, 0, "q",  false, false},
};
/* clang-format on */

START_TEST(a_daemon_fits_or_may_go)
{
    ck_assert_msg(crew_fits(&rows[_i].crew, rows[_i].n_workers, rows[_i].platform) == rows[_i].fits,
                  "%s", rows[_i].name);
    ck_assert_msg(crew_may_go(&rows[_i].crew) == rows[_i].may_go, "%s", rows[_i].name);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_daemon_is_read, 1},
        {what_is_not_said_is_nothing, 5},
        {a_daemon_fits_or_may_go, LEN(rows)},
    };
    return unit_run("crew", tests, LEN(tests));
}
