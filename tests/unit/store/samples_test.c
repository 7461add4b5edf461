/* SPDX-License-Identifier: Apache-2.0 */
/** The evidence: queries, append only, and the chains that tell of meddling. */
#include "fixture.h"
#include "store/artifacts.h"

/** Two bisections of one project shape, two accepted tasks each. */
struct scene {
    struct place p;
    struct id a, b;
};

static void run_tasks(struct place *p, const struct id *bisection)
{
    for (uint32_t i = 0; i < 2; i++) {
        task_in(p, bisection, i);
        AUTO(lease_row_fini) struct lease_row l = lease_in(p, "w1", 0);
        accept_in(p, &l);
        OK(store_event_append(p->store, bisection->text, "result", NULL, noon, NULL, e));
    }
}

static struct scene scene_new(void)
{
    struct scene s = {.p = place_new()};
    s.a = bisection_in(&s.p, "alpha");
    s.b = bisection_in(&s.p, "beta");
    run_tasks(&s.p, &s.a);
    run_tasks(&s.p, &s.b);
    return s;
}

static void scene_fini(struct scene *s)
{
    place_fini(&s->p);
}
DEFINE_AUTO_FINI(struct scene, scene_fini)

/* ---- queries ---- */

static const char a40[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/* clang-format off */
static const struct {
    const char *name;
    struct sample_filter filter;
    size_t want;
    bool has_more;
} filters[] = {
    {"everything",           {0}, 12, false},
    {"one project",          {.project = "alpha"}, 6, false},
    {"project and metric",   {.project = "beta", .metric = "startup"}, 6, false},
    {"no such metric",       {.project = "beta", .metric = "nosuch"}, 0, false},
    {"one revision",         {.project = "alpha", .revision = a40}, 4, false},
    {"its first digits",     {.project = "alpha", .revision = "aaaa"}, 4, false},
    {"first digits of none", {.project = "alpha", .revision = "aaab"}, 0, false},
    {"those with a value",   {.only_ok = true}, 4, false},
    {"the platform",         {.platform = "linux-x64"}, 12, false},
    {"another platform",     {.platform = "windows"}, 0, false},
    {"a page",               {.limit = 5}, 5, true},
    {"the last page",        {.limit = 5, .after = 10}, 2, false},
    {"a page that fits",     {.limit = 12}, 12, false},
    {"quotes are just text", {.project = "x' OR '1'='1"}, 0, false},
};
/* clang-format on */

START_TEST(samples_are_found)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(sample_list_fini) struct sample_list l = {0};
    OK(store_sample_list(s.p.store, &filters[_i].filter, &l, e));
    ck_assert_msg(l.n == filters[_i].want, "%s: %zu", filters[_i].name, l.n);
    ck_assert_msg(l.has_more == filters[_i].has_more, "%s", filters[_i].name);
}
END_TEST

START_TEST(a_sample_says_where_it_comes_from)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(sample_list_fini) struct sample_list l = {0};
    struct sample_filter f = {.bisection = s.b.text, .only_ok = true};
    OK(store_sample_list(s.p.store, &f, &l, e));
    ck_assert_uint_eq(l.n, 2);
    const struct sample_row *row = &l.items[1];
    ck_assert_str_eq(row->bisection.text, s.b.text);
    ck_assert_str_eq(row->project, "beta");
    ck_assert_str_eq(row->metric, "startup");
    ck_assert_str_eq(row->revision.hex, a40);
    ck_assert_uint_eq(row->number, 0);
    ck_assert_uint_eq(row->seed, UINT64_MAX - 1000);
    ck_assert(row->run.value == 0.1 + 0.2);
    ck_assert_uint_eq(row->run.n_values, 3);
    ck_assert_uint_eq(row->run.attempt, 1);
    ck_assert_str_eq(row->environment.host, "h1");
    ck_assert_str_eq(row->environment.kernel, "6.1.0");
    ck_assert_str_eq(row->environment.platform, "linux-x64");
    ck_assert_str_eq(row->environment.isolation, "exclusive");
    ck_assert_int_eq(row->stored.ns, noon.ns);
}
END_TEST

