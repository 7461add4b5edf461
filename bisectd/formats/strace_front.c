/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/strace_front.h"
#include "base/mem.h"
#include <string.h>

enum {
    PID_MOST = 4194304,          /* the kernel's; larger numbers are times */
    RELATIVE_MOST_S = 100000000, /* of -r; larger ones are times since 1970 */
};
#define S_NS INT64_C(1000000000)

void strace_pids_fini(struct strace_pids *p)
{
    mem_free(p->live);
}

void strace_pids_begin(struct strace_pids *p, int64_t log_pid)
{
    p->log_pid = log_pid;
    p->leader = 0;
    p->is_leader_gone = false;
    p->n_live = 0;
}

/* ---- who lives ---- */

void strace_pids_add(struct strace_pids *p, int64_t pid)
{
    for (size_t i = 0; i < p->n_live; i++)
        if (p->live[i] == pid)
            return;
    if (p->n_live == STRACE_LIVE_MOST)
        return;
    if (p->n_live == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 16;
        p->live = mem_resize(p->live, p->cap, sizeof(*p->live));
    }
    p->live[p->n_live++] = pid;
}

void strace_pids_remove(struct strace_pids *p, int64_t pid)
{
    if (pid == 0)
        p->is_leader_gone = true;
    for (size_t i = 0; i < p->n_live; i++)
        if (p->live[i] == pid)
            p->live[i--] = p->live[--p->n_live];
}

static bool is_live(const struct strace_pids *p, int64_t pid)
{
    for (size_t i = 0; i < p->n_live; i++)
        if (p->live[i] == pid)
            return true;
    return false;
}

/** Whose a line without a number is: on a terminal, the only process there is. */
static int64_t pid_of_bare_line(const struct strace_pids *p)
{
    if (p->log_pid)
        return p->log_pid;
    return p->is_leader_gone && p->n_live == 1 ? p->live[0] : 0;
}

/** Whose a line marked "[pid N]" is. The leader, which began without a mark, stays 0: it is the one
 *  whose coming nobody announced. */
static int64_t pid_of_marked_line(struct strace_pids *p, int64_t pid)
{
    if (p->leader == 0 && !is_live(p, pid))
        p->leader = pid;
    return pid == p->leader ? 0 : pid;
}

/* ---- in front of an event ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool starts(const char *p, const char *end, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(end - p) >= n && memcmp(p, with, n) == 0;
}

static const char *skip_spaces(const char *p, const char *end)
{
    while (p < end && *p == ' ')
        p++;
    return p;
}

/** At most 18 digits, which fit. */
static const char *read_digits(const char *p, const char *end, int64_t *out)
{
    int64_t v = 0;

    for (int i = 0; i < 18 && p < end && is_digit(*p); i++, p++)
        v = 10 * v + (*p - '0');
    *out = v;
    return p;
}

/** "<comm>" of -Y, behind a number; names may hold anything but end with the mark. */
static const char *skip_comm(const char *p, const char *end, const char *behind)
{
    const char *close = p < end && *p == '<' ? memmem(p, (size_t)(end - p), behind, 2) : NULL;

    return close ? close + 1 : p;
}

/** "[pid  12] " or "12    ", and -Y's names; NULL: neither. */
static const char *read_pid(struct strace_pids *pids, const char *p, const char *end, int64_t *pid)
{
    if (starts(p, end, "[pid ")) {
        const char *first = skip_spaces(p + 5, end);
        p = read_digits(first, end, pid);
        p = skip_comm(p, end, ">]");
        if (p == first || p == end || *p != ']')
            return NULL;
        *pid = pid_of_marked_line(pids, *pid);
        return skip_spaces(p + 1, end);
    }
    const char *first = p;
    p = read_digits(p, end, pid);
    if (p == first || *pid > PID_MOST)
        return NULL;
    p = skip_comm(p, end, "> ");
    return p < end && *p == ' ' ? skip_spaces(p, end) : NULL;
}

/** ".ffffff": nanoseconds; nothing if it is not there. */
static const char *read_fraction(const char *p, const char *end, int64_t *ns)
{
    int64_t scale = S_NS;

    *ns = 0;
    if (p == end || *p != '.')
        return p;
    for (p++; p < end && is_digit(*p); p++) {
        if (scale > 1)
            *ns = 10 * *ns + (*p - '0');
        scale /= scale > 1 ? 10 : 1;
    }
    *ns *= scale;
    return p;
}

/** "HH:MM:SS.ffffff ", "EPOCH.ffffff ", or what -r writes, which is no time of day. */
static const char *read_time(const char *p, const char *end, int64_t *start_ns)
{
    int64_t part[3] = {0}, fraction = 0;
    const char *at = read_digits(p, end, &part[0]);
    int n = 1;

    if (at == p)
        return p;
    for (; n < 3 && at < end && *at == ':'; n++)
        at = read_digits(at + 1, end, &part[n]);
    at = read_fraction(at, end, &fraction);
    if (at == end || *at != ' ' || n == 2)
        return p;
    if (n == 3)
        *start_ns = (part[0] * 3600 + part[1] * 60 + part[2]) % (100 * 3600) * S_NS + fraction;
    else if (part[0] >= RELATIVE_MOST_S && part[0] < INT64_MAX / S_NS)
        *start_ns = part[0] * S_NS + fraction;
    return skip_spaces(at, end);
}

/** "[unconfined_t] ", "[ 257] ", "[00007f777d9a6b1d] ". */
static const char *skip_groups(const char *p, const char *end)
{
    while (p < end && *p == '[' && !starts(p, end, "[ Process")) {
        const char *close = memchr(p, ']', (size_t)(end - p));
        if (!close || close + 1 == end || close[1] != ' ')
            return p;
        p = skip_spaces(close, end) + 1;
        p = skip_spaces(p, end);
    }
    return p;
}

/** "(+     0.000045) " of -r with -t. */
static const char *skip_gap(const char *p, const char *end)
{
    const char *close = starts(p, end, "(+") ? memchr(p, ')', (size_t)(end - p)) : NULL;

    return close ? skip_spaces(close + 1, end) : p;
}

const char *strace_front_read(struct strace_pids *pids, const char *p, const char *end,
                              struct strace_front *f)
{
    const char *behind = read_pid(pids, p, end, &f->pid);

    if (behind)
        p = behind;
    else
        f->pid = pid_of_bare_line(pids);
    f->start_ns = -1;
    p = skip_groups(p, end);
    p = skip_spaces(p, end);
    p = read_time(p, end, &f->start_ns);
    p = skip_gap(p, end);
    return skip_groups(p, end);
}
