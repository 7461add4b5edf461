/* SPDX-License-Identifier: Apache-2.0 */
/** Results: taken in once, whole, fenced, and read back as they came. */
#include "fixture.h"

static void expect_equal(const struct task_result *have, const struct task_result *want)
{
    AUTO(json_free) json *have_json = task_result_to_json(have);
    AUTO(json_free) json *want_json = task_result_to_json(want);
    AUTO(mem_free) char *have_text = column_of_json(have_json);
    AUTO(mem_free) char *want_text = column_of_json(want_json);
    ck_assert_str_eq(have_text, want_text);
}

/** A store with one leased task. */
struct scene {
    struct place p;
    struct id bisection, task;
    struct lease_row lease;
};

static struct scene scene_new(void)
{
    struct scene s = {.p = place_new()};
    s.bisection = bisection_in(&s.p, "demo");
    s.task = task_in(&s.p, &s.bisection, 0);
    s.lease = lease_in(&s.p, "w1", 0);
    return s;
}

static void scene_fini(struct scene *s)
{
    lease_row_fini(&s->lease);
    place_fini(&s->p);
}
DEFINE_AUTO_FINI(struct scene, scene_fini)

START_TEST(a_result_is_read_back_as_it_came)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(task_result_free) struct task_result *want = result_of(&s.lease);
    AUTO(task_result_free) struct task_result *have = NULL;
    FAILS(store_result_load(s.p.store, s.task.text, &have, e), ERR_NOT_FOUND, s.task.text);
    accept_in(&s.p, &s.lease);
    place_reopen(&s.p);
    OK(store_result_load(s.p.store, s.task.text, &have, e));
    expect_equal(have, want);
    ck_assert(memcmp(have->runs[1].values, want->runs[1].values, 3 * sizeof(double)) == 0);
    ck_assert(have->runs[1].value == want->runs[1].value && isnan(have->runs[0].value));
}
END_TEST

/** "a" plain, "a" with "f" reverted, and "b" with a fixup; one run of each. */
static struct task_spec *spec_of_variants(void)
{
    struct task_spec *t = spec_of(1, 3);
    t->builds[1] = (struct task_build){.revision = revision_of('a'), .revert = revision_of('f')};
    t->builds[2] = (struct task_build){.revision = revision_of('b'), .fixups = 1};
    t->n_runs = 3;
    return t;
}

static struct task_result *result_of_variants(const struct task_spec *t, int64_t fence)
{
    struct task_result *r = mem_alloc(sizeof(*r));
    r->fence = fence;
    r->environment = (struct environment){
        .host = mem_dup("h"), .worker = mem_dup("w1"), .platform = mem_dup("linux-x64")};
    for (uint32_t i = 0; i < t->n_builds; i++) {
        struct build_result *b = task_result_add_build(r);
        *b = (struct build_result){
            .revision = t->builds[i].revision, .revert = t->builds[i].revert, .status = BUILD_OK};
        memset(b->artifact, '1' + (int)i, 64);
    }
    for (uint32_t i = 0; i < t->n_runs; i++)
        *task_result_add_run(r) = (struct run_result){.run = i, .status = RUN_OK, .value = 10 + i};
    return r;
}

static void expect_value(struct place *p, const struct digest *key, double want)
{
    AUTO(sample_list_fini) struct sample_list samples = {0};
    struct sample_filter f = {.measure_key = key};
    OK(store_sample_list(p->store, &f, &samples, e));
    ck_assert_uint_eq(samples.n, 1);
    ck_assert(samples.items[0].run.value == want);
}

START_TEST(variants_of_a_revision_are_told_apart)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(request_free) struct request *q = request_of("demo");
    AUTO(task_spec_free) struct task_spec *spec = spec_of_variants();
    AUTO(task_result_free) struct task_result *have = NULL;
    AUTO(accepted_fini) struct accepted a = {0};
    struct fixup *fixup = mem_alloc(sizeof(*fixup));
    struct id bisection, task;

    fixup->range = mem_dup("v1");
    pairs_add(&fixup->environment, "A", "1");
    project_add_fixup(q->project, fixup);
    OK(store_bisection_create(p.store, q, noon, &bisection, e));
    struct task_new t = {.bisection = bisection.text, .after_seq = 1, .spec = spec};
    OK(store_task_insert(p.store, &t, noon, &task, e));
    AUTO(lease_row_fini) struct lease_row lease = lease_in(&p, "w1", 0);
    AUTO(task_result_free) struct task_result *want = result_of_variants(spec, lease.tenure.fence);
    OK(store_result_accept(p.store, lease.id.text, want, noon, &a, e));
    OK(store_result_load(p.store, task.text, &have, e));
    expect_equal(have, want);

    struct digest plain = project_measure_key(q->project, q->project->metrics[0]);
    struct digest reverted = project_variant_key(q->project, &plain, 0, &spec->builds[1].revert);
    struct digest fixed = project_variant_key(q->project, &plain, 1, &spec->builds[0].revert);
    expect_value(&p, &plain, 10);
    expect_value(&p, &reverted, 11);
    expect_value(&p, &fixed, 12);
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM samples WHERE reverted IS NULL"), 2);
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM builds WHERE fixups = 'A=1'"), 1);
    ck_assert_int_eq(place_count(&p, "SELECT count(DISTINCT build_key) FROM builds"), 3);
    OK(store_samples_verify(p.store, bisection.text, e));
}
END_TEST

