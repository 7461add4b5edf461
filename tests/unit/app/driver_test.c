/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Whole searches through the driver, with a store, a clock of turns and a worker by rote. The
 * child that looks a range up is this program, which makes one up.
 */
#include "app/driver.h"
#include "app/replay.h"
#include "app/resolve.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/bisections.h"
#include "store/db.h"
#include "store/derived.h"
#include "store/explanations.h"
#include "store/leases.h"
#include "unit/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        struct err ok_ = {0};                                                                      \
        struct err *e = &ok_;                                                                      \
        enum err_code code_ = (call);                                                              \
        ck_assert_msg(code_ == ERR_OK, "%s: %s", #call, ok_.text);                                 \
    } while (0)

enum { MAX_TURNS = 4000, CULPRIT = 13 };

/* -- a range: "good" is commit 0, and bad "v<n>" is commit n -- */

static struct revision revision_of(uint32_t i)
{
    struct revision r;

    snprintf(r.hex, sizeof(r.hex), "%08x%032x", (unsigned)i, 0xabcu);
    return r;
}

static uint32_t number_of(const struct revision *r)
{
    char head[9] = {0};

    memcpy(head, r->hex, 8);
    return (uint32_t)strtoul(head, NULL, 16);
}

static struct range *line_of(uint32_t n)
{
    struct range *r = mem_alloc(sizeof(*r));

    r->n = n + 1;
    r->n_candidates = n;
    r->bad = n;
    r->good_is_ancestor = true;
    r->commits = mem_array(r->n, sizeof(*r->commits));
    for (uint32_t i = 0; i <= n; i++) {
        struct commit *c = &r->commits[i];
        c->id = c->tree = revision_of(i);
        c->subject = mem_printf("commit %u", (unsigned)i);
        c->author = mem_dup("A <a@example.org>");
        c->time_s = 1700000000 + i;
        c->is_candidate = i > 0;
        c->is_mainline = c->matters = true;
        c->n_parents = i > 0;
        c->parents = mem_array(1, sizeof(*c->parents));
        c->parents[0] = i ? i - 1 : 0;
    }
    return r;
}

static int child(void)
{
    char text[65536];
    size_t n = fread(text, 1, sizeof(text), stdin);
    AUTO(json_free) json *question = NULL;
    AUTO(buf_fini) struct buf out = {0};

    if (json_parse(text, n, &question, NULL))
        return 1;
    const char *good = json_str(json_at(question, "good"), "");
    const char *bad = json_str(json_at(question, "bad"), "");
    if (strcmp(good, "dies") == 0)
        return 1;
    if (strcmp(good, "nowhere") == 0) {
        puts("{\"progress\":\"fetching\"}\n{\"error\":{\"code\":\"not_found\","
             "\"text\":\"no revision nowhere\",\"hint\":\"did you mean here?\"}}");
        return 1;
    }
    AUTO(range_free) struct range *r = line_of((uint32_t)atoi(bad + 1));
    AUTO(json_free) json *answer = json_put(json_new_object(), "range", range_to_json(r));
    json_dump(answer, JSON_COMPACT, &out);
    puts(buf_str(&out));
    return 0;
}

/* -- a world -- */

struct world {
    char dir[64];
    struct config *config;
    struct store *store;
    struct loop *loop;
    struct pool *pool;
    struct driver *driver;
    /* what the worker holds */
    struct lease *lease;
    size_t n_accepted; /* samples it was told of */
    size_t n_lives;
    bool cannot_trace; /* its surroundings fail it, each time */
};

static void nothing(void *ctx)
{
    (void)ctx;
}

static void world_wake(struct world *w)
{
    struct driver_options o;

    OK(store_open(w->dir, &w->store, e));
    OK(loop_new(&w->loop, e));
    OK(pool_new(1, &w->pool, e));
    OK(loop_add(w->loop, pool_fd(w->pool), nothing, NULL, e));
    o = (struct driver_options){
        .store = w->store, .loop = w->loop, .pool = w->pool, .config = w->config};
    w->driver = driver_new(&o);
    OK(store_begin(w->store, e));
    OK(driver_adopt(w->driver, e));
    OK(driver_load(w->driver, e));
    OK(store_commit(w->store, e));
    w->n_lives++;
}

