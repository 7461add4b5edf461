/* SPDX-License-Identifier: Apache-2.0 */
#include "store/leases.h"

#include "base/mem.h"
#include "queue/pick.h"
#include "store/db.h"
#include "store/rows.h"
#include "store/workers.h"
#include <assert.h>

/* A long queue neither slows the choice down nor hides other bisections: of each bisection only
 * the oldest tasks are looked at, and bisections in the order of fairness, some at a time. */
enum { TASKS_AT_ONCE = 16, BISECTIONS_AT_ONCE = 64 };

void lease_row_fini(struct lease_row *l)
{
    mem_free(l->worker);
    mem_free(l->host);
    mem_free(l->engine);
    mem_free(l->activity);
    *l = (struct lease_row){0};
}

void returned_fini(struct returned *r)
{
    mem_free(r->worker);
    mem_free(r->reason);
    *r = (struct returned){0};
}

void returned_list_fini(struct returned_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        returned_fini(&l->items[i]);
    mem_free(l->items);
    *l = (struct returned_list){0};
}

/* ---- reading ---- */

#define SELECT_LEASES                                                                              \
    "SELECT l.id, l.task, t.bisection, t.ordinal, l.fence, l.state, l.deadline_ns, l.worker,"      \
    " l.host, l.engine, l.activity, l.taken_ns, l.ended_ns"                                        \
    " FROM leases AS l JOIN tasks AS t ON t.id = l.task "

static enum err_code read_lease(struct query *q, struct lease_row *out, struct err *e)
{
    struct lease_row l = {
        .id = query_id(q, 0),
        .task = query_id(q, 1),
        .bisection = query_id(q, 2),
        .ordinal = (uint32_t)query_int(q, 3),
        .tenure = {.fence = query_int(q, 4), .deadline = {query_int(q, 6)}},
        .taken = {query_int(q, 11)},
        .ended = {query_int(q, 12)},
    };
    enum err_code code = tenure_state_parse(query_text(q, 5), &l.tenure.state, e);
    if (code)
        return code;
    l.worker = query_dup(q, 7);
    l.host = query_dup(q, 8);
    l.engine = query_dup(q, 9);
    l.activity = query_dup(q, 10);
    *out = l;
    return ERR_OK;
}

