/* SPDX-License-Identifier: Apache-2.0 */
#include "search/planner.h"

#include "unit/run.h"
#include <string.h>

/* b: broken, w: works, ?: unknown; the claim is about the commit at `at`. */
static const struct {
    const char *name, *known;
    uint32_t at;
    double least, most;
} rows[] = {
    {"nothing known: expected to build", "w??????w", 3, .9, 1},
    {"beside a broken commit: doubtful", "w????b????w", 6, .1, .6},
    {"far from a broken commit: likely", "w????b????????????????w", 20, .8, 1},
    {"broken itself: no", "w??b??w", 3, 0, 0},
    {"between two broken: an even chance or less", "w?b????b?w", 4, .1, .5},
    {"between broken ones after four probes: given up", "w?b???b??b???b?w", 4, 0, .049},
    {"an edge of a long stretch is still worth a try", "w?b???b??b???b?w", 1, .3, 1},
    {"two single broken commits with a working one between", "w?b??w??b?w", 3, .3, 1},
};

START_TEST(breaks_come_in_stretches)
{
    uint8_t testable[64];
    double p[64];
    uint32_t n = (uint32_t)strlen(rows[_i].known);

    for (uint32_t v = 0; v < n; v++)
        testable[v] = rows[_i].known[v] == 'b'   ? TESTABLE_NO
                      : rows[_i].known[v] == 'w' ? TESTABLE_YES
                                                 : TESTABLE_UNKNOWN;
    planner_p_builds(testable, n, p);
    ck_assert_msg(p[rows[_i].at] >= rows[_i].least && p[rows[_i].at] <= rows[_i].most, "%s: %g",
                  rows[_i].name, p[rows[_i].at]);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {breaks_come_in_stretches, LEN(rows)},
    };

    return unit_run("planner", tests, LEN(tests));
}