START_TEST(samples_pool_by_measure_key)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(bisection_row_free) struct bisection_row *b = NULL;
    AUTO(sample_list_fini) struct sample_list l = {0};
    OK(store_bisection_load(s.p.store, s.a.text, &b, e));
    struct sample_filter f = {
        .measure_key = &b->measure_key, .platform = "linux-x64", .only_ok = true};
    OK(store_sample_list(s.p.store, &f, &l, e));
    ck_assert_uint_ge(l.n, 2); /* the keys do not contain the project's name */
    struct digest other = hash_of("other", 5);
    AUTO(sample_list_fini) struct sample_list none = {0};
    f.measure_key = &other;
    OK(store_sample_list(s.p.store, &f, &none, e));
    ck_assert_uint_eq(none.n, 0);
}
END_TEST

/** Queues a verification beside the tasks that are there, and carries it out if `is_done`. */
static struct id verification_in(struct place *p, const struct id *bisection, uint32_t ordinal,
                                 bool is_done)
{
    AUTO(task_spec_free) struct task_spec *spec = spec_of(ordinal, 2);
    struct task_new t = {.bisection = bisection->text, .after_seq = 1, .spec = spec};
    struct id id;

    spec->is_verification = true;
    OK(store_task_insert(p->store, &t, noon, &id, e));
    if (is_done) {
        AUTO(lease_row_fini) struct lease_row l = lease_in(p, "w1", 0);
        accept_in(p, &l);
    }
    return id;
}

START_TEST(builds_that_failed_are_found)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(build_list_fini) struct build_list l = {0};
    struct build_filter f = {.bisection = s.a.text, .only_failed = true};

    OK(store_build_list(s.p.store, &f, &l, e));
    ck_assert_uint_eq(l.n, 2); /* one in each task; the other one was built */
    ck_assert_str_eq(l.items[0].build.revision.hex, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
    ck_assert_int_eq(l.items[0].build.status, BUILD_FAILED);
}
END_TEST

START_TEST(verifications_are_found_by_the_samples_they_stand_beside)
{
    AUTO(scene_fini) struct scene s = scene_new();
    struct id first = verification_in(&s.p, &s.b, 2, true);
    struct id second = verification_in(&s.p, &s.a, 2, true);
    AUTO(bisection_row_free) struct bisection_row *b = NULL;
    AUTO(task_list_fini) struct task_list l = {0};
    AUTO(task_list_fini) struct task_list none = {0};
    struct digest other = hash_of("other", 5);

    verification_in(&s.p, &s.a, 3, false);
    OK(store_bisection_load(s.p.store, s.a.text, &b, e));
    OK(store_task_verifications(s.p.store, &b->measure_key, "linux-x64", &l, e));
    ck_assert_uint_eq(l.n, 2); /* plain tasks and one that is not done are none */
    ck_assert_str_eq(l.items[0]->id.text, first.text);
    ck_assert_str_eq(l.items[1]->id.text, second.text);
    ck_assert(l.items[0]->spec->is_verification);
    OK(store_task_verifications(s.p.store, &b->measure_key, "windows", &none, e));
    ck_assert_uint_eq(none.n, 0);
    OK(store_task_verifications(s.p.store, &other, "linux-x64", &none, e));
    ck_assert_uint_eq(none.n, 0);
}
END_TEST