/* As kill -9 would, but for the memory. */
static void world_sleep(struct world *w)
{
    pool_free(TAKE(w->pool));
    driver_free(TAKE(w->driver));
    loop_free(TAKE(w->loop));
    store_close(TAKE(w->store));
    lease_free(TAKE(w->lease));
}

static struct world *world_new(void)
{
    struct world *w = mem_alloc(sizeof(*w));

    strcpy(w->dir, "/tmp/driver-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(w->dir));
    w->config = config_default();
    world_wake(w);
    return w;
}

static void world_free(struct world *w)
{
    world_sleep(w);
    config_free(w->config);
    OK(file_remove_tree(w->dir, e));
    mem_free(w);
}
DEFINE_AUTO(struct world, world_free)

static const struct service *ask(const struct world *w)
{
    return driver_service(w->driver);
}

static json *question_of(const char *kind, const char *good, const char *bad)
{
    AUTO(mem_free)
    char *text = mem_printf(
        "{\"project\":{\"name\":\"p\",\"repository\":\"/nowhere\",\"metrics\":{\"m\":{\"kind\":"
        "\"%s\",\"command\":\"true\"}}},\"metric\":\"m\",\"good\":\"%s\",\"bad\":\"%s\","
        "\"platform\":\"linux-x64\",\"seed\":5}",
        kind, good, bad);
    json *v = NULL;

    OK(json_parse(text, strlen(text), &v, e));
    return v;
}

static json *question(const char *good, const char *bad)
{
    return question_of("exit", good, bad);
}

/* Its id; in a turn of its own. */
static char *create(struct world *w, json *body, bool *has_joined)
{
    AUTO(json_free) json *owned = body;
    char *id = NULL;

    OK(store_begin(w->store, e));
    OK(ask(w)->bisection_create(w->driver, owned, SENDER_OF_COMMANDS, &id, has_joined, e));
    OK(store_commit(w->store, e));
    return id;
}

static json *show(struct world *w, const char *id)
{
    json *v = NULL;

    OK(ask(w)->bisection_show(w->driver, id, &v, e));
    return v;
}

static bool is_over(struct world *w, const char *id)
{
    AUTO(json_free) json *v = show(w, id);
    const char *state = json_str(json_at(v, "state"), "");

    return strcmp(state, "done") == 0 || strcmp(state, "canceled") == 0;
}

/* -- a worker -- */

static void take(struct world *w)
{
    struct taker t = {
        .worker = (char[]){"w"}, .host = (char[]){"h"}, .platform = (char[]){"linux-x64"}};
    AUTO(json_free) json *v = NULL;
    struct err why = {0};

    if (ask(w)->lease_take(w->driver, &t, &v, &why)) {
        ck_assert_msg(why.code == ERR_NOT_FOUND, "%s", why.text);
        return;
    }
    OK(lease_from_json(v, &w->lease, e));
}

/* The culprit syncs 100 times more, which takes it a second. */
static struct inspection *inspection_of(const struct task_spec *spec)
{
    struct inspection *v = mem_alloc(sizeof(*v));

    v->timed = mem_dup("fsync");
    for (uint32_t i = 0; i < spec->n_runs; i++) {
        struct inspected_run *run = inspection_add_run(v);
        run->build = spec->runs[i].build;
        run->how = INSPECTED_TIMES;
        run->seconds = run->build ? 1.5 : .5;
        struct inspected_call *c = inspected_run_add_call(run, "fsync", "/x.db");
        c->n = run->build ? 101 : 1;
        c->seconds = run->build ? 1 : 0;
    }
    return v;
}

static struct task_result *result_of(const struct lease *l)
{
    struct task_result *r = mem_alloc(sizeof(*r));

