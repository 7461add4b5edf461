/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of the store as the API shows them. */
#ifndef API_ROWS_H
#define API_ROWS_H

#include "api/exchange.h"
#include "api/service.h"
#include "store/samples.h"
#include "store/tasks.h"

/** "2026-11-30T09:35:00.123Z", or null for ns 0. */
json *json_time(struct utc t);
/** Cursors are strings, like all ids. */
json *json_cursor(int64_t at);
json *json_sample(const struct sample_row *s);
json *json_build(const struct build_row *b);
json *json_task(const struct task_row *t, const struct build_list *builds);

/** The items asked for, at most those of a page: "next" tells that there are more. */
MUST_CHECK enum err_code page_size(const struct exchange *x, const struct service *s, int64_t *out,
                                   struct err *e);

/** A page of samples by the filter and the exchange's limit and after. */
void answer_samples(struct exchange *x, const struct service *s,
                    const struct sample_filter *filter);

#endif
