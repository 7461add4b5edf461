/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/slowsql.h"
#include "base/mem.h"
#include "base/text.h"
#include <fnmatch.h>
#include <string.h>

enum { SESSION_BYTES = 128, DB_BYTES = 256 };

void slowsql_mapped_fini(struct slowsql_mapped *m)
{
    buf_fini(&m->session);
    buf_fini(&m->keys);
    buf_fini(&m->text);
    buf_fini(&m->db);
    mem_free(m->items);
    *m = (struct slowsql_mapped){0};
}

/* Keys */

void slowsql_add_string(struct buf *out, const char *text, size_t n)
{
    static const char hex[] = "0123456789abcdef";

    buf_addc(out, '"');
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)text[i];
        uint32_t code_point = 0;
        size_t length = c < 0x80 ? 1 : text_utf8(text + i, n - i, &code_point);
        if (length == 0)
            buf_adds(out, "\xEF\xBF\xBD");
        else if (c == '"' || c == '\\')
            buf_add(out, (char[]){'\\', (char)c}, 2);
        else if (c < 0x20 || c == 0x7F)
            buf_add(out, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
        else
            buf_add(out, text + i, length);
        i += length ? length : 1;
    }
    buf_addc(out, '"');
}

void slowsql_note_key(struct buf *out, const char *what, const char *which)
{
    buf_printf(out, "[null,\"%s\",\"%s\",\"\"]", what, which);
}

void slowsql_db_of(const char *sql, size_t n, struct buf *out)
{
    static const char untracked[] = "Untracked SQL for ";
    const char *end = sql + n;

    if (n >= 4 && end[-1] == '/' && end[-2] == '*') {
        const char *name = end - 2;
        while (name - sql >= 2 && !(name[-1] == '*' && name[-2] == '/'))
            name--;
        end -= 2;
        while (name < end && *name == ' ')
            name++;
        while (name < end && end[-1] == ' ')
            end--;
        if (name - sql >= 2 && name < end && end - name <= DB_BYTES) {
            buf_add(out, name, (size_t)(end - name));
            return;
        }
    } else if (n > sizeof(untracked) - 1 && n < DB_BYTES + sizeof(untracked) &&
               memcmp(sql, untracked, sizeof(untracked) - 1) == 0) {
        buf_add(out, sql + sizeof(untracked) - 1, n - (sizeof(untracked) - 1));
        return;
    }
    buf_adds(out, "unknown");
}

/* Items */

static struct slowsql_item *add_item(struct slowsql_mapped *m, size_t key_at,
                                     const struct sums *sums)
{
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 16;
        m->items = mem_resize(m->items, m->cap, sizeof(*m->items));
    }
    m->items[m->n] =
        (struct slowsql_item){.key_at = key_at, .n_key = m->keys.len - key_at, .sums = *sums};
    return &m->items[m->n++];
}

/** Adds to the row of the key that was appended last; a report counts once a row. */
static void add_to_row(struct slowsql_mapped *m, size_t key_at, const struct sums *sums)
{
    const char *key = m->keys.data + key_at;
    size_t n_key = m->keys.len - key_at;

    for (size_t i = 1; i < m->n; i++) {
        struct slowsql_item *item = &m->items[i];
        if (item->n_key != n_key || memcmp(m->keys.data + item->key_at, key, n_key) != 0)
            continue;
        item->sums.count += sums->count;
        item->sums.total_ms += sums->total_ms;
        m->keys.len = key_at;
        return;
    }
    add_item(m, key_at, sums);
}

static void add_group(struct slowsql_mapped *m, const struct slowsql_question *q,
                      const struct telemetry *t)
{
    buf_addc(&m->keys, '[');
    if (q->n_groups)
        slowsql_add_string(&m->keys, q->groups[m->group].name, strlen(q->groups[m->group].name));
    else if (q->by & BY_BUILD)
        slowsql_add_string(&m->keys, t->build.s, t->build.n);
    else
        buf_adds(&m->keys, "\"all\"");
}

static void add_cell(struct buf *out, bool is_shown, const char *text, size_t n)
{
    buf_addc(out, ',');
    slowsql_add_string(out, text, is_shown ? n : 0);
}

static void add_statement(struct slowsql_mapped *m, const struct slowsql_question *q,
                          const struct telemetry *t, const struct slow_statement *s)
{
    unsigned by = q->by ? q->by : BY_DB | BY_THREAD | BY_STATEMENT;
    const char *thread = sql_thread_names[s->thread];
    struct sums sums = {s->count, s->total_ms, 1, t->used > 0 ? t->used : 0};
    size_t key_at = m->keys.len;

    add_group(m, q, t);
    add_cell(&m->keys, by & (BY_DB | BY_STATEMENT), buf_str(&m->db), m->db.len);
    add_cell(&m->keys, by & BY_THREAD, thread, strlen(thread));
    add_cell(&m->keys, by & BY_STATEMENT, buf_str(&m->text), m->text.len);
    buf_addc(&m->keys, ']');
    add_to_row(m, key_at, &sums);
    m->order.total_ms += s->total_ms;
}

