/* SPDX-License-Identifier: Apache-2.0 */
/** Tasks and leases: who gets what, and how it comes back. */
#include "fixture.h"

static const struct tenure_rule *const rule = &tenure_rule_default;

static struct task_row *task_row_of(struct place *p, const struct id *id)
{
    struct task_row *t = NULL;
    OK(store_task_load(p->store, id->text, &t, e));
    return t;
}

static void expect_task(struct place *p, const struct id *id, enum task_state state, uint32_t tries,
                        uint32_t deaths)
{
    AUTO(task_row_free) struct task_row *t = task_row_of(p, id);
    ck_assert_int_eq(t->life.state, state);
    ck_assert_uint_eq(t->life.tries, tries);
    ck_assert_uint_eq(t->life.deaths, deaths);
    ck_assert_int_eq(t->ended.ns != 0, state != TASK_QUEUED && state != TASK_LEASED);
}

START_TEST(a_task_is_read_back)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    AUTO(task_spec_free) struct task_spec *spec = spec_of(3, 2);
    AUTO(strings_fini) struct strings tags = {0};
    strings_add(&tags, "big");
    spec->is_verification = true;
    struct task_new t = {.bisection = b.text, .after_seq = 9, .spec = spec, .tags = &tags};
    struct id id, again;
    OK(store_task_insert(p.store, &t, noon, &id, e));
    FAILS(store_task_insert(p.store, &t, noon, &again, e), ERR_CONFLICT, "task 3 already");
    t.bisection = "nosuch";
    FAILS(store_task_insert(p.store, &t, noon, &again, e), ERR_NOT_FOUND, "nosuch");

    AUTO(task_row_free) struct task_row *row = NULL;
    OK(store_task_find(p.store, b.text, 3, &row, e));
    ck_assert_str_eq(row->id.text, id.text);
    ck_assert_int_eq(row->after_seq, 9);
    ck_assert_str_eq(row->platform, "linux-x64");
    ck_assert_str_eq(row->tags.items[0], "big");
    ck_assert(!row->has_log && !row->worker && !row->ended.ns);
    AUTO(json_free) json *want = task_spec_to_json(spec);
    AUTO(json_free) json *have = task_spec_to_json(row->spec);
    AUTO(mem_free) char *want_text = column_of_json(want);
    AUTO(mem_free) char *have_text = column_of_json(have);
    ck_assert_str_eq(have_text, want_text);
    AUTO(task_row_free) struct task_row *none = NULL;
    FAILS(store_task_find(p.store, b.text, 4, &none, e), ERR_NOT_FOUND, "no task 4");
    FAILS(store_task_load(p.store, "nosuch", &none, e), ERR_NOT_FOUND, "nosuch");
}
END_TEST

START_TEST(tasks_are_listed_by_ordinal)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    for (uint32_t i = 5; i-- > 0;)
        task_in(&p, &b, i);
    AUTO(task_list_fini) struct task_list page = {0};
    AUTO(task_list_fini) struct task_list all = {0};
    OK(store_task_list(p.store, b.text, 2, 1, &page, e));
    ck_assert_uint_eq(page.n, 2);
    ck_assert_uint_eq(page.items[0]->ordinal, 2);
    ck_assert(page.has_more);
    OK(store_task_list(p.store, b.text, 0, -1, &all, e));
    ck_assert_uint_eq(all.n, 5);
    ck_assert(!all.has_more);
}
END_TEST

START_TEST(each_task_is_given_once)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    struct id t0 = task_in(&p, &b, 0), t1 = task_in(&p, &b, 1);
    AUTO(lease_row_fini) struct lease_row l0 = lease_in(&p, "w1", 0);
    AUTO(lease_row_fini) struct lease_row l1 = lease_in(&p, "w2", 0);
    AUTO(lease_row_fini) struct lease_row l2 = {0};
    struct lease_wish w = wish_of("w3");

    ck_assert_str_eq(l0.task.text, t0.text);
    ck_assert_str_eq(l1.task.text, t1.text);
    ck_assert_str_eq(l0.bisection.text, b.text);
    ck_assert_int_gt(l1.tenure.fence, l0.tenure.fence);
    ck_assert_int_eq(l0.tenure.deadline.ns, mono_at(60).ns);
    FAILS(store_lease_take(p.store, &w, noon, start, rule, &l2, e), ERR_NOT_FOUND, "w3");
    expect_task(&p, &t0, TASK_LEASED, 0, 0);
}
END_TEST

