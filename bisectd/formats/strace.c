/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/strace.h"
#include "base/buf.h"
#include "base/mem.h"
#include "formats/strace_front.h"
#include <string.h>

enum { BUCKETS = 1024, HELD_LINES = 1000 /* a rest that comes later is no rest */ };

/** The first part of a call. */
struct open_call {
    struct open_call *next;
    int64_t pid, log_pid, start_ns;
    size_t n;
    char text[];
};

struct strace {
    struct strace_events events;
    struct strace_tally tally;
    struct open_call *open[BUCKETS];
    size_t n_open, open_bytes;
    struct buf line;   /* one that began in an earlier piece */
    struct buf clean;  /* one without colours */
    struct buf joined; /* a call put together again */
    bool is_skipping;  /* the rest of a line that is too long */
    bool is_last;      /* a line without its end: where the log was cut off */
    /* A call may be broken in two on a terminal, by a note of strace or by what the program writes
     * there; its rest is in a later line, without anything in front. */
    struct buf held;          /* a line up to where it breaks */
    uint64_t held_at;         /* tally.lines then */
    struct strace_text whole; /* the line that is being read */
    bool is_joined;           /* it is such a call, put together again */
    struct strace_sums sums;
    uint64_t calls_before; /* tally.calls when this log began */
    uint64_t no_room_at;   /* tally.lines when last there was no room; 0: never */
    struct strace_pids pids;
};

const char *strace_reject_name(enum strace_reject r)
{
    static const char *const names[STRACE_REJECT_COUNT] = {
        [STRACE_UNKNOWN] = "unknown",   [STRACE_CUT] = "cut",
        [STRACE_TOO_LONG] = "too_long", [STRACE_NO_BEGINNING] = "no_beginning",
        [STRACE_NO_END] = "no_end",     [STRACE_NO_ROOM] = "no_room",
        [STRACE_ODD_TIME] = "odd_time",
    };

    return names[r];
}

const char *strace_reject_words(enum strace_reject r)
{
    static const char *const words[STRACE_REJECT_COUNT] = {
        [STRACE_UNKNOWN] = "lines that strace does not write",
        [STRACE_CUT] = "calls cut off in the middle",
        [STRACE_TOO_LONG] = "lines longer than 1 MiB",
        [STRACE_NO_BEGINNING] = "calls without their beginning (counted, without a path)",
        [STRACE_NO_END] = "calls without their end (not counted)",
        [STRACE_NO_ROOM] = "lines with more calls or files than can be open at once",
        [STRACE_ODD_TIME] = "calls whose time is none (counted, without a time)",
    };

    return words[r];
}

struct strace *strace_new(const struct strace_events *events)
{
    struct strace *s = mem_alloc(sizeof(*s));

    s->events = *events;
    return s;
}

static void drop_open(struct strace *s, struct open_call **at)
{
    struct open_call *o = *at;

    *at = o->next;
    s->n_open--;
    s->open_bytes -= o->n;
    mem_free(o);
}

void strace_free(struct strace *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (s->open[i])
            drop_open(s, &s->open[i]);
    buf_fini(&s->line);
    buf_fini(&s->clean);
    buf_fini(&s->joined);
    buf_fini(&s->held);
    strace_pids_fini(&s->pids);
    mem_free(s);
}

struct strace_tally *strace_tally(struct strace *s)
{
    return &s->tally;
}

static bool starts(const char *p, const char *end, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(end - p) >= n && memcmp(p, with, n) == 0;
}

static void reject(struct strace *s, enum strace_reject why)
{
    s->tally.rejects[why]++;
}

void strace_no_room(struct strace *s)
{
    if (s->no_room_at != s->tally.lines)
        reject(s, STRACE_NO_ROOM);
    s->no_room_at = s->tally.lines;
}

static void hold(struct strace *s, const char *p, size_t n)
{
    if (s->held.len)
        reject(s, STRACE_CUT);
    buf_clear(&s->held);
    buf_add(&s->held, p, n);
    s->held_at = s->tally.lines;
}

/* ---- unfinished calls ---- */

/** Where the process's unfinished call hangs, or would. */
static struct open_call **find_open(struct strace *s, int64_t pid)
{
    struct open_call **at = &s->open[(uint64_t)pid % BUCKETS];