    r->fence = l->fence;
    r->environment.host = mem_dup("h");
    r->environment.worker = mem_dup("w");
    r->environment.platform = mem_dup("linux-x64");
    for (uint32_t i = 0; i < l->spec->n_builds; i++) {
        struct build_result *b = task_result_add_build(r);
        b->revision = l->spec->builds[i].revision;
        b->status = BUILD_OK;
        b->seconds = 1;
    }
    if (l->spec->is_inspection)
        r->inspection = inspection_of(l->spec);
    for (uint32_t i = 0; i < l->spec->n_runs && !r->inspection; i++) {
        struct run_result *run = task_result_add_run(r);
        const struct task_build *b = &l->spec->builds[l->spec->runs[i].build];
        run->run = i;
        run->value = number_of(&b->revision) >= CULPRIT;
        run->n_values = 1;
        run->values = mem_array(1, sizeof(double));
        run->values[0] = run->value;
        run->seconds = 1;
    }
    return r;
}

/* Brings its task back; in the open transaction. */
static size_t bring(struct world *w)
{
    AUTO(task_result_free) struct task_result *r = result_of(w->lease);
    AUTO(json_free) json *answer = NULL;

    if (w->cannot_trace && w->lease->spec->is_inspection)
        r->fault = mem_dup("no room for a log");

    OK(ask(w)->lease_result(w->driver, w->lease->id, r, &answer, e));
    return (size_t)json_int(json_at(answer, "accepted"), -1);
}

enum turn_end { COMMIT, UNDO };

/* One turn: the worker takes or brings, then what is due. */
static void turn(struct world *w, enum turn_end end)
{
    struct mono now = mono_now();
    struct lease *had = w->lease;
    size_t n = 0;

    loop_wait(w->loop, (struct mono){now.ns + NS_PER_MS});
    OK(store_begin(w->store, e));
    pool_collect(w->pool);
    if (had)
        n = bring(w);
    else
        take(w);
    OK(driver_tick(w->driver, mono_now(), e));
    ck_assert_msg(!driver_fault(w->driver)->code, "%s", driver_fault(w->driver)->text);
    if (end == UNDO) {
        store_rollback(w->store);
        if (!had)
            lease_free(TAKE(w->lease));
        OK(store_begin(w->store, e));
        OK(driver_load(w->driver, e));
        OK(store_commit(w->store, e));
        return;
    }
    OK(store_commit(w->store, e));
    w->n_accepted += n;
    if (had)
        lease_free(TAKE(w->lease));
}

static void finish(struct world *w, const char *id)
{
    int i;

    for (i = 0; i < MAX_TURNS && !is_over(w, id); i++)
        turn(w, COMMIT);
    ck_assert_int_lt(i, MAX_TURNS);
}

static int64_t count(struct world *w, const char *sql)
{
    AUTO(query_end) struct query q = {0};
    OK(db_first(w->store, &q, sql, NO_CELLS, e));
    return query_int(&q, 0);
}

static void expect_culprit(struct world *w, const char *id)
{
    AUTO(json_free) json *v = show(w, id);
    struct revision want = revision_of(CULPRIT);

    ck_assert_str_eq(json_str(json_at(v, "verdict"), "none"), "culprit");
    ck_assert_str_eq(json_str(json_pointer(v, "/culprits/0/revision"), ""), want.hex);
    ck_assert_int_eq(count(w, "SELECT count(*) FROM samples"), (int64_t)w->n_accepted);
    ck_assert_int_eq(count(w, "SELECT count(*) FROM (SELECT DISTINCT task, run FROM samples)"),
                     (int64_t)w->n_accepted);
}

static json *replay(struct world *w, const char *id)
{
    struct work *work = NULL;

    OK(replay_new(w->store, id, &work, e));
    work->run(work);
    ck_assert_msg(!work->error.code, "%s", work->error.text);
    json *answer = json_keep(work->answer);
    work->release(work);
    return answer;
}

static void expect_replay(struct world *w, const char *id)
{
    AUTO(json_free) json *v = replay(w, id);
    AUTO(buf_fini) struct buf text = {0};

    json_dump(json_at(v, "differences"), JSON_COMPACT, &text);
    ck_assert_msg(json_bool(json_at(v, "matches"), false), "%s", buf_str(&text));
}

/* -- claims -- */

START_TEST(a_search_comes_to_its_culprit)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined = true;
    AUTO(mem_free) char *id = create(w, question("good", "v40"), &has_joined);

