/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/csv.h"
#include "base/buf.h"
#include "base/mem.h"
#include <string.h>

static void row_fini(struct csv_row *r)
{
    mem_free(r->cells);
    mem_free(r->bytes);
    *r = (struct csv_row){0};
}

void csv_fini(struct csv *c)
{
    row_fini(&c->header);
    row_fini(&c->row);
}

/** Copies a quoted cell from behind its first quote; returns what is behind its last, or NULL. */
static const char *copy_quoted(const char *s, const char *end, struct buf *out)
{
    for (; s < end; s++) {
        if (*s != '"')
            buf_addc(out, *s);
        else if (s + 1 < end && s[1] == '"')
            buf_addc(out, *s++);
        else
            return s + 1;
    }
    return NULL;
}

/** Copies one record, a NUL behind each cell; returns what is behind its line end, or NULL where a
 *  quote does not end. */
static const char *copy_record(const char *s, const char *end, struct buf *out, size_t *n_cells)
{
    bool at_start = true;

    for (*n_cells = 1; s < end && *s != '\n';) {
        if (*s == '"' && at_start) {
            s = copy_quoted(s + 1, end, out);
            if (!s)
                return NULL;
            at_start = false;
        } else if (*s == ',') {
            buf_addc(out, '\0');
            ++*n_cells;
            at_start = true;
            s++;
        } else {
            at_start = at_start && (*s == ' ' || *s == '\t');
            buf_addc(out, *s ? *s : '?'); /* a NUL is no part of a number */
            s++;
        }
    }
    buf_addc(out, '\0');
    return s < end ? s + 1 : s;
}

static enum err_code read_row(struct csv *c, struct csv_row *row, bool *at_end, struct err *e)
{
    struct buf bytes = {0};
    size_t n = 0;

    row_fini(row);
    for (;;) { /* past empty lines */
        struct piece rest = c->rest, line = {0};
        c->n_line++;
        *at_end = !piece_line(&rest, &line);
        if (*at_end)
            return ERR_OK;
        if (piece_trimmed(line).n > 0)
            break;
        c->rest = rest;
    }
    const char *end = c->rest.s + c->rest.n;
    const char *next = copy_record(c->rest.s, end, &bytes, &n);
    if (!next || n > CSV_MOST_COLUMNS) {
        buf_fini(&bytes);
        return next ? err_set(e, ERR_INVALID, "line %zu: more than %d columns", c->n_line,
                              CSV_MOST_COLUMNS)
                    : err_set(e, ERR_INVALID, "line %zu: a quote does not end", c->n_line);
    }
    c->rest = (struct piece){next, (size_t)(end - next)};
    row->n = n;
    row->bytes = buf_take(&bytes);
    row->cells = mem_array(n, sizeof(*row->cells));
    const char *s = row->bytes;
    for (size_t i = 0; i < n; i++) {
        row->cells[i] = piece_trimmed((struct piece){s, strlen(s)});
        s += strlen(s) + 1;
    }
    return ERR_OK;
}

enum err_code csv_init(struct csv *c, struct piece text, struct err *e)
{
    bool at_end = false;

    *c = (struct csv){.rest = text};
    enum err_code rc = read_row(c, &c->header, &at_end, e);
    if (!rc && at_end)
        return err_set(e, ERR_INVALID, "the output is empty");
    return rc;
}

bool csv_next(struct csv *c, struct err *e)
{
    bool at_end = false;

    if (read_row(c, &c->row, &at_end, e) || at_end)
        return false;
    if (c->row.n == c->header.n)
        return true;
    err_set(e, ERR_INVALID, "line %zu: %zu columns, the header has %zu", c->n_line, c->row.n,
            c->header.n);
    return false;
}

int csv_column(const struct csv *c, const char *name)
{
    for (size_t i = 0; i < c->header.n; i++)
        if (piece_is(c->header.cells[i], name))
            return (int)i;
    return -1;
}

struct piece csv_cell(const struct csv *c, int column)
{
    return column < 0 ? (struct piece){"", 0} : c->row.cells[column];
}