START_TEST(a_result_says_what_was_reverted)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(task_spec_free) struct task_spec *spec = spec_of_variants();
    AUTO(accepted_fini) struct accepted a = {0};
    struct id bisection = bisection_in(&p, "demo"), task;

    spec->builds[2].fixups = 0;
    struct task_new t = {.bisection = bisection.text, .after_seq = 1, .spec = spec};
    OK(store_task_insert(p.store, &t, noon, &task, e));
    AUTO(lease_row_fini) struct lease_row lease = lease_in(&p, "w1", 0);
    AUTO(task_result_free) struct task_result *r = result_of_variants(spec, lease.tenure.fence);
    r->builds[1].revert = (struct revision){""};
    FAILS(store_result_accept(p.store, lease.id.text, r, noon, &a, e), ERR_INVALID,
          "nothing about aaaaaaaa");
}
END_TEST

START_TEST(what_is_absent_stays_absent)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(task_result_free) struct task_result *want = result_of(&s.lease);
    AUTO(task_result_free) struct task_result *have = NULL;
    AUTO(accepted_fini) struct accepted a = {0};
    mem_free(want->environment.cpu);
    mem_free(want->environment.kernel);
    want->environment.cpu = want->environment.kernel = NULL;
    want->environment.load = NAN;
    OK(store_result_accept(s.p.store, s.lease.id.text, want, noon, &a, e));
    OK(store_result_load(s.p.store, s.task.text, &have, e));
    ck_assert_ptr_null(have->environment.cpu);
    ck_assert_ptr_null(have->environment.kernel);
    ck_assert(isnan(have->environment.load));
    ck_assert_ptr_null(have->builds[0].reason);
}
END_TEST

START_TEST(a_repeat_has_the_first_answer_and_changes_nothing)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(task_result_free) struct task_result *r = result_of(&s.lease);
    for (int i = 0; i < 3; i++) {
        AUTO(accepted_fini) struct accepted a = {0};
        OK(store_result_accept(s.p.store, s.lease.id.text, r, utc_at(i), &a, e));
        ck_assert_str_eq(a.task.text, s.task.text);
        ck_assert_str_eq(a.bisection.text, s.bisection.text);
        ck_assert_uint_eq(a.n_samples, 3);
        ck_assert_int_eq(a.state, TASK_DONE);
        ck_assert_int_eq(a.is_repeat, i > 0);
        ck_assert_ptr_null(a.reason);
        ck_assert_int_eq(place_count(&s.p, "SELECT count(*) FROM samples"), 3);
        r->n_runs = 1; /* a repeat with another body has the first answer too */
        if (i == 0)
            place_reopen(&s.p);
    }
    r->n_runs = 3; /* as allocated */
}
END_TEST

START_TEST(a_stale_fence_is_refused)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(returned_list_fini) struct returned_list back = {0};
    AUTO(task_result_free) struct task_result *r = result_of(&s.lease);
    AUTO(accepted_fini) struct accepted a = {0};
    OK(store_leases_expire(s.p.store, utc_at(61), mono_at(61), &back, e));
    AUTO(lease_row_fini) struct lease_row second = lease_in(&s.p, "w2", 62);

    FAILS(store_result_accept(s.p.store, s.lease.id.text, r, noon, &a, e), ERR_CONFLICT, "expired");
    FAILS(store_result_accept(s.p.store, second.id.text, r, noon, &a, e), ERR_CONFLICT, "fence");
    FAILS(store_result_accept(s.p.store, "nosuch", r, noon, &a, e), ERR_NOT_FOUND, "nosuch");
    ck_assert_int_eq(place_count(&s.p, "SELECT count(*) FROM samples"), 0);
    accept_in(&s.p, &second);
    FAILS(store_result_accept(s.p.store, s.lease.id.text, r, noon, &a, e), ERR_CONFLICT, "expired");
    FAILS(store_result_accept(s.p.store, second.id.text, r, noon, &a, e), ERR_CONFLICT, "fence");
    ck_assert_int_eq(place_count(&s.p, "SELECT count(*) FROM samples"), 3);
}
END_TEST

START_TEST(a_canceled_task_takes_no_result)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(task_result_free) struct task_result *r = result_of(&s.lease);
    AUTO(accepted_fini) struct accepted a = {0};
    OK(store_task_cancel(s.p.store, s.bisection.text, 0, noon, e));
    FAILS(store_result_accept(s.p.store, s.lease.id.text, r, noon, &a, e), ERR_CONFLICT,
          "not needed");
}
END_TEST