enum err_code store_lease_load(struct store *s, const char *lease, struct lease_row *out,
                               struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_first(s, &q, SELECT_LEASES "WHERE l.id = ?1", CELLS(cell_text(lease)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "lease", lease);
    return code ? code : read_lease(&q, out, e);
}

/* ---- taking ---- */

/** The queued tasks of a platform and its live workers, as the choice wants them. */
struct market {
    size_t n_tasks;
    struct waiting *tasks;
    struct id *ids;
    size_t n_hands;
    struct hand *hands;
};

static void strings_drop(const struct strings *s)
{
    struct strings own = *s;
    strings_fini(&own);
    mem_free((void *)s);
}

static void market_fini(struct market *m)
{
    for (size_t i = 0; i < m->n_tasks; i++) {
        mem_free((char *)m->tasks[i].bisection);
        mem_free((char *)m->tasks[i].platform);
        strings_drop(m->tasks[i].tags);
        strings_drop(m->tasks[i].failed_by);
    }
    for (size_t i = 0; i < m->n_hands; i++) {
        mem_free((char *)m->hands[i].name);
        mem_free((char *)m->hands[i].platform);
        strings_drop(m->hands[i].tags);
    }
    mem_free(m->tasks);
    mem_free(m->ids);
    mem_free(m->hands);
}
DEFINE_AUTO_FINI(struct market, market_fini)

/** Wall clock on both sides: a jump of it only ends the wait for another worker early. */
static int64_t waited(int64_t queued_ns, struct utc at)
{
    return at.ns >= queued_ns ? at.ns - queued_ns : INT64_MAX;
}

static enum err_code read_waiting(struct query *q, struct utc at, struct market *m, struct err *e)
{
    struct strings *tags = mem_alloc(sizeof(*tags));
    struct strings *failed_by = mem_alloc(sizeof(*failed_by));
    m->tasks = mem_resize(m->tasks, m->n_tasks + 1, sizeof(*m->tasks));
    m->ids = mem_resize(m->ids, m->n_tasks + 1, sizeof(*m->ids));
    m->ids[m->n_tasks] = query_id(q, 1);
    m->tasks[m->n_tasks++] = (struct waiting){
        .order = query_int(q, 0),
        .bisection = query_dup(q, 2),
        .platform = query_dup(q, 3),
        .tags = tags,
        .failed_by = failed_by,
        .waited_ns = waited(query_int(q, 6), at),
        .n_leased = (uint32_t)query_int(q, 7),
    };
    enum err_code code = strings_of_column(query_text(q, 4), tags, e);
    return code ? code : strings_of_column(query_text(q, 5), failed_by, e);
}

/* Walks from one bisection with queued tasks to the next by the index on (state, platform,
 * when_idle, bisection), without reading what lies between. */
/* clang-format off */
#define SELECT_WAITING                                                                             \
    "WITH RECURSIVE queued(b) AS ("                                                                \
    "  SELECT min(bisection) FROM tasks"                                                           \
    "   WHERE state = 'queued' AND platform = ?1 AND when_idle = ?5"                               \
    "  UNION ALL"                                                                                  \
    "  SELECT (SELECT min(bisection) FROM tasks"                                                   \
    "   WHERE state = 'queued' AND platform = ?1 AND when_idle = ?5 AND bisection > queued.b)"     \
    "  FROM queued WHERE queued.b IS NOT NULL),"                                                   \
    " fair AS MATERIALIZED (SELECT b,"                                                             \
    "  (SELECT count(*) FROM tasks WHERE state = 'leased' AND platform = ?1 AND when_idle = ?5"    \
    "   AND bisection = queued.b) AS n_leased,"                                                    \
    "  (SELECT min(seq) FROM tasks WHERE state = 'queued' AND platform = ?1 AND when_idle = ?5"    \
    "   AND bisection = queued.b) AS oldest"                                                       \
    "  FROM queued WHERE b IS NOT NULL ORDER BY n_leased, oldest LIMIT ?2 OFFSET ?3)"              \
    " SELECT t.seq, t.id, t.bisection, t.platform, t.tags, t.failed_by, t.queued_ns,"              \
    "  fair.n_leased"                                                                              \
    " FROM fair JOIN tasks AS t ON t.seq IN (SELECT seq FROM tasks"                                \
    "  WHERE state = 'queued' AND platform = ?1 AND when_idle = ?5 AND bisection = fair.b"         \
    "  ORDER BY seq LIMIT ?4)"
/* clang-format on */

/** Work that others wait for, and work for when there is none of that. */
enum urgency { WHEN_WANTED, WHEN_IDLE };

static enum err_code read_tasks(struct store *s, const char *platform, enum urgency urgency,
                                int64_t skip, struct utc at, struct market *m, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_query(s, &q, SELECT_WAITING,
                                  CELLS(cell_text(platform), cell_int(BISECTIONS_AT_ONCE),
                                        cell_int(skip), cell_int(TASKS_AT_ONCE), cell_int(urgency)),
                                  e);
    while (!code && query_next(&q))
        code = read_waiting(&q, at, m, e);
    return code ? code : query_check(&q, e);
}

static enum err_code read_hands(struct store *s, const char *platform, struct utc at,
                                struct market *m, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_query(s, &q,
                                  "SELECT name, platform, tags FROM workers"
                                  " WHERE platform = ?1 AND seen_ns > ?2 AND NOT draining",
                                  CELLS(cell_text(platform), cell_int(at.ns - WORKER_LIVE_NS)), e);
    while (!code && query_next(&q)) {
        struct strings *tags = mem_alloc(sizeof(*tags));
        m->hands = mem_resize(m->hands, m->n_hands + 1, sizeof(*m->hands));
        m->hands[m->n_hands++] =
            (struct hand){.name = query_dup(&q, 0), .platform = query_dup(&q, 1), .tags = tags};
        code = strings_of_column(query_text(&q, 2), tags, e);
    }
    return code ? code : query_check(&q, e);
}

static bool any_failed(const struct market *m)
{
    for (size_t i = 0; i < m->n_tasks; i++)
        if (m->tasks[i].failed_by->n)
            return true;
    return false;
}

/** Of the bisections after the first `skip`. ERR_NOT_FOUND: nothing that fits among these. */
static enum err_code choose_from(struct store *s, const struct lease_wish *w, enum urgency urgency,
                                 int64_t skip, struct utc at, struct id *task, bool *was_last,
                                 struct err *e)
{
    AUTO(market_fini) struct market m = {0};
    struct hand self = {.name = w->worker, .platform = w->platform, .tags = w->tags};

    enum err_code code = read_tasks(s, w->platform, urgency, skip, at, &m, e);
    if (!code && any_failed(&m))
        code = read_hands(s, w->platform, at, &m, e);
    if (code)
        return code;
    *was_last = !m.n_tasks;
    size_t i = pick_task(m.tasks, m.n_tasks, &self, m.hands, m.n_hands);
    if (i == SIZE_MAX)
        return err_set(e, ERR_NOT_FOUND, "no task for worker %.80s", w->worker);
    *task = m.ids[i];
    return ERR_OK;
}

static enum err_code choose_of(struct store *s, const struct lease_wish *w, enum urgency urgency,
                               struct utc at, struct id *task, struct err *e)
{
    bool was_last = false;
    for (int64_t skip = 0;; skip += BISECTIONS_AT_ONCE) {
        enum err_code code = choose_from(s, w, urgency, skip, at, task, &was_last, e);
        if (code != ERR_NOT_FOUND || was_last)
            return code;
    }
}

/** Measuring holds up whoever measures on the same host. */
static enum err_code is_host_wanted(struct store *s, const char *host, bool *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q,
                                  "SELECT EXISTS (SELECT 1 FROM leases AS l"
                                  " JOIN tasks AS t ON t.id = l.task"
                                  " WHERE l.state = 'open' AND l.host = ?1 AND NOT t.when_idle)",
                                  CELLS(cell_text(host)), e);
    if (!code)
        *out = query_int(&q, 0);
    return code;
}

