/* SPDX-License-Identifier: Apache-2.0 */
/* How often, or how long, the command and its children were in chosen system calls: traced by
 * strace, which lets a filter in the kernel (--seccomp-bpf) pass all other calls by and shows the
 * file of each descriptor (-y), so that no call has to be traced for its sake.
 *
 * strace waits for all processes of the command, where the supervisor of other kinds ends what the
 * command leaves behind. */
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/trace.h"
#include "workers/measure/kind.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 * KIB, ROWS_SHOWN = 20, PATH_SHOWN = 200 };

static const char log_name[] = "trace";

enum err_code command_syscalls(const struct metric *m, const char *folder, struct buf *out,
                               struct err *e)
{
    AUTO(mem_free) char *log = path_join(folder, log_name);
    AUTO(mem_free) char *calls = mem_dup(m->calls ? m->calls : METRIC_CALLS);

    if (kind_program("strace", "strace", out, e))
        return e ? e->code : ERR_NOT_FOUND;
    for (char *plus = calls; (plus = strchr(plus, '+')) != NULL;)
        *plus = ',';
    buf_printf(out, " -f --seccomp-bpf -qq -y -T -s 0 -a 1 -e signal=none -e trace=%s -o ", calls);
    text_shell(out, log);
    buf_adds(out, " /bin/sh -ec ");
    text_shell(out, m->command);
    return ERR_OK;
}

/** Whether the number is right in spite of it. */
static bool is_harmless(enum strace_reject why, const struct metric *m)
{
    return why == STRACE_NO_BEGINNING || (why == STRACE_ODD_TIME && m->of != OF_TIME);
}

/** Everything in the log, into `table`; ERR_INVALID where part of it cannot be read. */
static enum err_code read_log(const char *path, const struct metric *m, struct trace_table *table,
                              struct err *e)
{
    AUTO(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const struct trace_filter filter = {.path = m->path}; /* no other call is traced */
    AUTO(trace_free) struct trace *t = trace_new(&filter, table);
    static _Thread_local char piece[PIECE_BYTES];
    ssize_t n = 0;

    if (fd < 0)
        return err_sys(e, errno, "read the log of strace");
    trace_begin(t, 0);
    while ((n = read(fd, piece, sizeof(piece))) > 0)
        trace_feed(t, piece, (size_t)n);
    if (n < 0)
        return err_sys(e, errno, "read the log of strace");
    trace_end(t);
    const struct strace_tally *tally = trace_finish(t);
    for (int i = 0; i < STRACE_REJECT_COUNT; i++)
        if (tally->rejects[i] && !is_harmless((enum strace_reject)i, m))
            return err_set(e, ERR_INVALID, "the log of strace has %" PRIu64 " %s",
                           tally->rejects[i], strace_reject_words(i));
    return ERR_OK;
}

static int by_count(const void *a, const void *b)
{
    const struct trace_row *x = *(const struct trace_row *const *)a;
    const struct trace_row *y = *(const struct trace_row *const *)b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    int order = strcmp(x->call, y->call);
    return order ? order : strcmp(x->path, y->path);
}

/** Which files the number is made of, into the run's log. */
static void note_rows(const struct trace_table *table, struct clip *notes)
{
    size_t n = trace_table_size(table);
    const struct trace_row **rows = mem_array(n + 1, sizeof(*rows));

    for (size_t i = 0; i < n; i++)
        rows[i] = trace_table_at(table, i);
    qsort(rows, n, sizeof(*rows), by_count);
    for (size_t i = 0; i < n && i < ROWS_SHOWN; i++) {
        AUTO(buf_fini) struct buf path = {0};
        text_clean(&path, rows[i]->path, strlen(rows[i]->path), PATH_SHOWN);
        clip_printf(notes, "%8" PRIu64 " %s %s (%.3f ms)\n", rows[i]->count, rows[i]->call,
                    path.len ? buf_str(&path) : "-", (double)rows[i]->total_ns / 1e6);
    }
    if (n > ROWS_SHOWN)
        clip_printf(notes, "         and on %zu more files\n", n - ROWS_SHOWN);
    mem_free(rows);
}

void kind_syscalls(const struct observation *o, struct reading *r)
{
    AUTO(mem_free) char *log = path_join(o->folder, log_name);
    AUTO(trace_table_free) struct trace_table *table = trace_table_new();
    struct err e = {0};

    if (read_log(log, o->metric, table, &e)) {
        r->status = RUN_CANNOT;
        snprintf(r->reason, sizeof(r->reason), "cannot measure: %.400s", e.text);
        return;
    }
    const struct trace_row sum = trace_table_sum(table);
    note_rows(table, o->notes);
    if (o->metric->of == OF_TIME)
        reading_set_time(r, o->metric, sum.total_ns);
    else
        reading_set(r, (double)sum.count);
}
