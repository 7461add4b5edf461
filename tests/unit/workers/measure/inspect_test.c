/* SPDX-License-Identifier: Apache-2.0 */
/* With real programs under a real strace; times are compared with nothing but each other. */
#include "base/file.h"
#include "base/mem.h"
#include "workers/measure/inspect.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];
static struct sandbox *sandbox;

static void setup(void)
{
    struct err e = {0};

    snprintf(folder, sizeof(folder), "/tmp/inspect-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(sandbox_new(&sandbox, &e), ERR_OK);
}

static void teardown(void)
{
    struct err e;

    sandbox_free(sandbox);
    ck_assert_int_eq(file_remove_tree(folder, &e), ERR_OK);
}

enum { PAIRS = 6, SYNCS_BEFORE = 1, SYNCS_AFTER = 4 };

/** A parent and a culprit, whose file `n` says how often they sync. */
static struct inspection *look_in(enum sandbox_kind kind, const char *metric_spec, bool has_culprit)
{
    struct err e = {0};
    AUTO(project_free) struct project *p = project_new("demo", "/nowhere");
    AUTO(metric_free) struct metric *m = NULL;
    AUTO(clip_fini) struct clip log;
    struct task_build builds[] = {{.revision = {"aaaa000000000000000000000000000000000000"}},
                                  {.revision = {"bbbb000000000000000000000000000000000000"}}};
    struct task_run runs[INSPECTION_BUILDS * PAIRS];
    struct task_spec spec = {
        .n_builds = LEN(builds), .builds = builds, .n_runs = LEN(runs), .runs = runs};
    struct schedule_build ready[] = {{.folder = path_join(folder, "a")},
                                     {.folder = path_join(folder, "b")}};
    AUTO(mem_free) char *source = path_join(folder, "source");
    AUTO(mem_free) char *home = path_join(folder, "home");
    AUTO(mem_free) char *tmp = path_join(folder, "tmp");
    AUTO(mem_free) char *out = path_join(folder, "out");
    struct inspection *found = NULL;

    p->sandbox.kind = kind;
    p->sandbox.is_kind_set = true;
    ck_assert_msg(metric_from_spec(metric_spec, &m, &e) == ERR_OK, "%s", e.text);
    for (uint32_t i = 0; i < LEN(runs); i++)
        runs[i] = (struct task_run){.build = i % 2, .number = i / 2, .seed = 7};
    for (size_t i = 0; i < LEN(ready); i++) {
        AUTO(mem_free) char *name = path_join(ready[i].folder, "n");
        AUTO(mem_free) char *n = mem_printf("%d", i ? SYNCS_AFTER : SYNCS_BEFORE);
        ck_assert_int_eq(file_mkdirs(ready[i].folder, 0755, &e), ERR_OK);
        ck_assert_int_eq(file_write(name, n, strlen(n), 0644, &e), ERR_OK);
    }
    if (!has_culprit) {
        mem_free(TAKE(ready[1].folder));
        ready[1].reason = mem_dup("step 1 of 1 exited 2");
    }
    clip_init(&log, MIB);
    const struct schedule s = {.sandbox = sandbox,
                               .project = p,
                               .metric = m,
                               .spec = &spec,
                               .builds = ready,
                               .place = {.source = source, .home = home, .tmp = tmp},
                               .out = out,
                               .log = &log};
    ck_assert_msg(inspect(&s, &found, &e) == ERR_OK, "%s", e.text);
    for (size_t i = 0; i < LEN(ready); i++) {
        mem_free(ready[i].folder);
        mem_free(ready[i].reason);
    }
    return found;
}

static struct inspection *look(const char *metric_spec, bool has_culprit)
{
    return look_in(SANDBOX_PLAIN, metric_spec, has_culprit);
}

#define SYNC_OFTEN                                                                                 \
    "i=0; while [ $i -lt $(cat n) ]; do i=$((i + 1)); "                                            \
    "dd if=/dev/zero of=$BISECTD_OUT/x.db bs=9 count=1 conv=fsync status=none; done"

static const struct inspected_call *call_of(const struct inspected_run *r, const char *call)
{
    for (size_t i = 0; i < r->n_calls; i++)
        if (strcmp(r->calls[i].call, call) == 0)
            return &r->calls[i];
    return NULL;
}

static const struct inspected_run *run_of(const struct inspection *v, enum inspected_how how,
                                          uint32_t build)
{
    for (size_t i = 0; i < v->n_runs; i++)
        if (v->runs[i].how == how && v->runs[i].build == build)
            return &v->runs[i];
    ck_abort_msg("no such run of build %u", build);
    return NULL;
}

static const struct {
    const char *name;
    enum sandbox_kind sandbox;
    const char *metric;
    bool is_stopped; /* once it is ready: then instructions are not counted */
} kinds[] = {
    {"to its end", SANDBOX_PLAIN, "wall:command=" SYNC_OFTEN, false},
    {"within walls", SANDBOX_BUBBLEWRAP, "wall:command=" SYNC_OFTEN, false},
    {"until a line says that it is ready", SANDBOX_PLAIN,
     "ts:ready=line:up,command=" SYNC_OFTEN "; echo up; exec sleep 600", true},
};

START_TEST(three_ways_of_looking)
{
    AUTO(inspection_free) struct inspection *v = look_in(kinds[_i].sandbox, kinds[_i].metric, true);

    ck_assert_msg(v->error == NULL, "%s: %s", kinds[_i].name, v->error);
    ck_assert_uint_eq(v->n_runs, INSPECTION_BUILDS * (PAIRS - kinds[_i].is_stopped));
    ck_assert_ptr_nonnull(strstr(v->timed, "fsync"));
    for (uint32_t side = 0; side < INSPECTION_BUILDS; side++) {
        const uint64_t want = side ? SYNCS_AFTER : SYNCS_BEFORE;
        const struct inspected_run *plain = run_of(v, INSPECTED_PLAIN, side);
        ck_assert(plain->has_usage && plain->usage.minor_faults > 0 && plain->n_calls == 0);
        const struct inspected_call *counted = call_of(run_of(v, INSPECTED_COUNTS, side), "fsync");
        ck_assert_msg(counted && counted->n == want, "%s: build %u has %d", kinds[_i].name, side,
                      counted ? (int)counted->n : -1);
        const struct inspected_run *times = run_of(v, INSPECTED_TIMES, side);
        const struct inspected_call *timed = call_of(times, "fsync");
        ck_assert_msg(timed && timed->n == want, "%s", kinds[_i].name);
        ck_assert_str_eq(timed->path, "$BISECTD_OUT/x.db");
        ck_assert_msg(timed->seconds <= times->seconds, "%s", kinds[_i].name);
    }
    if (kinds[_i].is_stopped)
        return;
    const struct inspected_run *few = run_of(v, INSPECTED_INSTRUCTIONS, 0);
    const struct inspected_run *many = run_of(v, INSPECTED_INSTRUCTIONS, 1);
    ck_assert_msg(few->count > 1e5 && many->count > 1.5 * few->count, "%s: %g and %g",
                  kinds[_i].name, few->count, many->count);
    ck_assert_msg(strstr(few->by, "perf") || strstr(few->by, "callgrind"), "%s", few->by);
}
END_TEST

/* Pairs: untraced, counted, timed, timed, untraced, instructions. */
START_TEST(untraced_runs_are_where_the_timed_ones_are)
{
    AUTO(mem_free)
    char *metric = mem_printf("wall:command=grep Cpus_allowed_list /proc/self/status >> %s/cpus;"
                              " test $(cat n) -gt 0",
                              folder);
    AUTO(inspection_free) struct inspection *v = look(metric, true);
    AUTO(mem_free) char *name = path_join(folder, "cpus");
    AUTO(mem_free) char *line = NULL;
    AUTO(mem_free) char *timed = NULL;
    FILE *f = fopen(name, "r");
    size_t size = 0;

    ck_assert_msg(v->error == NULL, "%s", v->error);
    ck_assert_ptr_nonnull(f);
    for (int i = 0; i < INSPECTION_BUILDS * (PAIRS - 1); i++) {
        ck_assert_int_gt(getline(&line, &size, f), 0);
        if (i == INSPECTION_BUILDS * 3)
            timed = mem_dup(line);
        if (i >= INSPECTION_BUILDS * 4)
            ck_assert_str_eq(line, timed);
    }
    fclose(f);
}
END_TEST

/* Three sleepers at once: what they sleep is no more than what goes by. */
START_TEST(what_overlaps_is_shared)
{
    AUTO(inspection_free)
    struct inspection *v = look(
        "wall:command=cat n > /dev/null; for i in 1 2 3; do sleep 0.$(cat n) & done; wait", true);
    const struct inspected_run *times = run_of(v, INSPECTED_TIMES, 1);
    double slept = 0;

    ck_assert_msg(v->error == NULL, "%s", v->error);
    for (size_t i = 0; i < times->n_calls; i++)
        if (strstr(times->calls[i].call, "nanosleep"))
            slept += times->calls[i].seconds;
    ck_assert_msg(slept > .3 && slept < .8, "%g of %g s", slept, times->seconds);
}
END_TEST

static const struct {
    const char *metric;
    bool has_culprit;
    const char *says;
} failures[] = {
    {"wall:command=true", false, "bbbb00000000 cannot be built: step 1 of 1 exited 2"},
    {"wall:command=exit 3", true, "the command failed this time"},
};

START_TEST(what_cannot_be_seen_is_said)
{
    AUTO(inspection_free)
    struct inspection *v = look(failures[_i].metric, failures[_i].has_culprit);

    ck_assert_ptr_nonnull(v->error);
    ck_assert_str_eq(v->error, failures[_i].says);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measure/inspect");
    TCase *tc = tcase_create("all");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, three_ways_of_looking, 0, LEN(kinds));
    tcase_add_test(tc, untraced_runs_are_where_the_timed_ones_are);
    tcase_add_test(tc, what_overlaps_is_shared);
    tcase_add_loop_test(tc, what_cannot_be_seen_is_said, 0, LEN(failures));
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? 1 : 0;
}
