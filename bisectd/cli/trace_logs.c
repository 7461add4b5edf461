/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace_logs.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stream.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PIECE_BYTES = 256 * KIB, PID_MOST = 4194304 };

struct log {
    char *path;
    int64_t pid; /* 0: its lines say */
};

struct logs {
    struct log *items;
    size_t n, cap;
};

static void logs_fini(struct logs *l)
{
    for (size_t i = 0; i < l->n; i++)
        mem_free(l->items[i].path);
    mem_free(l->items);
}
DEFINE_AUTO_FINI(struct logs, logs_fini)

void trace_logs_fini(struct trace_logs *l)
{
    trace_table_free(l->table);
    l->table = NULL;
}

/** The number that a name without its packing ends in, after a dot; 0 if none. */
static int64_t pid_of_name(const char *name)
{
    size_t n = strlen(name);
    int64_t pid = 0, scale = 1;

    if (n > 3 && strcmp(name + n - 3, ".gz") == 0)
        n -= 3;
    else if (n > 4 && strcmp(name + n - 4, ".zst") == 0)
        n -= 4;
    for (; n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9' && scale <= PID_MOST; n--) {
        pid += scale * (name[n - 1] - '0');
        scale *= 10;
    }
    return n > 1 && name[n - 1] == '.' && pid <= PID_MOST ? pid : 0;
}

static void add_log(struct logs *l, const char *folder, const char *name)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->items = mem_resize(l->items, l->cap, sizeof(*l->items));
    }
    l->items[l->n++] = (struct log){path_join(folder, name), pid_of_name(name)};
}

static int by_pid(const void *a, const void *b)
{
    const struct log *x = a, *y = b;

    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return strcmp(x->path, y->path);
}

static bool is_file(const char *folder, const char *name)
{
    AUTO(mem_free) char *path = path_join(folder, name);
    struct stat s;

    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

/** Adds the folder's files; only those called PREFIX.NUMBER if there is a prefix. */
static enum err_code list_folder(const char *folder, const char *prefix, struct logs *l,
                                 struct err *e)
{
    DIR *dir = opendir(folder);

    if (!dir)
        return err_sys(e, errno, "read folder %s", folder);
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        size_t n = prefix ? strlen(prefix) : 0;
        bool is_ours = !prefix || (strncmp(d->d_name, prefix, n) == 0 && d->d_name[n] == '.' &&
                                   pid_of_name(d->d_name) > 0);
        if (d->d_name[0] != '.' && is_ours && is_file(folder, d->d_name))
            add_log(l, folder, d->d_name);
    }
    closedir(dir);
    if (l->n > 0)
        qsort(l->items, l->n, sizeof(*l->items), by_pid);
    return ERR_OK;
}

static enum err_code list_by_prefix(const char *path, struct logs *l, struct err *e)
{
    const char *slash = strrchr(path, '/');
    AUTO(mem_free)
    char *folder = slash ? mem_dup_n(path, (size_t)(slash - path) + (slash == path)) : mem_dup(".");
    const char *name = slash ? slash + 1 : path;

    if (*name && list_folder(folder, name, l, NULL) == ERR_OK && l->n > 0)
        return ERR_OK;
    err_set(e, ERR_NOT_FOUND, "%s: no such file, folder, or logs %s.PID", path, path);
    return err_hint(e, "Write one with `strace -f -T -y -o FILE COMMAND`, or many with -ff.");
}

static enum err_code list(const char *path, struct logs *l, struct err *e)
{
    struct stat s;

    if (stat(path, &s) != 0)
        return errno == ENOENT ? list_by_prefix(path, l, e) : err_sys(e, errno, "read %s", path);
    if (!S_ISDIR(s.st_mode)) {
        l->items = mem_array(1, sizeof(*l->items));
        l->items[l->n++] = (struct log){mem_dup(path), 0};
        return ERR_OK;
    }
    enum err_code code = list_folder(path, NULL, l, e);
    if (code || l->n > 0)
        return code;
    return err_set(e, ERR_NOT_FOUND, "%s: the folder holds no files", path);
}

static enum err_code read_log(const struct log *log, struct trace *t, char *piece,
                              struct trace_logs *out, struct err *e)
{
    AUTO(fd_close) int fd = open(log->path, O_RDONLY | O_CLOEXEC);
    AUTO(stream_free) struct stream *s = NULL;
    struct err fault = {0};
    size_t got = 1;

    if (fd < 0)
        return err_sys(e, errno, "open %s", log->path);
    s = stream_new(fd);
    trace_begin(t, log->pid);
    while (got > 0 && !fault.code) {
        if (stream_read(s, piece, PIECE_BYTES, &got, &fault) == ERR_OK)
            trace_feed(t, piece, got);
    }
    trace_end(t);
    out->n_logs++;
    if (fault.code == ERR_INVALID)
        out->n_damaged++;
    else if (fault.code)
        return err_set(e, fault.code, "%s: %s", log->path, fault.text);
    return ERR_OK;
}

enum err_code trace_logs_read(const char *path, const struct trace_filter *filter,
                              struct trace_logs *out, struct err *e)
{
    AUTO(logs_fini) struct logs logs = {0};
    AUTO(trace_logs_fini) struct trace_logs got = {.table = trace_table_new()};
    AUTO(trace_free) struct trace *t = trace_new(filter, got.table);
    AUTO(mem_free) char *piece = mem_alloc(PIECE_BYTES);

    enum err_code code = list(path, &logs, e);
    for (size_t i = 0; !code && i < logs.n; i++)
        code = read_log(&logs.items[i], t, piece, &got, e);
    if (code)
        return code;
    got.tally = *trace_finish(t);
    *out = got;
    got.table = NULL;
    return ERR_OK;
}
