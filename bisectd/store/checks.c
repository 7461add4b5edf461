/* SPDX-License-Identifier: Apache-2.0 */
#include "store/checks.h"

#include "base/mem.h"
#include "model/choice.h"
#include "store/db.h"

/* clang-format off */
static const struct choice replay_outcomes[] = {
    {"follows", REPLAY_FOLLOWS, false}, {"differs", REPLAY_DIFFERS, false},
    {"unknown", REPLAY_UNKNOWN, false}, {0}};
/* clang-format on */

void check_row_fini(struct check_row *c)
{
    mem_free(c->claim);
    mem_free(c->reason);
    *c = (struct check_row){0};
}

void check_part_list_fini(struct check_part_list *l)
{
    mem_free(l->items);
    *l = (struct check_part_list){0};
}

void replay_row_fini(struct replay_row *r)
{
    mem_free(r->stated);
    mem_free(r->says);
    *r = (struct replay_row){0};
}

/* ---- checks ---- */

#define SELECT_CHECKS "SELECT c.seq, c.bisection, c.claim, c.outcome, c.reason FROM checks AS c "

static enum err_code read_check(struct query *q, struct check_row *out, struct err *e)
{
    AUTO(check_row_fini)
    struct check_row c = {
        .seq = query_int(q, 0),
        .bisection = query_id(q, 1),
        .claim = query_dup(q, 2),
        .outcome = CHECK_OPEN,
        .reason = query_dup(q, 4),
    };
    const char *outcome = query_text(q, 3);

    if (outcome && check_outcome_parse(outcome, &c.outcome, e))
        return err_wrap(e, "check of bisection %s", c.bisection.text);
    *out = c;
    c = (struct check_row){0};
    return ERR_OK;
}

enum err_code store_check_find(struct store *s, const char *bisection, const char *claim,
                               struct check_row *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, SELECT_CHECKS "WHERE c.bisection = ?1 AND c.claim = ?2",
                                  CELLS(cell_text(bisection), cell_text(claim)), e);
    return code ? code : read_check(&q, out, e);
}

enum err_code store_check_load(struct store *s, int64_t check, struct check_row *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_first(s, &q, SELECT_CHECKS "WHERE c.seq = ?1", CELLS(cell_int(check)), e);
    if (code == ERR_NOT_FOUND)
        return err_set(e, ERR_NOT_FOUND, "there is no check %lld", (long long)check);
    return code ? code : read_check(&q, out, e);
}

enum err_code store_check_next(struct store *s, int64_t after, struct check_row *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_first(s, &q,
                 SELECT_CHECKS "WHERE c.outcome IS NULL AND c.seq > ?1 AND NOT EXISTS"
                               " (SELECT 1 FROM check_parts WHERE checked = c.seq"
                               "  AND found IS NULL) ORDER BY c.seq LIMIT 1",
                 CELLS(cell_int(after)), e);
    return code ? code : read_check(&q, out, e);
}

static enum err_code reopen(struct store *s, int64_t check, struct utc now, struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    enum err_code code = unit_begin(s, &u, e);
    if (!code)
        code = db_run(s, "DELETE FROM check_parts WHERE checked = ?1", CELLS(cell_int(check)), NULL,
                      e);
    if (!code)
        code = db_run(s,
                      "UPDATE checks SET outcome = NULL, reason = NULL, ended_ns = NULL,"
                      " asked_ns = ?2 WHERE seq = ?1",
                      CELLS(cell_int(check), cell_int(now.ns)), NULL, e);
    return code ? code : unit_keep(&u, e);
}

enum err_code store_check_open(struct store *s, const char *bisection, const char *claim,
                               struct utc now, bool *is_new, struct err *e)
{
    AUTO(check_row_fini) struct check_row there = {0};
    enum err_code code = store_check_find(s, bisection, claim, &there, e);

