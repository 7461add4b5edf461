/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/slowsql_line.h"
#include <inttypes.h>
#include <string.h>

#define SESSION_PREFIX "[null,\"session\","
#define NOTE_PREFIX    "[null,"

enum { N_SUMS = 4 };

/* Out */

void slowsql_line_add(struct buf *out, const char *key, size_t n_key, const struct sums *s)
{
    buf_add(out, key, n_key);
    buf_printf(out, "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", s->count, s->total_ms,
               s->reports, s->used);
}

static void add_note(struct buf *out, const char *what, const char *which, int64_t n)
{
    AUTO(buf_fini) struct buf key = {0};
    const struct sums sums = {.reports = n};

    slowsql_note_key(&key, what, which);
    slowsql_line_add(out, key.data, key.len, &sums);
}

/** Fixed widths, so that the order of bytes is the order of values. */
static void add_order(struct buf *out, const struct slowsql_order *o)
{
    buf_printf(out, "\"%013" PRId64 "-%014" PRIu64 "-%014" PRId64 "-%016" PRIx64 "\"", o->used,
               o->submitted, o->total_ms, o->hash);
}

static void add_session(struct buf *out, const struct slowsql_mapped *m)
{
    AUTO(buf_fini) struct buf key = {0};
    const struct sums one = {.reports = 1};

    buf_adds(&key, SESSION_PREFIX);
    slowsql_add_string(&key, m->session.data, m->session.len);
    buf_adds(&key, ",[");
    add_order(&key, &m->order);
    for (size_t i = 0; i < m->n; i++) {
        const struct slowsql_item *item = &m->items[i];
        buf_adds(&key, ",[");
        buf_add(&key, m->keys.data + item->key_at, item->n_key);
        buf_printf(&key, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "]", item->sums.count,
                   item->sums.total_ms, item->sums.reports, item->sums.used);
    }
    buf_adds(&key, "]]");
    slowsql_line_add(out, key.data, key.len, &one);
}

void slowsql_lines_of(const struct slowsql_mapped *m, struct buf *out)
{
    add_note(out, "read", "", 1);
    if (m->fate != FATE_COUNTED) {
        add_note(out, m->fate == FATE_FILTERED ? "filtered" : "rejected", m->why, 1);
        return;
    }
    for (size_t i = 0; i < REJECT_COUNT_OF; i++)
        if (m->n_rejected[i])
            add_note(out, "rejected", reject_names[i], m->n_rejected[i]);
    for (size_t i = 0; i < m->n; i++)
        slowsql_line_add(out, m->keys.data + m->items[i].key_at, m->items[i].n_key,
                         &m->items[i].sums);
    if (m->session.len)
        add_session(out, m);
}

/* Into a tally */

static void tally_note(struct tally *t, const char *what, const char *which, int64_t n)
{
    AUTO(buf_fini) struct buf key = {0};
    const struct sums sums = {.reports = n};

    slowsql_note_key(&key, what, which);
    tally_add(t, tally_at(t, key.data, key.len), &sums);
}

void slowsql_tally_notes(const struct slowsql_mapped *m, struct tally *t)
{
    tally_note(t, "read", "", 1);
    if (m->fate != FATE_COUNTED)
        tally_note(t, m->fate == FATE_FILTERED ? "filtered" : "rejected", m->why, 1);
    for (size_t i = 0; m->fate == FATE_COUNTED && i < REJECT_COUNT_OF; i++)
        if (m->n_rejected[i])
            tally_note(t, "rejected", reject_names[i], m->n_rejected[i]);
}

void slowsql_note_superseded(struct tally *t, int64_t n)
{
    if (n)
        tally_note(t, "superseded", "", n);
}

/* In */

/** Over the value at *p, and over the `stop` after it. */
static bool take_value(const char **p, const char *end, char stop, struct span *out)
{
    const char *after = skim_value(*p, end);

    if (!after || after == end || *after != stop)
        return false;
    *out = (struct span){*p, (size_t)(after - *p)};
    *p = after + 1;
    return true;
}

/** The four parts of a key without white space; just after its bracket, or NULL. */
static const char *take_key(const char *p, const char *end, struct span parts[LINE_PARTS])
{
    if (p == end || *p++ != '[')
        return NULL;
    for (size_t i = 0; i < LINE_PARTS; i++)
        if (!take_value(&p, end, i + 1 < LINE_PARTS ? ',' : ']', &parts[i]))
            return NULL;
    return p;
}

static bool take_sums(const char **p, const char *end, char between, char stop, struct sums *out)
{
    int64_t *const to[N_SUMS] = {&out->count, &out->total_ms, &out->reports, &out->used};

    for (size_t i = 0; i < N_SUMS; i++) {
        struct span number;
        bool is_last = i + 1 == N_SUMS;
        const char *after = skim_value(*p, end);
        if (!after || (is_last && !stop ? after != end : after == end))
            return false;
        if (after < end && *after != (is_last ? stop : between))
            return false;
        number = (struct span){*p, (size_t)(after - *p)};
        if (!skim_int(number, to[i]))
            return false;
        *p = after + (after < end);
    }
    return true;
}

static enum err_code find_order(struct slowsql_line *line, struct span list, struct err *e)
{
    const char *p = list.s + 1, *end = list.s + list.n;
    const char *after = list.n > 2 && *list.s == '[' && *p == '"' ? skim_string(p + 1, end) : NULL;