bool slowsql_is_asked(const struct slowsql_question *q, const struct slow_statement *s,
                      struct buf *text, struct buf *db)
{
    buf_clear(text);
    buf_clear(db);
    if ((q->threads && !(q->threads >> s->thread & 1)) || !skim_unescape(s->sql, text))
        return false;
    slowsql_db_of(buf_str(text), text->len, db);
    if (q->db && fnmatch(q->db, buf_str(db), 0) != 0)
        return false;
    return !q->statement || memmem(text->data, text->len, q->statement, strlen(q->statement));
}

static void map_statement(const struct slowsql_question *q, const struct telemetry *t,
                          const struct slow_statement *s, struct slowsql_mapped *m)
{
    if (!slowsql_is_asked(q, s, &m->text, &m->db))
        return;
    if (s->fault)
        m->n_rejected[s->fault]++;
    else
        add_statement(m, q, t, s);
}

/* Documents */

static bool is_about_builds(const struct slowsql_question *q)
{
    bool is = !stretch_is_all(&q->build) || q->by & BY_BUILD;

    for (size_t i = 0; i < q->n_groups; i++)
        is |= !stretch_is_all(&q->groups[i].build);
    return is;
}

static bool is_about_dates(const struct slowsql_question *q)
{
    bool is = !stretch_is_all(&q->submitted);

    for (size_t i = 0; i < q->n_groups; i++)
        is |= !stretch_is_all(&q->groups[i].submitted);
    return is;
}

static bool is_text(struct span s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.s, text, s.n) == 0;
}

/** NULL if it is asked for; sets the group. */
static const char *filter(const struct slowsql_question *q, const struct telemetry *t, stamp build,
                          stamp submitted, struct slowsql_mapped *m)
{
    bool is_build = false;

    if (q->channel &&
        !(t->channel.n ? is_text(t->channel, q->channel) : strcmp(q->channel, "unknown") == 0))
        return "channel";
    if (!stretch_has(&q->submitted, submitted))
        return "submitted";
    if (!stretch_has(&q->build, build))
        return "build";
    for (size_t i = 0; i < q->n_groups; i++) {
        bool is = stretch_has(&q->groups[i].build, build);
        is_build |= is;
        m->group = i;
        if (is && stretch_has(&q->groups[i].submitted, submitted))
            return NULL;
    }
    return q->n_groups == 0 ? NULL : is_build ? "submitted" : "build";
}

static enum reject judge(const struct slowsql_question *q, const struct telemetry *t, stamp build,
                         stamp submitted)
{
    if (t->fault)
        return t->fault;
    if (t->build.n && !build)
        return REJECT_BAD_BUILD;
    if (!build && is_about_builds(q))
        return REJECT_NO_BUILD;
    return !submitted && is_about_dates(q) ? REJECT_NO_DATE : REJECT_NONE;
}

static void map_all(const struct slowsql_question *q, const struct telemetry *t,
                    struct slowsql_mapped *m)
{
    struct sums report = {0, 0, 1, t->used > 0 ? t->used : 0};

    m->has_time = t->used >= 0;
    add_group(m, q, t);
    buf_adds(&m->keys, ",null,null,null]");
    add_item(m, 0, &report);
    for (size_t i = 0; i < t->n; i++)
        map_statement(q, t, &t->statements[i], m);
    bool is_session = t->session.n > 0 && t->session.n <= SESSION_BYTES &&
                      !memchr(t->session.s, '\0', t->session.n);
    if (!q->is_every_report && is_session)
        buf_add(&m->session, t->session.s, t->session.n);
    struct span whose = t->client.n ? t->client : t->session;
    m->client = whose.n ? tally_hash(whose.s, whose.n) | 1 : 0;
    m->order.used = report.used;
    m->order.hash = tally_hash(m->keys.data, m->keys.len);
    for (size_t i = 0; i < m->n; i++)
        m->order.hash = tally_hash(&(uint64_t[]){m->order.hash, (uint64_t)m->items[i].sums.count,
                                                 (uint64_t)m->items[i].sums.total_ms},
                                   3 * sizeof(uint64_t));
}

void slowsql_map(const struct slowsql_question *q, const struct telemetry *t,
                 struct slowsql_mapped *m)
{
    stamp build = t->build.n ? build_id_stamp(t->build) : 0;
    stamp submitted = t->submitted.n ? day_stamp(t->submitted) : 0;
    enum reject reject = judge(q, t, build, submitted);

    m->n = m->group = 0;
    m->order = (struct slowsql_order){.submitted = submitted};
    memset(m->n_rejected, 0, sizeof(m->n_rejected));
    buf_clear(&m->keys);
    buf_clear(&m->session);
    m->why = reject ? reject_names[reject] : filter(q, t, build, submitted, m);
    m->fate = reject ? FATE_REJECTED : m->why ? FATE_FILTERED : FATE_COUNTED;
    if (m->fate == FATE_COUNTED)
        map_all(q, t, m);
}
