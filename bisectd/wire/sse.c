/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/sse.h"
#include <string.h>

void sse_init(struct sse *s, size_t max_bytes)
{
    *s = (struct sse){.max_bytes = max_bytes};
}

void sse_fini(struct sse *s)
{
    buf_fini(&s->line);
    buf_fini(&s->name);
    buf_fini(&s->data);
}

/** Gives away the event read so far; returns false when told to stop. */
static bool dispatch(struct sse *s, sse_event_fn *event, void *context)
{
    bool go_on = true;

    if (s->has_field) {
        if (s->data.len) { /* the last line's end is not part of the data */
            s->data.len--;
            s->data.data[s->data.len] = '\0';
        }
        go_on = event(context, s->name.len ? buf_str(&s->name) : "message", buf_str(&s->data),
                      s->data.len);
    }
    buf_clear(&s->name);
    buf_clear(&s->data);
    s->has_field = false;
    return go_on;
}

/** One line that is not empty. */
static enum err_code take_field(struct sse *s, const char *line, size_t n, struct err *e)
{
    const char *colon = memchr(line, ':', n);
    size_t n_name = colon ? (size_t)(colon - line) : n;
    const char *value = colon ? colon + 1 : line + n;
    size_t n_value = n - (size_t)(value - line);

    if (n_value && *value == ' ') {
        value++;
        n_value--;
    }
    if (n_name == 5 && memcmp(line, "event", 5) == 0) {
        buf_clear(&s->name);
        buf_add(&s->name, value, n_value);
        s->has_field = true;
    } else if (n_name == 4 && memcmp(line, "data", 4) == 0) {
        if (s->data.len + n_value + 1 > s->max_bytes)
            return err_set(e, ERR_LIMIT, "an event of the stream is over %zu bytes", s->max_bytes);
        buf_add(&s->data, value, n_value);
        buf_addc(&s->data, '\n');
        s->has_field = true;
    }
    return ERR_OK;
}

/** The line in s->line is complete. */
static enum err_code take_line(struct sse *s, sse_event_fn *event, void *context, bool *stopped,
                               struct err *e)
{
    const char *line = buf_str(&s->line);
    size_t n = s->line.len;
    enum err_code code = ERR_OK;

    if (!s->is_begun && n >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3;
        n -= 3;
    }
    s->is_begun = true;
    if (n == 0)
        *stopped = !dispatch(s, event, context);
    else
        code = take_field(s, line, n, e);
    buf_clear(&s->line);
    return code;
}

enum err_code sse_feed(struct sse *s, const char *bytes, size_t n, sse_event_fn *event,
                       void *context, bool *stopped, struct err *e)
{
    *stopped = false;
    for (size_t i = 0; i < n && !*stopped; i++) {
        char c = bytes[i];
        bool is_second_half = c == '\n' && s->is_after_cr; /* of CR LF */
        s->is_after_cr = c == '\r';
        if (is_second_half)
            continue;
        if (c == '\n' || c == '\r') {
            if (take_line(s, event, context, stopped, e))
                return e ? e->code : ERR_LIMIT;
            continue;
        }
        if (s->line.len >= s->max_bytes)
            return err_set(e, ERR_LIMIT, "a line of the stream is over %zu bytes", s->max_bytes);
        buf_addc(&s->line, c);
    }
    return ERR_OK;
}