START_TEST(platform_tags_and_draining_are_obeyed)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    AUTO(task_spec_free) struct task_spec *spec = spec_of(0, 1);
    AUTO(strings_fini) struct strings tags = {0};
    strings_add(&tags, "big");
    struct task_new t = {.bisection = b.text, .spec = spec, .tags = &tags};
    OK(store_task_insert(p.store, &t, noon, NULL, e));

    AUTO(lease_row_fini) struct lease_row l = {0};
    struct lease_wish w = wish_of("w1");
    FAILS(store_lease_take(p.store, &w, noon, start, rule, &l, e), ERR_NOT_FOUND, "");
    w.tags = &tags;
    w.platform = "windows";
    FAILS(store_lease_take(p.store, &w, noon, start, rule, &l, e), ERR_NOT_FOUND, "");
    w.platform = "linux-x64";
    OK(store_worker_drain(p.store, "w1", true, e));
    FAILS(store_lease_take(p.store, &w, noon, start, rule, &l, e), ERR_CONFLICT, "draining");
    OK(store_worker_drain(p.store, "w1", false, e));
    OK(store_lease_take(p.store, &w, noon, start, rule, &l, e));
}
END_TEST

START_TEST(bisections_share_the_workers)
{
    AUTO(place_fini) struct place p = place_new();
    struct id a = bisection_in(&p, "a"), b = bisection_in(&p, "b");
    int n_a = 0, n_b = 0;
    for (uint32_t i = 0; i < 100; i++)
        task_in(&p, &a, i); /* all older, and more than are looked at */
    for (uint32_t i = 0; i < 3; i++)
        task_in(&p, &b, i);
    for (int i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof(name), "w%d", i);
        AUTO(lease_row_fini) struct lease_row l = lease_in(&p, name, 0);
        n_a += !strcmp(l.bisection.text, a.text);
        n_b += !strcmp(l.bisection.text, b.text);
    }
    ck_assert_int_eq(n_a, 3);
    ck_assert_int_eq(n_b, 3);
}
END_TEST

START_TEST(many_tasks_that_do_not_fit_hide_none_that_does)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(task_spec_free) struct task_spec *spec = spec_of(0, 1);
    AUTO(strings_fini) struct strings tags = {0};
    strings_add(&tags, "big");
    OK(store_begin(p.store, e));
    for (int i = 0; i < 150; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%d", i);
        struct id b = bisection_in(&p, name);
        struct task_new t = {.bisection = b.text, .spec = spec, .tags = &tags};
        OK(store_task_insert(p.store, &t, noon, NULL, e));
    }
    OK(store_commit(p.store, e));
    AUTO(lease_row_fini) struct lease_row none = {0};
    struct lease_wish w = wish_of("w1");
    FAILS(store_lease_take(p.store, &w, noon, start, rule, &none, e), ERR_NOT_FOUND, "w1");

    struct id b = bisection_in(&p, "last");
    struct id t = task_in(&p, &b, 0);
    AUTO(lease_row_fini) struct lease_row l = lease_in(&p, "w1", 0);
    ck_assert_str_eq(l.task.text, t.text);
}
END_TEST

