/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/slowsql_metric.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/slowsql.h"
#include <string.h>

enum { DOCUMENTS_MOST = 10000, QUOTE_BYTES = 60 };

/** What one document says. */
struct said {
    uint64_t session; /* a hash; 0: unknown */
    int64_t used;
    int64_t sum;
};

struct reader {
    struct slowsql_question question;
    bool is_count;
    struct telemetry_reader *telemetry;
    struct buf text, db;
    struct said *said;
    size_t n, cap;
};

static struct slowsql_question question_of(const struct metric *m)
{
    struct slowsql_question q = {
        .build = stretch_all, .submitted = stretch_all, .db = m->db, .statement = m->statement};

    if (m->thread == THREAD_MAIN)
        q.threads = 1u << SQL_MAIN;
    else if (m->thread == THREAD_OTHER)
        q.threads = 1u << SQL_OTHER;
    return q;
}

static enum err_code bad_statement(const struct reader *r, enum reject fault, struct err *e)
{
    AUTO(buf_fini) struct buf quote = {0};

    text_clean(&quote, buf_str(&r->text), r->text.len, QUOTE_BYTES);
    return err_set(e, ERR_INVALID, "%s: \"%s\"", reject_words[fault], buf_str(&quote));
}

static enum err_code sum_of(struct reader *r, const struct telemetry *t, int64_t *sum,
                            struct err *e)
{
    *sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct slow_statement *s = &t->statements[i];
        if (!slowsql_is_asked(&r->question, s, &r->text, &r->db))
            continue;
        if (s->fault && s->fault != REJECT_BELOW_THRESHOLD)
            return bad_statement(r, s->fault, e);
        *sum += r->is_count ? s->count : s->total_ms;
    }
    return ERR_OK;
}

/** Of a session the later report takes the place of the earlier one. */
static enum err_code keep(struct reader *r, const struct said *s, struct err *e)
{
    for (size_t i = 0; s->session && i < r->n; i++) {
        if (r->said[i].session != s->session)
            continue;
        if (s->used >= r->said[i].used)
            r->said[i] = *s;
        return ERR_OK;
    }
    if (r->n == DOCUMENTS_MOST)
        return err_set(e, ERR_INVALID, "more than %d documents", DOCUMENTS_MOST);
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 4;
        r->said = mem_resize(r->said, r->cap, sizeof(*r->said));
    }
    r->said[r->n++] = *s;
    return ERR_OK;
}

static enum err_code take(struct reader *r, const char *bytes, size_t n, struct err *e)
{
    struct telemetry t;
    struct said s = {0};

    telemetry_read(r->telemetry, bytes, n, &t);
    if (t.fault)
        return err_set(e, ERR_INVALID, "%s", reject_words[t.fault]);
    enum err_code rc = sum_of(r, &t, &s.sum, e);
    if (rc)
        return rc;
    s.session = t.session.n ? tally_hash(t.session.s, t.session.n) | 1 : 0;
    s.used = t.used;
    return keep(r, &s, e);
}

static enum err_code take_lines(struct reader *r, const char *p, const char *end, struct err *e)
{
    size_t number = 0;

    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);
        bool is_empty = skim_space(p, p + n) == p + n;
        number++;
        enum err_code rc = is_empty ? ERR_OK : take(r, p, n, e);
        if (rc) {
            err_wrap(e, "line %zu", number);
            return rc;
        }
        p += n + (stop != NULL);
    }
    return ERR_OK;
}

static enum err_code take_all(struct reader *r, const char *bytes, size_t n, struct err *e)
{
    const char *first = skim_space(bytes, bytes + n), *end = bytes + n;
    struct telemetry t;

    if (first == end)
        return err_set(e, ERR_INVALID, "no telemetry document: the output is empty");
    /* One document may be spread over lines. */
    telemetry_read(r->telemetry, bytes, n, &t);
    return t.fault == REJECT_NOT_JSON ? take_lines(r, bytes, end, e) : take(r, bytes, n, e);
}

enum err_code slowsql_read(const struct metric *m, const char *bytes, size_t n, struct values *out,
                           struct err *e)
{
    AUTO(telemetry_reader_free) struct telemetry_reader *telemetry = telemetry_reader_new();
    struct reader r = {
        .question = question_of(m), .is_count = m->of == OF_COUNT, .telemetry = telemetry};
    double sum = 0;

    enum err_code rc = take_all(&r, bytes, n, e);
    for (size_t i = 0; i < r.n; i++)
        sum += (double)r.said[i].sum;
    buf_fini(&r.text);
    buf_fini(&r.db);
    mem_free(r.said);
    if (rc) {
        err_wrap(e, "cannot measure");
        return rc;
    }
    out->n = 1;
    out->items = mem_array(1, sizeof(*out->items));
    out->items[0] = out->reduced = sum;
    return ERR_OK;
}
