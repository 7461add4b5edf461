/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace.h"
#include "base/mem.h"
#include "formats/syscall.h"
#include "formats/trace_files.h"
#include <string.h>

struct trace {
    const struct trace_filter *filter;
    struct trace_table *table;
    struct strace *strace;
    struct trace_files *files;
    int64_t log_pid;
    uint64_t lost; /* of files, that the tally knows of */
    char name[64];
    char path[TRACE_PATH_BYTES];
    void (*seen)(void *self, const struct trace_event *event); /* NULL: nobody watches */
    void *self;
};

/* ---- the path of a call ---- */

static struct strace_text arg_of(const struct strace_call *c, int i)
{
    bool is_there = i >= 0 && (size_t)i < c->n_args && i < STRACE_ARGS_MOST;

    return is_there ? c->args[i] : (struct strace_text){0};
}

/** The file of the descriptor that the argument is, into `out`; false if it is not known. */
static bool file_of(struct trace *t, const struct strace_call *c, struct strace_text arg, char *out,
                    bool *is_directory)
{
    struct strace_text file = strace_file(arg);
    int64_t fd = 0;

    if (file.s) {
        strace_tally(t->strace)->has_files = true;
        strace_unescape(file, out, TRACE_PATH_BYTES);
        return true;
    }
    if (strace_tally(t->strace)->has_files || !strace_number(arg, &fd) || fd < 0)
        return false;
    const char *known = trace_files_path(t->files, c->pid, fd, is_directory);
    if (!known)
        return false;
    size_t n = strlen(known);
    n = n < TRACE_PATH_BYTES ? n : TRACE_PATH_BYTES - 1;
    memcpy(out, known, n);
    out[n] = '\0';
    return true;
}

/** A path in quotes, from where it starts. */
static bool string_path(struct trace *t, const struct strace_call *c, int path, int at)
{
    struct strace_text string = strace_string(arg_of(c, path));
    struct strace_text from = arg_of(c, at);
    bool is_directory = false;
    size_t len = 0;

    if (!string.s)
        return false;
    if (from.s && (string.n == 0 || *string.s != '/') &&
        file_of(t, c, from, t->path, &is_directory)) {
        len = strlen(t->path);
        if (string.n == 0)
            return true; /* AT_EMPTY_PATH: the descriptor itself */
        if (len > 0 && t->path[len - 1] != '/' && len + 1 < sizeof(t->path))
            t->path[len++] = '/';
    }
    strace_unescape(string, t->path + len, sizeof(t->path) - len);
    return true;
}

/** Fills t->path; "" if there is none. */
static void find_path(struct trace *t, const struct strace_call *c, const struct syscall_row *row,
                      bool *is_directory)
{
    t->path[0] = '\0';
    if (row && row->effect == SYSCALL_OPEN && c->file.s) {
        strace_tally(t->strace)->has_files = true;
        strace_unescape(c->file, t->path, sizeof(t->path));
        return;
    }
    if (row && row->path >= 0 && string_path(t, c, row->path, row->at))
        return;
    if (row && row->fd >= 0) {
        file_of(t, c, arg_of(c, row->fd), t->path, is_directory);
        return;
    }
    for (int i = 0; !row && i < STRACE_ARGS_MOST; i++) {
        struct strace_text file = strace_file(arg_of(c, i));
        if (file.s) {
            strace_unescape(file, t->path, sizeof(t->path));
            return;
        }
    }
}

/** rename and link have two paths, and are of interest for either. */
static bool find_second_path(struct trace *t, const struct strace_call *c,
                             const struct syscall_row *row)
{
    bool has_two = strncmp(row->name, "rename", 6) == 0 || strncmp(row->name, "link", 4) == 0;
    int step = row->at >= 0 ? 2 : 1;

    return has_two && string_path(t, c, row->path + step, row->at >= 0 ? row->at + step : -1);
}

static bool is_of_directory(const struct strace_call *c, const struct syscall_row *row)
{
    struct strace_text flags = arg_of(c, 2);

    if (!row)
        return false;
    if (strncmp(row->name, "getdents", 8) == 0 || strncmp(row->name, "mkdir", 5) == 0 ||
        strcmp(row->name, "rmdir") == 0 || strcmp(row->name, "chdir") == 0 ||
        strcmp(row->name, "fchdir") == 0)
        return true;
    return row->effect == SYSCALL_OPEN && row->at >= 0 && flags.s &&
           memmem(flags.s, flags.n, "O_DIRECTORY", 11) != NULL;
}

