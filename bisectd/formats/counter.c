/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/counter.h"
#include "base/mem.h"
#include "base/text.h"
#include <stdbool.h>
#include <string.h>

enum { NUMBER_BYTES = 40 };

/** The next line: from *at to the return value; *at moves behind it. */
static const char *next_line(const char **at, const char *end)
{
    const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));

    *at = stop ? stop + 1 : end;
    return stop ? stop : end;
}

/** The number that is all of `n` bytes. */
static bool read_number(const char *s, size_t n, double *out)
{
    AUTO(mem_free) char *copy = NULL;

    if (n == 0 || n > NUMBER_BYTES || memchr(s, '\0', n))
        return false;
    copy = mem_dup_n(s, n);
    return text_num(copy, out, NULL) == ERR_OK && *out >= 0;
}

static bool starts_with(const char *s, size_t n, const char *with)
{
    return n >= strlen(with) && memcmp(s, with, strlen(with)) == 0;
}

enum err_code counter_read_perf(const char *text, size_t n, double *out, struct err *e)
{
    const char *at = text, *end = text + n;

    while (at < end) {
        const char *line = at, *stop = next_line(&at, end);
        const char *comma = memchr(line, ',', (size_t)(stop - line));
        if (!comma || *line == '#')
            continue;
        const size_t n_value = (size_t)(comma - line);
        if (starts_with(line, n_value, "<not supported>"))
            return err_set(e, ERR_NOT_FOUND, "perf: this machine has no counter for it");
        if (starts_with(line, n_value, "<not counted>"))
            return err_set(e, ERR_INVALID,
                           "perf: not counted (the command was too short, or the "
                           "counter was taken)");
        if (read_number(line, n_value, out))
            return ERR_OK;
        return err_set(e, ERR_INVALID, "perf: expected a number and a comma");
    }
    return err_set(e, ERR_INVALID, "perf has written no count");
}

enum err_code counter_read_callgrind(const char *text, size_t n, double *out, struct err *e)
{
    static const char *const keys[] = {"totals: ", "summary: "}; /* old files lack the first */
    const char *end = text + n;

    for (size_t i = 0; i < LEN(keys); i++) {
        for (const char *at = text; at < end;) {
            const char *line = at, *stop = next_line(&at, end);
            const size_t n_key = strlen(keys[i]);
            if (!starts_with(line, (size_t)(stop - line), keys[i]))
                continue;
            if (read_number(line + n_key, (size_t)(stop - line) - n_key, out))
                return ERR_OK;
            return err_set(e, ERR_INVALID, "callgrind: expected one number after %s", keys[i]);
        }
    }
    return err_set(e, ERR_INVALID, "callgrind has written no total");
}
