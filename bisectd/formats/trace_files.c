/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace_files.h"
#include "base/mem.h"
#include <string.h>

enum { BUCKETS = 1024, CLONES_MOST = 64, FD_MOST = 1 << 20 };

/** A path that several descriptors share. */
struct name {
    size_t refs, n;
    bool is_directory;
    char text[];
};

struct descriptor {
    int fd;
    bool is_closed_by_exec;
    struct name *name; /* NULL: known to be closed, or of no known file */
};

/** Of one process, or of the threads that share it. */
struct descriptors {
    size_t refs, n, cap;
    struct descriptor *items; /* sorted by fd */
};

struct process {
    struct process *next;
    int64_t pid;
    struct descriptors *open;
};

struct trace_files {
    struct process *processes[BUCKETS];
    size_t n_processes, n_descriptors, name_bytes;
    uint64_t lost;
    /* Processes in the middle of fork, clone and the like. */
    struct {
        int64_t pid;
        bool shares;
    } clones[CLONES_MOST];
    size_t n_clones;
};

/* ---- names ---- */

static struct name *name_new(struct trace_files *f, const char *text, bool is_directory)
{
    size_t n = strlen(text) + 1;

    if (f->name_bytes + n > TRACE_NAME_BYTES) {
        f->lost++;
        return NULL;
    }
    struct name *name = mem_alloc(sizeof(*name) + n);
    name->refs = 1;
    name->n = n;
    name->is_directory = is_directory;
    memcpy(name->text, text, n);
    f->name_bytes += n;
    return name;
}

static struct name *name_keep(struct name *name)
{
    if (name)
        name->refs++;
    return name;
}

static void name_drop(struct trace_files *f, struct name *name)
{
    if (!name || --name->refs > 0)
        return;
    f->name_bytes -= name->n;
    mem_free(name);
}

/* ---- descriptors ---- */

static struct descriptors *descriptors_new(void)
{
    struct descriptors *d = mem_alloc(sizeof(*d));

    d->refs = 1;
    return d;
}

static void descriptors_drop(struct trace_files *f, struct descriptors *d)
{
    if (--d->refs > 0)
        return;
    for (size_t i = 0; i < d->n; i++)
        name_drop(f, d->items[i].name);
    f->n_descriptors -= d->n;
    mem_free(d->items);
    mem_free(d);
}

/** Where the descriptor stands, or is to be put. */
static size_t find(const struct descriptors *d, int64_t fd)
{
    size_t low = 0, high = d->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->items[middle].fd < fd)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct descriptor *at(const struct descriptors *d, int64_t fd)
{
    size_t i = find(d, fd);

    return i < d->n && d->items[i].fd == fd ? &d->items[i] : NULL;
}

/** Takes `name` over. */
static void set(struct trace_files *f, struct descriptors *d, int64_t fd, struct name *name,
                bool is_closed_by_exec)
{
    size_t i = find(d, fd);
    bool is_there = i < d->n && d->items[i].fd == fd;

    if (fd < 0 || fd > FD_MOST || (!is_there && f->n_descriptors == TRACE_DESCRIPTORS_MOST)) {
        f->lost += fd >= 0;
        name_drop(f, name);
        return;
    }
    if (is_there) {
        name_drop(f, d->items[i].name);
    } else {
        if (d->n == d->cap) {
            d->cap = d->cap ? 2 * d->cap : 8;
            d->items = mem_resize(d->items, d->cap, sizeof(*d->items));
        }
        memmove(&d->items[i + 1], &d->items[i], (d->n - i) * sizeof(*d->items));
        d->n++;
        f->n_descriptors++;
    }
    d->items[i] = (struct descriptor){(int)fd, is_closed_by_exec, name};
}

/** Forgets those of first..last, or of them what exec closes. */
static void forget(struct trace_files *f, struct descriptors *d, int64_t first, int64_t last,
                   bool only_closed_by_exec)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct descriptor *x = &d->items[i];
        bool is_meant =
            x->fd >= first && x->fd <= last && (!only_closed_by_exec || x->is_closed_by_exec);
        if (is_meant)
            name_drop(f, x->name);
        else
            d->items[n++] = *x;
    }
    f->n_descriptors -= d->n - n;
    d->n = n;
}

/** Gives `to` what `from` has and it has not. */
static void inherit(struct trace_files *f, struct descriptors *to, const struct descriptors *from)
{
    for (size_t i = 0; i < from->n; i++)
        if (!at(to, from->items[i].fd))
            set(f, to, from->items[i].fd, name_keep(from->items[i].name),
                from->items[i].is_closed_by_exec);
}

/* ---- processes ---- */

