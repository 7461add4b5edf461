/* SPDX-License-Identifier: Apache-2.0 */
/** A small table in plain text: columns as wide as their widest cell. */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "report/style.h"

struct table;

enum align { ALIGN_LEFT, ALIGN_RIGHT };

/** `heads` is NULL-terminated and borrowed. */
struct table *table_new(const char *const *heads);
void table_free(struct table *t);
DEFINE_AUTO(struct table, table_free)
void table_align(struct table *t, size_t column, enum align align);
/** The next cell of the row, cleaned and cut to `max_bytes` (0: 200); rows follow one another. */
void table_cell(struct table *t, const char *text, size_t max_bytes);
size_t table_rows(const struct table *t);
/** Pre: no row is half full. */
void table_write(const struct table *t, const struct style *s, struct buf *out);

#endif
