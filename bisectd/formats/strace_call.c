/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/strace_call.h"
#include <limits.h>
#include <string.h>

#define S_NS        INT64_C(1000000000)
#define TIME_MOST_S INT64_C(9000000000) /* of one call, so that it fits in nanoseconds */

static const struct strace_text absent = {NULL, 0};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#';
}

static bool starts(const char *p, const char *end, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(end - p) >= n && memcmp(p, with, n) == 0;
}

/** A number in decimal, or in hex or octal by its first digits; NULL if there is none. */
static const char *read_number(const char *p, const char *end, int64_t *out)
{
    bool is_minus = p < end && *p == '-';
    uint64_t v = 0;
    unsigned base = 10;
    const char *first = p + is_minus;

    if (first == end || !is_digit(*first))
        return NULL;
    if (starts(first, end, "0x"))
        base = 16;
    else if (*first == '0')
        base = 8;
    for (p = base == 16 ? first + 2 : first; p < end; p++) {
        unsigned digit = UINT_MAX;
        if (is_digit(*p))
            digit = (unsigned)(*p - '0');
        else if ((*p | 32) >= 'a' && (*p | 32) <= 'f')
            digit = (unsigned)((*p | 32) - 'a') + 10;
        if (digit >= base)
            break;
        v = v * base + digit; /* addresses fill 64 bits; more wraps */
    }
    *out = (int64_t)(is_minus ? 0 - v : v);
    return p;
}

/* ---- what holds brackets of its own ---- */

/** Behind the closing quote of the string that begins at `p`, behind its opening one; else NULL. */
static const char *skip_string(const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p == '\\')
            p++;
        else if (*p == '"')
            return p + 1;
    }
    return NULL;
}

/** Whether the < at `p` opens the file of a descriptor: 3<…>, AT_FDCWD<…>, -100 [comment]<…>.
 *  1<<CAP_KILL is a shift. */
static bool opens_file(const char *start, const char *p, const char *end)
{
    if (p == start || (p + 1 < end && p[1] == '<'))
        return false;
    size_t before = (size_t)(p - start);
    return is_digit(p[-1]) || (before >= 8 && memcmp(p - 8, "AT_FDCWD", 8) == 0) ||
           (before >= 2 && memcmp(p - 2, "*/", 2) == 0);
}

/** A > within a path is written \76; older versions wrote it as it is, so one that closes has to be
 *  followed by what may follow a descriptor. */
static bool closes_path(const char *p, const char *end)
{
    return p + 1 == end || strchr(" ,)]}(", p[1]) != NULL;
}

/** The > that closes the file behind `p`; NULL if there is none. */
static const char *path_end(const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p == '<' && (starts(p, end, "<char ") || starts(p, end, "<block "))) {
            const char *inner = memchr(p, '>', (size_t)(end - p));
            if (inner && inner + 1 < end && inner[1] == '>')
                return inner + 1;
        }
        if (*p == '>' && closes_path(p, end))
            return p;
    }
    return NULL;
}

/** The same for "TCP:[1.2.3.4:5->6.7.8.9:10]", "UNIX:[7->8,\"/run/s\"]", "pipe:[7]". */
static const char *other_end(const char *p, const char *end)
{
    const char *start = p;

    while (p && p < end) {
        if (*p == '"')
            p = skip_string(p + 1, end);
        else if (*p == '>' && (p == start || p[-1] != '-'))
            return p;
        else
            p++;
    }
    return NULL;
}

static const char *file_end(const char *p, const char *end)
{
    return p < end && *p == '/' ? path_end(p, end) : other_end(p, end);
}

/** Behind the comment that begins at `p`, or at `end`. */
static const char *skip_comment(const char *p, const char *end)
{
    const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);

    return close ? close + 2 : end;
}

/* ---- the walk through the arguments ---- */

struct walk {
    const char *start, *end;
    const char *arg; /* where the argument under way begins */
    int depth;       /* of brackets; the call's own is 1 */
    struct strace_call *c;
};

static void add_arg(struct walk *w, const char *to)
{
    const char *from = w->arg;

    while (from < to && *from == ' ')
        from++;
    while (from < to && to[-1] == ' ')
        to--;
    if (from == to && w->c->n_args == 0)
        return; /* f() has none */
    if (w->c->n_args < STRACE_ARGS_MOST)
        w->c->args[w->c->n_args] = (struct strace_text){from, (size_t)(to - from)};
    w->c->n_args++;
}

/** Marks in place of the rest of a call; they count at the line's end alone. */
static enum strace_form mark_at(const char *p, const char *end, int64_t *moved_to)
{
    static const char changed[] = "<pid changed to ";

    if (starts(p, end, "<unfinished ...>") && end - p == 16)
        return STRACE_UNFINISHED;
    if (starts(p, end, "<detached ...>") && end - p == 14)
        return STRACE_DETACHED;
    if (starts(p, end, changed)) {
        const char *behind = read_number(p + sizeof(changed) - 1, end, moved_to);
        if (behind && starts(behind, end, " ...>") && end - behind == 5)
            return STRACE_MOVED;
    }
    return STRACE_WHOLE;
}

