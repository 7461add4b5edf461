/* SPDX-License-Identifier: Apache-2.0 */
#include "model/choice.h"
#include "base/buf.h"
#include "base/text.h"
#include <string.h>

const char *choice_name(const struct choice *choices, unsigned value)
{
    for (const struct choice *c = choices; c->name; c++) {
        if (c->value == value && !c->is_later)
            return c->name;
    }
    return NULL;
}

enum err_code choice_parse(const struct choice *choices, const char *name, unsigned *out,
                           struct err *e)
{
    AUTO(buf_fini) struct buf shown = {0};
    AUTO(buf_fini) struct buf list = {0};
    bool is_later = false;

    text_clean(&shown, name, strlen(name), 80);
    for (const struct choice *c = choices; c->name; c++) {
        if (!c->is_later)
            buf_printf(&list, "%s%s", list.len ? ", " : "", c->name);
        if (strcmp(c->name, name) != 0)
            continue;
        if (c->is_later)
            is_later = true;
        else {
            *out = c->value;
            return ERR_OK;
        }
    }
    if (is_later) {
        err_set(e, ERR_INVALID, "%s is not available in this version", name);
        return err_hint(e, "Available: %s.", buf_str(&list));
    }
    return err_set(e, ERR_INVALID, "expected one of %s, got %s", buf_str(&list), buf_str(&shown));
}