START_TEST(builds_are_usable_while_their_file_is_there)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(bisection_row_free) struct bisection_row *b = NULL;
    OK(store_bisection_load(s.p.store, s.a.text, &b, e));
    struct build_filter f = {
        .build_key = &b->build_key, .platform = "linux-x64", .only_usable = true};
    AUTO(build_list_fini) struct build_list none = {0};
    OK(store_build_list(s.p.store, &f, &none, e));
    ck_assert_uint_eq(none.n, 0);

    char name[65] = "";
    memset(name, '5', 64);
    AUTO(mem_free) char *path = store_artifact_path(s.p.store, name);
    AUTO(mem_free)
    char *folder = mem_dup_n(path, strlen(path) - strlen("/") - 64 - strlen(".tar.zst"));
    OK(file_mkdirs(folder, 0700, e));
    OK(file_write(path, "x", 1, 0600, e));
    AUTO(build_list_fini) struct build_list one = {0};
    OK(store_build_list(s.p.store, &f, &one, e));
    ck_assert_uint_eq(one.n, 1); /* one a revision, however often it was built */
    ck_assert_str_eq(one.items[0].build.artifact, name);
    ck_assert_str_eq(one.items[0].build.revision.hex, a40);
    ck_assert_str_eq(one.items[0].worker, "w1");

    AUTO(build_list_fini) struct build_list all = {0};
    struct build_filter of_bisection = {.bisection = s.a.text, .limit = 3};
    OK(store_build_list(s.p.store, &of_bisection, &all, e));
    ck_assert_uint_eq(all.n, 3);
    ck_assert(all.has_more);
    ck_assert_str_eq(all.items[1].build.reason, "step 1 of 1 exited 2: make: *** no rule");

    AUTO(build_list_fini) struct build_list of_task = {0};
    struct build_filter task = {.task = all.items[0].task.text};
    OK(store_build_list(s.p.store, &task, &of_task, e));
    ck_assert_uint_eq(of_task.n, 2);
}
END_TEST

/* ---- append only ---- */

static const char *const changes[] = {
    "UPDATE samples SET value = 1",     "DELETE FROM samples", "UPDATE builds SET status = 'ok'",
    "DELETE FROM builds WHERE seq = 1", "DELETE FROM results", "UPDATE results SET host = 'x'",
    "UPDATE events SET kind = 'x'",     "DELETE FROM events",
};

START_TEST(our_own_connection_cannot_change_evidence)
{
    AUTO(scene_fini) struct scene s = scene_new();
    FAILS(db_run(s.p.store, changes[_i], NO_CELLS, NULL, e), ERR_CONFLICT, "append only");
    OK(store_samples_verify(s.p.store, s.a.text, e));
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    const char *sql; /* :a is the first bisection */
    const char *says; /* NULL: no harm */
} meddling[] = {
    {"nothing",                        "SELECT 1", NULL},
    {"derived tables emptied",         "DELETE FROM decisions; DELETE FROM posteriors; DELETE FROM verdicts", NULL},
    {"another bisection's sample",     "UPDATE samples SET value = 1 WHERE bisection <> :a", NULL},
    {"a value",                        "UPDATE samples SET value = value + 1e-9 WHERE seq = 2", "row 2 of samples"},
    {"a value by one bit",             "UPDATE samples SET value = 0.30000000000000010 WHERE seq = 2", "row 2 of samples"},
    {"a value removed",                "UPDATE samples SET value = NULL WHERE seq = 2", "row 2 of samples"},
    {"the last value",                 "UPDATE samples SET value = 7 WHERE seq = 5", "row 5 of samples"},
    {"all values of a run",            "UPDATE samples SET all_values = '[1.0]' WHERE seq = 2", "row 2 of samples"},
    {"a status",                       "UPDATE samples SET status = 'ok' WHERE seq = 1", "row 1 of samples"},
    {"the revision",                   "UPDATE samples SET revision = replace(revision, 'a', 'b') WHERE seq = 1", "row 1 of samples"},
    {"the seed",                       "UPDATE samples SET seed = '1' WHERE seq = 4", "row 4 of samples"},
    {"the hash itself",                "UPDATE samples SET hash = 'x' WHERE seq = 3", "row 3 of samples"},
    {"a sample removed",               "DELETE FROM samples WHERE seq = 3", "row 4 of samples"},
    {"the newest sample removed",      "DELETE FROM samples WHERE seq = 6", "5 rows where 6"},
    {"all samples removed",            "DELETE FROM samples WHERE bisection = :a", "0 rows where 6"},
    {"a fixup claimed",                "UPDATE samples SET fixups = 'x' WHERE seq = 3", "row 3 of samples"},
    {"a revert claimed",               "UPDATE builds SET reverted = '' WHERE seq = 1", "row 1 of builds"},
    {"a sample twice",                 "INSERT INTO samples SELECT 100 + seq, bisection, task, run, attempt, project, metric,"
                                       " measure_key, revision, platform, number, seed, status, reason, value, all_values,"
                                       " at_ns, seconds, host, worker, stored_ns, hash, reverted, fixups FROM samples WHERE seq = 6",
                                       "row 106 of samples"},
    {"a sample moved to another",      "UPDATE samples SET bisection = (SELECT id FROM bisections WHERE id <> :a) WHERE seq = 6",
                                       "5 rows where 6"},
    {"two samples swapped",            "UPDATE samples SET seq = -seq WHERE seq IN (1, 2); UPDATE samples SET seq = 3 + seq WHERE seq < 0",
                                       "of samples"},
    {"a build's status",               "UPDATE builds SET status = 'ok' WHERE seq = 2", "row 2 of builds"},
    {"the host",                       "UPDATE results SET host = 'h2' WHERE seq = 1", "row 1 of results"},
    {"an event removed",               "DELETE FROM events WHERE bisection = :a AND seq = 2", "1 rows where 2"},
};
/* clang-format on */