    ck_assert(!has_joined);
    finish(w, id);
    expect_culprit(w, id);
    expect_replay(w, id);
    ck_assert_uint_eq(driver_n_courses(w->driver), 0);
}
END_TEST

START_TEST(a_large_range_is_searched_in_the_pool)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question("good", "v3000"), &has_joined);

    finish(w, id);
    expect_culprit(w, id);
    expect_replay(w, id);
}
END_TEST

/* Killed after every _i-th turn, so that each kind of moment is met. */
START_TEST(a_kill_loses_nothing)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question("good", "v40"), &has_joined);
    int i;

    for (i = 0; i < MAX_TURNS && !is_over(w, id); i++) {
        turn(w, COMMIT);
        if (i % (_i + 1) || w->n_lives > 30)
            continue;
        world_sleep(w);
        world_wake(w);
    }
    ck_assert_uint_gt(w->n_lives, 2);
    expect_culprit(w, id);
    expect_replay(w, id);
}
END_TEST

/* With a large range a kill finds events stored and not stepped. */
START_TEST(a_kill_between_event_and_step_loses_nothing)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question("good", "v2500"), &has_joined);

    for (int i = 0; i < MAX_TURNS && !is_over(w, id); i++) {
        bool brings = w->lease != NULL;
        turn(w, COMMIT);
        if (!brings || w->n_lives > 8)
            continue;
        world_sleep(w);
        world_wake(w);
    }
    ck_assert_uint_gt(w->n_lives, 4);
    expect_culprit(w, id);
    expect_replay(w, id);
}
END_TEST

START_TEST(a_turn_undone_did_not_happen)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question("good", "v40"), &has_joined);

    for (int i = 0; i < MAX_TURNS && !w->lease; i++)
        turn(w, COMMIT);
    for (int i = 0; i < MAX_TURNS && !is_over(w, id); i++)
        turn(w, i % 3 == 1 ? COMMIT : UNDO);
    expect_culprit(w, id);
    expect_replay(w, id);
}
END_TEST

START_TEST(what_is_derived_may_be_lost_on_the_way)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question("good", "v40"), &has_joined);

    for (int i = 0; i < MAX_TURNS && w->n_accepted < 12; i++)
        turn(w, COMMIT);
    ck_assert(!is_over(w, id));
    OK(store_derived_clear(w->store, id, e));
    world_sleep(w);
    world_wake(w);
    finish(w, id);
    expect_culprit(w, id);
    expect_replay(w, id);
}
END_TEST

START_TEST(what_is_derived_may_be_lost_afterwards)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question("good", "v40"), &has_joined);

    finish(w, id);
    AUTO(json_free) json *before = show(w, id);
    OK(store_derived_clear(w->store, id, e));
    expect_replay(w, id);
    AUTO(json_free) json *after = show(w, id);
    AUTO(buf_fini) struct buf a = {0};
    AUTO(buf_fini) struct buf b = {0};
    json_dump(before, JSON_SORTED, &a);
    json_dump(after, JSON_SORTED, &b);
    ck_assert_str_eq(buf_str(&a), buf_str(&b));
}
END_TEST

START_TEST(a_sample_altered_is_found_out)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question("good", "v40"), &has_joined);
    sqlite3 *db = NULL;
    AUTO(mem_free) char *path = path_join(w->dir, "bisectd.db");

    finish(w, id);
    world_sleep(w);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    (void)sqlite3_exec(db, "UPDATE samples SET value = 1 - value WHERE rowid = 3", NULL, NULL,
                       NULL);
    ck_assert_int_eq(sqlite3_changes(db), 1);
    sqlite3_close(db);
    world_wake(w);
    AUTO(json_free) json *v = replay(w, id);
    ck_assert(!json_bool(json_at(v, "matches"), true));
    ck_assert_uint_gt(json_len(json_at(v, "differences")), 0);
}
END_TEST

