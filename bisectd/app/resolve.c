/* SPDX-License-Identifier: Apache-2.0 */
#include "app/resolve.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/subprocess.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* 1,000,000 commits take about 300 bytes each. */
#define MAX_ANSWER_BYTES ((size_t)1024 * MIB)
enum { READ_BYTES = 256 * KIB };

struct resolver {
    struct loop *loop;
    pid_t pid;
    int fd; /* -1: at its end */
    struct buf line;
    struct buf answer; /* the last line that is no progress */
    char *progress;
};

static json *question_to_json(const struct resolver_question *q)
{
    const struct request *r = q->request;
    json *o = json_new_object();
    json *paths = json_new_array();

    for (size_t i = 0; i < r->project->paths.n; i++)
        json_push(paths, json_new_string(r->project->paths.items[i]));
    json_put(o, "data_dir", json_new_string(q->data_dir));
    json_put(o, "bisection", json_new_string(q->bisection));
    json_put(o, "name", json_new_string(r->project->name));
    json_put(o, "repository", json_new_string(r->project->repository));
    json_put(o, "good", json_new_string(r->good));
    json_put(o, "bad", json_new_string(r->bad));
    json *fixups = json_new_array();
    for (size_t i = 0; i < r->project->n_fixups; i++)
        json_push(fixups, fixup_to_json(r->project->fixups[i]));
    json_put(o, "fixups", fixups);
    json_put(o, "comparison", json_new_bool(r->is_comparison));
    json_put(o, "paths", paths);
    return o;
}

/* A descriptor that reads the question from its start. */
static int question_fd(const struct resolver_question *q)
{
    AUTO(json_free) json *o = question_to_json(q);
    AUTO(buf_fini) struct buf text = {0};
    int fd = memfd_create("question", MFD_CLOEXEC);

    json_dump(o, JSON_COMPACT, &text);
    if (fd < 0)
        return -1;
    if (write(fd, text.data, text.len) == (ssize_t)text.len && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    fd_close(fd);
    return -1;
}

static void take_line(struct resolver *r, const char *text, size_t n)
{
    static const char mark[] = "{\"progress\":";
    AUTO(json_free) json *v = NULL;

    if (n < sizeof(mark) - 1 || memcmp(text, mark, sizeof(mark) - 1) != 0) {
        buf_clear(&r->answer);
        buf_add(&r->answer, text, n);
    } else if (!json_parse(text, n, &v, NULL)) {
        mem_free(r->progress);
        r->progress = mem_dup(json_str(json_at(v, "progress"), ""));
    }
}

static void close_end(struct resolver *r)
{
    int status;

    if (r->fd < 0)
        return;
    loop_remove(r->loop, r->fd);
    fd_close(r->fd);
    r->fd = -1;
    (void)kill(r->pid, SIGKILL);
    (void)waitpid(r->pid, &status, 0);
}

/* Lines are searched for in what is new only: an answer may be one line of many megabytes. */
static void split_lines(struct resolver *r, size_t from)
{
    size_t start = 0;
    char *end;

    while ((end = memchr(r->line.data + from, '\n', r->line.len - from))) {
        size_t at = (size_t)(end - r->line.data);
        take_line(r, r->line.data + start, at - start);
        start = from = at + 1;
    }
    if (start)
        buf_drop(&r->line, start);
}

static void on_readable(void *ctx)
{
    struct resolver *r = ctx;
    size_t before = r->line.len;
    ssize_t n = read(r->fd, buf_room(&r->line, READ_BYTES), READ_BYTES);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || r->line.len > MAX_ANSWER_BYTES) {
        close_end(r);
        return;
    }
    r->line.len += (size_t)n;
    split_lines(r, before);
}

enum err_code resolver_start(struct loop *l, const struct resolver_question *q,
                             struct resolver **out, struct err *e)
{
    const char *const argv[] = {"/proc/self/exe", RESOLVE_FLAG, NULL};
    int ends[2];

    AUTO(fd_close) int in = question_fd(q);
    if (in < 0)
        return err_sys(e, errno, "hand a question to a child");
    if (pipe2(ends, O_CLOEXEC))
        return err_sys(e, errno, "pipe");
    AUTO(fd_close) int from = ends[0];
    AUTO(fd_close) int to = ends[1];
    AUTO(resolver_free) struct resolver *r = mem_alloc(sizeof(*r));
    r->loop = l;
    r->fd = -1;

    struct subprocess s = {
        .argv = argv,
        .in = in,
        .out = to,
        .err = STDERR_FILENO,
        .death_signal = SIGKILL,
        .new_session = true,
    };
    if (fcntl(from, F_SETFL, O_NONBLOCK) || loop_add(l, from, on_readable, r, e))
        return e->code ? e->code : err_sys(e, errno, "pipe");
    r->fd = from;
    from = -1;
    if (subprocess_start(&s, &r->pid, e)) {
        loop_remove(l, r->fd);
        fd_close(r->fd);
        r->fd = -1;
        return err_wrap(e, "look the range up");
    }
    *out = TAKE(r);
    return ERR_OK;
}

void resolver_free(struct resolver *r)
{
    if (!r)
        return;
    close_end(r);
    buf_fini(&r->line);
    buf_fini(&r->answer);
    mem_free(r->progress);
    mem_free(r);
}

bool resolver_is_done(const struct resolver *r)
{
    return r->fd < 0;
}

const char *resolver_progress(const struct resolver *r)
{
    return r->progress;
}

void resolver_take(struct resolver *r, struct buf *out)
{
    *out = r->answer;
    r->answer = (struct buf){0};
}

static enum err_code code_of(const char *name)
{
    for (int i = 0; i < ERR_COUNT; i++)
        if (strcmp(err_name((enum err_code)i), name) == 0)
            return (enum err_code)i;
    return ERR_IO;
}

enum err_code resolve_read(const struct buf *answer, struct range **out, struct err *e)
{
    AUTO(json_free) json *v = NULL;

    if (!answer->len)
        return err_set(e, ERR_IO, "the process that looks the range up died");
    if (json_parse(buf_str(answer), answer->len, &v, e))
        return err_wrap(e, "range");
    const json *error = json_at(v, "error");
    if (!error)
        return range_from_json(json_at(v, "range"), out, e);
    enum err_code code = code_of(json_str(json_at(error, "code"), ""));
    err_set(e, code ? code : ERR_IO, "%s", json_str(json_at(error, "text"), ""));
    return err_hint(e, "%s", json_str(json_at(error, "hint"), ""));
}