static enum err_code choose(struct store *s, const struct lease_wish *w, struct utc at,
                            struct id *task, struct err *e)
{
    bool is_wanted = false;
    enum err_code code = choose_of(s, w, WHEN_WANTED, at, task, e);
    if (code != ERR_NOT_FOUND)
        return code;
    code = is_host_wanted(s, w->host, &is_wanted, e);
    if (code)
        return code;
    if (is_wanted)
        return err_set(e, ERR_NOT_FOUND, "no task for worker %.80s", w->worker);
    return choose_of(s, w, WHEN_IDLE, at, task, e);
}

static enum err_code check_draining(struct store *s, const char *worker, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, "SELECT draining FROM workers WHERE name = ?1",
                                  CELLS(cell_text(worker)), e);
    if (code)
        return code;
    if (query_int(&q, 0))
        return err_set(e, ERR_CONFLICT, "worker %.80s is draining: it gets no more tasks", worker);
    return ERR_OK;
}

static enum err_code insert_lease(struct store *s, const struct lease_wish *w,
                                  const struct id *task, struct utc at, struct mono now,
                                  const struct tenure_rule *rule, struct id *out, struct err *e)
{
    struct life life;
    struct tenure tenure = tenure_begin(0, now, rule); /* the fence is the row's number */
    struct id id = id_new();

    enum err_code code = task_life(s, task->text, &life, e);
    if (!code)
        code = life_lease(&life, e);
    if (!code)
        code = task_save(s, task->text, &life, at, e);
    if (!code)
        code = db_run(s,
                      "INSERT INTO leases (id, task, worker, host, engine, state, deadline_ns,"
                      " taken_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                      CELLS(cell_text(id.text), cell_text(task->text), cell_text(w->worker),
                            cell_text(w->host), cell_text(w->engine),
                            cell_text(tenure_state_name(tenure.state)),
                            cell_int(tenure.deadline.ns), cell_int(at.ns)),
                      NULL, e);
    if (!code)
        *out = id;
    return code;
}

enum err_code store_lease_take(struct store *s, const struct lease_wish *w, struct utc at,
                               struct mono now, const struct tenure_rule *rule,
                               struct lease_row *out, struct err *e)
{
    struct id task, lease;
    enum err_code code = store_worker_seen(s, w, at, e); /* kept whatever follows */
    if (!code)
        code = check_draining(s, w->worker, e);
    if (code)
        return code;