START_TEST(the_same_question_joins)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined = true;
    AUTO(mem_free) char *one = create(w, question("good", "v40"), &has_joined);
    AUTO(mem_free) char *two = create(w, question("good", "v40"), &has_joined);
    ck_assert(has_joined);
    ck_assert_str_eq(one, two);
    AUTO(mem_free) char *other = create(w, question("good", "v30"), &has_joined);
    ck_assert(!has_joined);

    finish(w, one);
    finish(w, other);
    AUTO(mem_free) char *later = create(w, question("good", "v40"), &has_joined);
    ck_assert(!has_joined); /* the first is over: asked anew, with its evidence */
    finish(w, later);
    AUTO(json_free) json *v = show(w, later);
    ck_assert_int_gt(json_int(json_pointer(v, "/cost/runs_reused"), 0), 0);
    expect_replay(w, later);
}
END_TEST

/* The ends of a second search, and what it may cost after good..v40 found the culprit. */
/* clang-format off */
static const struct {
    const char *name, *bad;
    bool is_fresh;
    int64_t most_runs;
} seconds[] = {
    {"the same ends cost nothing",     "v40", false, 0},
    {"a later end costs its own runs", "v60", false, 2},
    {"a fresh one pays for all",       "v40", true,  INT64_MAX},
};
/* clang-format on */

START_TEST(what_was_verified_stays_verified)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *first = create(w, question("good", "v40"), &has_joined);
    json *body = question("good", seconds[_i].bad);

    json_put(body, "fresh", json_new_bool(seconds[_i].is_fresh));
    finish(w, first);
    AUTO(mem_free) char *second = create(w, body, &has_joined);
    finish(w, second);
    expect_culprit(w, second);
    expect_replay(w, second);
    AUTO(json_free) json *v = show(w, second);
    int64_t n_runs = json_int(json_pointer(v, "/cost/runs"), -1);
    const char *message = json_str(json_at(v, "message"), "");
    AUTO(mem_free) char *source = mem_printf("verified in bisection %s", first);
    ck_assert_msg(n_runs <= seconds[_i].most_runs, "%s: %d runs", seconds[_i].name, (int)n_runs);
    ck_assert_msg((strstr(message, source) != NULL) != seconds[_i].is_fresh, "%s: %s",
                  seconds[_i].name, message);
    ck_assert(!seconds[_i].is_fresh || n_runs > 6);
}
END_TEST

/* clang-format off */
static const struct {
    const char *good, *says;
} failures[] = {
    {"nowhere", "no revision nowhere; did you mean here?"},
    {"dies",    "died"},
};
/* clang-format on */

START_TEST(a_range_that_cannot_be_read_is_a_failure_in_words)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question(failures[_i].good, "v4"), &has_joined);

    finish(w, id);
    AUTO(json_free) json *v = show(w, id);
    ck_assert_str_eq(json_str(json_at(v, "verdict"), ""), "failed");
    ck_assert_msg(strstr(json_str(json_at(v, "message"), ""), failures[_i].says), "%s",
                  json_str(json_at(v, "message"), ""));
    expect_replay(w, id);
}
END_TEST

START_TEST(a_range_over_the_limit_is_a_failure_in_words)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;

    world_sleep(w);
    w->config->limits.n_range = 10;
    world_wake(w);
    AUTO(mem_free) char *id = create(w, question("good", "v11"), &has_joined);
    finish(w, id);
    AUTO(json_free) json *v = show(w, id);
    ck_assert_ptr_nonnull(strstr(json_str(json_at(v, "message"), ""), "limit of 10"));
}
END_TEST

static void cancel(struct world *w, const char *id)
{
    OK(store_begin(w->store, e));
    OK(ask(w)->bisection_cancel(w->driver, id, e));
    OK(store_commit(w->store, e));
}

/* Canceled after _i turns: before it is looked up, while it is, and while it runs. */
START_TEST(a_canceled_search_stops)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question("good", "v40"), &has_joined);

    for (int i = 0; i < _i * 3; i++)
        turn(w, COMMIT);
    lease_free(TAKE(w->lease));
    cancel(w, id);
    cancel(w, id); /* again is fine */
    finish(w, id);
    AUTO(json_free) json *v = show(w, id);
    ck_assert_str_eq(json_str(json_at(v, "state"), ""), "canceled");
    ck_assert_int_eq(count(w, "SELECT count(*) FROM tasks WHERE state IN ('queued', 'leased')"), 0);
    expect_replay(w, id);
    cancel(w, id);
    world_sleep(w);
    world_wake(w);
    ck_assert_uint_eq(driver_n_courses(w->driver), 0);
}
END_TEST