    *is_new = code == ERR_NOT_FOUND || (!code && there.outcome == CHECK_UNDECIDED);
    if (!code)
        return *is_new ? reopen(s, there.seq, now, e) : ERR_OK;
    if (code != ERR_NOT_FOUND)
        return code;
    code = db_run(s, "INSERT INTO checks (bisection, claim, asked_ns) VALUES (?1, ?2, ?3)",
                  CELLS(cell_text(bisection), cell_text(claim), cell_int(now.ns)), NULL, e);
    return code == ERR_CONFLICT ? not_found(e, "bisection", bisection) : code;
}

enum err_code store_check_end(struct store *s, int64_t check, enum check_outcome outcome,
                              const char *reason, struct utc now, struct err *e)
{
    return db_run(s, "UPDATE checks SET outcome = ?2, reason = ?3, ended_ns = ?4 WHERE seq = ?1",
                  CELLS(cell_int(check), cell_text(check_outcome_name(outcome)), cell_text(reason),
                        cell_int(now.ns)),
                  NULL, e);
}

static enum err_code count(struct store *s, const char *sql, int64_t *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, sql, NO_CELLS, e);
    if (!code)
        *out = query_int(&q, 0);
    return code;
}

enum err_code store_check_count(struct store *s, struct check_counts *out, struct err *e)
{
    struct check_counts c = {0};
    int64_t n_open = 0;
    /* clang-format off */
    const struct {
        const char *sql;
        int64_t *to;
    } rows[] = {
        {"SELECT count(*) FROM checks WHERE outcome IS NULL",             &n_open},
        {"SELECT count(DISTINCT checked) FROM check_parts WHERE found IS NULL", &c.n_measuring},
        {"SELECT count(*) FROM checks WHERE outcome = 'right'",           &c.n_right},
        {"SELECT count(*) FROM checks WHERE outcome = 'wrong'",           &c.n_wrong},
        {"SELECT count(*) FROM checks WHERE outcome = 'undecided'",       &c.n_undecided},
    };
    /* clang-format on */
    enum err_code code = ERR_OK;
    for (size_t i = 0; !code && i < LEN(rows); i++)
        code = count(s, rows[i].sql, rows[i].to, e);
    if (code)
        return code;
    c.n_waiting = n_open - c.n_measuring;
    *out = c;
    return ERR_OK;
}

/* ---- parts ---- */

#define SELECT_PARTS "SELECT p.checked, p.base, p.comparison, p.found FROM check_parts AS p "

static enum err_code read_part(struct query *q, struct check_part *out, struct err *e)
{
    struct check_part p = {.check = query_int(q, 0), .comparison = query_id(q, 2)};
    const char *base = query_text(q, 1), *found = query_text(q, 3);

    if (revision_parse(base ? base : "", &p.base, e) || (found && found_parse(found, &p.found, e)))
        return err_wrap(e, "check %lld", (long long)p.check);
    p.is_over = found != NULL;
    *out = p;
    return ERR_OK;
}

enum err_code store_check_part_add(struct store *s, const struct check_part *p, struct err *e)
{
    return db_run(s, "INSERT INTO check_parts (checked, base, comparison) VALUES (?1, ?2, ?3)",
                  CELLS(cell_int(p->check), cell_text(p->base.hex), cell_text(p->comparison.text)),
                  NULL, e);
}

enum err_code store_check_part_list(struct store *s, int64_t check, struct check_part_list *out,
                                    struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(check_part_list_fini) struct check_part_list l = {0};
    enum err_code code = db_query(s, &q, SELECT_PARTS "WHERE p.checked = ?1 ORDER BY p.seq",
                                  CELLS(cell_int(check)), e);
    while (!code && query_next(&q)) {
        l.items = mem_resize(l.items, l.n + 1, sizeof(*l.items));
        code = read_part(&q, &l.items[l.n++], e);
    }
    if (!code)
        code = query_check(&q, e);
    if (code)
        return code;
    *out = l;
    l = (struct check_part_list){0};
    return ERR_OK;
}