/** One step from `p`, over whatever stands there; NULL where it has no end. */
static const char *step(struct walk *w, const char *p)
{
    switch (*p) {
    case '"':
        return skip_string(p + 1, w->end);
    case '/':
        return starts(p, w->end, "/*") ? skip_comment(p, w->end) : p + 1;
    case '<':
        if (opens_file(w->start, p, w->end)) {
            const char *close = file_end(p + 1, w->end);
            return close ? close + 1 : NULL;
        }
        return p + 1;
    case '(':
    case '[':
    case '{':
        w->depth++;
        return p + 1;
    case ']':
    case '}':
        w->depth -= w->depth > 1;
        return p + 1;
    case ')':
        w->depth--;
        return p + 1;
    case ',':
        if (w->depth == 1) {
            add_arg(w, p);
            w->arg = p + 1;
        }
        return p + 1;
    default:
        return p + 1;
    }
}

/** From behind the opening bracket to the closing one, at which *at is left. */
static enum strace_form walk_args(struct walk *w, const char **at, int64_t *moved_to)
{
    const char *p = *at;

    w->arg = p;
    w->depth = 1;
    while (p && p < w->end) {
        *at = p;
        if (*p == '<') {
            enum strace_form mark = mark_at(p, w->end, moved_to);
            if (mark != STRACE_WHOLE) {
                if (p - w->arg > 1 || w->c->n_args == 0) /* more than the space in front of it */
                    add_arg(w, p);
                return mark;
            }
        }
        p = step(w, p);
        if (w->depth == 0) {
            add_arg(w, *at);
            return STRACE_WHOLE;
        }
    }
    return STRACE_BROKEN;
}

/* ---- the result ---- */

/** "0.000592" in nanoseconds; -1 if that is no time, or one past what can be kept. */
static int64_t time_of(const char *p, const char *end)
{
    int64_t whole = 0, part = 0, scale = S_NS;

    if (p == end || !is_digit(*p))
        return -1;
    for (; p < end && is_digit(*p) && whole <= TIME_MOST_S; p++)
        whole = 10 * whole + (*p - '0');
    if (p < end && *p == '.')
        for (p++; p < end && is_digit(*p); p++) {
            part = scale > 1 ? 10 * part + (*p - '0') : part;
            scale /= scale > 1 ? 10 : 1;
        }
    return p == end && whole <= TIME_MOST_S ? whole * S_NS + part * scale : -1;
}

/** Whether it was meant as a time: a file's name may stand there, too. */
static bool is_like_time(const char *p, const char *end)
{
    p += p < end && (*p == '-' || *p == '+');
    bool is_word = end - p == 3 && (memcmp(p, "nan", 3) == 0 || memcmp(p, "inf", 3) == 0);
    size_t n = is_word ? 0 : strspn(p, "0123456789.");
    if (n > 0 && (p[n] == 'e' || p[n] == 'E')) {
        n += p[n + 1] == '-' || p[n + 1] == '+' ? 2 : 1;
        n += strspn(p + n, "0123456789");
    }
    return is_word || (p < end && p[n] == '>');
}

/** " <0.000592>" at the line's end, which is moved in front of it; -1 if there is none. */
static int64_t take_time(const char *start, const char **end, bool *is_odd)
{
    const char *close = *end - 1, *p = close;

    if (close < start || *close != '>')
        return -1;
    while (p > start && p[-1] != '<' && p[-1] != ' ')
        p--;
    if (p == close || p - start < 2 || p[-1] != '<' || p[-2] != ' ')
        return -1;
    int64_t ns = time_of(p, close);
    *is_odd = ns < 0 && is_like_time(p, close);
    if (ns >= 0 || *is_odd)
        *end = p - 2;
    return ns;
}

/** Behind the value and one space, if it is "ENOENT (…)" or "(errno 524)". */
static struct strace_text error_at(const char *p, const char *end)
{
    const char *from = p;

    if (starts(p, end, "(errno "))
        return (struct strace_text){p + 1, 5};
    while (p < end && ((*p >= 'A' && *p <= 'Z') || *p == '_' || is_digit(*p)))
        p++;
    return p > from && *from == 'E' ? (struct strace_text){from, (size_t)(p - from)} : absent;
}

static enum strace_form read_unknown(struct strace_call *c, const char *p, const char *end)
{
    c->end = starts(p, end, " ERESTART") ? STRACE_RESTARTED : STRACE_NEVER;
    return STRACE_WHOLE;
}