START_TEST(a_budget_of_time_ends_the_search)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    json *body = question("good", "v40");
    AUTO(mem_free)
    char *id = create(w, json_put(body, "budget_time", json_new_string("50ms")), &has_joined);

    usleep(60000);
    finish(w, id);
    AUTO(json_free) json *v = show(w, id);
    ck_assert_str_eq(json_str(json_at(v, "verdict"), ""), "inconclusive");
    expect_replay(w, id);
}
END_TEST

START_TEST(what_cannot_be_taken_up_harms_no_other)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *bad = create(w, question("good", "v40"), &has_joined);
    AUTO(mem_free) char *good = create(w, question("good", "v30"), &has_joined);
    AUTO(mem_free) char *path = path_join(w->dir, "bisectd.db");
    sqlite3 *db = NULL;

    for (int i = 0; i < MAX_TURNS && w->n_accepted < 12; i++)
        turn(w, COMMIT);
    world_sleep(w);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    AUTO(mem_free)
    char *sql =
        mem_printf("UPDATE events SET kind = 'rubbish' WHERE bisection = '%s' AND seq = 1", bad);
    (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
    ck_assert_int_eq(sqlite3_changes(db), 1);
    sqlite3_close(db);
    world_wake(w);
    AUTO(json_free) json *v = show(w, bad);
    ck_assert_str_eq(json_str(json_at(v, "verdict"), ""), "failed");
    finish(w, good);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *body;
    enum err_code code;
    const char *says;
} refusals[] = {
    {"commands of one's own", "{\"project\":{\"name\":\"p\"},\"good\":\"a\",\"bad\":\"b\"}", ERR_DENIED, "commands"},
    {"a project nobody configured", "{\"project\":\"p\",\"good\":\"a\",\"bad\":\"b\"}", ERR_INVALID, "none is called"},
    {"no project", "{\"good\":\"a\",\"bad\":\"b\"}", ERR_INVALID, "project"},
    {"a number", "{\"project\":7}", ERR_INVALID, "project"},
};
/* clang-format on */

START_TEST(a_stranger_may_not_bring_commands)
{
    AUTO(world_free) struct world *w = world_new();
    AUTO(json_free) json *body = NULL;
    struct err why = {0};
    char *id;
    bool has_joined;

    OK(json_parse(refusals[_i].body, strlen(refusals[_i].body), &body, e));
    ck_assert_msg(ask(w)->bisection_create(w->driver, body, SENDER_OF_NAMES, &id, &has_joined,
                                           &why) == refusals[_i].code,
                  "%s: %s", refusals[_i].name, why.text);
    ck_assert_msg(strstr(why.text, refusals[_i].says), "%s", why.text);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    enum sender sender;
    const char *sandbox; /* of the project; NULL: it names none */
    enum sandbox_kind standard, want;
    bool is_set;
} walled[] = {
    {"a project without one gets the service's", SENDER_OF_COMMANDS, NULL, SANDBOX_BUBBLEWRAP, SANDBOX_BUBBLEWRAP, true},
    {"which may be plain",                       SENDER_OF_COMMANDS, NULL, SANDBOX_PLAIN, SANDBOX_PLAIN, true},
    {"the user's own stays without",             SENDER_SELF, NULL, SANDBOX_BUBBLEWRAP, SANDBOX_PLAIN, false},
    {"a named one is kept",                      SENDER_OF_COMMANDS, "plain", SANDBOX_BUBBLEWRAP, SANDBOX_PLAIN, true},
    {"by the user too",                          SENDER_SELF, "bubblewrap", SANDBOX_PLAIN, SANDBOX_BUBBLEWRAP, true},
};
/* clang-format on */