    if (!after)
        return err_set(e, ERR_INVALID, "a line of a session does not say which of it comes last");
    line->order = (struct span){p, (size_t)(after - p)};
    return ERR_OK;
}

enum err_code slowsql_line_parse(const char *text, size_t n, struct slowsql_line *out,
                                 struct err *e)
{
    struct slowsql_line line = {0};
    const char *end = text + n;
    const char *p = take_key(text, end, line.parts);

    if (!p || p == end || *p != '\t')
        return err_set(e, ERR_INVALID,
                       "expected [group,database,thread,statement] and a TAB at the beginning");
    line.key = (struct span){text, (size_t)(p - text)};
    p++;
    if (!take_sums(&p, end, '\t', '\0', &line.sums))
        return err_set(e, ERR_INVALID, "expected four whole numbers after the key");
    size_t n_prefix = sizeof(SESSION_PREFIX) - 1;
    if (line.key.n > n_prefix && memcmp(text, SESSION_PREFIX, n_prefix) == 0) {
        line.kind = LINE_SESSION;
        line.n_session = (size_t)(line.parts[3].s - text);
        if (line.sums.reports < 1)
            return err_set(e, ERR_INVALID, "a line of a session stands for no report");
        if (find_order(&line, line.parts[3], e))
            return ERR_INVALID;
    } else if (memcmp(text, NOTE_PREFIX, sizeof(NOTE_PREFIX) - 1) == 0) {
        line.kind = LINE_NOTE;
    }
    *out = line;
    return ERR_OK;
}

static bool multiply(struct sums *s, int64_t n)
{
    int64_t *const parts[N_SUMS] = {&s->count, &s->total_ms, &s->reports, &s->used};

    for (size_t i = 0; i < N_SUMS; i++)
        if (__builtin_mul_overflow(*parts[i], n, parts[i]))
            return false;
    return true;
}

/** "[KEY,count,total_ms,reports,used]" at *p, `n` times. */
static bool take_off_item(const char **p, const char *end, int64_t n, struct tally *t)
{
    struct span parts[LINE_PARTS];
    struct sums sums = {0};
    const char *key = *p + 1;

    if (*p == end || **p != '[')
        return false;
    *p = take_key(key, end, parts);
    if (!*p || *p == end || **p != ',')
        return false;
    size_t at = tally_at(t, key, (size_t)(*p - key));
    ++*p;
    if (!take_sums(p, end, ',', ']', &sums) || !multiply(&sums, n))
        return false;
    tally_subtract(t, at, &sums);
    return true;
}

enum err_code slowsql_take_off(const struct slowsql_line *line, int64_t n, struct tally *t,
                               struct err *e)
{
    const char *p = line->order.s + line->order.n, *end = line->key.s + line->key.n;

    while (p < end && *p == ',') {
        p++;
        if (!take_off_item(&p, end, n, t))
            return err_set(e, ERR_INVALID, "a line of a session does not say what to take off");
    }
    slowsql_note_superseded(t, n);
    return ERR_OK;
}

/* Reducing */

void slowsql_reduce_fini(struct slowsql_reduce *r)
{
    buf_fini(&r->last);
    buf_fini(&r->session);
}

static int order_of(struct span a, struct span b)
{
    int order = memcmp(a.s, b.s, a.n < b.n ? a.n : b.n);

    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static void keep_line(struct buf *to, const char *line, size_t n)
{
    buf_clear(to);
    buf_add(to, line, n);
}

static enum err_code reduce_session(struct slowsql_reduce *r, const struct slowsql_line *line,
                                    struct span text, struct err *e)
{
    struct slowsql_line kept = {0};

    if (r->session.len) {
        enum err_code rc = slowsql_line_parse(r->session.data, r->session.len, &kept, e);
        if (rc)
            return rc;
    }
    bool is_same =
        kept.n_session == line->n_session && memcmp(kept.key.s, line->key.s, line->n_session) == 0;
    if (is_same && order_of(line->order, kept.order) < 0)
        return slowsql_take_off(line, line->sums.reports, r->tally, e);
    enum err_code rc = is_same ? slowsql_take_off(&kept, 1, r->tally, e) : ERR_OK;
    if (!rc) /* of several that are the same one stays, for now */
        rc = slowsql_take_off(line, line->sums.reports - 1, r->tally, e);
    if (!rc)
        keep_line(&r->session, text.s, text.n);
    return rc;
}

enum err_code slowsql_reduce_line(struct slowsql_reduce *r, const char *text, size_t n,
                                  struct err *e)
{
    struct slowsql_line line;

    enum err_code rc = slowsql_line_parse(text, n, &line, e);
    if (!rc && r->last.len &&
        order_of(line.key, (struct span){buf_str(&r->last), r->last.len}) < 0) {
        rc = err_set(e, ERR_INVALID, "the keys are not in order");
        err_hint(e, "Sort the lines with LC_ALL=C sort first.");
    }
    if (!rc && line.kind == LINE_SESSION)
        rc = reduce_session(r, &line, (struct span){text, n}, e);
    else if (!rc)
        tally_add(r->tally, tally_at(r->tally, line.key.s, line.key.n), &line.sums);
    if (rc)
        return rc;
    keep_line(&r->last, line.key.s, line.key.n);
    return ERR_OK;
}