    AUTO(unit_end) struct unit u = {0};
    AUTO(lease_row_fini) struct lease_row row = {0};
    code = unit_begin(s, &u, e);
    if (!code)
        code = choose(s, w, at, &task, e);
    if (!code)
        code = insert_lease(s, w, &task, at, now, rule, &lease, e);
    if (!code)
        code = store_lease_load(s, lease.text, &row, e);
    if (!code)
        code = unit_keep(&u, e);
    if (code)
        return code;
    *out = row;
    row = (struct lease_row){0};
    return ERR_OK;
}

enum err_code store_lease_renew(struct store *s, const char *lease, int64_t fence,
                                const char *activity, struct utc at, struct mono now,
                                const struct tenure_rule *rule, struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    AUTO(lease_row_fini) struct lease_row l = {0};
    enum err_code code = unit_begin(s, &u, e);
    if (!code)
        code = store_lease_load(s, lease, &l, e);
    if (!code)
        code = tenure_renew(&l.tenure, fence, now, rule, e);
    if (!code)
        code = db_run(s,
                      "UPDATE leases SET deadline_ns = ?2, activity = coalesce(?3, activity)"
                      " WHERE id = ?1",
                      CELLS(cell_text(lease), cell_int(l.tenure.deadline.ns), cell_text(activity)),
                      NULL, e);
    if (!code)
        code = db_run(s, "UPDATE workers SET seen_ns = ?2 WHERE name = ?1",
                      CELLS(cell_text(l.worker), cell_int(at.ns)), NULL, e);
    return code ? code : unit_keep(&u, e);
}

/* ---- ending ---- */

enum err_code lease_close(struct store *s, const char *lease, enum tenure_state state,
                          int64_t accepted, enum task_state outcome, const char *reason,
                          struct utc at, struct err *e)
{
    bool has_answer = accepted >= 0;
    return db_run(s,
                  "UPDATE leases SET state = ?2, ended_ns = ?3, activity = NULL, accepted = ?4,"
                  " outcome = ?5, reason = ?6 WHERE id = ?1",
                  CELLS(cell_text(lease), cell_text(tenure_state_name(state)), cell_int(at.ns),
                        has_answer ? cell_int(accepted) : cell_text(NULL),
                        has_answer ? cell_text(task_state_name(outcome)) : cell_text(NULL),
                        cell_text(reason)),
                  NULL, e);
}

static enum err_code note_failure(struct store *s, const struct lease_row *l, const char *reason,
                                  bool is_workers, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(strings_fini) struct strings failed_by = {0};
    enum err_code code = db_first(s, &q, "SELECT failed_by FROM tasks WHERE id = ?1",
                                  CELLS(cell_text(l->task.text)), e);
    if (!code)
        code = strings_of_column(query_text(&q, 0), &failed_by, e);
    if (code)
        return code;
    if (is_workers && !strings_has(&failed_by, l->worker))
        strings_add(&failed_by, l->worker);
    AUTO(mem_free) char *column = column_of_strings(&failed_by);
    return db_run(s, "UPDATE tasks SET failed_by = ?2, message = ?3 WHERE id = ?1",
                  CELLS(cell_text(l->task.text), cell_text(column), cell_text(reason)), NULL, e);
}

enum err_code lease_give_back(struct store *s, const struct lease_row *l, enum return_reason why,
                              const char *detail, struct utc at, struct returned *out,
                              struct err *e)
{
    struct life life;
    AUTO(mem_free)
    char *reason = mem_printf("%s (worker %s)%s%s", return_reason_name(why), l->worker,
                              detail ? ": " : "", detail ? detail : "");

    enum err_code code = task_life(s, l->task.text, &life, e);
    if (!code)
        code = life_return(&life, why, &s->limits, e);
    if (!code)
        code = task_save(s, l->task.text, &life, at, e);
    if (!code)
        code = note_failure(s, l, reason, why != RETURN_RESTART && why != RETURN_YIELDED, e);
    if (!code && why == RETURN_FAULT)
        code = lease_close(s, l->id.text, TENURE_FINISHED, 0, life.state, reason, at, e);
    else if (!code)
        code = lease_close(s, l->id.text, TENURE_EXPIRED, -1, life.state, reason, at, e);
    if (code)
        return code;
    *out = (struct returned){
        .task = l->task,
        .bisection = l->bisection,
        .ordinal = l->ordinal,
        .state = life.state,
        .worker = mem_dup(l->worker),
        .reason = TAKE(reason),
    };
    return ERR_OK;
}

