/* SPDX-License-Identifier: Apache-2.0 */
/* One number a line; unit and direction are the metric's. */
#include "formats/format.h"
#include <stdio.h>

bool plain_is(const struct document *d)
{
    struct piece rest = d->text, line;
    size_t n = 0;
    double number;

    while (piece_line(&rest, &line)) {
        line = piece_trimmed(line);
        if (line.n > 0 && !piece_number(line, &number))
            return false;
        n += line.n > 0;
    }
    return n > 0;
}

enum err_code plain_list(const struct document *d, struct results *out, struct err *e)
{
    struct piece rest = d->text, line;
    struct result *x = NULL;
    size_t n_line = 0;
    char what[32];

    while (piece_line(&rest, &line)) {
        n_line++;
        line = piece_trimmed(line);
        if (line.n == 0)
            continue;
        snprintf(what, sizeof(what), "line %zu", n_line);
        x = results_at(out, &(struct result_key){0});
        result_add_piece(out, x, line, what);
    }
    if (!x)
        return err_set(e, ERR_INVALID, "no number: the output is empty");
    x->is_main = true;
    return ERR_OK;
}