    while (*at && (*at)->pid != pid)
        at = &(*at)->next;
    return at;
}

static void put_open(struct strace *s, int64_t pid, int64_t start_ns, struct strace_text text)
{
    struct open_call **at = find_open(s, pid);
    size_t n = text.n < STRACE_PART_BYTES ? text.n : (size_t)STRACE_PART_BYTES;

    if (*at) {
        reject(s, STRACE_NO_END);
        drop_open(s, at);
    }
    if (s->n_open == STRACE_OPEN_MOST || s->open_bytes + n > STRACE_OPEN_BYTES) {
        strace_no_room(s);
        return;
    }
    struct open_call *o = mem_alloc(sizeof(*o) + n);
    *o = (struct open_call){
        .next = *at, .pid = pid, .log_pid = s->pids.log_pid, .start_ns = start_ns, .n = n};
    memcpy(o->text, text.s, n);
    *at = o;
    s->n_open++;
    s->open_bytes += n;
}

/** Whether the unfinished call has this name. */
static bool is_called(const struct open_call *o, const char *name, size_t n)
{
    return o->n > n && memcmp(o->text, name, n) == 0 && o->text[n] == '(';
}

/** What the process had begun will not end any more. */
static void abandon(struct strace *s, int64_t pid)
{
    struct open_call **at = find_open(s, pid);

    if (*at) {
        s->tally.never++;
        drop_open(s, at);
    }
}

/* ---- events ---- */

static void tell_call(struct strace *s, const struct strace_call *c)
{
    s->tally.calls += c->end == STRACE_RETURNED;
    s->tally.restarted += c->end == STRACE_RESTARTED;
    s->tally.never += c->end == STRACE_NEVER;
    s->tally.has_times = s->tally.has_times || c->ns >= 0;
    if (c->has_odd_time)
        reject(s, STRACE_ODD_TIME);
    s->events.call(s->events.context, c);
}

static void call_begun(struct strace *s, struct strace_call *c, struct strace_text part)
{
    put_open(s, c->pid, c->start_ns, part);
    if (s->events.begun)
        s->events.begun(s->events.context, c);
}

/** Returns whether the text is a call, well or not. */
static bool read_call(struct strace *s, const struct strace_front *f, const char *p,
                      const char *end)
{
    struct strace_call c;
    size_t n_part = 0;
    int64_t moved_to = 0;
    enum strace_form form = strace_call_read(p, (size_t)(end - p), &c, &n_part, &moved_to);

    if (form == STRACE_NO_CALL)
        return false;
    c.pid = f->pid;
    c.start_ns = f->start_ns;
    switch (form) {
    case STRACE_MOVED:
        c.pid = moved_to;
        abandon(s, moved_to);
        call_begun(s, &c, (struct strace_text){p, n_part});
        break;
    case STRACE_UNFINISHED:
        call_begun(s, &c, (struct strace_text){p, n_part});
        break;
    case STRACE_WHOLE:
    case STRACE_DETACHED:
        tell_call(s, &c);
        break;
    default:
        if (s->is_joined)
            reject(s, STRACE_CUT);
        else
            hold(s, s->whole.s, s->whole.n);
        break;
    }
    return true;
}

/** The rest of a call whose beginning is not there: all but its arguments can be told. */
static void read_orphan(struct strace *s, const struct strace_front *f, struct strace_text name,
                        struct strace_text rest)
{
    struct strace_call c;
    size_t n_part = 0;
    int64_t moved_to = 0;

    buf_clear(&s->joined);
    buf_add(&s->joined, name.s, name.n);
    buf_addc(&s->joined, '(');
    buf_add(&s->joined, rest.s, rest.n);
    if (strace_call_read(s->joined.data, s->joined.len, &c, &n_part, &moved_to) != STRACE_WHOLE) {
        reject(s, STRACE_CUT);
        return;
    }
    reject(s, STRACE_NO_BEGINNING);
    c.pid = f->pid;
    c.n_args = 0;
    c.lacks_args = true;
    tell_call(s, &c);
}

