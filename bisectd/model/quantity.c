/* SPDX-License-Identifier: Apache-2.0 */
#include "model/quantity.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/** "1e200", where %g says "1e+200". */
static void write_short(double value, char out[32])
{
    snprintf(out, 32, "%.6g", value);
    char *plus = strchr(out, '+');
    if (plus)
        memmove(plus, plus + 1, strlen(plus));
}

enum err_code quantity_check(double value, struct err *e)
{
    char shown[32], most[32];

    if (!isfinite(value))
        return err_set(e, ERR_INVALID, "%s", isnan(value) ? "nan" : "inf");
    if (fabs(value) <= QUANTITY_MOST)
        return ERR_OK;
    write_short(value, shown);
    write_short(QUANTITY_MOST, most);
    return err_set(e, ERR_INVALID, "%s is over the limit of %s", shown, most);
}
