/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tasks.h"

#include "base/mem.h"
#include "store/db.h"
#include "store/rows.h"

void task_row_free(struct task_row *t)
{
    if (!t)
        return;
    task_spec_free(t->spec);
    mem_free(t->platform);
    strings_fini(&t->tags);
    strings_fini(&t->failed_by);
    mem_free(t->worker);
    mem_free(t->host);
    mem_free(t->activity);
    mem_free(t->message);
    mem_free(t);
}

void task_list_fini(struct task_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        task_row_free(l->items[i]);
    mem_free(l->items);
    *l = (struct task_list){0};
}

enum err_code store_task_insert(struct store *s, const struct task_new *t, struct utc now,
                                struct id *out, struct err *e)
{
    AUTO(json_free) json *document = task_spec_to_json(t->spec);
    AUTO(mem_free) char *spec = column_of_json(document);
    AUTO(mem_free) char *tags = column_of_strings(t->tags);
    struct id id = id_new();
    int64_t n = 0;

    enum err_code code = db_run(
        s,
        "INSERT INTO tasks (id, bisection, ordinal, after_seq, state, spec, is_verification,"
        " platform, tags, created_ns, queued_ns, when_idle)"
        " SELECT ?1, id, ?3, ?4, ?5, ?6, ?7, platform, ?8, ?9, ?9, when_idle"
        " FROM bisections WHERE id = ?2",
        CELLS(cell_text(id.text), cell_text(t->bisection), cell_int(t->spec->ordinal),
              cell_int(t->after_seq), cell_text(task_state_name(TASK_QUEUED)), cell_text(spec),
              cell_int(t->spec->is_verification), cell_text(tags), cell_int(now.ns)),
        &n, e);
    if (code == ERR_CONFLICT)
        return err_set(e, ERR_CONFLICT, "bisection %.80s has a task %u already", t->bisection,
                       t->spec->ordinal);
    if (!code && !n)
        return not_found(e, "bisection", t->bisection);
    if (!code && out)
        *out = id;
    return code;
}

enum err_code task_life(struct store *s, const char *task, struct life *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, "SELECT state, tries, deaths FROM tasks WHERE id = ?1",
                                  CELLS(cell_text(task)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "task", task);
    if (code)
        return code;
    out->tries = (uint32_t)query_int(&q, 1);
    out->deaths = (uint32_t)query_int(&q, 2);
    return task_state_parse(query_text(&q, 0), &out->state, e);
}

enum err_code task_save(struct store *s, const char *task, const struct life *life, struct utc at,
                        struct err *e)
{
    bool is_over = life->state != TASK_QUEUED && life->state != TASK_LEASED;
    bool is_queued = life->state == TASK_QUEUED;
    return db_run(s,
                  "UPDATE tasks SET state = ?2, tries = ?3, deaths = ?4,"
                  " queued_ns = coalesce(?5, queued_ns), ended_ns = ?6 WHERE id = ?1",
                  CELLS(cell_text(task), cell_text(task_state_name(life->state)),
                        cell_int(life->tries), cell_int(life->deaths),
                        is_queued ? cell_int(at.ns) : cell_text(NULL),
                        is_over ? cell_int(at.ns) : cell_text(NULL)),
                  NULL, e);
}

/* ---- reading ---- */

/* The newest lease tells who has or had it. */
#define SELECT_TASKS                                                                               \
    "SELECT t.id, t.bisection, t.ordinal, t.after_seq, t.state, t.tries, t.deaths, t.spec,"        \
    " t.platform, t.tags, t.failed_by, l.worker, l.host,"                                          \
    " CASE l.state WHEN 'open' THEN l.activity END, t.message, g.task IS NOT NULL, t.created_ns,"  \
    " t.ended_ns"                                                                                  \
    " FROM tasks AS t"                                                                             \
    " LEFT JOIN leases AS l ON l.fence = (SELECT max(fence) FROM leases WHERE task = t.id)"        \
    " LEFT JOIN logs AS g ON g.task = t.id "

static enum err_code read_lists(struct query *q, struct task_row *t, struct err *e)
{
    AUTO(json_free) json *spec = NULL;
    enum err_code code = task_state_parse(query_text(q, 4), &t->life.state, e);
    if (!code)
        code = json_of_column(query_text(q, 7), &spec, e);
    if (!code)
        code = task_spec_from_json(spec, &t->spec, e);
    if (!code)
        code = strings_of_column(query_text(q, 9), &t->tags, e);
    if (!code)
        code = strings_of_column(query_text(q, 10), &t->failed_by, e);
    return code ? err_wrap(e, "task %s", t->id.text) : ERR_OK;
}

static enum err_code read_task(struct query *q, struct task_row **out, struct err *e)
{
    AUTO(task_row_free) struct task_row *t = mem_alloc(sizeof(*t));
    t->id = query_id(q, 0);
    t->bisection = query_id(q, 1);
    t->ordinal = (uint32_t)query_int(q, 2);
    t->after_seq = query_int(q, 3);
    t->life.tries = (uint32_t)query_int(q, 5);
    t->life.deaths = (uint32_t)query_int(q, 6);
    t->platform = query_dup(q, 8);
    t->worker = query_dup(q, 11);
    t->host = query_dup(q, 12);
    t->activity = query_dup(q, 13);
    t->message = query_dup(q, 14);
    t->has_log = query_int(q, 15);
    t->created.ns = query_int(q, 16);
    t->ended.ns = query_int(q, 17);
    enum err_code code = read_lists(q, t, e);
    if (!code)
        *out = TAKE(t);
    return code;
}

