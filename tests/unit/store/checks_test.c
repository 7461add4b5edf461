/* SPDX-License-Identifier: Apache-2.0 */
/** Checks of verdicts, their parts, and what is remembered of replays. */
#include "fixture.h"
#include "store/checks.h"
#include "store/derived.h"

static const char claim[] = "culprit aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa higher";

/* Done, with a verdict of this kind. */
static struct id finished_in(struct place *p, const char *project, const char *verdict,
                             int64_t at_s)
{
    struct id id = bisection_in(p, project);
    AUTO(json_free)
    json *v = json_put(json_new_object(), "verdict", json_new_string(verdict));

    OK(store_verdict_put(p->store, id.text, v, e));
    OK(store_bisection_set_state(p->store, id.text, BISECTION_RESOLVING, NULL, noon, e));
    OK(store_bisection_set_state(p->store, id.text, BISECTION_RUNNING, NULL, noon, e));
    OK(store_bisection_set_state(p->store, id.text, BISECTION_DONE, NULL, utc_at(at_s), e));
    return id;
}

static void open_check(struct place *p, const struct id *b, const char *text, bool want_new)
{
    bool is_new = !want_new;
    OK(store_check_open(p->store, b->text, text, noon, &is_new, e));
    ck_assert_int_eq(is_new, want_new);
}

static void expect_counts(struct place *p, int64_t waiting, int64_t measuring, int64_t right,
                          int64_t wrong, int64_t undecided)
{
    struct check_counts n;
    OK(store_check_count(p->store, &n, e));
    ck_assert_int_eq(n.n_waiting, waiting);
    ck_assert_int_eq(n.n_measuring, measuring);
    ck_assert_int_eq(n.n_right, right);
    ck_assert_int_eq(n.n_wrong, wrong);
    ck_assert_int_eq(n.n_undecided, undecided);
}

START_TEST(a_check_lives_through_a_restart)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo"), other = bisection_in(&p, "other");
    AUTO(check_row_fini) struct check_row first = {0};
    AUTO(check_row_fini) struct check_row found = {0};
    AUTO(check_row_fini) struct check_row none = {0};
    bool is_new;

    FAILS(store_check_open(p.store, "nosuch", claim, noon, &is_new, e), ERR_NOT_FOUND, "nosuch");
    open_check(&p, &b, claim, true);
    open_check(&p, &b, claim, false);
    open_check(&p, &b, "not_reproduced", true);
    expect_counts(&p, 2, 0, 0, 0, 0);
    OK(store_check_next(p.store, 0, &first, e));
    ck_assert_str_eq(first.claim, claim);
    ck_assert_int_eq(first.outcome, CHECK_OPEN);

    struct check_part part = {.check = first.seq, .base = revision_of('b'), .comparison = other};
    OK(store_check_part_add(p.store, &part, e));
    place_reopen(&p);
    expect_counts(&p, 1, 1, 0, 0, 0);
    FAILS(store_check_part_ended(p.store, &part, e), ERR_NOT_FOUND, "");
    OK(store_bisection_set_state(p.store, other.text, BISECTION_CANCELED, NULL, noon, e));
    part = (struct check_part){0};
    OK(store_check_part_ended(p.store, &part, e));
    ck_assert_int_eq(part.check, first.seq);
    ck_assert_str_eq(part.comparison.text, other.text);
    ck_assert_str_eq(part.base.hex, revision_of('b').hex);

    OK(store_check_part_settle(p.store, other.text, FOUND_HIGHER, e));
    OK(store_check_end(p.store, first.seq, CHECK_RIGHT, "it rose", utc_at(9), e));
    expect_counts(&p, 1, 0, 1, 0, 0);
    OK(store_check_find(p.store, b.text, claim, &found, e));
    ck_assert_int_eq(found.outcome, CHECK_RIGHT);
    ck_assert_str_eq(found.reason, "it rose");
    FAILS(store_check_find(p.store, other.text, claim, &none, e), ERR_NOT_FOUND, "");
    FAILS(store_check_next(p.store, first.seq + 1, &none, e), ERR_NOT_FOUND, "");
    FAILS(store_check_load(p.store, 99, &none, e), ERR_NOT_FOUND, "99");
}
END_TEST

