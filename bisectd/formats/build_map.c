/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that say of which revision a build is. */
#include "base/json.h"
#include "base/mem.h"
#include "formats/build_id.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BUILDS_MOST = 1000000, CELLS = 16, REVISION_BYTES = 256, BUILD_BYTES = 14 };

void build_map_fini(struct build_map *m)
{
    for (size_t i = 0; i < m->n; i++)
        mem_free(m->rows[i].revision);
    mem_free(m->rows);
    *m = (struct build_map){0};
}

/** A list while it is read. */
struct listing {
    const char *platform;
    struct build_map map;
    size_t cap;
};

static bool is_revision(struct span r)
{
    for (size_t i = 0; i < r.n; i++)
        if ((unsigned char)r.s[i] <= ' ' || r.s[i] == 0x7F)
            return false;
    return r.n > 0 && r.n <= REVISION_BYTES && r.s[0] != '-';
}

static enum err_code take(struct listing *l, struct span build, struct span revision,
                          struct span platform, struct err *e)
{
    stamp id = build_id_stamp(build);

    if (!id)
        return err_set(e, ERR_INVALID, "\"%.*s\" is no build ID of 10 or 14 digits",
                       (int)(build.n < 40 ? build.n : 40), build.n ? build.s : "");
    if (!is_revision(revision))
        return err_set(e, ERR_INVALID, "build %.*s has no revision", (int)build.n, build.s);
    if (l->platform && platform.n > 0 &&
        !(platform.n == strlen(l->platform) && memcmp(platform.s, l->platform, platform.n) == 0))
        return ERR_OK;
    if (l->map.n == BUILDS_MOST)
        return err_set(e, ERR_LIMIT, "more than a million builds");
    if (l->map.n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->map.rows = mem_resize(l->map.rows, l->cap, sizeof(*l->map.rows));
    }
    l->map.rows[l->map.n++] =
        (struct build_row){.build = id, .revision = mem_dup_n(revision.s, revision.n)};
    return ERR_OK;
}

static int by_build(const void *a, const void *b)
{
    const struct build_row *x = a, *y = b;

    return (x->build > y->build) - (x->build < y->build);
}

/** Sorts, and makes one row of those of one build. */
static void settle(struct build_map *m)
{
    size_t n = 0;

    if (m->n)
        qsort(m->rows, m->n, sizeof(*m->rows), by_build);
    for (size_t i = 0; i < m->n; i++) {
        struct build_row *last = n ? &m->rows[n - 1] : NULL;
        if (!last || last->build != m->rows[i].build) {
            m->rows[n++] = m->rows[i];
            continue;
        }
        if (last->revision && strcmp(last->revision, m->rows[i].revision) != 0) {
            mem_free(last->revision);
            last->revision = NULL;
        }
        mem_free(m->rows[i].revision);
    }
    m->n = n;
}

/* JSON */

static struct span span_of(const char *s)
{
    return (struct span){s, s ? strlen(s) : 0};
}

static enum err_code read_json(const char *text, size_t n, struct listing *l, struct err *e)
{
    AUTO(json_free) json *v = NULL;
    json *builds = NULL;

    if (json_parse_foreign(text, n, &v, e))
        return e ? e->code : ERR_INVALID;
    builds = json_is_array(v) ? v : json_at(v, "builds");
    if (!json_is_array(builds))
        return err_set(e, ERR_INVALID, "builds: expected a list of builds");
    for (size_t i = 0; i < json_len(builds); i++) {
        const json *b = json_item(builds, i);
        const char *revision = json_str(json_at(b, "revision"), json_str(json_at(b, "node"), NULL));
        enum err_code rc =
            take(l, span_of(json_str(json_at(b, "buildid"), NULL)), span_of(revision),
                 span_of(json_str(json_at(b, "platform"), NULL)), e);
        if (rc) {
            err_wrap(e, "builds[%zu]", i);
            return rc;
        }
    }
    return ERR_OK;
}

/* Lines */

/** Which cell is what; -1: not there. */
struct columns {
    int build, revision, platform;
};

