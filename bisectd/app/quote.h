/* SPDX-License-Identifier: Apache-2.0 */
/** Text of any kind as the value of a log line. */
#ifndef APP_QUOTE_H
#define APP_QUOTE_H

#include "base/text.h"

/** `s` in quotes, in `b`, which the caller frees. NULL reads as "". */
static inline const char *quote(struct buf *b, const char *s)
{
    buf_clear(b);
    text_quote(b, s ? s : "");
    return buf_str(b);
}

#endif