/* ---- events ---- */

static void add_call(struct trace *t, const struct strace_call *c, bool is_directory)
{
    size_t n = c->name.n < sizeof(t->name) ? c->name.n : sizeof(t->name) - 1;

    memcpy(t->name, c->name.s, n);
    t->name[n] = '\0';
    trace_table_add(t->table, &(struct trace_row){.call = t->name,
                                                  .path = t->path,
                                                  .count = 1,
                                                  .errors = c->error.s != NULL,
                                                  .n_timed = c->ns >= 0,
                                                  .total_ns = c->ns >= 0 ? c->ns : 0,
                                                  .is_directory = is_directory});
    if (t->seen && c->start_ns >= 0 && c->ns >= 0)
        t->seen(t->self,
                &(struct trace_event){
                    .call = t->name, .path = t->path, .start_ns = c->start_ns, .ns = c->ns});
}

/** What the line opens may have found no room. */
static void note_lost(struct trace *t)
{
    if (trace_files_lost(t->files) > t->lost)
        strace_no_room(t->strace);
    t->lost = trace_files_lost(t->files);
}

static void take_call(void *context, const struct strace_call *c)
{
    struct trace *t = context;
    const struct syscall_row *row = syscall_find(c->name.s, c->name.n);
    bool is_wanted =
        c->end == STRACE_RETURNED && trace_filter_wants_call(t->filter, c->name.s, c->name.n);
    bool teaches = row && row->effect != SYSCALL_PLAIN && !strace_tally(t->strace)->has_files &&
                   !c->lacks_args;
    bool is_directory = false;

    if (!is_wanted && !teaches)
        return;
    find_path(t, c, row, &is_directory);
    if (teaches)
        trace_files_learn(t->files, c, row, t->path);
    note_lost(t);
    if (!is_wanted)
        return;
    is_directory = is_directory || is_of_directory(c, row);
    bool is_match = trace_filter_wants_path(t->filter, t->path);
    if (!is_match && row && find_second_path(t, c, row))
        is_match = trace_filter_wants_path(t->filter, t->path);
    if (is_match)
        add_call(t, c, is_directory);
}

static void take_begun(void *context, const struct strace_call *c)
{
    struct trace *t = context;

    if (!strace_tally(t->strace)->has_files)
        trace_files_begun(t->files, c, syscall_find(c->name.s, c->name.n));
    note_lost(t);
}

static void take_gone(void *context, int64_t pid)
{
    struct trace *t = context;

    trace_files_gone(t->files, pid);
}

static void take_sum(void *context, const struct strace_sum *s)
{
    struct trace *t = context;
    AUTO(mem_free) char *name = mem_dup_n(s->name.s, s->name.n);

    if (trace_filter_wants_call(t->filter, name, s->name.n) &&
        trace_filter_wants_path(t->filter, ""))
        trace_table_add(t->table, &(struct trace_row){.call = name,
                                                      .path = "",
                                                      .count = s->calls,
                                                      .errors = s->errors,
                                                      .n_timed = s->ns >= 0 ? s->calls : 0,
                                                      .total_ns = s->ns >= 0 ? s->ns : 0});
}

/* ---- the set of logs ---- */

struct trace *trace_new(const struct trace_filter *filter, struct trace_table *into)
{
    struct trace *t = mem_alloc(sizeof(*t));

    t->filter = filter;
    t->table = into;
    t->files = trace_files_new();
    t->strace = strace_new(&(struct strace_events){
        .call = take_call, .begun = take_begun, .gone = take_gone, .sum = take_sum, .context = t});
    return t;
}

void trace_free(struct trace *t)
{
    if (!t)
        return;
    strace_free(t->strace);
    trace_files_free(t->files);
    mem_free(t);
}

void trace_watch(struct trace *t, void (*seen)(void *self, const struct trace_event *event),
                 void *self)
{
    t->seen = seen;
    t->self = self;
}

void trace_begin(struct trace *t, int64_t pid)
{
    t->log_pid = pid;
    strace_begin(t->strace, pid);
}

void trace_feed(struct trace *t, const char *bytes, size_t n)
{
    strace_feed(t->strace, bytes, n);
}

void trace_end(struct trace *t)
{
    strace_end(t->strace);
    trace_files_gone(t->files, t->log_pid);
}

const struct strace_tally *trace_finish(struct trace *t)
{
    strace_finish(t->strace);
    return strace_tally(t->strace);
}