/** ERR_NOT_FOUND when no open lease matches. */
static enum err_code end_next(struct store *s, const char *sql, struct cell key,
                              enum return_reason why, struct utc at, struct returned_list *l,
                              struct err *e)
{
    AUTO(lease_row_fini) struct lease_row row = {0};
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, sql, CELLS(key), e);
    if (!code)
        code = read_lease(&q, &row, e);
    query_end(&q);
    if (code)
        return code;
    l->items = mem_resize(l->items, l->n + 1, sizeof(*l->items));
    code = lease_give_back(s, &row, why, NULL, at, &l->items[l->n], e);
    if (!code)
        l->n++;
    return code;
}

static enum err_code end_all(struct store *s, const char *sql, struct cell key,
                             enum return_reason why, struct utc at, struct returned_list *out,
                             struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    AUTO(returned_list_fini) struct returned_list l = {0};
    enum err_code code = unit_begin(s, &u, e);
    while (!code) /* one at a time: no query is open on rows that change */
        code = end_next(s, sql, key, why, at, &l, e);
    if (code == ERR_NOT_FOUND)
        code = unit_keep(&u, e);
    if (code)
        return code;
    *out = l;
    l = (struct returned_list){0};
    return ERR_OK;
}

enum err_code store_leases_expire(struct store *s, struct utc at, struct mono now,
                                  struct returned_list *out, struct err *e)
{
    return end_all(s, SELECT_LEASES "WHERE l.state = 'open' AND l.deadline_ns <= ?1 LIMIT 1",
                   cell_int(now.ns), RETURN_EXPIRED, at, out, e);
}

enum err_code store_leases_yield(struct store *s, struct utc held_since, struct utc at,
                                 struct returned_list *out, struct err *e)
{
    return end_all(
        s,
        SELECT_LEASES
        "WHERE l.state = 'open' AND t.when_idle AND l.taken_ns <= ?1"
        " AND (EXISTS (SELECT 1 FROM tasks AS w WHERE w.state = 'queued'"
        "       AND w.platform = t.platform AND NOT w.when_idle)"
        "  OR EXISTS (SELECT 1 FROM leases AS o JOIN tasks AS w ON w.id = o.task"
        "       WHERE o.state = 'open' AND o.host = l.host AND NOT w.when_idle)) LIMIT 1",
        cell_int(held_since.ns), RETURN_YIELDED, at, out, e);
}

enum err_code store_leases_end_worker(struct store *s, const char *worker, enum return_reason why,
                                      struct utc at, struct returned_list *out, struct err *e)
{
    return end_all(s, SELECT_LEASES "WHERE l.state = 'open' AND l.worker = ?1 LIMIT 1",
                   cell_text(worker), why, at, out, e);
}

enum err_code store_leases_end_engine(struct store *s, const char *engine, enum return_reason why,
                                      struct utc at, struct returned_list *out, struct err *e)
{
    enum err_code code =
        db_run(s, "DELETE FROM workers WHERE engine = ?1", CELLS(cell_text(engine)), NULL, e);
    if (code)
        return code;
    return end_all(s, SELECT_LEASES "WHERE l.state = 'open' AND l.engine = ?1 LIMIT 1",
                   cell_text(engine), why, at, out, e);
}

enum err_code store_leases_adopt(struct store *s, struct mono now, const struct tenure_rule *rule,
                                 struct err *e)
{
    struct tenure tenure = tenure_begin(0, now, rule);
    return db_run(s, "UPDATE leases SET deadline_ns = ?1 WHERE state = 'open'",
                  CELLS(cell_int(tenure.deadline.ns)), NULL, e);
}

enum err_code store_leases_next(struct store *s, struct mono *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(
        s, &q, "SELECT deadline_ns FROM leases WHERE state = 'open' ORDER BY deadline_ns LIMIT 1",
        NO_CELLS, e);
    if (!code)
        out->ns = query_int(&q, 0);
    return code;
}
