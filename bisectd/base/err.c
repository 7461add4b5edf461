/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[ERR_COUNT] = {
    [ERR_OK] = "ok",
    [ERR_NOMEM] = "out_of_memory",
    [ERR_INVALID] = "invalid",
    [ERR_NOT_FOUND] = "not_found",
    [ERR_CONFLICT] = "conflict",
    [ERR_TIMEOUT] = "timeout",
    [ERR_LIMIT] = "limit",
    [ERR_DENIED] = "denied",
    [ERR_IO] = "io",
    [ERR_PEER] = "peer",
};

const char *err_name(enum err_code code)
{
    assert((size_t)code < LEN(names));
    return names[code];
}

/** A cut in the middle of a UTF-8 sequence would make the whole text invalid. */
static void trim_partial(char *s, size_t cap, int wanted)
{
    size_t n = strlen(s);
    size_t back = 0; /* continuation bytes at the end */

    if (wanted < 0 || (size_t)wanted < cap)
        return;
    while (back < 3 && back < n && ((unsigned char)s[n - 1 - back] & 0xC0) == 0x80)
        back++;
    unsigned char lead = back < n ? (unsigned char)s[n - 1 - back] : 0;
    size_t len = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (len > back + 1)
        s[n - 1 - back] = '\0';
}

/* Arguments may point into the struct being written, hence the detour over a local. */
PRINTF(3, 0)
static void format_into(char *out, size_t cap, const char *format, va_list args)
{
    char text[sizeof(((struct err *)0)->text)];

    int n = vsnprintf(text, sizeof(text), format, args);
    trim_partial(text, sizeof(text), n);
    n = snprintf(out, cap, "%s", text);
    trim_partial(out, cap, n);
}

enum err_code err_set(struct err *e, enum err_code code, const char *format, ...)
{
    assert(code != ERR_OK);
    if (!e)
        return code;

    va_list args;
    va_start(args, format);
    format_into(e->text, sizeof(e->text), format, args);
    va_end(args);
    e->code = code;
    e->sys = 0;
    e->hint[0] = '\0';
    return code;
}

static enum err_code code_of_errno(int sys)
{
    static const struct {
        int sys;
        enum err_code code;
    } rows[] = {
        {ENOENT, ERR_NOT_FOUND}, {ENOTDIR, ERR_NOT_FOUND}, {EACCES, ERR_DENIED},
        {EPERM, ERR_DENIED},     {ETIMEDOUT, ERR_TIMEOUT}, {ENOMEM, ERR_NOMEM},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        if (rows[i].sys == sys)
            return rows[i].code;
    return ERR_IO;
}

enum err_code err_sys(struct err *e, int sys, const char *format, ...)
{
    enum err_code code = code_of_errno(sys);
    char what[sizeof(e->text)];
    char reason[128];

    if (!e)
        return code;
    va_list args;
    va_start(args, format);
    format_into(what, sizeof(what), format, args);
    va_end(args);
    err_set(e, code, "%s: %s", what, strerror_r(sys, reason, sizeof(reason)));
    e->sys = sys;
    return code;
}

enum err_code err_wrap(struct err *e, const char *format, ...)
{
    char what[sizeof(e->text)];

    if (!e)
        return ERR_INVALID;
    assert(e->code != ERR_OK);
    va_list args;
    va_start(args, format);
    format_into(what, sizeof(what), format, args);
    va_end(args);

    char whole[2 * sizeof(e->text) + 2];
    snprintf(whole, sizeof(whole), "%s: %s", what, e->text);
    int n = snprintf(e->text, sizeof(e->text), "%s", whole);
    trim_partial(e->text, sizeof(e->text), n);
    return e->code;
}

enum err_code err_hint(struct err *e, const char *format, ...)
{
    if (!e)
        return ERR_INVALID;
    va_list args;
    va_start(args, format);
    format_into(e->hint, sizeof(e->hint), format, args);
    va_end(args);
    return e->code;
}