static struct process **find_process(struct trace_files *f, int64_t pid)
{
    struct process **p = &f->processes[(uint64_t)pid % BUCKETS];

    while (*p && (*p)->pid != pid)
        p = &(*p)->next;
    return p;
}

/** NULL if there is no room. Takes `open` over. */
static struct process *add_process(struct trace_files *f, int64_t pid, struct descriptors *open)
{
    if (f->n_processes == TRACE_PROCESSES_MOST) {
        f->lost++;
        descriptors_drop(f, open);
        return NULL;
    }
    struct process **p = find_process(f, pid);
    *p = mem_alloc(sizeof(**p));
    (*p)->pid = pid;
    (*p)->open = open;
    f->n_processes++;
    return *p;
}

static struct descriptors *copy_of(struct trace_files *f, const struct descriptors *d)
{
    struct descriptors *copy = descriptors_new();

    inherit(f, copy, d);
    return copy;
}

static struct descriptors *share(struct descriptors *d)
{
    d->refs++;
    return d;
}

/** A process that nobody told of: the child of the one that is about to make one, if only one is.
 */
static struct process *process_of(struct trace_files *f, int64_t pid)
{
    struct process *p = *find_process(f, pid);

    if (p)
        return p;
    struct process *parent = f->n_clones == 1 ? *find_process(f, f->clones[0].pid) : NULL;
    if (!parent)
        return add_process(f, pid, descriptors_new());
    return add_process(f, pid,
                       f->clones[0].shares ? share(parent->open) : copy_of(f, parent->open));
}

void trace_files_gone(struct trace_files *f, int64_t pid)
{
    struct process **p = find_process(f, pid);

    for (size_t i = 0; i < f->n_clones; i++)
        if (f->clones[i].pid == pid)
            f->clones[i--] = f->clones[--f->n_clones];
    if (!*p)
        return;
    struct process *gone = *p;
    *p = gone->next;
    descriptors_drop(f, gone->open);
    mem_free(gone);
    f->n_processes--;
}

struct trace_files *trace_files_new(void)
{
    return mem_alloc(sizeof(struct trace_files));
}

void trace_files_free(struct trace_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (f->processes[i])
            trace_files_gone(f, f->processes[i]->pid);
    mem_free(f);
}

const char *trace_files_path(struct trace_files *f, int64_t pid, int64_t fd, bool *is_directory)
{
    struct process *p = process_of(f, pid);
    const struct descriptor *d = p ? at(p->open, fd) : NULL;

    if (!d || !d->name)
        return NULL;
    if (is_directory)
        *is_directory = d->name->is_directory;
    return d->name->text;
}

uint64_t trace_files_lost(const struct trace_files *f)
{
    return f->lost;
}

/* ---- calls ---- */

static bool says(struct strace_text arg, const char *word)
{
    return arg.s && memmem(arg.s, arg.n, word, strlen(word)) != NULL;
}

static bool any_says(const struct strace_call *c, const char *word)
{
    for (size_t i = 0; i < c->n_args && i < STRACE_ARGS_MOST; i++)
        if (says(c->args[i], word))
            return true;
    return false;
}

static bool arg_number(const struct strace_call *c, size_t i, int64_t *out)
{
    return i < c->n_args && i < STRACE_ARGS_MOST && strace_number(c->args[i], out);
}

static void forget_clone(struct trace_files *f, int64_t pid)
{
    for (size_t i = 0; i < f->n_clones; i++)
        if (f->clones[i].pid == pid)
            f->clones[i--] = f->clones[--f->n_clones];
}

void trace_files_begun(struct trace_files *f, const struct strace_call *c,
                       const struct syscall_row *row)
{
    struct process *p = process_of(f, c->pid);

    if (!p || !row || row->effect != SYSCALL_CLONE || f->n_clones == CLONES_MOST)
        return;
    forget_clone(f, c->pid);
    f->clones[f->n_clones].pid = c->pid;
    f->clones[f->n_clones++].shares = any_says(c, "CLONE_FILES");
}

/** The call has told whose child the process is. */
static void adopt(struct trace_files *f, struct process *parent, const struct strace_call *c)
{
    bool shares = any_says(c, "CLONE_FILES");
    struct process *child = *find_process(f, c->value);

    forget_clone(f, c->pid);
    if (child == parent)
        return;
    if (!child) {
        add_process(f, c->value, shares ? share(parent->open) : copy_of(f, parent->open));
        return;
    }
    if (child->open == parent->open)
        return;
    if (!shares) { /* it may have been seen before: what it has done by itself stays */
        inherit(f, child->open, parent->open);
        return;
    }
    inherit(f, parent->open, child->open);
    descriptors_drop(f, child->open);
    child->open = share(parent->open);
}

