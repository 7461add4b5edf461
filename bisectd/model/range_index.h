/* SPDX-License-Identifier: Apache-2.0 */
/** Finds the revisions of a range by their hash, each in one look. */
#ifndef MODEL_RANGE_INDEX_H
#define MODEL_RANGE_INDEX_H

#include "base/auto.h"
#include "model/revision.h"

struct range_index;

/** Borrows the range, which must outlive it and keep its commits. */
struct range_index *range_index_new(const struct range *range);
void range_index_free(struct range_index *x);
DEFINE_AUTO(struct range_index, range_index_free)

/** Commits of the range. */
uint32_t range_index_size(const struct range_index *x);
/** Index of a revision, or UINT32_MAX. */
uint32_t range_index_find(const struct range_index *x, const struct revision *id);

#endif