enum err_code store_check_part_ended(struct store *s, struct check_part *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q,
                                  SELECT_PARTS "JOIN bisections AS b ON b.id = p.comparison"
                                               " WHERE p.found IS NULL"
                                               " AND b.state IN ('done', 'canceled') LIMIT 1",
                                  NO_CELLS, e);
    return code ? code : read_part(&q, out, e);
}

enum err_code store_check_part_settle(struct store *s, const char *comparison, enum found found,
                                      struct err *e)
{
    return db_run(s, "UPDATE check_parts SET found = ?2 WHERE comparison = ?1",
                  CELLS(cell_text(comparison), cell_text(found_name(found))), NULL, e);
}

/* ---- replays ---- */

enum err_code store_replay_put(struct store *s, const char *bisection, const struct replay_row *r,
                               struct err *e)
{
    enum err_code code =
        db_run(s,
               "INSERT OR REPLACE INTO replays (bisection, stated, outcome, says)"
               " VALUES (?1, ?2, ?3, ?4)",
               CELLS(cell_text(bisection), cell_text(r->stated),
                     cell_text(choice_name(replay_outcomes, r->outcome)), cell_text(r->says)),
               NULL, e);
    return code == ERR_CONFLICT ? not_found(e, "bisection", bisection) : code;
}

enum err_code store_replay_get(struct store *s, const char *bisection, struct replay_row *out,
                               struct err *e)
{
    AUTO(query_end) struct query q = {0};
    unsigned outcome = 0;
    enum err_code code =
        db_first(s, &q, "SELECT stated, outcome, says FROM replays WHERE bisection = ?1",
                 CELLS(cell_text(bisection)), e);
    if (code)
        return code;
    if (choice_parse(replay_outcomes, query_text(&q, 1), &outcome, e))
        return err_wrap(e, "replay of bisection %.80s", bisection);
    *out = (struct replay_row){.stated = query_dup(&q, 0),
                               .outcome = (enum replay_outcome)outcome,
                               .says = query_dup(&q, 2)};
    return ERR_OK;
}

/* ---- verdicts ---- */

enum err_code store_finish_next(struct store *s, const struct finish *after, struct finish *out,
                                struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q,
                                  "SELECT finished_ns, seq, id FROM bisections"
                                  " WHERE (finished_ns, seq) > (?1, ?2) AND state = 'done'"
                                  " AND coalesce(request ->> '$.comparison', 0) = 0"
                                  " ORDER BY finished_ns, seq LIMIT 1",
                                  CELLS(cell_int(after->finished_ns), cell_int(after->seq)), e);
    if (!code)
        *out = (struct finish){
            .finished_ns = query_int(&q, 0), .seq = query_int(&q, 1), .id = query_id(&q, 2)};
    return code;
}

enum err_code store_stated_each(struct store *s, size_t limit, stated_visit *visit, void *self,
                                size_t *n_unreadable, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_query(s, &q,
                 "SELECT b.id, v.verdict FROM bisections AS b JOIN verdicts AS v"
                 " ON v.bisection = b.id WHERE b.state = 'done'"
                 " AND CASE WHEN json_valid(v.verdict) THEN"
                 " v.verdict ->> '$.verdict' IN ('culprit', 'not_reproduced') ELSE 1 END"
                 " ORDER BY b.seq DESC LIMIT ?1",
                 CELLS(cell_int((int64_t)limit)), e);
    *n_unreadable = 0;
    while (!code && query_next(&q)) {
        AUTO(json_free) json *verdict = NULL;
        struct id id = query_id(&q, 0);
        if (json_of_column(query_text(&q, 1), &verdict, NULL))
            ++*n_unreadable;
        else
            code = visit(self, id.text, verdict, e);
    }
    return code ? code : query_check(&q, e);
}