START_TEST(renewal_keeps_a_lease_alive)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(returned_list_fini) struct returned_list back = {0};
    struct id b = bisection_in(&p, "demo");
    struct id t = task_in(&p, &b, 0);
    AUTO(lease_row_fini) struct lease_row l = lease_in(&p, "w1", 0);
    struct mono next;

    OK(store_lease_renew(p.store, l.id.text, l.tenure.fence, "building aaaaaaa", utc_at(50),
                         mono_at(50), rule, e));
    OK(store_leases_expire(p.store, utc_at(109), mono_at(109), &back, e));
    ck_assert_uint_eq(back.n, 0);
    OK(store_leases_next(p.store, &next, e));
    ck_assert_int_eq(next.ns, mono_at(110).ns);
    AUTO(task_row_free) struct task_row *row = task_row_of(&p, &t);
    ck_assert_str_eq(row->activity, "building aaaaaaa");
    ck_assert_str_eq(row->worker, "w1");
    FAILS(store_lease_renew(p.store, l.id.text, l.tenure.fence + 1, NULL, noon, start, rule, e),
          ERR_CONFLICT, "fence");
    FAILS(store_lease_renew(p.store, "nosuch", 1, NULL, noon, start, rule, e), ERR_NOT_FOUND,
          "nosuch");

    OK(store_leases_expire(p.store, utc_at(110), mono_at(110), &back, e));
    ck_assert_uint_eq(back.n, 1);
    ck_assert_str_eq(back.items[0].task.text, t.text);
    ck_assert_str_eq(back.items[0].bisection.text, b.text);
    ck_assert_int_eq(back.items[0].state, TASK_QUEUED);
    ck_assert_ptr_nonnull(strstr(back.items[0].reason, "lease expired"));
    expect_task(&p, &t, TASK_QUEUED, 1, 0);
    FAILS(store_lease_renew(p.store, l.id.text, l.tenure.fence, NULL, noon, start, rule, e),
          ERR_CONFLICT, "expired");
    FAILS(store_leases_next(p.store, &next, e), ERR_NOT_FOUND, "");
}
END_TEST

START_TEST(jumps_of_the_wall_clock_end_no_lease)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(returned_list_fini) struct returned_list back = {0};
    struct id b = bisection_in(&p, "demo");
    task_in(&p, &b, 0);
    lease_away(&p, "w1", 0);
    OK(store_leases_expire(p.store, utc_at(1000000), mono_at(10), &back, e));
    OK(store_leases_expire(p.store, utc_at(-1000000), mono_at(10), &back, e));
    ck_assert_uint_eq(back.n, 0);
}
END_TEST

START_TEST(open_leases_outlive_the_service)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(returned_list_fini) struct returned_list back = {0};
    struct id b = bisection_in(&p, "demo");
    task_in(&p, &b, 0);
    AUTO(lease_row_fini) struct lease_row l = lease_in(&p, "w1", 0);
    place_reopen(&p);
    /* Another boot: the monotonic clock starts again near nothing. */
    const struct mono boot = {3 * NS_PER_S};
    OK(store_leases_adopt(p.store, boot, rule, e));
    OK(store_leases_expire(p.store, noon, (struct mono){62 * NS_PER_S}, &back, e));
    ck_assert_uint_eq(back.n, 0);
    accept_in(&p, &l);
}
END_TEST

START_TEST(fences_grow_over_all_lives)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    int64_t last = 0;
    task_in(&p, &b, 0);
    for (int i = 0; i < 4; i++) {
        AUTO(returned_list_fini) struct returned_list back = {0};
        AUTO(lease_row_fini) struct lease_row l = lease_in(&p, "w1", 0);
        ck_assert_int_gt(l.tenure.fence, last);
        last = l.tenure.fence;
        place_reopen(&p);
        OK(store_leases_end_engine(p.store, "pool", RETURN_RESTART, noon, &back, e));
        ck_assert_uint_eq(back.n, 1);
    }
}
END_TEST

START_TEST(a_dead_workers_task_goes_to_another)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(returned_list_fini) struct returned_list back = {0};
    struct id b = bisection_in(&p, "demo");
    struct id t = task_in(&p, &b, 0);
    struct lease_wish w1 = wish_of("w1"), w2 = wish_of("w2");
    OK(store_worker_seen(p.store, &w2, noon, e));
    lease_away(&p, "w1", 0);
    OK(store_leases_end_worker(p.store, "w2", RETURN_DIED, noon, &back, e));
    ck_assert_uint_eq(back.n, 0);
    OK(store_leases_end_worker(p.store, "w1", RETURN_DIED, noon, &back, e));
    ck_assert_uint_eq(back.n, 1);
    expect_task(&p, &t, TASK_QUEUED, 0, 1);

    AUTO(lease_row_fini) struct lease_row again = {0};
    FAILS(store_lease_take(p.store, &w1, utc_at(1), mono_at(1), rule, &again, e), ERR_NOT_FOUND,
          "");
    OK(store_lease_take(p.store, &w2, utc_at(1), mono_at(1), rule, &again, e));
    AUTO(task_row_free) struct task_row *row = task_row_of(&p, &t);
    ck_assert_uint_eq(row->failed_by.n, 1);
    ck_assert_str_eq(row->failed_by.items[0], "w1");
    ck_assert_ptr_nonnull(strstr(row->message, "worker died (worker w1)"));
}
END_TEST

