/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/tracing.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/perf_samples.h"
#include "formats/trace.h"
#include "formats/trace_split.h"
#include "workers/measure/kind.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_NAME "strace.log"
/* Trivial calls that show the cost of tracing: read of /dev/zero, write to /dev/null, so often. */
#define WEIGHING_CALLS "read,write"
#define WEIGHING_COUNT "1000"
/* Calls that are made more often than this in a run are counted and not timed. */
enum { TIMED_MOST = 300000, CALLS_BYTES = 2 * KIB };
enum { WEIGHING_LEAST = 1000, RESTS_MOST = 200 };
enum { SAMPLES_BYTES = 4 * MIB };
/* A difference in time below this part of the run is not worth timing a call for. */
static const double least_part = .01;

/* Always timed: seldom made, and what a program waits for. */
static const char *const always[] = {"fsync", "fdatasync", "sync_file_range",
                                     "msync", "syncfs",    "sync"};
/* Timed where counting failed. */
static const char *const usual[] = {"openat",  "open",      "read",      "write",
                                    "pread64", "pwrite64",  "unlink",    "unlinkat",
                                    "rename",  "renameat2", "ftruncate", "connect",
                                    "sendto",  "recvfrom",  "nanosleep", "clock_nanosleep",
                                    "poll",    "fallocate", "statx",     "newfstatat"};
/* Has no end, or says nothing. */
static const char *const never[] = {"exit", "exit_group", "rt_sigreturn"};

/* ---- commands ---- */

static enum err_code find(const char *program, const char *package, char **word, struct err *e)
{
    static const char exec[] = "exec ";
    AUTO(buf_fini) struct buf command = {0};

    if (kind_program(program, package, &command, e))
        return e->code;
    *word = mem_dup(buf_str(&command) + strlen(exec));
    return ERR_OK;
}

enum err_code tracing_init(struct tracing *t, const char *tmp, const struct job_place *seen,
                           int cpu, struct err *e)
{
    struct err ignored;

    *t = (struct tracing){.seen = *seen, .cpu = cpu};
    if (find("strace", "strace", &t->strace, e))
        return err_set(e, ERR_NOT_FOUND, "the worker has no strace: install the package strace");
    if (find("taskset", "util-linux", &t->taskset, &ignored))
        t->cpu = -1;
    if (find("perf", "linux-perf", &t->perf, &ignored))
        t->perf = NULL;
    t->log = path_join(tmp, LOG_NAME);
    return ERR_OK;
}

void tracing_fini(struct tracing *t)
{
    mem_free(t->strace);
    mem_free(t->taskset);
    mem_free(t->perf);
    mem_free(t->log);
    mem_free(t->calls);
    *t = (struct tracing){0};
}

static void begin_there(const struct tracing *t, struct buf *out)
{
    buf_adds(out, "exec");
    if (t->cpu >= 0)
        buf_printf(out, " %s -c %d", t->taskset, t->cpu);
}

static void begin(const struct tracing *t, const char *flags, struct buf *out)
{
    begin_there(t, out);
    /* As the job knows the folder, which may be by another name. */
    buf_printf(out, " %s -f -q %s -o \"$TMPDIR/" LOG_NAME "\"", t->strace, flags);
}

static void add_shell(const char *command, struct buf *out)
{
    buf_adds(out, " /bin/sh -ec ");
    text_shell(out, command);
}

void tracing_pin(const struct tracing *t, const char *command, struct buf *out)
{
    begin_there(t, out);
    add_shell(command, out);
}

/* Strings are cut to nothing; paths are not. */
#define TIMING_FLAGS "--seccomp-bpf -y -ttt -T -s 0 -e signal=none"

void tracing_count(const struct tracing *t, const char *command, struct buf *out)
{
    begin(t, "-c -w", out);
    add_shell(command, out);
}

void tracing_weigh(const struct tracing *t, struct buf *out)
{
    begin(t, TIMING_FLAGS " -e trace=" WEIGHING_CALLS, out);
    buf_adds(out, " dd if=/dev/zero of=/dev/null bs=1 count=" WEIGHING_COUNT " status=none");
}

