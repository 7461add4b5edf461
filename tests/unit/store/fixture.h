/* SPDX-License-Identifier: Apache-2.0 */
/** A store in a fresh folder, and nouns to put into it. */
#ifndef UNIT_STORE_FIXTURE_H
#define UNIT_STORE_FIXTURE_H

#include "base/file.h"
#include "base/mem.h"
#include "store/bisections.h"
#include "store/db.h"
#include "store/events.h"
#include "store/leases.h"
#include "store/results.h"
#include "store/samples.h"
#include "store/store.h"
#include "store/tasks.h"
#include "store/workers.h"
#include "unit/run.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER __attribute__((unused)) static

/** Fails the test with the error's own words. */
#define OK(call)                                                                                   \
    do {                                                                                           \
        struct err ok_ = {0};                                                                      \
        struct err *e = &ok_;                                                                      \
        enum err_code code_ = (call);                                                              \
        ck_assert_msg(code_ == ERR_OK, "%s: %s", #call, ok_.text);                                 \
    } while (0)

/** The call fails with this code, and its text or hint says this. */
#define FAILS(call, want, says)                                                                    \
    do {                                                                                           \
        struct err fails_ = {0};                                                                   \
        struct err *e = &fails_;                                                                   \
        enum err_code code_ = (call);                                                              \
        ck_assert_msg(code_ == (want), "%s: code %d: %s", #call, (int)code_, fails_.text);         \
        ck_assert_msg(strstr(fails_.text, says) || strstr(fails_.hint, says), "%s: %s (%s)",       \
                      #call, fails_.text, fails_.hint);                                            \
    } while (0)

static const struct utc noon = {INT64_C(1796040000) * NS_PER_S};
static const struct mono start = {INT64_C(5000) * NS_PER_S};

HELPER struct utc utc_at(int64_t s)
{
    return (struct utc){noon.ns + s * NS_PER_S};
}

HELPER struct mono mono_at(int64_t s)
{
    return (struct mono){start.ns + s * NS_PER_S};
}

struct place {
    char dir[64];
    struct store *store;
};

HELPER struct place place_new(void)
{
    struct place p = {.dir = "/tmp/store-test-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(p.dir));
    OK(store_open(p.dir, &p.store, e));
    return p;
}

HELPER void place_close(struct place *p)
{
    store_close(p->store);
    p->store = NULL;
}

HELPER void place_reopen(struct place *p)
{
    place_close(p);
    OK(store_open(p->dir, &p->store, e));
}

HELPER void place_fini(struct place *p)
{
    store_close(p->store);
    OK(file_remove_tree(p->dir, e));
}
DEFINE_AUTO_FINI(struct place, place_fini)

/** As somebody with the sqlite3 shell would: another connection, without our triggers. */
HELPER void place_meddle(struct place *p, const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;
    AUTO(mem_free) char *path = path_join(p->dir, "bisectd.db");
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK, "%s", why);
    sqlite3_close(db);
}

HELPER int64_t place_count(struct place *p, const char *sql)
{
    AUTO(query_end) struct query q = {0};
    OK(db_first(p->store, &q, sql, NO_CELLS, e));
    return query_int(&q, 0);
}

/** Projects of different names ask different questions. */
HELPER struct request *request_of(const char *project)
{
    struct request *r = mem_alloc(sizeof(*r));
    r->project = project_new(project, "/srv/demo.git");
    strings_add(&r->project->build_steps, "make");
    struct metric *m = metric_new("startup", METRIC_WALL);
    m->command = mem_dup("./demo --quit");
    project_add_metric(r->project, m);
    r->metric = mem_dup("startup");
    r->good = mem_dup("v1");
    r->bad = mem_dup("v2");
    r->platform = mem_dup("linux-x64");
    r->confidence = 0.99;
    r->min_effect_percent = -1;
    r->seed = 1;
    r->budget_runs = 2000;
    return r;
}

HELPER struct id bisection_in(struct place *p, const char *project)
{
    AUTO(request_free) struct request *r = request_of(project);
    struct id id;
    OK(store_bisection_create(p->store, r, noon, &id, e));
    return id;
}

/** 40 times one digit. */
HELPER struct revision revision_of(char digit)
{
    struct revision r = {""};
    memset(r.hex, digit, 40);
    return r;
}

/** Builds of "a", "b", …; two runs of each. */
HELPER struct task_spec *spec_of(uint32_t ordinal, uint32_t n_builds)
{
    struct task_spec *t = mem_alloc(sizeof(*t));
    t->ordinal = ordinal;
    t->n_builds = n_builds;
    t->builds = mem_array(n_builds, sizeof(*t->builds));
    t->n_runs = 2 * n_builds;
    t->runs = mem_array(t->n_runs, sizeof(*t->runs));
    for (uint32_t i = 0; i < n_builds; i++)
        t->builds[i].revision = revision_of((char)('a' + i));
    for (uint32_t i = 0; i < t->n_runs; i++)
        t->runs[i] = (struct task_run){
            .build = i % n_builds, .number = i, .seed = UINT64_MAX - 1000 * ordinal - i};
    return t;
}

HELPER struct id task_in(struct place *p, const struct id *bisection, uint32_t ordinal)
{
    AUTO(task_spec_free) struct task_spec *spec = spec_of(ordinal, 2);
    struct task_new t = {.bisection = bisection->text, .after_seq = 1, .spec = spec};
    struct id id;
    OK(store_task_insert(p->store, &t, noon, &id, e));
    return id;
}

HELPER struct lease_wish wish_of(const char *worker)
{
    return (struct lease_wish){
        .worker = worker, .host = "h1", .platform = "linux-x64", .engine = "pool"};
}

HELPER struct lease_row lease_in(struct place *p, const char *worker, int64_t at_s)
{
    struct lease_row l = {0};
    struct lease_wish w = wish_of(worker);
    OK(store_lease_take(p->store, &w, utc_at(at_s), mono_at(at_s), &tenure_rule_default, &l, e));
    return l;
}

/** Leased, and nothing more to be done with it. */
HELPER void lease_away(struct place *p, const char *worker, int64_t at_s)
{
    AUTO(lease_row_fini) struct lease_row l = lease_in(p, worker, at_s);
    ck_assert_int_gt(l.tenure.fence, 0);
}

/** Everything set that can be: a failed build beside a good one, a retried run, odd numbers. */
HELPER struct task_result *result_of(const struct lease_row *l)
{
    struct task_result *r = mem_alloc(sizeof(*r));
    r->fence = l->tenure.fence;
    r->environment = (struct environment){
        .host = mem_dup("h1"),
        .worker = mem_dup(l->worker),
        .platform = mem_dup("linux-x64"),
        .kernel = mem_dup("6.1.0"),
        .cpu = mem_dup("Xéon \"9\""),
        .n_cpus = 2,
        .load = 0.1,
        .sandbox = mem_dup("plain"),
        .isolation = mem_dup("exclusive"),
    };
    struct build_result *b = task_result_add_build(r);
    *b = (struct build_result){.revision = revision_of('a'), .status = BUILD_OK, .seconds = 3.25};
    memset(b->artifact, '5', 64);
    b = task_result_add_build(r);
    *b = (struct build_result){.revision = revision_of('b'),
                               .status = BUILD_FAILED,
                               .reason = mem_dup("step 1 of 1 exited 2: make: *** no rule"),
                               .seconds = 1e-3};
    struct run_result *run = task_result_add_run(r);
    *run =
        (struct run_result){.run = 0, .status = RUN_CANNOT, .value = NAN, .at = noon, .seconds = 2};
    run->reason = mem_dup("2 numbers, set reduce");
    run = task_result_add_run(r);
    *run = (struct run_result){
        .run = 0, .attempt = 1, .status = RUN_OK, .value = 0.1 + 0.2, .at = noon, .seconds = 0.5};
    run->n_values = 3;
    run->values = mem_array(3, sizeof(double));
    run->values[0] = 0.1 + 0.2;
    run->values[1] = 1e-300;
    run->values[2] = -12345678901234.5;
    run = task_result_add_run(r);
    *run = (struct run_result){.run = 1, .status = RUN_SKIPPED, .value = NAN};
    run->reason = mem_dup("its build failed");
    return r;
}

HELPER void accept_in(struct place *p, const struct lease_row *l)
{
    AUTO(task_result_free) struct task_result *r = result_of(l);
    AUTO(accepted_fini) struct accepted a = {0};
    OK(store_result_accept(p->store, l->id.text, r, noon, &a, e));
    ck_assert_uint_eq(a.n_samples, 3);
}

#endif
