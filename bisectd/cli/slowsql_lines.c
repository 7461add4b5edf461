/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/slowsql_lines.h"
#include "base/mem.h"
#include "cli/slowsql_feed.h"
#include "formats/slowsql_line.h"
#include <string.h>

/** *line: the lines of the chunk's file so far. */
static enum err_code each_of(const struct chunk *c, size_t *line,
                             enum err_code (*each)(void *, const char *, size_t, struct err *),
                             void *context, struct err *e)
{
    const char *p = buf_str(&c->bytes), *end = p + c->bytes.len;

    if (c->n_too_long)
        return err_set(e, ERR_LIMIT, "a line is over %d MiB", FEED_LINE_MOST / MIB);
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);
        ++*line;
        enum err_code rc = n ? each(context, p, n, e) : ERR_OK;
        if (rc)
            return rc;
        p += n + (stop != NULL);
    }
    return ERR_OK;
}

enum err_code slowsql_each_line(const struct options *o,
                                enum err_code (*each)(void *, const char *, size_t, struct err *),
                                void *context, struct err *e)
{
    AUTO(feed_free) struct feed *f = NULL;
    struct chunk c = {.source = 0};
    size_t line = 0, source = 0;
    bool has = true;

    enum err_code rc = feed_new(o->words, o->n_words, FEED_IN_ORDER, &f, e);
    while (!rc && has) {
        rc = feed_next(f, &c, &has, e);
        if (rc || !has)
            break;
        line = c.source == source ? line : 0;
        source = c.source;
        rc = each_of(&c, &line, each, context, e);
        if (rc)
            err_wrap(e, "%.300s: line %zu", feed_name(f, source), line);
    }
    buf_fini(&c.bytes);
    return rc;
}

void slowsql_write_tally(const struct tally *t, struct buf *out)
{
    const struct tally_row **rows = tally_sorted(t);

    for (size_t i = 0; i < tally_n(t); i++) {
        const struct sums *s = &rows[i]->sums;
        if (s->count || s->total_ms || s->reports || s->used)
            slowsql_line_add(out, rows[i]->key, rows[i]->n_key, s);
    }
    mem_free(rows);
}