/** Cuts a line into at most CELLS cells, without their quotes. */
static size_t cut(struct span line, struct span cells[CELLS])
{
    size_t n = 0;
    const char *p = line.s, *end = line.s + line.n;

    for (; n < CELLS; p++) {
        while (p < end && *p == ' ')
            p++;
        const char *start = p;
        bool is_quoted = p < end && *p == '"';
        if (is_quoted) {
            const char *quote = memchr(p + 1, '"', (size_t)(end - p) - 1);
            start = p + 1;
            p = quote ? quote : end;
            cells[n++] = (struct span){start, (size_t)(p - start)};
        }
        while (p < end && *p != ',' && *p != ';' && *p != '\t')
            p++;
        if (!is_quoted)
            cells[n++] = (struct span){start, (size_t)(p - start)};
        if (p >= end)
            break;
    }
    for (size_t i = 0; i < n; i++) {
        while (cells[i].n > 0 && cells[i].s[cells[i].n - 1] == ' ')
            cells[i].n--;
    }
    return n;
}

static bool is_word(struct span cell, const char *word)
{
    return cell.n == strlen(word) && strncasecmp(cell.s, word, cell.n) == 0;
}

/** A first line without a build ID names the columns. */
static bool read_heads(const struct span *cells, size_t n, struct columns *out)
{
    struct columns c = {-1, -1, -1};

    for (size_t i = 0; i < n; i++) {
        if (is_word(cells[i], "buildid") || is_word(cells[i], "build_id") ||
            is_word(cells[i], "build"))
            c.build = (int)i;
        else if (is_word(cells[i], "revision") || is_word(cells[i], "node") ||
                 is_word(cells[i], "changeset"))
            c.revision = (int)i;
        else if (is_word(cells[i], "platform"))
            c.platform = (int)i;
    }
    if (c.build < 0 || c.revision < 0)
        return false;
    *out = c;
    return true;
}

static struct span cell_at(const struct span *cells, size_t n, int at)
{
    return at >= 0 && (size_t)at < n ? cells[at] : (struct span){0};
}

static enum err_code read_lines(const char *text, size_t n, struct listing *l, struct err *e)
{
    struct columns columns = {0, 1, 2};
    const char *end = text + n;
    size_t number = 0;
    bool is_first = true;

    for (const char *p = text; p < end;) {
        struct span cells[CELLS];
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        struct span line = {p, (size_t)((stop ? stop : end) - p)};

        p += line.n + (stop != NULL);
        number++;
        if (line.n > 0 && line.s[line.n - 1] == '\r')
            line.n--;
        if (line.n == 0 || *line.s == '#')
            continue;
        size_t n_cells = cut(line, cells);
        bool is_head = is_first && read_heads(cells, n_cells, &columns);
        is_first = false;
        if (is_head)
            continue;
        enum err_code rc = take(l, cell_at(cells, n_cells, columns.build),
                                cell_at(cells, n_cells, columns.revision),
                                cell_at(cells, n_cells, columns.platform), e);
        if (rc) {
            err_wrap(e, "line %zu", number);
            return rc;
        }
    }
    return ERR_OK;
}

enum err_code build_map_read(const char *text, size_t n, const char *platform,
                             struct build_map *out, struct err *e)
{
    struct listing l = {.platform = platform};
    const char *first = skim_space(text, text + n);
    bool is_json = first < text + n && (*first == '{' || *first == '[');

    enum err_code rc = is_json ? read_json(text, n, &l, e) : read_lines(text, n, &l, e);
    if (!rc && l.map.n == 0)
        rc = err_set(e, ERR_INVALID, "no build is listed");
    if (rc) {
        build_map_fini(&l.map);
        return rc;
    }
    settle(&l.map);
    *out = l.map;
    return ERR_OK;
}

const struct build_row *build_map_find(const struct build_map *m, stamp build)
{
    const struct build_row key = {.build = build};

    return m->n ? bsearch(&key, m->rows, m->n, sizeof(*m->rows), by_build) : NULL;
}