/** From behind "<... ". */
static bool read_resumed(struct strace *s, struct strace_front *f, const char *p, const char *end)
{
    static const char mark[] = " resumed>";
    const char *name_end = memmem(p, (size_t)(end - p), mark, sizeof(mark) - 1);

    if (!name_end || memchr(p, ' ', (size_t)(name_end - p)))
        return false;
    const struct strace_text name = {p, (size_t)(name_end - p)};
    const char *rest = name_end + sizeof(mark) - 1;
    struct open_call **at = find_open(s, f->pid);
    if (*at && !is_called(*at, name.s, name.n)) { /* of an earlier process of the same number */
        reject(s, STRACE_NO_END);
        drop_open(s, at);
    }
    if (!*at) {
        read_orphan(s, f, name, (struct strace_text){rest, (size_t)(end - rest)});
        return true;
    }
    buf_clear(&s->joined);
    buf_add(&s->joined, (*at)->text, (*at)->n);
    buf_add(&s->joined, rest, (size_t)(end - rest));
    f->start_ns = (*at)->start_ns;
    drop_open(s, at);
    return read_call(s, f, s->joined.data, s->joined.data + s->joined.len);
}

/** From behind "+++ ": exited, killed, or another thread's exec took its place. */
static bool read_exit(struct strace *s, const struct strace_front *f, const char *p,
                      const char *end)
{
    bool lives_on = starts(p, end, "superseded by execve");

    if (!lives_on && !starts(p, end, "exited with ") && !starts(p, end, "killed by "))
        return false;
    if (lives_on) /* the call that replaces it is under its number already */
        return true;
    abandon(s, f->pid);
    strace_pids_remove(&s->pids, f->pid);
    if (s->events.gone)
        s->events.gone(s->events.context, f->pid);
    return true;
}

/** "Process N attached" and other words of strace itself. */
static bool read_note(struct strace *s, const char *p, const char *end)
{
    int64_t pid = 0;

    if (starts(p, end, "Process ")) {
        for (p += 8; p < end && *p >= '0' && *p <= '9' && pid < INT32_MAX; p++)
            pid = 10 * pid + (*p - '0');
        if (starts(p, end, " attached") && pid > 0)
            strace_pids_add(&s->pids, pid);
    }
    return true;
}

static bool read_event(struct strace *s, struct strace_front *f, const char *p, const char *end)
{
    if (starts(p, end, "<... "))
        return read_resumed(s, f, p + 5, end);
    if (starts(p, end, "--- SIG") || starts(p, end, "--- stopped by ")) {
        s->tally.others++;
        return true;
    }
    if (starts(p, end, "--- "))
        return true;
    if (starts(p, end, "+++ ")) {
        bool is_known = read_exit(s, f, p + 4, end);
        s->tally.others += is_known;
        return is_known;
    }
    if (starts(p, end, "strace: "))
        return read_note(s, p + 8, end);
    if (starts(p, end, "Process ") || starts(p, end, "[ Process"))
        return read_note(s, p, end);
    return read_call(s, f, p, end);
}

/* ---- lines ---- */

/** Copies the line without what colours it: ESC [ … letter. */
static void strip_colours(struct buf *out, const char *p, const char *end)
{
    buf_clear(out);
    while (p < end) {
        if (starts(p, end, "\033[")) {
            for (p += 2; p < end && !((*p | 32) >= 'a' && (*p | 32) <= 'z'); p++)
                continue;
            p += p < end;
        } else {
            buf_addc(out, *p++);
        }
    }
}

/** On a terminal "strace: Process N attached" may stand in the middle of a call, whose rest is in
 *  the next line: holds what is in front of it. */
static bool hold_front_of_note(struct strace *s, const char *p, const char *end)
{
    static const char note[] = "strace: Process ", last[] = " attached";

    if (end - p < 9 || memcmp(end - 9, last, 9) != 0)
        return false;
    const char *at = memmem(p, (size_t)(end - p), note, sizeof(note) - 1);
    if (!at || at == p)
        return false;
    hold(s, p, (size_t)(at - p));
    return read_note(s, at + 8, end);
}

/** Whether a line can only be the rest of another. */
static bool is_rest(const char *p, const char *end)
{
    return strchr(",)]}|", *p) != NULL || starts(p, end, " <unfinished ...>");
}

