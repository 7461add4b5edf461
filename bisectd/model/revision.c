/* SPDX-License-Identifier: Apache-2.0 */
#include "model/revision.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/fields.h"
#include <string.h>

bool revision_is_set(const struct revision *r)
{
    return r->hex[0] != '\0';
}

bool revision_equal(const struct revision *a, const struct revision *b)
{
    return strcmp(a->hex, b->hex) == 0;
}

enum err_code revision_parse(const char *hex, struct revision *out, struct err *e)
{
    static const char digits[] = "0123456789abcdef";
    const size_t n = strspn(hex, digits);

    if (n != 40 || hex[n]) {
        AUTO(buf_fini) struct buf shown = {0};

        text_clean(&shown, hex, strlen(hex), 80);
        return err_set(e, ERR_INVALID, "expected a commit's 40 lower-case hex digits, got \"%s\"",
                       buf_str(&shown));
    }
    memcpy(out->hex, hex, 41);
    return ERR_OK;
}