void tracing_time(const struct tracing *t, const char *command, struct buf *out)
{
    AUTO(buf_fini) struct buf list = {0};

    buf_adds(&list, "trace=");
    for (const char *at = t->calls; at && *at;) {
        size_t n = strcspn(at, ",");
        /* A question mark: a name that this machine does not have is no mistake. */
        buf_printf(&list, "%s?%.*s", at == t->calls ? "" : ",", (int)n, at);
        at += n + (at[n] == ',');
    }
    begin(t, TIMING_FLAGS, out);
    buf_adds(out, " -e ");
    text_shell(out, buf_str(&list));
    add_shell(command, out);
}

/* ---- logs ---- */

typedef void seen_fn(void *self, const struct trace_event *event);

/** < 0: there is none, or the job has put something else in its place. */
static int open_log(const struct tracing *t)
{
    return open(t->log, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/** Reads the log into `table`. Never fails: a log that is not there is empty. */
static void read_log(const struct tracing *t, struct trace_table *table, seen_fn *seen, void *self)
{
    AUTO(trace_free) struct trace *trace = trace_new(NULL, table);
    AUTO(fd_close) int fd = open_log(t);
    static _Thread_local char piece[64 * KIB];
    ssize_t n;

    if (seen)
        trace_watch(trace, seen, self);
    trace_begin(trace, 0);
    while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
        trace_feed(trace, piece, (size_t)n);
    trace_end(trace);
    (void)trace_finish(trace);
}

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/** The job's own folders by the names that it knows them by. Caller frees. */
static char *shown_path(const struct tracing *t, const char *path)
{
    const struct {
        const char *folder, *name;
    } known[] = {{t->seen.out, "$BISECTD_OUT"},
                 {t->seen.tmp, "$TMPDIR"},
                 {t->seen.home, "$HOME"},
                 {t->seen.source, "$BISECTD_SOURCE"}};

    for (size_t i = 0; i < LEN(known); i++)
        if (is_below(path, known[i].folder))
            return mem_printf("%s%s", known[i].name, path + strlen(known[i].folder));
    return mem_dup(path);
}

static void add_call(const struct tracing *t, const struct trace_row *row, double seconds,
                     struct inspected_run *r)
{
    AUTO(mem_free) char *path = shown_path(t, row->path);
    struct inspected_call *c = inspected_run_add_call(r, row->call, path);

    c->is_directory = row->is_directory;
    c->n = row->count;
    c->n_errors = row->errors;
    c->seconds = fmax(seconds, 0);
}

void tracing_read_counts(const struct tracing *t, struct inspected_run *r)
{
    AUTO(trace_table_free) struct trace_table *table = trace_table_new();

    read_log(t, table, NULL, NULL);
    for (size_t i = 0; i < trace_table_size(table) && r->n_calls < INSPECTION_CALLS; i++) {
        const struct trace_row *row = trace_table_at(table, i);
        add_call(t, row, (double)row->total_ns / 1e9, r);
    }
}

/* ---- which calls ---- */

/** A call of either side, summed up over the runs that counted. */
struct tally {
    double count[INSPECTION_BUILDS], seconds[INSPECTION_BUILDS];
};

static struct tally tally_of(const struct inspection *seen, const char *call)
{
    struct tally sum = {0};

    for (size_t i = 0; i < seen->n_runs; i++) {
        const struct inspected_run *r = &seen->runs[i];
        for (size_t k = 0; r->how == INSPECTED_COUNTS && k < r->n_calls; k++) {
            if (strcmp(r->calls[k].call, call) != 0)
                continue;
            sum.count[r->build] += (double)r->calls[k].n;
            sum.seconds[r->build] += r->calls[k].seconds;
        }
    }
    return sum;
}

static bool is_one_of(const char *call, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], call) == 0)
            return true;
    return false;
}