START_TEST(only_what_was_undecided_is_checked_again)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo"), other = bisection_in(&p, "other");
    AUTO(check_row_fini) struct check_row c = {0};
    AUTO(check_part_list_fini) struct check_part_list parts = {0};
    AUTO(check_part_list_fini) struct check_part_list again = {0};

    open_check(&p, &b, claim, true);
    OK(store_check_next(p.store, 0, &c, e));
    struct check_part part = {.check = c.seq, .base = revision_of('b'), .comparison = other};
    OK(store_check_part_add(p.store, &part, e));
    OK(store_check_part_settle(p.store, other.text, FOUND_UNDECIDED, e));
    OK(store_check_part_list(p.store, c.seq, &parts, e));
    ck_assert_uint_eq(parts.n, 1);
    ck_assert(parts.items[0].is_over && parts.items[0].found == FOUND_UNDECIDED);

    OK(store_check_end(p.store, c.seq, CHECK_UNDECIDED, NULL, noon, e));
    open_check(&p, &b, claim, true);
    expect_counts(&p, 1, 0, 0, 0, 0);
    OK(store_check_part_list(p.store, c.seq, &again, e));
    ck_assert_uint_eq(again.n, 0);
    OK(store_check_end(p.store, c.seq, CHECK_WRONG, NULL, noon, e));
    open_check(&p, &b, claim, false);
    expect_counts(&p, 0, 0, 0, 1, 0);
}
END_TEST

START_TEST(a_replay_is_remembered_with_what_was_stated)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    struct replay_row row = {
        .stated = (char[]){"x"}, .outcome = REPLAY_DIFFERS, .says = (char[]){"y"}};
    AUTO(replay_row_fini) struct replay_row back = {0};

    FAILS(store_replay_get(p.store, b.text, &back, e), ERR_NOT_FOUND, "");
    FAILS(store_replay_put(p.store, "nosuch", &row, e), ERR_NOT_FOUND, "nosuch");
    OK(store_replay_put(p.store, b.text, &row, e));
    row.says = (char[]){"z"};
    OK(store_replay_put(p.store, b.text, &row, e));
    OK(store_replay_get(p.store, b.text, &back, e));
    ck_assert_str_eq(back.stated, "x");
    ck_assert_str_eq(back.says, "z");
    ck_assert_int_eq(back.outcome, REPLAY_DIFFERS);
}
END_TEST

START_TEST(finished_bisections_come_in_the_order_of_finishing)
{
    AUTO(place_fini) struct place p = place_new();
    struct id late = finished_in(&p, "late", "culprit", 9);
    struct id early = finished_in(&p, "early", "culprit", 1);
    AUTO(request_free) struct request *comparison = request_of("same");
    struct finish at = {0};
    struct id id;

    comparison->is_comparison = true;
    OK(store_bisection_create(p.store, comparison, noon, &id, e));
    OK(store_bisection_set_state(p.store, id.text, BISECTION_DONE, NULL, utc_at(5), e));
    bisection_in(&p, "unfinished");

    OK(store_finish_next(p.store, &at, &at, e));
    ck_assert_str_eq(at.id.text, early.text);
    OK(store_finish_next(p.store, &at, &at, e));
    ck_assert_str_eq(at.id.text, late.text);
    FAILS(store_finish_next(p.store, &at, &at, e), ERR_NOT_FOUND, "");
}
END_TEST

struct seen {
    size_t n;
    char ids[8][12];
};

static enum err_code see(void *self, const char *bisection, const json *verdict, struct err *e)
{
    struct seen *s = self;

    if (!json_is_object(verdict))
        return err_set(e, ERR_INVALID, "no object");
    strcpy(s->ids[s->n++], bisection);
    return ERR_OK;
}

START_TEST(what_is_stated_is_seen_newest_first)
{
    AUTO(place_fini) struct place p = place_new();
    struct id a = finished_in(&p, "a", "culprit", 1);
    struct id b = finished_in(&p, "b", "not_reproduced", 2);
    struct id broken = finished_in(&p, "broken", "culprit", 3);
    struct seen all = {0}, one = {0};
    size_t n_unreadable = 9;

    finished_in(&p, "c", "range", 4);
    AUTO(mem_free)
    char *sql = mem_printf("UPDATE verdicts SET verdict = '{\"verdict\":' WHERE bisection = '%s'",
                           broken.text);
    place_meddle(&p, sql);
    OK(store_stated_each(p.store, 10, see, &all, &n_unreadable, e));
    ck_assert_uint_eq(all.n, 2);
    ck_assert_str_eq(all.ids[0], b.text);
    ck_assert_str_eq(all.ids[1], a.text);
    ck_assert_uint_eq(n_unreadable, 1);
    OK(store_stated_each(p.store, 2, see, &one, &n_unreadable, e));
    ck_assert_uint_eq(one.n, 1); /* the broken one counts */
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_check_lives_through_a_restart, 1},
        {only_what_was_undecided_is_checked_again, 1},
        {a_replay_is_remembered_with_what_was_stated, 1},
        {finished_bisections_come_in_the_order_of_finishing, 1},
        {what_is_stated_is_seen_newest_first, 1},
    };
    return unit_run("checks", tests, LEN(tests));
}
