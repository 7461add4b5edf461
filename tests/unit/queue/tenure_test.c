/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/tenure.h"
#include "unit/run.h"
#include <string.h>

static struct mono at_s(int64_t s)
{
    return (struct mono){s * NS_PER_S};
}

START_TEST(lasts_one_term_without_renewal)
{
    struct tenure t = tenure_begin(7, at_s(1000), &tenure_rule_default);

    ck_assert_int_eq(t.deadline.ns, at_s(1060).ns);
    ck_assert(!tenure_is_overdue(&t, at_s(1059)));
    ck_assert(tenure_is_overdue(&t, at_s(1060)));
    t.state = TENURE_FINISHED;
    ck_assert(!tenure_is_overdue(&t, at_s(2000)));
}
END_TEST

START_TEST(renewal_gives_a_full_term_and_never_shortens)
{
    struct tenure t = tenure_begin(7, at_s(1000), &tenure_rule_default);
    const struct tenure_rule shorter = {.term_ns = 5 * NS_PER_S, .renew_ns = NS_PER_S};
    struct err e = {0};

    ck_assert_int_eq(tenure_renew(&t, 7, at_s(1015), &tenure_rule_default, &e), ERR_OK);
    ck_assert_int_eq(t.deadline.ns, at_s(1075).ns);
    ck_assert_int_eq(tenure_renew(&t, 7, at_s(1016), &shorter, &e), ERR_OK);
    ck_assert_int_eq(t.deadline.ns, at_s(1075).ns);
}
END_TEST

START_TEST(overdue_but_open_may_still_be_renewed)
{
    struct tenure t = tenure_begin(7, at_s(1000), &tenure_rule_default);
    ck_assert_int_eq(tenure_renew(&t, 7, at_s(1100), &tenure_rule_default, NULL), ERR_OK);
    ck_assert_int_eq(t.deadline.ns, at_s(1160).ns);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    enum tenure_state state;
    int64_t fence; /* of the caller; the lease has 7 */
    enum err_code want;
    const char *says;
} fences[] = {
    {"open and its own fence passes",  TENURE_OPEN,     7, ERR_OK,       ""},
    {"an older fence is refused",      TENURE_OPEN,     6, ERR_CONFLICT, "fence 7, not 6"},
    {"a newer fence is refused",       TENURE_OPEN,     8, ERR_CONFLICT, "fence 7, not 8"},
    {"no fence is refused",            TENURE_OPEN,     0, ERR_CONFLICT, "fence"},
    {"an expired lease is refused",    TENURE_EXPIRED,  7, ERR_CONFLICT, "expired"},
    {"a canceled lease is refused",    TENURE_CANCELED, 7, ERR_CONFLICT, "not needed"},
    {"a finished lease is refused",    TENURE_FINISHED, 7, ERR_CONFLICT, "taken already"},
};
/* clang-format on */

START_TEST(fences_off)
{
    struct tenure t = tenure_begin(7, at_s(1000), &tenure_rule_default);
    struct err e = {0};
    t.state = fences[_i].state;

    ck_assert_msg(tenure_check(&t, fences[_i].fence, &e) == fences[_i].want, "%s", fences[_i].name);
    ck_assert_msg(strstr(e.text, fences[_i].says), "%s: %s", fences[_i].name, e.text);
    int64_t before = t.deadline.ns;
    ck_assert_int_eq(tenure_renew(&t, fences[_i].fence, at_s(1015), &tenure_rule_default, &e),
                     fences[_i].want);
    if (fences[_i].want)
        ck_assert_int_eq(t.deadline.ns, before);
}
END_TEST

START_TEST(names_are_read_back)
{
    enum tenure_state back;
    for (int i = 0; i < TENURE_STATE_COUNT; i++) {
        ck_assert_int_eq(tenure_state_parse(tenure_state_name((enum tenure_state)i), &back, NULL),
                         ERR_OK);
        ck_assert_int_eq((int)back, i);
    }
    ck_assert_int_eq(tenure_state_parse("", &back, NULL), ERR_INVALID);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {lasts_one_term_without_renewal, 1},
        {renewal_gives_a_full_term_and_never_shortens, 1},
        {overdue_but_open_may_still_be_renewed, 1},
        {fences_off, LEN(fences)},
        {names_are_read_back, 1},
    };
    return unit_run("tenure", tests, LEN(tests));
}
