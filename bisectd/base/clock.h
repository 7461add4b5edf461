/* SPDX-License-Identifier: Apache-2.0 */
/** Two clocks are two types, so that mixing them does not compile. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/err.h"
#include <stdint.h>

/** CLOCK_MONOTONIC. For deadlines and durations. */
struct mono {
    int64_t ns;
};

/** Since 1970. For storing and showing; never subtract two. */
struct utc {
    int64_t ns;
};

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

struct mono mono_now(void);
struct utc utc_now(void);

/** "2026-11-30T09:35:00.123Z" into `out`. */
void utc_format(struct utc t, char out[32]);
/**
 * ISO 8601: a date, or a date and a time with T or a blank between, with seconds and their fraction
 * or without, and with Z, +01:00 or +0100 or without, which is UTC. 1970 to 2261.
 *
 * Errors: ERR_INVALID.
 */
MUST_CHECK enum err_code utc_parse(const char *text, struct utc *out, struct err *e);

/** "90s", "5m", "2h", "1h30m", "250ms"; plain digits are seconds. ERR_INVALID says what was wrong.
 */
MUST_CHECK enum err_code duration_parse(const char *text, int64_t *ns, struct err *e);

/** "1h02m", "3m05s", "12.3s", "85ms": short, for people. */
void duration_format(int64_t ns, char out[32]);

#endif
