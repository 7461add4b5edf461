/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/format.h"

const struct format formats[] = {
    {METRIC_VALUE, value_read, "numbers as text, by a regular expression or by a JSON pointer"},
};
const size_t n_formats = LEN(formats);

const struct format *format_of(enum metric_kind kind)
{
    for (size_t i = 0; i < n_formats; i++)
        if (formats[i].kind == kind)
            return &formats[i];
    return NULL;
}
