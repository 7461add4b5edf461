/* SPDX-License-Identifier: Apache-2.0 */
/** Why a culprit changed the metric: the task that looks into it, what it saw, what follows. */
#ifndef STORE_EXPLANATIONS_H
#define STORE_EXPLANATIONS_H

#include "base/json.h"
#include "model/inspection.h"
#include "store/store.h"

/** Notes that `task` is to find out; one task a bisection. ERR_CONFLICT: there is one. */
MUST_CHECK enum err_code store_explanation_open(struct store *s, const char *bisection,
                                                const char *task, struct utc now, struct err *e);
/** The end, with a document for people and programs. */
MUST_CHECK enum err_code store_explanation_close(struct store *s, const char *bisection,
                                                 const json *document, struct utc now,
                                                 struct err *e);
struct explanation_row {
    struct id task;
    bool has_inspection;
    json *document; /* NULL: under way */
};
void explanation_row_fini(struct explanation_row *r);
DEFINE_AUTO_FINI(struct explanation_row, explanation_row_fini)
/** ERR_NOT_FOUND. */
MUST_CHECK enum err_code store_explanation_find(struct store *s, const char *bisection,
                                                struct explanation_row *out, struct err *e);

/** What the task saw. ERR_NOT_FOUND: nothing yet. */
MUST_CHECK enum err_code store_inspection_get(struct store *s, const char *task,
                                              struct inspection **out, struct err *e);

#endif
