/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/revision_map.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/piece.h"
#include <stdlib.h>
#include <string.h>

enum { QUOTE_BYTES = 60, MOST_BYTES = 200 };

void revision_map_fini(struct revision_map *m)
{
    for (size_t i = 0; i < m->n; i++)
        mem_free(m->items[i].foreign);
    mem_free(m->items);
    *m = (struct revision_map){0};
}

static bool is_between(char c)
{
    return c == '\t' || c == ',' || c == ' ';
}

/** Splits "FOREIGN <between> HEX"; false if it is no such line. */
static bool split(struct piece line, struct piece *foreign, struct revision *revision)
{
    size_t n = 0;

    while (n < line.n && !is_between(line.s[n]))
        n++;
    *foreign = (struct piece){line.s, n};
    while (n < line.n && is_between(line.s[n]))
        n++;
    struct piece hex = piece_trimmed((struct piece){line.s + n, line.n - n});
    AUTO(mem_free) char *text = mem_dup_n(hex.s, hex.n < MOST_BYTES ? hex.n : MOST_BYTES);
    return foreign->n > 0 && foreign->n <= MOST_BYTES && !memchr(foreign->s, '\0', foreign->n) &&
           hex.n == strlen(text) && revision_parse(text, revision, NULL) == ERR_OK;
}

static int by_foreign(const void *a, const void *b)
{
    const struct revision_pair *x = a, *y = b;
    int order = strcmp(x->foreign, y->foreign);

    return order ? order : strcmp(x->revision.hex, y->revision.hex);
}

/** Sorts, and drops pairs that are there twice. */
static enum err_code settle(struct revision_map *m, struct err *e)
{
    size_t n = 0;

    if (m->n > 0)
        qsort(m->items, m->n, sizeof(*m->items), by_foreign);
    for (size_t i = 0; i < m->n; i++) {
        struct revision_pair *p = &m->items[i];
        if (n == 0 || strcmp(m->items[n - 1].foreign, p->foreign) != 0) {
            struct revision_pair kept = {TAKE(p->foreign), p->revision};
            m->items[n++] = kept;
            continue;
        }
        if (!revision_equal(&m->items[n - 1].revision, &p->revision))
            return err_set(e, ERR_INVALID, "%.80s is both %s and %s", p->foreign,
                           m->items[n - 1].revision.hex, p->revision.hex);
        mem_free(TAKE(p->foreign));
    }
    m->n = n;
    return ERR_OK;
}

static enum err_code not_a_pair(struct piece line, size_t n_line, struct err *e)
{
    AUTO(buf_fini) struct buf quote = {0};

    text_clean(&quote, line.s, line.n, QUOTE_BYTES);
    err_set(e, ERR_INVALID, "line %zu: \"%s\" is no name and commit", n_line, buf_str(&quote));
    return err_hint(e, "A line is a foreign name, a tab and the 40 hex digits of a commit.");
}

static enum err_code read_pairs(struct piece rest, struct revision_map *m, struct err *e)
{
    struct piece line;
    size_t cap = 0;

    for (size_t n_line = 1; piece_line(&rest, &line); n_line++) {
        struct piece foreign;
        struct revision revision;
        line = piece_trimmed(line);
        if (line.n == 0 || *line.s == '#')
            continue;
        if (!split(line, &foreign, &revision)) {
            if (m->n == 0 && n_line == 1)
                continue; /* a head line */
            return not_a_pair(line, n_line, e);
        }
        if (m->n == REVISION_MAP_MOST)
            return err_set(e, ERR_LIMIT, "more than %d pairs", REVISION_MAP_MOST);
        if (m->n == cap) {
            cap = 2 * cap + 64;
            m->items = mem_resize(m->items, cap, sizeof(*m->items));
        }
        m->items[m->n++] = (struct revision_pair){mem_dup_n(foreign.s, foreign.n), revision};
    }
    return ERR_OK;
}

enum err_code revision_map_parse(const char *bytes, size_t n, struct revision_map *out,
                                 struct err *e)
{
    AUTO(revision_map_fini) struct revision_map m = {0};

    if (read_pairs((struct piece){bytes, n}, &m, e))
        return e ? e->code : ERR_INVALID;
    size_t n_read = m.n;
    enum err_code code = settle(&m, e);
    if (code) {
        m.n = n_read;
        return code;
    }
    *out = m;
    m = (struct revision_map){0};
    return ERR_OK;
}

static int to_foreign(const void *key, const void *item)
{
    return strcmp(key, ((const struct revision_pair *)item)->foreign);
}

const struct revision *revision_map_find(const struct revision_map *m, const char *foreign)
{
    const struct revision_pair *p =
        m->n ? bsearch(foreign, m->items, m->n, sizeof(*m->items), to_foreign) : NULL;

    return p ? &p->revision : NULL;
}
