/* SPDX-License-Identifier: Apache-2.0 */
/** Extended regular expressions (POSIX) that a number is taken out of a text by. */
#ifndef MODEL_REGEX_H
#define MODEL_REGEX_H

#include "base/err.h"

/** Whether it can be compiled, within some tenths of a second and some MiB, and has a group.
 *  ERR_INVALID says what is wrong. */
MUST_CHECK enum err_code regex_check(const char *regex, struct err *e);

#endif
