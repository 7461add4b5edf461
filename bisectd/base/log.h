/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One event a line on stderr, key=value or JSON. The first word is the event, in the past or
 * present tense, and every line that concerns one names its bisection and lease.
 *
 *     LOG(LOG_INFO, "task leased", "bisection=%s lease=%s worker=%s", id, lease, worker);
 *
 * Values with spaces, quotes or control characters are quoted by the caller with %s of text_quote.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/auto.h"
#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/** Program name for the lines, least level shown, JSON or key=value. */
void log_setup(const char *program, enum log_level least, bool as_json);
void log_line(enum log_level level, const char *event, const char *format, ...) PRINTF(3, 4);
#define LOG(level, event, ...) log_line(level, event, __VA_ARGS__)

#endif