/** From behind the closing bracket. */
static enum strace_form read_result(struct strace_call *c, const char *p, const char *end)
{
    while (p < end && *p == ' ')
        p++;
    if (p == end || *p != '=')
        return STRACE_BROKEN;
    c->ns = take_time(p, &end, &c->has_odd_time);
    for (p++; p < end && *p == ' ';)
        p++;
    if (p < end && *p == '?')
        return read_unknown(c, p + 1, end);
    const char *first = p;
    p = read_number(p, end, &c->value);
    if (!p)
        return STRACE_BROKEN;
    c->end = STRACE_RETURNED;
    if (p < end && opens_file(first, p, end) && *p == '<') {
        c->file = strace_file((struct strace_text){first, (size_t)(end - first)});
    } else if (c->value == -1 && p < end && *p == ' ') {
        c->error = error_at(p + 1, end);
    }
    return STRACE_WHOLE;
}

enum strace_form strace_call_read(const char *s, size_t n, struct strace_call *c, size_t *n_part,
                                  int64_t *moved_to)
{
    struct walk w = {.start = s, .end = s + n, .c = c};
    const char *p = s;

    while (p < w.end && is_name(*p))
        p++;
    if (p == s || p == w.end || *p != '(' || is_digit(*s))
        return STRACE_NO_CALL;
    *c = (struct strace_call){.name = {s, (size_t)(p - s)}, .ns = -1, .start_ns = -1};
    p++;
    enum strace_form form = walk_args(&w, &p, moved_to);
    if (form == STRACE_WHOLE)
        return read_result(c, p + 1, w.end);
    c->end = STRACE_NEVER;
    while (p > s && p[-1] == ' ') /* the mark's own space, and those that no argument needs */
        p--;
    *n_part = (size_t)(p - s);
    return form;
}

/* ---- arguments ---- */

bool strace_number(struct strace_text arg, int64_t *out)
{
    if (!arg.s)
        return false;
    if (starts(arg.s, arg.s + arg.n, "AT_FDCWD")) {
        *out = -100;
        return true;
    }
    return read_number(arg.s, arg.s + arg.n, out) != NULL;
}

/** "/x (deleted)" of older versions, "/dev/null<char 1:3>". */
static size_t without_marks(const char *s, size_t n)
{
    static const char deleted[] = " (deleted)";
    const size_t n_deleted = sizeof(deleted) - 1;
    const char *device = NULL;

    if (n > n_deleted && memcmp(s + n - n_deleted, deleted, n_deleted) == 0)
        return n - n_deleted;
    if (n > 0 && s[n - 1] == '>')
        device = memrchr(s, '<', n);
    return device && (starts(device, s + n, "<char ") || starts(device, s + n, "<block "))
               ? (size_t)(device - s)
               : n;
}

struct strace_text strace_file(struct strace_text arg)
{
    const char *open = arg.s ? memchr(arg.s, '<', arg.n) : NULL;

    if (!open)
        return absent;
    const char *end = arg.s + arg.n;
    if (!opens_file(arg.s, open, end) || !(is_digit(*arg.s) || *arg.s == '-' || *arg.s == 'A'))
        return absent;
    const char *close = file_end(open + 1, end);
    if (!close)
        return absent;
    size_t n = (size_t)(close - open - 1);
    if (n > 0 && open[1] == '/')
        n = without_marks(open + 1, n);
    return (struct strace_text){open + 1, n};
}

struct strace_text strace_string(struct strace_text arg)
{
    if (arg.n < 2 || arg.s[0] != '"')
        return absent;
    const char *behind = skip_string(arg.s + 1, arg.s + arg.n);
    return behind ? (struct strace_text){arg.s + 1, (size_t)(behind - arg.s - 2)} : absent;
}

static const char *read_hex(const char *p, const char *end, unsigned *out)
{
    unsigned v = 0;

    for (int i = 0; i < 2 && p < end; i++, p++) {
        if (is_digit(*p))
            v = v * 16 + (unsigned)(*p - '0');
        else if ((*p | 32) >= 'a' && (*p | 32) <= 'f')
            v = v * 16 + (unsigned)((*p | 32) - 'a') + 10;
        else
            break;
    }
    *out = v;
    return p;
}

/** From behind a backslash; returns behind the escape. */
static const char *read_escape(const char *p, const char *end, unsigned *out)
{
    static const char letters[] = "nrtvfabe", means[] = "\n\r\t\v\f\a\b\033";
    const char *letter = *p ? strchr(letters, *p) : NULL;
    unsigned v = 0;

    if (*p == 'x')
        return read_hex(p + 1, end, out);
    if (*p >= '0' && *p <= '7') {
        for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '7'; i++, p++)
            v = v * 8 + (unsigned)(*p - '0');
        *out = v;
        return p;
    }
    *out = (unsigned char)(letter ? means[letter - letters] : *p);
    return p + 1;
}

void strace_unescape(struct strace_text text, char *out, size_t room)
{
    const char *p = text.s, *end = text.n ? text.s + text.n : text.s;
    size_t len = 0;

    while (p < end && len + 1 < room) {
        unsigned c = (unsigned char)*p++;
        if (c == '\\' && p < end)
            p = read_escape(p, end, &c);
        if ((c & 0xff) == 0)
            break;
        out[len++] = (char)c;
    }
    if (room > 0)
        out[len] = '\0';
}
