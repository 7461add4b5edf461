/* SPDX-License-Identifier: Apache-2.0 */
/** What is said about values from outside, always beginning with the path of the key at fault. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include "base/err.h"
#include "base/json.h"
#include "model/strings.h"

/** "key: unknown key; did you mean …", with the known ones as the hint. */
enum err_code err_unknown_key(struct err *e, const char *key, const char *const *known, size_t n);
/** "key: expected `what`, got …". */
enum err_code err_expected(struct err *e, const char *key, const char *what, const json *got);
/** "outer.key: …" for what was "key: …". */
enum err_code err_under(struct err *e, const char *format, ...) PRINTF(2, 3);

/** Letters, digits and ._- with a letter or digit first, at most 64: names of projects, metrics,
 * platforms. */
MUST_CHECK enum err_code name_check(const char *key, const char *name, struct err *e);
/** A path below some folder: relative, no "..", not empty. */
MUST_CHECK enum err_code path_check(const char *key, const char *path, struct err *e);
/** Variables of a job: names of letters, digits and '_' that are not ours. "environment.KEY: …". */
MUST_CHECK enum err_code environment_check(const struct pairs *environment, struct err *e);

#endif