START_TEST(a_lonely_worker_gets_its_task_back)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    struct id t = task_in(&p, &b, 0);
    for (uint32_t i = 1; i <= 10; i++) {
        AUTO(returned_list_fini) struct returned_list back = {0};
        lease_away(&p, "w1", 0);
        OK(store_leases_end_worker(p.store, "w1", RETURN_DIED, noon, &back, e));
        expect_task(&p, &t, i < 10 ? TASK_QUEUED : TASK_GIVEN_UP, 0, i);
        ck_assert_int_eq(back.items[0].state, i < 10 ? TASK_QUEUED : TASK_GIVEN_UP);
    }
}
END_TEST

START_TEST(canceling_ends_the_lease)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    struct id t0 = task_in(&p, &b, 0), t1 = task_in(&p, &b, 1), t2 = task_in(&p, &b, 2);
    AUTO(lease_row_fini) struct lease_row l0 = lease_in(&p, "w1", 0);
    AUTO(lease_row_fini) struct lease_row l1 = lease_in(&p, "w2", 0);
    accept_in(&p, &l1);
    OK(store_task_cancel(p.store, b.text, 0, noon, e));
    OK(store_task_cancel(p.store, b.text, 0, noon, e));
    FAILS(store_task_cancel(p.store, b.text, 7, noon, e), ERR_NOT_FOUND, "no task 7");
    expect_task(&p, &t0, TASK_CANCELED, 0, 0);
    FAILS(store_lease_renew(p.store, l0.id.text, l0.tenure.fence, NULL, noon, start, rule, e),
          ERR_CONFLICT, "not needed");

    OK(store_task_cancel_all(p.store, b.text, noon, e));
    expect_task(&p, &t1, TASK_DONE, 0, 0);
    expect_task(&p, &t2, TASK_CANCELED, 0, 0);
}
END_TEST

START_TEST(workers_are_remembered)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(worker_list_fini) struct worker_list l = {0};
    AUTO(strings_fini) struct strings tags = {0};
    struct id b = bisection_in(&p, "demo");
    uint32_t n = 0;
    strings_add(&tags, "big");
    struct lease_wish w = wish_of("a");
    w.tags = &tags;
    OK(store_worker_seen(p.store, &w, noon, e));
    task_in(&p, &b, 0);
    AUTO(lease_row_fini) struct lease_row lease = lease_in(&p, "b", 500);

    OK(store_worker_list(p.store, utc_at(501), &l, e));
    ck_assert_uint_eq(l.n, 2);
    ck_assert(!l.items[0].is_live && l.items[1].is_live);
    ck_assert_str_eq(l.items[0].tags.items[0], "big");
    ck_assert_str_eq(l.items[1].task, lease.task.text);
    OK(store_worker_count(p.store, "linux-x64", utc_at(501), &n, e));
    ck_assert_uint_eq(n, 1);
    OK(store_worker_count(p.store, "linux-x64", utc_at(1), &n, e));
    ck_assert_uint_eq(n, 2);
    OK(store_worker_remove(p.store, "a", e));
    OK(store_worker_remove(p.store, "a", e));
    FAILS(store_worker_drain(p.store, "a", true, e), ERR_NOT_FOUND, "worker a");
}
END_TEST

