/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const level_names[] = {
    [LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"};

/* Set once at start, before there are threads. */
static struct {
    const char *program;
    enum log_level least;
    bool as_json;
} setup = {"bisectd", LOG_INFO, false};

void log_setup(const char *program, enum log_level least, bool as_json)
{
    setup.program = program;
    setup.least = least;
    setup.as_json = as_json;
}

/** Reads one value as log_line's callers write it: bare, or in quotes with backslashes. */
static const char *scan_value(const char *s, struct buf *out)
{
    bool is_quoted = *s == '"';

    if (!is_quoted) {
        size_t n = strcspn(s, " ");
        buf_add(out, s, n);
        return s + n;
    }
    for (s++; *s && *s != '"'; s++) {
        if (*s == '\\' && s[1])
            s++;
        buf_addc(out, *s);
    }
    return *s ? s + 1 : s;
}

static void add_pairs(json *line, const char *s)
{
    while (*s) {
        s += strspn(s, " ");
        size_t n = strcspn(s, "= ");
        if (n == 0 && *s != '=')
            return;
        AUTO(buf_fini) struct buf key = {0};
        AUTO(buf_fini) struct buf value = {0};
        buf_add(&key, s, n);
        s += n;
        if (*s == '=')
            s = scan_value(s + 1, &value);
        json_put(line, buf_str(&key), json_new_string(buf_str(&value)));
    }
}

static void line_as_json(struct buf *out, const char *at, const char *level, const char *event,
                         const char *pairs)
{
    AUTO(json_free) json *line = json_new_object();

    json_put(line, "at", json_new_string(at));
    json_put(line, "level", json_new_string(level));
    json_put(line, "program", json_new_string(setup.program));
    json_put(line, "event", json_new_string(event));
    add_pairs(line, pairs);
    json_dump(line, JSON_COMPACT, out);
}

static void line_as_text(struct buf *out, const char *at, const char *level, const char *event,
                         const char *pairs)
{
    buf_printf(out, "%s %s: %s: %s", at, setup.program, level, event);
    if (*pairs) {
        buf_addc(out, ' ');
        text_clean(out, pairs, strlen(pairs), 64 * KIB);
    }
}

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return; /* nowhere left to complain */
        bytes += done;
        n -= (size_t)done;
    }
}

void log_line(enum log_level level, const char *event, const char *format, ...)
{
    int keep = errno;
    char at[32];
    char pairs[4096];
    va_list args;

    if (level < setup.least)
        return;
    va_start(args, format);
    vsnprintf(pairs, sizeof(pairs), format, args);
    va_end(args);
    utc_format(utc_now(), at);

    AUTO(buf_fini) struct buf line = {0};
    if (setup.as_json)
        line_as_json(&line, at, level_names[level], event, pairs);
    else
        line_as_text(&line, at, level_names[level], event, pairs);
    buf_addc(&line, '\n');
    write_all(STDERR_FILENO, buf_str(&line), line.len);
    errno = keep;
}
