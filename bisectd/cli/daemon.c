/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/daemon.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "cli/terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOG_MOST = 4 * MIB, /* a longer one is begun anew */
    LOG_READ_MOST = 2 * LOG_MOST,
    READY_SLICE_MS = 100,
    GONE_SLICE_MS = 20,
    STOP_SLICES = 150,
    PID_MOST = 64,
};
static const int64_t ready_limit_ns = 60 * NS_PER_S;

char *daemon_base(const char *data_dir)
{
    AUTO(mem_free) char *path = place_socket(data_dir);

    return mem_printf("unix:%s", path);
}

static enum err_code log_open(const char *path, int *fd, struct err *e)
{
    struct stat now;
    int extra = stat(path, &now) == 0 && now.st_size > LOG_MOST ? O_TRUNC : 0;

    *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | extra, 0600);
    if (*fd < 0) {
        err_sys(e, errno, "open %s", path);
        return err_hint(e, "Name a folder you may write to with --store DIR.");
    }
    return ERR_OK;
}

/* The program's own words for why it did not start: its last line. */
static enum err_code say_why(const char *path, off_t from, struct err *e)
{
    AUTO(buf_fini) struct buf log = {0};

    if (file_read(path, LOG_READ_MOST, &log, NULL) || (off_t)log.len <= from)
        err_set(e, ERR_CONFLICT, "bisectd did not start, and said nothing");
    else {
        while (log.len > 0 && log.data[log.len - 1] == '\n')
            log.data[--log.len] = '\0';
        const char *cut = strrchr(log.data, '\n');
        const char *last = cut ? cut + 1 : log.data;
        last += strncmp(last, "bisectd: ", 9) == 0 ? 9 : 0;
        err_set(e, ERR_CONFLICT, "bisectd did not start: %s", last);
    }
    return err_hint(e, "Its log is %s.", path);
}

/* Until a byte, the end of the pipe, or the limit. */
static enum err_code wait_ready(int fd, bool *is_ready, struct err *e)
{
    struct mono start = mono_now();
    char byte;

    while (mono_now().ns - start.ns < ready_limit_ns) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (interrupt_seen())
            return err_set(e, ERR_TIMEOUT, "stopped");
        if (poll(&p, 1, READY_SLICE_MS) <= 0)
            continue;
        *is_ready = read(fd, &byte, 1) == 1;
        return ERR_OK;
    }
    return err_set(e, ERR_TIMEOUT, "bisectd did not get ready within %d seconds",
                   (int)(ready_limit_ns / NS_PER_S));
}

static char *find_program(void)
{
    AUTO(mem_free) char *folder = path_of_program();
    AUTO(mem_free) char *beside = path_join(folder, "bisectd");

    return access(beside, X_OK) == 0 ? TAKE(beside) : mem_dup("bisectd");
}

static enum err_code spawn(const struct daemon_plan *p, int log, int ready, pid_t *pid,
                           struct err *e)
{
    AUTO(mem_free) char *program = find_program();
    char workers[32], ready_text[16];

    snprintf(workers, sizeof(workers), "%lld", (long long)p->n_workers);
    snprintf(ready_text, sizeof(ready_text), "%d", ready);
    const char *const argv[] = {program,      "--private", "--data-dir",
                                p->data_dir,  "--workers", workers,
                                "--ready-fd", ready_text,  p->platform ? "--platform" : NULL,
                                p->platform,  NULL};
    struct subprocess s = {
        .argv = argv, .in = -1, .out = log, .err = log, .keep = {ready, 0}, .new_session = true};
    if (subprocess_start(&s, pid, e)) {
        err_wrap(e, "start %s", program);
        return err_hint(e, "bisectd is to be installed beside bisectctl, or in PATH.");
    }
    return ERR_OK;
}

enum err_code daemon_start(const struct daemon_plan *p, pid_t *pid, struct err *e)
{
    AUTO(mem_free) char *path = path_join(p->data_dir, "bisectd.log");
    AUTO(fd_close) int log = -1;
    AUTO(fd_close) int reader = -1;
    int ends[2];
    bool is_ready = false;

    if (log_open(path, &log, e))
        return e->code;
    off_t log_start = lseek(log, 0, SEEK_END);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_sys(e, errno, "pipe");
    reader = ends[0];
    enum err_code code = spawn(p, log, ends[1], pid, e);
    fd_close(ends[1]);
    if (code || wait_ready(reader, &is_ready, e))
        return e->code;
    return is_ready ? ERR_OK : say_why(path, log_start, e);
}

static void pause_ms(long ms)
{
    struct timespec t = {0, ms * NS_PER_MS};

    nanosleep(&t, NULL);
}

void daemon_stop(pid_t pid)
{
    if (kill(pid, SIGTERM))
        return;
    for (int i = 0; i < STOP_SLICES && waitpid(pid, NULL, WNOHANG) == 0; i++)
        pause_ms(GONE_SLICE_MS);
}

/* The lock file names who holds it. To connect and ask would keep a private daemon alive. */
static pid_t holder(const char *data_dir)
{
    AUTO(mem_free) char *path = path_join(data_dir, "lock");
    AUTO(buf_fini) struct buf text = {0};

    if (file_read(path, PID_MOST, &text, NULL))
        return 0;
    return (pid_t)strtol(buf_str(&text), NULL, 10);
}

void daemon_end(const char *data_dir)
{
    pid_t pid = holder(data_dir);

    if (pid > 0)
        (void)kill(pid, SIGTERM); /* gone already: as well */
}

bool daemon_wait_gone(const char *data_dir, int64_t limit_ns)
{
    struct mono start = mono_now();
    pid_t pid = holder(data_dir);

    while (pid > 0 && (kill(pid, 0) == 0 || errno == EPERM)) {
        if (mono_now().ns - start.ns > limit_ns || interrupt_seen())
            return false;
        pause_ms(GONE_SLICE_MS);
    }
    return true;
}