START_TEST(work_for_idle_workers_waits_for_all_other)
{
    AUTO(place_fini) struct place p = place_new();
    struct id check = bisection_in(&p, "check"), real = bisection_in(&p, "real");
    struct lease_wish here = wish_of("w2"), there = wish_of("w3");
    AUTO(lease_row_fini) struct lease_row none = {0};
    there.host = "h2";

    OK(store_bisection_set_when_idle(p.store, check.text, true, e));
    struct id t0 = task_in(&p, &check, 0), t1 = task_in(&p, &real, 0);
    AUTO(lease_row_fini) struct lease_row first = lease_in(&p, "w1", 0);
    ck_assert_str_eq(first.task.text, t1.text); /* though it came later */
    FAILS(store_lease_take(p.store, &here, noon, start, rule, &none, e), ERR_NOT_FOUND, "w2");

    AUTO(lease_row_fini) struct lease_row other = {0};
    OK(store_lease_take(p.store, &there, noon, start, rule, &other, e));
    ck_assert_str_eq(other.task.text, t0.text);
    accept_in(&p, &first);

    /* Somebody waits for it after all. */
    struct id t2 = task_in(&p, &check, 1);
    OK(store_bisection_set_when_idle(p.store, check.text, false, e));
    struct id t3 = task_in(&p, &check, 2);
    AUTO(lease_row_fini) struct lease_row second = lease_in(&p, "w1", 0);
    AUTO(lease_row_fini) struct lease_row third = lease_in(&p, "w2", 0);
    ck_assert_str_eq(second.task.text, t2.text);
    ck_assert_str_eq(third.task.text, t3.text);
    FAILS(store_bisection_set_when_idle(p.store, "nosuch", true, e), ERR_NOT_FOUND, "nosuch");
}
END_TEST

START_TEST(work_for_idle_workers_makes_way)
{
    AUTO(place_fini) struct place p = place_new();
    struct id check = bisection_in(&p, "check"), real = bisection_in(&p, "real");
    OK(store_bisection_set_when_idle(p.store, check.text, true, e));
    struct id t0 = task_in(&p, &check, 0);
    lease_away(&p, "w1", 0);

    AUTO(returned_list_fini) struct returned_list alone = {0};
    OK(store_leases_yield(p.store, utc_at(20), utc_at(30), &alone, e));
    ck_assert_uint_eq(alone.n, 0); /* nobody waits */

    task_in(&p, &real, 0);
    AUTO(returned_list_fini) struct returned_list early = {0};
    OK(store_leases_yield(p.store, utc_at(-1), utc_at(9), &early, e));
    ck_assert_uint_eq(early.n, 0); /* it has it since a moment ago */

    AUTO(returned_list_fini) struct returned_list back = {0};
    OK(store_leases_yield(p.store, utc_at(0), utc_at(10), &back, e));
    ck_assert_uint_eq(back.n, 1);
    ck_assert_str_eq(back.items[0].task.text, t0.text);
    expect_task(&p, &t0, TASK_QUEUED, 0, 0); /* it is not the worker's fault */

    /* Measuring on one host is done in turn. */
    lease_away(&p, "w1", 11);
    struct lease_wish there = wish_of("w3");
    there.host = "h2";
    AUTO(lease_row_fini) struct lease_row again = {0};
    OK(store_lease_take(p.store, &there, utc_at(11), mono_at(11), rule, &again, e));
    ck_assert_str_eq(again.task.text, t0.text);
    AUTO(returned_list_fini) struct returned_list elsewhere = {0};
    OK(store_leases_yield(p.store, utc_at(20), utc_at(30), &elsewhere, e));
    ck_assert_uint_eq(elsewhere.n, 0);
    place_meddle(&p, "UPDATE leases SET host = 'h1'");
    OK(store_leases_yield(p.store, utc_at(20), utc_at(30), &elsewhere, e));
    ck_assert_uint_eq(elsewhere.n, 1);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_task_is_read_back, 1},
        {tasks_are_listed_by_ordinal, 1},
        {each_task_is_given_once, 1},
        {platform_tags_and_draining_are_obeyed, 1},
        {bisections_share_the_workers, 1},
        {many_tasks_that_do_not_fit_hide_none_that_does, 1},
        {renewal_keeps_a_lease_alive, 1},
        {jumps_of_the_wall_clock_end_no_lease, 1},
        {open_leases_outlive_the_service, 1},
        {fences_grow_over_all_lives, 1},
        {a_dead_workers_task_goes_to_another, 1},
        {a_lonely_worker_gets_its_task_back, 1},
        {canceling_ends_the_lease, 1},
        {work_for_idle_workers_waits_for_all_other, 1},
        {work_for_idle_workers_makes_way, 1},
        {workers_are_remembered, 1},
    };
    return unit_run("leases", tests, LEN(tests));
}
