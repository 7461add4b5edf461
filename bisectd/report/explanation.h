/* SPDX-License-Identifier: Apache-2.0 */
/** An explanation as text for a person. */
#ifndef REPORT_EXPLANATION_H
#define REPORT_EXPLANATION_H

#include "model/explanation.h"
#include "report/style.h"

enum explanation_length {
    EXPLANATION_SHORT, /* below a verdict: what matters most */
    EXPLANATION_LONG   /* all that is kept, and how it came about */
};

/** How much is explained, the differences as a table, then what the kernel's books say. */
void explanation_write(const struct explanation *v, enum explanation_length length,
                       const struct style *s, struct buf *out);

/** Of several culprits: which one is explained, and that the others are not. Nothing for one. */
void explanation_write_which(const struct explanation *v, size_t n_culprits, const struct style *s,
                             struct buf *out);

#endif
