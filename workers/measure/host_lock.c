/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/host_lock.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS (20 * NS_PER_MS)
#define ASK_NS  (50 * NS_PER_MS)

/** Anybody may write to /tmp: what we find there must be ours. */
static enum err_code make_folder(const char *path, struct err *e)
{
    struct stat s;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_sys(e, errno, "make %s", path);
    if (lstat(path, &s) != 0)
        return err_sys(e, errno, "look at %s", path);
    if (!S_ISDIR(s.st_mode) || s.st_uid != geteuid() || (s.st_mode & 022))
        return err_set(e, ERR_DENIED, "%s is not a folder of this user alone", path);
    return ERR_OK;
}

struct waiting {
    int (*may_go_on)(void *context);
    void *context;
    int64_t next_ask_ns;
};

/** What is tried again and again: 0, or -1 with errno. */
struct want {
    int (*attempt)(const struct want *w);
    int fd;
    int operation; /* of flock */
    struct host_lock *lock;
};

static int attempt_flock(const struct want *w)
{
    return flock(w->fd, w->operation | LOCK_NB);
}

static int lock_bytes(int fd, short type, off_t start, off_t n)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = n};

    return fcntl(fd, F_OFD_SETLK, &range);
}

static int attempt_any_cpu(const struct want *w)
{
    return lock_bytes(w->fd, F_RDLCK, 0, CPU_SETSIZE);
}

static int attempt_one_cpu(const struct want *w)
{
    errno = EAGAIN;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, w->lock->among) || lock_bytes(w->fd, F_WRLCK, cpu, 1) != 0)
            continue;
        w->lock->cpu = cpu;
        return 0;
    }
    return -1;
}

static enum err_code wait_for(const struct want *want, struct waiting *w, struct err *e)
{
    while (want->attempt(want) != 0) {
        if (errno != EWOULDBLOCK && errno != EACCES && errno != EINTR)
            return err_sys(e, errno, "lock the host");
        int64_t now = mono_now().ns;
        if (w->may_go_on && now >= w->next_ask_ns && !w->may_go_on(w->context))
            return err_set(e, ERR_TIMEOUT, "stopped");
        if (now >= w->next_ask_ns)
            w->next_ask_ns = now + ASK_NS;
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
    }
    return ERR_OK;
}

static int open_in(const char *folder, const char *name)
{
    AUTO(mem_free) char *path = path_join(folder, name);

    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

enum err_code host_lock_take(struct host_lock *l, const char *folder, enum host_use use,
                             int (*may_go_on)(void *context), void *context, struct err *e)
{
    AUTO(mem_free) char *usual = mem_printf("/tmp/bisectd-%u", (unsigned)geteuid());
    struct waiting w = {.may_go_on = may_go_on, .context = context};

    folder = folder ? folder : usual;
    enum err_code code = make_folder(folder, e);
    if (code)
        return code;
    AUTO(fd_close) int gate = open_in(folder, "host.gate"); /* closing lets it go */
    AUTO(fd_close) int lock = open_in(folder, "host.lock");
    if (gate < 0 || lock < 0)
        return err_sys(e, errno, "open a lock in %s", folder);
    struct want through = {.attempt = attempt_flock, .fd = gate, .operation = LOCK_EX};
    struct want host = {
        .attempt = attempt_flock, .fd = lock, .operation = use == HOST_MEASURE ? LOCK_EX : LOCK_SH};
    code = wait_for(&through, &w, e);
    if (!code)
        code = wait_for(&host, &w, e);
    fd_close(gate); /* who waits for a CPU is in nobody's way */
    gate = -1;
    struct want cpus = {
        .attempt = use == HOST_BUILD ? attempt_any_cpu : attempt_one_cpu, .fd = lock, .lock = l};
    if (!code && (use == HOST_BUILD || use == HOST_MEASURE_ON))
        code = wait_for(&cpus, &w, e);
    if (code)
        return code;
    l->fd = lock;
    lock = -1;
    return ERR_OK;
}

void host_lock_release(struct host_lock *l)
{
    fd_close(l->fd);
    l->fd = -1;
}
