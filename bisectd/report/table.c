/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"
#include "base/mem.h"
#include <assert.h>
#include <string.h>

enum { CELL_BYTES = 200, COLUMNS_MOST = 16 };

struct table {
    const char *const *heads;
    size_t n_columns;
    enum align align[COLUMNS_MOST];
    size_t n_cells;
    size_t cap;
    char **cells; /* row by row */
};

struct table *table_new(const char *const *heads)
{
    struct table *t = mem_alloc(sizeof(*t));

    t->heads = heads;
    while (heads[t->n_columns])
        t->n_columns++;
    assert(t->n_columns > 0 && t->n_columns <= COLUMNS_MOST);
    return t;
}

void table_free(struct table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n_cells; i++)
        mem_free(t->cells[i]);
    mem_free(t->cells);
    mem_free(t);
}

void table_align(struct table *t, size_t column, enum align align)
{
    assert(column < t->n_columns);
    t->align[column] = align;
}

void table_cell(struct table *t, const char *text, size_t max_bytes)
{
    AUTO(buf_fini) struct buf clean = {0};

    style_hostile(&clean, text, max_bytes ? max_bytes : CELL_BYTES);
    if (t->n_cells == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->cells = mem_resize(t->cells, t->cap, sizeof(*t->cells));
    }
    t->cells[t->n_cells++] = buf_take(&clean);
}

size_t table_rows(const struct table *t)
{
    return t->n_cells / t->n_columns;
}

static size_t columns_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static size_t widest(const struct table *t, size_t column)
{
    size_t most = columns_of(t->heads[column]);

    for (size_t i = column; i < t->n_cells; i += t->n_columns) {
        size_t n = columns_of(t->cells[i]);
        if (n > most)
            most = n;
    }
    return most;
}

static void pad(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_addc(out, ' ');
}

static void cell_write(struct buf *out, const char *text, size_t width, enum align align,
                       bool is_last)
{
    size_t gap = width - columns_of(text);

    if (align == ALIGN_RIGHT)
        pad(out, gap);
    buf_adds(out, text);
    if (is_last)
        return;
    pad(out, (align == ALIGN_LEFT ? gap : 0) + 2);
}

static void end_line(struct buf *out)
{
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    buf_addc(out, '\n');
}

void table_write(const struct table *t, const struct style *s, struct buf *out)
{
    size_t widths[COLUMNS_MOST];

    assert(t->n_cells % t->n_columns == 0);
    for (size_t c = 0; c < t->n_columns; c++)
        widths[c] = widest(t, c);
    style_ink(out, s, INK_FAINT);
    for (size_t c = 0; c < t->n_columns; c++)
        cell_write(out, t->heads[c], widths[c], t->align[c], c + 1 == t->n_columns);
    style_plain(out, s);
    buf_addc(out, '\n');
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t c = i % t->n_columns;
        cell_write(out, t->cells[i], widths[c], t->align[c], c + 1 == t->n_columns);
        if (c + 1 == t->n_columns)
            end_line(out);
    }
}