START_TEST(a_project_has_a_sandbox)
{
    AUTO(world_free) struct world *w = world_new();
    AUTO(json_free) json *body = question("good", "v40");
    AUTO(mem_free) char *id = NULL;
    AUTO(bisection_row_free) struct bisection_row *row = NULL;
    json *project = (json *)(uintptr_t)json_at(body, "project");
    bool has_joined;

    w->config->sandbox = walled[_i].standard;
    if (walled[_i].sandbox)
        json_put(project, "sandbox",
                 json_put(json_new_object(), "kind", json_new_string(walled[_i].sandbox)));
    OK(store_begin(w->store, e));
    OK(ask(w)->bisection_create(w->driver, body, walled[_i].sender, &id, &has_joined, e));
    OK(store_commit(w->store, e));
    OK(store_bisection_load(w->store, id, &row, e));
    const struct sandbox_limits *got = &row->request->project->sandbox;
    ck_assert_msg(got->is_kind_set == walled[_i].is_set, "%s", walled[_i].name);
    ck_assert_msg(got->kind == walled[_i].want, "%s", walled[_i].name);
}
END_TEST

START_TEST(a_worker_that_died_gives_its_task_back)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question("good", "v40"), &has_joined);

    for (int i = 0; i < MAX_TURNS && !w->lease; i++)
        turn(w, COMMIT);
    OK(store_begin(w->store, e));
    OK(driver_worker_died(w->driver, "w", e));
    OK(store_commit(w->store, e));
    AUTO(task_result_free) struct task_result *late = result_of(w->lease);
    json *answer;
    struct err why = {0};
    ck_assert_int_eq(ask(w)->lease_result(w->driver, w->lease->id, late, &answer, &why),
                     ERR_CONFLICT);
    lease_free(TAKE(w->lease));
    finish(w, id);
    expect_culprit(w, id);
}
END_TEST

/* clang-format off */
static const struct {
    const char *bytes, *says;
} answers[] = {
    {"", "died"}, {"{", "range"}, {"null", ""}, {"{}", ""}, {"[]", ""}, {"\xff\xfe", "range"},
    {"{\"range\":{}}", ""}, {"{\"range\":7}", ""}, {"{\"error\":{}}", ""},
    {"{\"error\":{\"code\":\"ok\",\"text\":\"t\"}}", "t"},
};
/* clang-format on */

START_TEST(a_child_may_say_anything)
{
    struct buf bytes = {0};
    struct range *r = NULL;
    struct err why = {0};

    buf_adds(&bytes, answers[_i].bytes);
    ck_assert_int_ne(resolve_read(&bytes, &r, &why), ERR_OK);
    ck_assert_msg(strstr(why.text, answers[_i].says), "%s", why.text);
    buf_fini(&bytes);
}
END_TEST

/* -- explaining -- */

/* Until the search has ended and its culprit is to be explained. */
static bool is_explaining(struct world *w)
{
    return count(w, "SELECT count(*) FROM explanations WHERE document IS NULL") > 0;
}

static json *explanation_of(struct world *w, const char *id)
{
    struct explanation_row row = {0};

    OK(store_explanation_find(w->store, id, &row, e));
    ck_assert_ptr_nonnull(row.document);
    return row.document;
}

START_TEST(a_culprit_is_explained)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question_of("wall", "good", "v40"), &has_joined);
    struct revision culprit = revision_of(CULPRIT), parent = revision_of(CULPRIT - 1);

    finish(w, id);
    expect_culprit(w, id); /* and an inspection gives no samples */
    expect_replay(w, id);
    AUTO(json_free) json *x = explanation_of(w, id);
    ck_assert_str_eq(json_str(json_at(x, "culprit"), ""), culprit.hex);
    ck_assert_str_eq(json_str(json_at(x, "parent"), ""), parent.hex);
    ck_assert_double_eq_tol(json_num(json_at(x, "explained"), 0), 1, 1e-9);
    ck_assert_int_eq(json_int(json_pointer(x, "/differences/0/count/1"), 0), 101);
}
END_TEST

