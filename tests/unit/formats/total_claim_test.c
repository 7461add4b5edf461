/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "formats/total_claim.h"
#include "unit/run.h"
#include <string.h>

/* clang-format off */
static const struct {
    const char *text;
    double count, total_ms;
    bool agrees;
    const char *looks_like;
} claims[] = {
    {"174,993 x 143 ms = 417 s", 174993, 25023999, false, "minutes"},
    {"COMMIT TRANSACTION accounted for 174,993 slow occurrences averaging 143 ms; the account says this totals 417 seconds", 174993, 25023999, false, "minutes"},
    {"174 993 occurrences, average 143 ms, total 417 seconds", 174993, 25023999, false, "minutes"},
    {"174,993 occurrences, 417 minutes in total, 143 ms each", 174993, 25023999, true, NULL},
    {"total 417 min: 174993 times 143 ms", 174993, 25023999, true, NULL},
    {"174,993 \xC3\x97 143 ms = 25,024 s", 174993, 25023999, true, NULL},
    {"174'993 x 143ms = 6.95 h", 174993, 25023999, true, NULL},
    {"174,993 x 143 ms = 25,111 s", 174993, 25023999, true, NULL},   /* within the rounding of 143 */
    {"174,993 x 143 ms = 25,112 s", 174993, 25023999, false, NULL},
    {"174,993 x 143.0 ms = 25,111 s", 174993, 25023999, false, NULL}, /* but not of 143.0 */
    {"10 x 0.5 s = 5 ms", 10, 5000, false, "seconds"},
    {"- 10 x 0.5 s = 5 s", 10, 5000, true, NULL},               /* an item of a list */
    {"a SELECT-10 x 0.5 s = 5 s", 10, 5000, true, NULL},        /* a hyphen */
    {"9007199254740992 x 1 ms = 9007199254740.992 s", 9007199254740992, 9007199254740992, true, NULL},
    {"sqlite3 ran 10 times, mean 200 ms, sum 2 s", 10, 2000, true, NULL},
};
static const char *const none[] = {"", "nothing here", "174,993 x 143 ms", "10 x 5 = 50", "10 20 x 5 ms = 3 s",
                                   "143 ms, 417 s, 3 h, 12 times", "9999999999999999999 x 1 ms = 1 s",
                                   "99999999999999999 x 99999999999999 ms = 417 s", "9007199254740994 x 1 ms = 1 s", "5 x 3 ms = 99999999999 d",
                                   "-5 x 3 ms = -15 s", "5 x 3 ms = -15 ms", "5 x (-3) ms = 15 ms", "5 x −3 ms = 15 ms"};
/* clang-format on */

START_TEST(judges)
{
    struct total_claim c;
    struct err e = {0};

    ck_assert_msg(total_claim_read(claims[_i].text, &c, &e) == ERR_OK, "%s: %s", claims[_i].text,
                  e.text);
    ck_assert_msg(c.count == claims[_i].count && c.total_ms == claims[_i].total_ms, "%s: %g %g",
                  claims[_i].text, c.count, c.total_ms);
    ck_assert_msg(c.agrees == claims[_i].agrees, "%s", claims[_i].text);
    ck_assert_msg(!c.looks_like == !claims[_i].looks_like &&
                      (!c.looks_like || strcmp(c.looks_like, claims[_i].looks_like) == 0),
                  "%s: %s", claims[_i].text, c.looks_like ? c.looks_like : "nothing");
}
END_TEST

START_TEST(wants_all_three)
{
    struct total_claim c;
    struct err e = {0};

    ck_assert_msg(total_claim_read(none[_i], &c, &e) == ERR_INVALID, "%s", none[_i]);
    ck_assert(e.text[0]);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{judges, LEN(claims)}, {wants_all_three, LEN(none)}};
    return unit_run("total_claim", tests, LEN(tests));
}