/** Puts the line behind what is held, into `whole`, if it belongs there. */
static void join_held(struct strace *s, struct buf *whole)
{
    const char *p = s->whole.s;

    s->is_joined = false;
    if (s->held.len && s->tally.lines - s->held_at > HELD_LINES) {
        reject(s, STRACE_CUT);
        buf_clear(&s->held);
    }
    if (!s->held.len || !is_rest(p, p + s->whole.n))
        return;
    *whole = s->held;
    s->held = (struct buf){0};
    buf_add(whole, p, s->whole.n);
    s->whole = (struct strace_text){whole->data, whole->len};
    s->is_joined = true;
}

static void read_sum(struct strace *s, const struct strace_sum *row)
{
    if (s->tally.calls + s->tally.restarted + s->tally.never != s->calls_before || !s->events.sum)
        return; /* -C: the table sums up what stands above it */
    s->tally.summed += row->calls;
    s->events.sum(s->events.context, row);
}

static void read_line(struct strace *s, const char *p, const char *end)
{
    struct strace_front f;
    struct strace_sum row;

    s->tally.lines++;
    end -= end > p && end[-1] == '\r';
    if (end > p && memchr(p, '\033', (size_t)(end - p))) {
        strip_colours(&s->clean, p, end);
        p = buf_str(&s->clean);
        end = p + s->clean.len;
    }
    if (p == end || starts(p, end, " > ") || starts(p, end, " | "))
        return; /* stack frames of -k, bytes of -e read */
    if (hold_front_of_note(s, p, end))
        return;
    AUTO(buf_fini) struct buf whole = {0};
    s->whole = (struct strace_text){p, (size_t)(end - p)};
    join_held(s, &whole);
    p = s->whole.s;
    end = p + s->whole.n;
    const char *event = strace_front_read(&s->pids, p, end, &f);
    if (event < end && read_event(s, &f, event, end))
        return;
    enum strace_sums_line kind = strace_sums_read(&s->sums, p, end, &row);
    if (kind == STRACE_SUMS_ROW)
        read_sum(s, &row);
    else if (kind == STRACE_SUMS_NOT)
        reject(s, s->is_last ? STRACE_CUT : STRACE_UNKNOWN);
    else
        s->tally.others++;
}

void strace_begin(struct strace *s, int64_t pid)
{
    strace_pids_begin(&s->pids, pid);
    s->sums = (struct strace_sums){0};
    s->calls_before = s->tally.calls + s->tally.restarted + s->tally.never;
}

/** A piece of a line without its end. */
static void keep_piece(struct strace *s, const char *p, size_t n)
{
    if (s->is_skipping)
        return;
    if (s->line.len + n > STRACE_LINE_BYTES) {
        reject(s, STRACE_TOO_LONG);
        s->tally.lines++;
        s->is_skipping = true;
        buf_clear(&s->line);
        return;
    }
    buf_add(&s->line, p, n);
}

static void end_line(struct strace *s)
{
    if (!s->is_skipping)
        read_line(s, buf_str(&s->line), buf_str(&s->line) + s->line.len);
    s->is_skipping = false;
    buf_clear(&s->line);
}

void strace_feed(struct strace *s, const char *bytes, size_t n)
{
    while (n > 0) {
        const char *newline = memchr(bytes, '\n', n);
        size_t piece = newline ? (size_t)(newline - bytes) : n;
        bool is_whole =
            newline && !s->is_skipping && s->line.len == 0 && piece <= STRACE_LINE_BYTES;
        if (is_whole) {
            read_line(s, bytes, newline);
        } else {
            keep_piece(s, bytes, piece);
            if (newline)
                end_line(s);
        }
        piece += newline != NULL;
        bytes += piece;
        n -= piece;
    }
}

static void drop_all(struct strace *s, bool is_of_log)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        struct open_call **at = &s->open[i];
        while (*at) {
            bool is_here = (*at)->log_pid == s->pids.log_pid &&
                           (s->pids.log_pid == 0 || (*at)->pid == s->pids.log_pid);
            if (is_of_log && !is_here) {
                at = &(*at)->next;
                continue;
            }
            reject(s, STRACE_NO_END);
            drop_open(s, at);
        }
    }
}

void strace_end(struct strace *s)
{
    s->is_last = true;
    if (s->line.len || s->is_skipping)
        end_line(s);
    s->is_last = false;
    if (s->held.len)
        reject(s, STRACE_CUT);
    buf_clear(&s->held);
    drop_all(s, true);
}

void strace_finish(struct strace *s)
{
    drop_all(s, false);
}