/* Killed after every turn of it. */
START_TEST(a_kill_while_explaining_loses_nothing)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question_of("wall", "good", "v40"), &has_joined);

    for (int i = 0; i < MAX_TURNS && !is_explaining(w); i++)
        turn(w, COMMIT);
    ck_assert(is_explaining(w));
    expect_replay(w, id);
    for (int i = 0; i < 3; i++) { /* as often as a task may be lost */
        if (i == 1)
            OK(store_derived_clear(w->store, id, e));
        world_sleep(w);
        world_wake(w);
        turn(w, i % 2 ? UNDO : COMMIT);
    }
    finish(w, id);
    expect_culprit(w, id);
    expect_replay(w, id);
    AUTO(json_free) json *x = explanation_of(w, id);
    ck_assert(json_is_null(json_at(x, "error")));
}
END_TEST

START_TEST(a_culprit_stands_where_tracing_fails)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question_of("wall", "good", "v40"), &has_joined);

    w->cannot_trace = true;
    finish(w, id);
    expect_culprit(w, id);
    expect_replay(w, id);
    AUTO(json_free) json *x = explanation_of(w, id);
    ck_assert_msg(strstr(json_str(json_at(x, "error"), ""), "no room for a log") != NULL, "%s",
                  json_str(json_at(x, "error"), ""));
}
END_TEST

START_TEST(a_culprit_stands_where_explaining_is_canceled)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    AUTO(mem_free) char *id = create(w, question_of("wall", "good", "v40"), &has_joined);

    for (int i = 0; i < MAX_TURNS && !is_explaining(w); i++)
        turn(w, COMMIT);
    OK(store_begin(w->store, e));
    OK(ask(w)->bisection_cancel(w->driver, id, e));
    OK(store_commit(w->store, e));
    ck_assert(is_over(w, id));
    expect_culprit(w, id);
    expect_replay(w, id);
    ck_assert_int_eq(count(w, "SELECT count(*) FROM tasks WHERE state IN ('queued', 'leased')"), 0);
}
END_TEST

/* A pass or fail has no amount to be explained; and who asks not to is not kept waiting. */
START_TEST(not_everything_is_explained)
{
    AUTO(world_free) struct world *w = world_new();
    bool has_joined;
    json *body = question_of(_i ? "wall" : "exit", "good", "v40");

    if (_i)
        json_put(body, "no_explain", json_new_bool(true));
    AUTO(mem_free) char *id = create(w, body, &has_joined);
    finish(w, id);
    expect_culprit(w, id);
    ck_assert_int_eq(count(w, "SELECT count(*) FROM explanations"), 0);
}
END_TEST

int main(int argc, char **argv)
{
    const struct unit_test tests[] = {
        {a_search_comes_to_its_culprit, 1},
        {a_project_has_a_sandbox, LEN(walled)},
        {a_large_range_is_searched_in_the_pool, 1},
        {a_kill_loses_nothing, 4},
        {a_kill_between_event_and_step_loses_nothing, 1},
        {a_turn_undone_did_not_happen, 1},
        {what_is_derived_may_be_lost_on_the_way, 1},
        {what_is_derived_may_be_lost_afterwards, 1},
        {a_sample_altered_is_found_out, 1},
        {the_same_question_joins, 1},
        {what_was_verified_stays_verified, LEN(seconds)},
        {a_range_that_cannot_be_read_is_a_failure_in_words, LEN(failures)},
        {a_range_over_the_limit_is_a_failure_in_words, 1},
        {a_canceled_search_stops, 3},
        {a_budget_of_time_ends_the_search, 1},
        {what_cannot_be_taken_up_harms_no_other, 1},
        {a_stranger_may_not_bring_commands, LEN(refusals)},
        {a_worker_that_died_gives_its_task_back, 1},
        {a_child_may_say_anything, LEN(answers)},
        {a_culprit_is_explained, 1},
        {a_kill_while_explaining_loses_nothing, 1},
        {a_culprit_stands_where_tracing_fails, 1},
        {a_culprit_stands_where_explaining_is_canceled, 1},
        {not_everything_is_explained, 2},
    };

    if (argc > 1 && strcmp(argv[1], RESOLVE_FLAG) == 0)
        return child();
    log_setup("driver_test", LOG_ERROR, false);
    return unit_run("app/driver", tests, LEN(tests));
}