enum err_code store_task_load(struct store *s, const char *id, struct task_row **out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, SELECT_TASKS "WHERE t.id = ?1", CELLS(cell_text(id)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "task", id);
    return code ? code : read_task(&q, out, e);
}

static enum err_code no_ordinal(struct err *e, const char *bisection, uint32_t ordinal)
{
    return err_set(e, ERR_NOT_FOUND, "bisection %.80s has no task %u", bisection, ordinal);
}

enum err_code store_task_find(struct store *s, const char *bisection, uint32_t ordinal,
                              struct task_row **out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, SELECT_TASKS "WHERE t.bisection = ?1 AND t.ordinal = ?2",
                                  CELLS(cell_text(bisection), cell_int(ordinal)), e);
    if (code == ERR_NOT_FOUND)
        return no_ordinal(e, bisection, ordinal);
    return code ? code : read_task(&q, out, e);
}

enum err_code store_task_next(struct store *s, const char *bisection, uint32_t *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(
        s, &q, "SELECT coalesce(max(ordinal) + 1, 0) FROM tasks WHERE bisection = ?1",
        CELLS(cell_text(bisection)), e);
    if (!code)
        *out = (uint32_t)query_int(&q, 0);
    return code;
}

/** Rows of `q`, at most `limit` of them; 0: all. */
static enum err_code read_tasks(struct query *q, size_t limit, struct task_list *out, struct err *e)
{
    AUTO(task_list_fini) struct task_list l = {0};
    enum err_code code = ERR_OK;

    while (!code && !l.has_more && query_next(q)) {
        if (limit && l.n == limit) {
            l.has_more = true;
            continue;
        }
        l.items = mem_resize(l.items, l.n + 1, sizeof(*l.items));
        code = read_task(q, &l.items[l.n], e);
        if (!code)
            l.n++;
    }
    if (!code)
        code = query_check(q, e);
    if (code)
        return code;
    *out = l;
    l = (struct task_list){0};
    return ERR_OK;
}

enum err_code store_task_list(struct store *s, const char *bisection, size_t limit, int64_t after,
                              struct task_list *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    int64_t n_wanted = limit ? (int64_t)limit + 1 : -1;

    enum err_code code = db_query(
        s, &q, SELECT_TASKS "WHERE t.bisection = ?1 AND t.ordinal > ?2 ORDER BY t.ordinal LIMIT ?3",
        CELLS(cell_text(bisection), cell_int(after), cell_int(n_wanted)), e);
    return code ? code : read_tasks(&q, limit, out, e);
}

enum err_code store_task_verifications(struct store *s, const struct digest *measure_key,
                                       const char *platform, struct task_list *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};

    enum err_code code =
        db_query(s, &q,
                 SELECT_TASKS "WHERE t.bisection IN (SELECT bisection FROM samples"
                              " WHERE measure_key = ?1 AND platform = ?2)"
                              " AND t.is_verification AND t.state = ?3 ORDER BY t.seq",
                 CELLS(cell_text(measure_key->hex), cell_text(platform),
                       cell_text(task_state_name(TASK_DONE))),
                 e);
    return code ? code : read_tasks(&q, 0, out, e);
}

/* ---- canceling ---- */

static enum err_code cancel_one(struct store *s, struct query *q, struct utc now, struct err *e)
{
    struct life life = {.tries = (uint32_t)query_int(q, 2), .deaths = (uint32_t)query_int(q, 3)};
    enum err_code code = task_state_parse(query_text(q, 1), &life.state, e);
    if (code)
        return code;
    if (life_cancel(&life, NULL)) /* over already */
        return ERR_OK;
    code = task_save(s, query_text(q, 0), &life, now, e);
    if (code)
        return code;
    return db_run(s,
                  "UPDATE leases SET state = ?2, ended_ns = ?3, activity = NULL"
                  " WHERE task = ?1 AND state = 'open'",
                  CELLS(cell_text(query_text(q, 0)), cell_text(tenure_state_name(TENURE_CANCELED)),
                        cell_int(now.ns)),
                  NULL, e);
}

enum err_code store_task_cancel(struct store *s, const char *bisection, uint32_t ordinal,
                                struct utc now, struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    AUTO(query_end) struct query q = {0};
    enum err_code code = unit_begin(s, &u, e);
    if (code)
        return code;
    code = db_first(
        s, &q, "SELECT id, state, tries, deaths FROM tasks WHERE bisection = ?1 AND ordinal = ?2",
        CELLS(cell_text(bisection), cell_int(ordinal)), e);
    if (code == ERR_NOT_FOUND)
        return no_ordinal(e, bisection, ordinal);
    if (!code)
        code = cancel_one(s, &q, now, e);
    query_end(&q);
    return code ? code : unit_keep(&u, e);
}

/** ERR_NOT_FOUND when none is left. */
static enum err_code cancel_next(struct store *s, const char *bisection, struct utc now,
                                 struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q,
                                  "SELECT id, state, tries, deaths FROM tasks"
                                  " WHERE bisection = ?1 AND state IN ('queued', 'leased') LIMIT 1",
                                  CELLS(cell_text(bisection)), e);
    return code ? code : cancel_one(s, &q, now, e);
}

enum err_code store_task_cancel_all(struct store *s, const char *bisection, struct utc now,
                                    struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    enum err_code code = unit_begin(s, &u, e);
    while (!code) /* one at a time: no query is open on rows that change */
        code = cancel_next(s, bisection, now, e);
    return code == ERR_NOT_FOUND ? unit_keep(&u, e) : code;
}
