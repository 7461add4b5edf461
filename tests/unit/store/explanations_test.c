/* SPDX-License-Identifier: Apache-2.0 */
#include "store/explanations.h"
#include "unit/store/fixture.h"

/* An inspection's task, leased. */
static struct lease_row inspection_in(struct place *p, const struct id *bisection)
{
    AUTO(task_spec_free) struct task_spec *spec = spec_of(0, 2);
    struct task_new t = {.bisection = bisection->text, .spec = spec};
    struct id id;

    spec->is_inspection = true;
    OK(store_task_insert(p->store, &t, noon, &id, e));
    OK(store_explanation_open(p->store, bisection->text, id.text, noon, e));
    return lease_in(p, "w1", 1);
}

static struct task_result *seen_by(const struct lease_row *l)
{
    struct task_result *r = result_of(l);

    for (size_t i = 0; i < r->n_runs; i++) {
        mem_free(r->runs[i].reason);
        mem_free(r->runs[i].values);
    }
    r->n_runs = 0;
    r->inspection = mem_alloc(sizeof(*r->inspection));
    r->inspection->timed = mem_dup("fsync");
    struct inspected_run *run = inspection_add_run(r->inspection);
    run->how = INSPECTED_TIMES;
    run->seconds = .25;
    inspected_run_add_call(run, "fsync", "/a \"b\".db")->n = 404;
    return r;
}

START_TEST(what_was_seen_is_kept)
{
    AUTO(place_fini) struct place p = place_new();
    struct id bisection = bisection_in(&p, "demo");
    AUTO(lease_row_fini) struct lease_row l = inspection_in(&p, &bisection);
    AUTO(task_result_free) struct task_result *r = seen_by(&l);
    AUTO(accepted_fini) struct accepted a = {0};
    AUTO(inspection_free) struct inspection *got = NULL;

    FAILS(store_inspection_get(p.store, l.task.text, &got, e), ERR_NOT_FOUND, "inspection");
    OK(store_result_accept(p.store, l.id.text, r, noon, &a, e));
    ck_assert_uint_eq(a.n_samples, 0);
    place_reopen(&p);
    OK(store_inspection_get(p.store, l.task.text, &got, e));
    AUTO(json_free) json *want = inspection_to_json(r->inspection);
    AUTO(json_free) json *have = inspection_to_json(got);
    AUTO(mem_free) char *wanted = column_of_json(want);
    AUTO(mem_free) char *had = column_of_json(have);
    ck_assert_str_eq(had, wanted);
    OK(store_samples_verify(p.store, bisection.text, e));
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM samples"), 0);
}
END_TEST

START_TEST(an_inspection_with_samples_is_refused)
{
    AUTO(place_fini) struct place p = place_new();
    struct id bisection = bisection_in(&p, "demo");
    AUTO(lease_row_fini) struct lease_row l = inspection_in(&p, &bisection);
    AUTO(task_result_free) struct task_result *r = result_of(&l);
    AUTO(accepted_fini) struct accepted a = {0};

    FAILS(store_result_accept(p.store, l.id.text, r, noon, &a, e), ERR_INVALID, "no samples");
}
END_TEST

START_TEST(what_follows_is_kept)
{
    AUTO(place_fini) struct place p = place_new();
    struct id bisection = bisection_in(&p, "demo");
    AUTO(lease_row_fini) struct lease_row l = inspection_in(&p, &bisection);
    AUTO(json_free) json *document = json_put(json_new_object(), "explained", json_new_real(.93));
    AUTO(explanation_row_fini) struct explanation_row row = {0};
    struct explanation_row none;

    FAILS(store_explanation_open(p.store, bisection.text, l.task.text, noon, e), ERR_CONFLICT,
          "already");
    FAILS(store_explanation_find(p.store, "nothere", &none, e), ERR_NOT_FOUND, "nothere");
    FAILS(store_explanation_close(p.store, "nothere", document, noon, e), ERR_NOT_FOUND, "nothere");
    OK(store_explanation_find(p.store, bisection.text, &row, e));
    ck_assert_str_eq(row.task.text, l.task.text);
    ck_assert(!row.has_inspection && !row.document);
    OK(store_explanation_close(p.store, bisection.text, document, noon, e));
    OK(store_explanation_find(p.store, bisection.text, &row, e));
    ck_assert_double_eq(json_num(json_at(row.document, "explained"), 0), .93);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {what_was_seen_is_kept, 1},
        {an_inspection_with_samples_is_refused, 1},
        {what_follows_is_kept, 1},
    };

    return unit_run("explanations", tests, LEN(tests));
}