START_TEST(a_fault_returns_the_task_and_at_last_gives_it_up)
{
    AUTO(scene_fini) struct scene s = scene_new();
    for (uint32_t i = 1; i <= 3; i++) {
        AUTO(lease_row_fini) struct lease_row l = {0};
        if (i > 1)
            l = lease_in(&s.p, "w1", 100 * i); /* the only worker: it may have it again */
        const struct lease_row *now = i > 1 ? &l : &s.lease;
        AUTO(task_result_free) struct task_result *r = result_of(now);
        r->fault = mem_dup("disk full");
        for (int repeat = 0; repeat < 2; repeat++) {
            AUTO(accepted_fini) struct accepted a = {0};
            OK(store_result_accept(s.p.store, now->id.text, r, noon, &a, e));
            ck_assert_uint_eq(a.n_samples, 0);
            ck_assert_int_eq(a.is_repeat, repeat);
            ck_assert_int_eq(a.state, i < 3 ? TASK_QUEUED : TASK_GIVEN_UP);
            ck_assert_str_eq(a.reason, "fault (worker w1): disk full");
        }
    }
    ck_assert_int_eq(place_count(&s.p, "SELECT count(*) FROM samples"), 0);
    ck_assert_int_eq(place_count(&s.p, "SELECT count(*) FROM builds"), 0);
    AUTO(task_row_free) struct task_row *t = NULL;
    OK(store_task_load(s.p.store, s.task.text, &t, e));
    ck_assert_int_eq(t->life.state, TASK_GIVEN_UP);
    ck_assert_uint_eq(t->life.tries, 3);
}
END_TEST

/* ---- results that do not fit ---- */

static void unknown_revision(struct task_result *r)
{
    r->builds[0].revision = revision_of('c');
}

static void missing_build(struct task_result *r)
{
    r->n_builds = 1;
}

static void run_out_of_range(struct task_result *r)
{
    r->runs[2].run = 4;
}

static void run_far_out_of_range(struct task_result *r)
{
    r->runs[2].run = UINT32_MAX;
}

static void same_attempt_twice(struct task_result *r)
{
    r->runs[1].attempt = 0;
}

static void out_of_order(struct task_result *r)
{
    r->runs[0].run = 2;
}

/* clang-format off */
static const struct {
    const char *name;
    void (*spoil)(struct task_result *);
} misfits[] = {
    {"a build nobody asked for", unknown_revision},
    {"a build is missing",       missing_build},
    {"run beyond the last",      run_out_of_range},
    {"run far beyond the last",  run_far_out_of_range},
    {"the same attempt twice",   same_attempt_twice},
    {"runs out of order",        out_of_order},
};
/* clang-format on */

START_TEST(what_does_not_fit_is_refused_whole)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(task_result_free) struct task_result *r = result_of(&s.lease);
    AUTO(accepted_fini) struct accepted a = {0};
    struct err e = {0};
    misfits[_i].spoil(r);
    ck_assert_msg(store_result_accept(s.p.store, s.lease.id.text, r, noon, &a, &e) == ERR_INVALID,
                  "%s: %s", misfits[_i].name, e.text);
    ck_assert_int_eq(place_count(&s.p, "SELECT count(*) FROM samples"), 0);
    ck_assert_int_eq(place_count(&s.p, "SELECT count(*) FROM builds"), 0);
    r->n_builds = 2;           /* as allocated */
    accept_in(&s.p, &s.lease); /* the lease is still good for a right one */
}
END_TEST

START_TEST(a_full_disk_takes_nothing_and_the_lease_stays)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(task_result_free) struct task_result *r = result_of(&s.lease);
    AUTO(accepted_fini) struct accepted a = {0};
    struct run_result *run = &r->runs[1];
    run->n_values = 10000;
    run->values = mem_resize(run->values, run->n_values, sizeof(double));
    for (size_t i = 0; i < run->n_values; i++)
        run->values[i] = 1.0 / (double)(i + 1);
    int64_t n_pages = place_count(&s.p, "PRAGMA page_count");
    AUTO(mem_free) char *cap = mem_printf("PRAGMA max_page_count = %lld", (long long)n_pages + 4);
    place_count(&s.p, cap);
    FAILS(store_result_accept(s.p.store, s.lease.id.text, r, noon, &a, e), ERR_IO, "full");
    ck_assert_int_eq(place_count(&s.p, "SELECT count(*) FROM builds"), 0);
    place_count(&s.p, "PRAGMA max_page_count = 1000000");
    OK(store_result_accept(s.p.store, s.lease.id.text, r, noon, &a, e));
    OK(store_samples_verify(s.p.store, s.bisection.text, e));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_result_is_read_back_as_it_came, 1},
        {variants_of_a_revision_are_told_apart, 1},
        {a_result_says_what_was_reverted, 1},
        {what_is_absent_stays_absent, 1},
        {a_repeat_has_the_first_answer_and_changes_nothing, 1},
        {a_stale_fence_is_refused, 1},
        {a_canceled_task_takes_no_result, 1},
        {a_fault_returns_the_task_and_at_last_gives_it_up, 1},
        {what_does_not_fit_is_refused_whole, LEN(misfits)},
        {a_full_disk_takes_nothing_and_the_lease_stays, 1},
    };
    return unit_run("results", tests, LEN(tests));
}
