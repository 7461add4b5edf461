/* SPDX-License-Identifier: Apache-2.0 */
/** Enums by name. */
#ifndef MODEL_CHOICE_H
#define MODEL_CHOICE_H

#include "base/err.h"
#include <stdbool.h>

/** One name of an enum; the list ends with a NULL name. */
struct choice {
    const char *name;
    unsigned value;
    bool is_later; /* known, and refused in this version with words that say so */
};
const char *choice_name(const struct choice *choices, unsigned value); /* NULL: none */
/** ERR_INVALID lists the names there are. */
MUST_CHECK enum err_code choice_parse(const struct choice *choices, const char *name, unsigned *out,
                                      struct err *e);

#endif