/** ":a" replaced by the id in quotes. */
static char *for_bisection(const char *sql, const struct id *a)
{
    struct buf out = {0};
    for (const char *c = sql; *c; c++) {
        if (c[0] == ':' && c[1] == 'a') {
            buf_printf(&out, "'%s'", a->text);
            c++;
        } else {
            buf_addc(&out, *c);
        }
    }
    return buf_take(&out);
}

START_TEST(the_chain_tells_of_meddling)
{
    AUTO(scene_fini) struct scene s = scene_new();
    AUTO(mem_free) char *sql = for_bisection(meddling[_i].sql, &s.a);
    OK(store_samples_verify(s.p.store, s.a.text, e));
    place_meddle(&s.p, sql);
    struct err e = {0};
    enum err_code code = store_samples_verify(s.p.store, s.a.text, &e);
    if (!meddling[_i].says) {
        ck_assert_msg(code == ERR_OK, "%s: %s", meddling[_i].name, e.text);
        return;
    }
    ck_assert_msg(code == ERR_INVALID, "%s: not noticed", meddling[_i].name);
    ck_assert_msg(strstr(e.text, meddling[_i].says), "%s: %s", meddling[_i].name, e.text);
    ck_assert_msg(strstr(e.text, s.a.text), "%s", e.text);
}
END_TEST

START_TEST(chains_go_on_after_a_restart)
{
    AUTO(scene_fini) struct scene s = scene_new();
    place_reopen(&s.p);
    task_in(&s.p, &s.a, 2);
    AUTO(lease_row_fini) struct lease_row l = lease_in(&s.p, "w9", 0);
    accept_in(&s.p, &l);
    OK(store_samples_verify(s.p.store, s.a.text, e));
    OK(store_samples_verify(s.p.store, "nosuch", e)); /* nothing stored, nothing wrong */
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {samples_are_found, LEN(filters)},
        {a_sample_says_where_it_comes_from, 1},
        {samples_pool_by_measure_key, 1},
        {builds_that_failed_are_found, 1},
        {verifications_are_found_by_the_samples_they_stand_beside, 1},
        {builds_are_usable_while_their_file_is_there, 1},
        {our_own_connection_cannot_change_evidence, LEN(changes)},
        {the_chain_tells_of_meddling, LEN(meddling)},
        {chains_go_on_after_a_restart, 1},
    };
    return unit_run("samples", tests, LEN(tests));
}