/** As strace takes it: letters, digits and underscores. */
static bool is_name(const char *call)
{
    return call[0] >= 'a' && call[0] <= 'z' &&
           call[strspn(call, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0' &&
           strncmp(call, "syscall_", strlen("syscall_")) != 0;
}

static bool is_chosen(const struct inspection *seen, const char *call, double elapsed_s)
{
    struct tally sum = tally_of(seen, call);

    if (!is_name(call) || is_one_of(call, always, LEN(always)) ||
        is_one_of(call, never, LEN(never)))
        return false;
    if (fmax(sum.count[0], sum.count[1]) > TIMED_MOST)
        return false;
    return sum.count[0] != sum.count[1] ||
           fabs(sum.seconds[1] - sum.seconds[0]) > least_part * elapsed_s;
}

static bool is_listed(const struct buf *list, const char *call)
{
    AUTO(mem_free) char *word = mem_printf(",%s,", call);
    AUTO(mem_free) char *all = mem_printf(",%s,", list->len ? list->data : "");

    return strstr(all, word) != NULL;
}

static void add_name(struct buf *list, const char *call)
{
    if (!is_listed(list, call) && list->len + strlen(call) + 2 < CALLS_BYTES)
        buf_printf(list, "%s%s", list->len ? "," : "", call);
}

static void add_names(struct buf *list, const char *names)
{
    for (const char *at = names; at && *at;) {
        size_t n = strcspn(at, "+");
        AUTO(mem_free) char *name = mem_dup_n(at, n);
        if (is_name(name))
            add_name(list, name);
        at += n + (at[n] == '+');
    }
}

void tracing_choose(struct tracing *t, const struct metric *m, const struct inspection *seen)
{
    AUTO(buf_fini) struct buf list = {0};
    bool has_counts = false;

    if (m->kind == METRIC_SYSCALLS)
        add_names(&list, m->calls);

    for (size_t i = 0; i < LEN(always); i++)
        add_name(&list, always[i]);
    for (size_t i = 0; i < seen->n_runs; i++) {
        const struct inspected_run *r = &seen->runs[i];
        has_counts |= r->how == INSPECTED_COUNTS;
        for (size_t k = 0; r->how == INSPECTED_COUNTS && k < r->n_calls; k++)
            if (is_chosen(seen, r->calls[k].call, r->seconds))
                add_name(&list, r->calls[k].call);
    }
    for (size_t i = 0; !has_counts && i < LEN(usual); i++)
        add_name(&list, usual[i]);
    mem_free(t->calls);
    t->calls = buf_take(&list);
}

/* ---- times ---- */

/** First and last moment of a log, and the time in its calls. */
struct stretch {
    int64_t first_ns, last_ns, in_calls_ns;
    uint64_t n;
};

static void stretch_over(void *self, const struct trace_event *event)
{
    struct stretch *s = self;

    if (s->n++ == 0)
        s->first_ns = event->start_ns;
    s->last_ns = event->start_ns + event->ns;
    s->in_calls_ns += event->ns;
}

bool tracing_read_cost(const struct tracing *t, struct trace_cost *cost)
{
    AUTO(trace_table_free) struct trace_table *table = trace_table_new();
    struct stretch s = {0};

    read_log(t, table, stretch_over, &s);
    if (s.n < WEIGHING_LEAST)
        return false;
    cost->call_ns = s.in_calls_ns / (int64_t)s.n;
    cost->elapsed_ns = (s.last_ns - s.first_ns) / (int64_t)s.n;
    return true;
}

/** Where the time of a log's calls is gathered. */
struct gathering {
    struct trace_table *table;
    struct trace_split *split;
    int64_t cost_ns;
    int64_t elapsed_ns; /* of the run: what begins later is its being stopped, and no part of it */
    int64_t first_ns;
    uint64_t n;
};

static void gather(void *self, const struct trace_event *event)
{
    struct gathering *g = self;
    const struct trace_row *row = trace_table_find(g->table, event->call, event->path);

    if (g->n++ == 0)
        g->first_ns = event->start_ns;
    if (!row || event->start_ns - g->first_ns > g->elapsed_ns)
        return;
    trace_split_add(g->split, (uint32_t)(row - trace_table_at(g->table, 0)), event->start_ns,
                    event->ns - g->cost_ns, trace_rank_of(event->call, event->path));
}

/** A row as it is ranked. */
struct ranked {
    const struct trace_row *row;
    double seconds;
};

static int by_weight(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return (x->row->count < y->row->count) - (x->row->count > y->row->count);
}

static struct inspected_call *rest_of(struct inspected_run *r, const char *call)
{
    for (size_t i = r->n_calls; i-- > 0;)
        if (strcmp(r->calls[i].call, call) == 0 && strcmp(r->calls[i].path, INSPECTION_REST) == 0)
            return &r->calls[i];
    return inspected_run_add_call(r, call, INSPECTION_REST);
}

/** The heaviest rows as they are, the rest summed up by call. */
static void add_ranked(const struct tracing *t, const struct ranked *rows, size_t n,
                       struct inspected_run *r)
{
    const size_t whole = n <= INSPECTION_CALLS ? n : INSPECTION_CALLS - RESTS_MOST;

    for (size_t i = 0; i < whole; i++)
        add_call(t, rows[i].row, rows[i].seconds, r);
    for (size_t i = whole; i < n; i++) {
        if (r->n_calls == INSPECTION_CALLS)
            return;
        struct inspected_call *c = rest_of(r, rows[i].row->call);
        c->n += rows[i].row->count;
        c->n_errors += rows[i].row->errors;
        c->seconds += rows[i].seconds;
    }
}

static double seconds_in_calls(const struct inspected_run *r)
{
    double sum = 0;

    for (size_t i = 0; i < r->n_calls; i++)
        sum += r->calls[i].seconds;
    return sum;
}

void tracing_read_times(const struct tracing *t, const struct trace_cost *cost,
                        struct inspected_run *r)
{
    AUTO(trace_table_free) struct trace_table *table = trace_table_new();
    AUTO(trace_split_free) struct trace_split *split = trace_split_new();
    struct gathering g = {.table = table,
                          .split = split,
                          .cost_ns = cost->call_ns,
                          .elapsed_ns = (int64_t)(r->seconds * 1e9)};

    read_log(t, table, gather, &g);
    const size_t n = trace_table_size(table);
    double *ns = mem_array(n + 1, sizeof(*ns));
    struct ranked *rows = mem_array(n + 1, sizeof(*rows));
    trace_split_give(split, ns);
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct ranked){trace_table_at(table, i), ns[i] / 1e9};
    if (n)
        qsort(rows, n, sizeof(*rows), by_weight);
    add_ranked(t, rows, n, r);
    r->seconds -= (double)(trace_table_sum(table).count * (uint64_t)cost->elapsed_ns) / 1e9;
    r->seconds = fmax(r->seconds, seconds_in_calls(r)); /* what tracing adds may overlap, too */
    mem_free(rows);
    mem_free(ns);
}

/* ---- samples ---- */

#define SAMPLES_A_SECOND 4999
#define STRING_OF(x)     #x
#define TEXT_OF(x)       STRING_OF(x)

bool tracing_sample(const struct tracing *t, const char *command, struct buf *out)
{
    if (!t->perf)
        return false;
    /* The clock works where counters do not; kernel time is in the calls. */
    buf_printf(
        out,
        "%s record -q -e cpu-clock:u -F " TEXT_OF(SAMPLES_A_SECOND) " -o \"$TMPDIR/perf.data\" --",
        t->perf);
    add_shell(command, out);
    buf_printf(out,
               "\n%s report -i \"$TMPDIR/perf.data\" -q --stdio -t '|' -F sample,dso,sym"
               " > \"$TMPDIR/" LOG_NAME "\" 2> /dev/null",
               t->perf);
    return true;
}

static void add_sample(void *self, const struct perf_sample *sample)
{
    struct inspected_run *r = self;
    AUTO(mem_free) char *symbol = mem_dup_n(sample->symbol, sample->symbol_bytes);
    AUTO(mem_free) char *object = mem_dup_n(sample->object, sample->object_bytes);

    if (r->n_calls == INSPECTION_CALLS)
        return;
    struct inspected_call *c = inspected_run_add_call(r, symbol, object);
    c->n = sample->n;
    c->seconds = (double)sample->n / SAMPLES_A_SECOND;
}

void tracing_read_samples(const struct tracing *t, struct inspected_run *r)
{
    AUTO(buf_fini) struct buf text = {0};

    AUTO(fd_close) int fd = open_log(t);
    char piece[4 * KIB];
    ssize_t n;

    while (fd >= 0 && text.len < SAMPLES_BYTES && (n = read(fd, piece, sizeof(piece))) > 0)
        buf_add(&text, piece, (size_t)n);
    perf_samples_read(buf_str(&text), text.len, add_sample, r);
}