static void duplicate(struct trace_files *f, struct descriptors *open, const struct strace_call *c,
                      bool is_closed_by_exec)
{
    int64_t fd = 0;
    const struct descriptor *from = arg_number(c, 0, &fd) ? at(open, fd) : NULL;

    set(f, open, c->value, from ? name_keep(from->name) : NULL, is_closed_by_exec);
}

static void control(struct trace_files *f, struct descriptors *open, const struct strace_call *c)
{
    int64_t fd = 0;

    if (c->n_args < 2)
        return;
    if (says(c->args[1], "F_DUPFD")) {
        duplicate(f, open, c, says(c->args[1], "CLOEXEC"));
    } else if (says(c->args[1], "F_SETFD") && c->n_args > 2 && arg_number(c, 0, &fd)) {
        struct descriptor *d = at(open, fd);
        if (d)
            d->is_closed_by_exec = says(c->args[2], "FD_CLOEXEC");
    }
}

/** "[3, 4]" */
static void make_pair(struct trace_files *f, struct descriptors *open, const struct strace_call *c,
                      const struct syscall_row *row)
{
    for (size_t i = 0; i < c->n_args && i < STRACE_ARGS_MOST; i++) {
        struct strace_text arg = c->args[i];
        const char *comma = arg.n && *arg.s == '[' ? memchr(arg.s, ',', arg.n) : NULL;
        int64_t fds[2];
        if (!comma || comma + 2 >= arg.s + arg.n)
            continue;
        struct strace_text second = {comma + 2, (size_t)(arg.s + arg.n - comma - 2)};
        if (!strace_number((struct strace_text){arg.s + 1, arg.n - 1}, &fds[0]) ||
            !strace_number(second, &fds[1]))
            continue;
        for (int k = 0; k < 2; k++)
            set(f, open, fds[k], name_new(f, row->kind, false), any_says(c, "CLOEXEC"));
        return;
    }
}

static void close_range(struct trace_files *f, struct descriptors *open,
                        const struct strace_call *c)
{
    int64_t first = 0, last = 0;

    if (!arg_number(c, 0, &first) || !arg_number(c, 1, &last))
        return;
    if (last < 0)
        last = FD_MOST;
    if (!any_says(c, "CLOSE_RANGE_CLOEXEC")) {
        forget(f, open, first, last, false);
        return;
    }
    for (size_t i = 0; i < open->n; i++)
        if (open->items[i].fd >= first && open->items[i].fd <= last)
            open->items[i].is_closed_by_exec = true;
}

/** Descriptors of its own from here on. */
static void separate(struct trace_files *f, struct process *p)
{
    struct descriptors *shared = p->open;

    if (shared->refs == 1)
        return;
    p->open = copy_of(f, shared);
    descriptors_drop(f, shared);
}

static void close_one(struct trace_files *f, struct descriptors *open, const struct strace_call *c)
{
    int64_t fd = 0;

    if (arg_number(c, 0, &fd) && at(open, fd))
        set(f, open, fd, NULL, false);
}

void trace_files_learn(struct trace_files *f, const struct strace_call *c,
                       const struct syscall_row *row, const char *path)
{
    struct process *p = process_of(f, c->pid);

    if (!p || c->end != STRACE_RETURNED || c->error.s || c->value < 0)
        return;
    switch (row->effect) {
    case SYSCALL_PLAIN:
        break;
    case SYSCALL_OPEN:
        set(f, p->open, c->value, name_new(f, path, any_says(c, "O_DIRECTORY")),
            any_says(c, "O_CLOEXEC"));
        break;
    case SYSCALL_MAKE:
        set(f, p->open, c->value, name_new(f, row->kind, false), any_says(c, "CLOEXEC"));
        break;
    case SYSCALL_PIPE:
        make_pair(f, p->open, c, row);
        break;
    case SYSCALL_DUP:
    case SYSCALL_DUP_TO:
        duplicate(f, p->open, c, any_says(c, "O_CLOEXEC"));
        break;
    case SYSCALL_FCNTL:
        control(f, p->open, c);
        break;
    case SYSCALL_CLOSE:
        close_one(f, p->open, c);
        break;
    case SYSCALL_CLOSE_RANGE:
        close_range(f, p->open, c);
        break;
    case SYSCALL_CLONE:
        if (c->value > 0)
            adopt(f, p, c);
        break;
    case SYSCALL_EXEC:
        separate(f, p);
        forget(f, p->open, 0, FD_MOST, true);
        break;
    case SYSCALL_UNSHARE:
        if (any_says(c, "CLONE_FILES"))
            separate(f, p);
        break;
    }
}
