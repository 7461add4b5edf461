/* SPDX-License-Identifier: Apache-2.0 */
#include "model/check.h"
#include "base/buf.h"
#include "base/text.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 64 };

enum err_code err_expected(struct err *e, const char *key, const char *what, const json *got)
{
    AUTO(buf_fini) struct buf dump = {0};
    AUTO(buf_fini) struct buf shown = {0};

    if (json_is_object(got))
        buf_adds(&shown, "an object");
    else if (json_is_array(got))
        buf_adds(&shown, "a list");
    else if (got) {
        json_dump(got, JSON_COMPACT, &dump);
        text_clean(&shown, buf_str(&dump), dump.len, 80);
    } else
        buf_adds(&shown, "nothing");
    return err_set(e, ERR_INVALID, "%s: expected %s, got %s", key, what, buf_str(&shown));
}

enum err_code err_unknown_key(struct err *e, const char *key, const char *const *known, size_t n)
{
    AUTO(buf_fini) struct buf shown = {0};
    AUTO(buf_fini) struct buf list = {0};
    const char *nearest = text_nearest(key, known, n);

    text_clean(&shown, key, strlen(key), 80);
    for (size_t i = 0; i < n; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", known[i]);
    if (nearest)
        err_set(e, ERR_INVALID, "%s: unknown key; did you mean %s?", buf_str(&shown), nearest);
    else
        err_set(e, ERR_INVALID, "%s: unknown key", buf_str(&shown));
    return err_hint(e, "Known here: %s.", buf_str(&list));
}

enum err_code err_under(struct err *e, const char *format, ...)
{
    if (!e)
        return ERR_INVALID;

    const struct err inner = *e;
    char outer[256];
    va_list args;

    va_start(args, format);
    vsnprintf(outer, sizeof(outer), format, args);
    va_end(args);
    err_set(e, inner.code, "%s%s%s", outer, inner.text[0] == '[' ? "" : ".", inner.text);
    if (inner.hint[0])
        err_hint(e, "%s", inner.hint);
    return inner.code;
}

enum err_code name_check(const char *key, const char *name, struct err *e)
{
    AUTO(buf_fini) struct buf shown = {0};
    size_t n = name ? strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789._-")
                    : 0;

    if (n > 0 && n <= MAX_NAME && name[n] == '\0' && isalnum((unsigned char)name[0]))
        return ERR_OK;
    if (name)
        text_clean(&shown, name, strlen(name), 80);
    return err_set(e, ERR_INVALID,
                   "%s: expected a name of letters, digits, '.', '_' and '-', at most %d long and "
                   "beginning with a letter or digit, got \"%s\"",
                   key, MAX_NAME, buf_str(&shown));
}

enum err_code path_check(const char *key, const char *path, struct err *e)
{
    const char *part = path;

    if (!*path)
        return err_set(e, ERR_INVALID, "%s: expected a path, got an empty string", key);
    if (*path == '/')
        return err_set(e, ERR_INVALID, "%s: expected a relative path, got %s", key, path);
    while (part) {
        const size_t n = strcspn(part, "/");

        if (n == 2 && part[0] == '.' && part[1] == '.')
            return err_set(e, ERR_INVALID, "%s: %s leads out of its folder", key, path);
        part = part[n] ? part + n + 1 : NULL;
    }
    return ERR_OK;
}

enum err_code environment_check(const struct pairs *environment, struct err *e)
{
    for (size_t i = 0; i < environment->n; i++) {
        const char *key = environment->items[i].key;
        const size_t n = strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789_");

        if (n == 0 || key[n] || isdigit((unsigned char)key[0]))
            return err_set(e, ERR_INVALID,
                           "environment.%s: expected a name of letters, digits and '_'", key);
        if (strncmp(key, "BISECTD_", 8) == 0)
            return err_set(e, ERR_INVALID, "environment.%s: names with BISECTD_ are set by bisectd",
                           key);
    }
    return ERR_OK;
}
