/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace_logs.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stream.h"
#include "base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PIECE_BYTES = 256 * KIB, PID_MOST = 4194304, LINE_SHOWN = 60 };

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
    mem_free(TAKE(l->damage));
    mem_free(TAKE(l->first_line));
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

/** Looks at a log's first bytes: nothing is read out of what is packed in another way. */
static enum err_code check_packing(const char *path, const char *bytes, size_t n, struct err *e)
{
    static const struct {
        const char *name, *unpack, *magic;
        size_t n;
    } packings[] = {{"xz", "xz -d",
                     "\xfd"
                     "7zXZ",
                     5},
                    {"bzip2", "bzip2 -d", "BZh", 3},
                    {"lz4", "lz4 -d", "\x04\x22\x4d\x18", 4}};

    for (size_t i = 0; i < LEN(packings); i++)
        if (n >= packings[i].n && memcmp(bytes, packings[i].magic, packings[i].n) == 0)
            return err_set(e, ERR_INVALID,
                           "%s: packed with %s, which is not read: unpack it first (%s); gzip and "
                           "zstd are read as they are",
                           path, packings[i].name, packings[i].unpack);
    return ERR_OK;
}

static void keep_first_line(struct trace_logs *l, const char *bytes, size_t n)
{
    AUTO(buf_fini) struct buf line = {0};
    const char *newline = memchr(bytes, '\n', n);

    if (l->first_line || n == 0)
        return;
    text_clean(&line, bytes, newline ? (size_t)(newline - bytes) : n, LINE_SHOWN);
    l->first_line = mem_dup(buf_str(&line));
}

/** Hands the log on, up to its end or a fault in its packing, which is kept in `fault`. */
static enum err_code feed_log(const struct log *log, int fd, struct trace *t,
                              struct trace_logs *out, struct err *fault)
{
    AUTO(stream_free) struct stream *s = stream_new(fd);
    AUTO(mem_free) char *piece = mem_alloc(PIECE_BYTES);
    size_t got = 0;

    for (bool is_first = true; stream_read(s, piece, PIECE_BYTES, &got, fault) == ERR_OK && got > 0;
         is_first = false) {
        if (is_first && check_packing(log->path, piece, got, fault))
            return ERR_INVALID;
        keep_first_line(out, piece, got);
        trace_feed(t, piece, got);
    }
    return ERR_OK;
}

static enum err_code read_log(const struct log *log, struct trace *t, struct trace_logs *out,
                              struct err *e)
{
    AUTO(fd_close) int fd = open(log->path, O_RDONLY | O_CLOEXEC);
    struct err fault = {0};

    if (fd < 0)
        return err_sys(e, errno, "open %s", log->path);
    trace_begin(t, log->pid);
    if (feed_log(log, fd, t, out, &fault))
        return err_set(e, fault.code, "%s", fault.text);
    trace_end(t);
    out->n_logs++;
    if (fault.code && fault.code != ERR_INVALID)
        return err_set(e, fault.code, "%s: %s", log->path, fault.text);
    if (fault.code && out->n_damaged++ == 0)
        out->damage = mem_printf("%s: %s", log->path, fault.text);
    return ERR_OK;
}

/** Refuses what is no trace at all; one of a program without such calls is one. */
static enum err_code check_calls(const char *path, const struct trace_logs *l, struct err *e)
{
    const struct strace_tally *t = &l->tally;
    uint64_t n_odd =
        t->rejects[STRACE_UNKNOWN] + t->rejects[STRACE_CUT] + t->rejects[STRACE_TOO_LONG];

    if (t->calls + t->restarted + t->never + t->summed + t->rejects[STRACE_NO_END] > 0)
        return ERR_OK;
    if (l->damage)
        return err_set(e, ERR_INVALID, "%s, and no call can be read in front of that", l->damage);
    if (n_odd == 0 || t->others > 0)
        return ERR_OK;
    err_set(e, ERR_INVALID,
            "%s: no line of it is a system call as strace writes them (%" PRIu64
            " line%s; first: %s)",
            path, t->lines, t->lines == 1 ? "" : "s", l->first_line);
    return err_hint(e, "Write one with `strace -f -T -y -o FILE COMMAND`, or many with -ff.");
}

enum err_code trace_logs_read(const char *path, const struct trace_filter *filter,
                              struct trace_logs *out, struct err *e)
{
    AUTO(logs_fini) struct logs logs = {0};
    AUTO(trace_logs_fini) struct trace_logs got = {.table = trace_table_new()};
    AUTO(trace_free) struct trace *t = trace_new(filter, got.table);

    enum err_code code = list(path, &logs, e);
    for (size_t i = 0; !code && i < logs.n; i++)
        code = read_log(&logs.items[i], t, &got, e);
    if (code)
        return code;
    got.tally = *trace_finish(t);
    if (check_calls(path, &got, e))
        return ERR_INVALID;
    *out = got;
    got = (struct trace_logs){0};
    return ERR_OK;
}
