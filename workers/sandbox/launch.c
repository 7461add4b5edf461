/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/launch.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/sandbox/supervisor.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

_Noreturn static void fail(struct launch *l, const char *step)
{
    l->sys = errno;
    snprintf(l->step, sizeof(l->step), "%s", step);
    _exit(127);
}

static void limit(int what, int64_t value, struct launch *l)
{
    struct rlimit r = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};
    struct rlimit now;

    if (getrlimit(what, &now) == 0 && now.rlim_max < r.rlim_max)
        r.rlim_cur = r.rlim_max = now.rlim_max;
    if (setrlimit(what, &r) != 0)
        fail(l, "set a limit");
}

/** When memory runs out, the job goes before anything else does. */
static void be_first_to_go(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd >= 0 && write(fd, "500", 3) != 3)
        errno = 0; /* the kernel's own choice is as good */
    fd_close(fd);
}

/** In a forked child: nothing of ours stays with it, and it does not outlive us. */
static void detach(void)
{
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    umask(022);
}

void launch_job(const struct order *o, const struct launch_plan *p,
                const int fds[ORDER_DESCRIPTORS], int64_t n_threads, struct launch *l)
{
    detach();
    prctl(PR_SET_DUMPABLE, 1); /* until the exec; its /proc files would be another's */
    if (dup2(fds[ORDER_STDOUT], 1) < 0 || dup2(fds[ORDER_STDERR], 2) < 0)
        fail(l, "redirect output");
    if (close_range(3, ~0U, 0) != 0)
        fail(l, "close descriptors");
    if (chdir(p->folder[0]) != 0)
        fail(l, "enter the folder");
    be_first_to_go();
    limit(RLIMIT_CORE, 0, l);
    if (o->file_bytes > 0)
        limit(RLIMIT_FSIZE, o->file_bytes, l);
    if (n_threads > 0)
        limit(RLIMIT_NPROC, n_threads, l);
    if (o->has_cpus && sched_setaffinity(0, sizeof(o->cpus), &o->cpus) != 0)
        fail(l, "keep to its CPUs");
    if (o->has_fixed_layout && personality(ADDR_NO_RANDOMIZE) < 0)
        fail(l, "fix addresses");

    l->exec_ns = mono_now().ns;
    execve(p->argv[0], p->argv, p->environment);
    fail(l, p->argv[0]);
}

void launch_walls(const struct launch_plan *p, const int fds[ORDER_DESCRIPTORS],
                  const int inside[2], struct launch *l)
{
    char *no_environment[] = {NULL};

    detach();
    for (int i = ORDER_GROUP; i < ORDER_DESCRIPTORS; i++)
        if (fds[i] >= 0 && write(fds[i], "0", 1) != 1)
            fail(l, "enter a control group");
    /* First out of the way of the numbers that they are to have. */
    int ctl = fcntl(inside[0], F_DUPFD, 16), program = fcntl(fds[ORDER_INSIDE], F_DUPFD, 16);
    if (ctl < 0 || program < 0 || dup2(inside[1], 1) < 0 || dup2(inside[1], 2) < 0 ||
        dup2(ctl, INSIDE_CTL) < 0 || dup2(program, INSIDE_PROGRAM) < 0)
        fail(l, "redirect output");
    if (close_range(INSIDE_PROGRAM + 1, ~0U, 0) != 0)
        fail(l, "close descriptors");
    execve(p->wall[0], p->wall, no_environment);
    fail(l, p->wall[0]);
}

/** Splits the next `n` strings of the text into a NULL-terminated list; NULL if it has fewer. */
static char **take_strings(char **text, const char *end, size_t n)
{
    char **list = mem_array(n + 1, sizeof(*list));

    for (size_t i = 0; i < n; i++) {
        char *stop = *text < end ? memchr(*text, '\0', (size_t)(end - *text)) : NULL;
        if (!stop) {
            mem_free(list);
            return NULL;
        }
        list[i] = *text;
        *text = stop + 1;
    }
    return list;
}

bool launch_plan_read(const struct order *o, int fd, struct launch_plan *out)
{
    char *text = mmap(NULL, o->text_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    const char *end = text + o->text_bytes;

    if (text == MAP_FAILED)
        return false;
    out->text = text;
    out->n_text = o->text_bytes;
    out->wall = take_strings(&text, end, o->n_wall);
    out->argv = take_strings(&text, end, o->n_argv);
    out->folder = take_strings(&text, end, 1);
    out->wanted = take_strings(&text, end, 1);
    out->environment = take_strings(&text, end, o->n_environment);
    errno = EINVAL;
    return out->wall && out->argv && out->argv[0] && out->folder && out->wanted && out->environment;
}

void launch_plan_fini(struct launch_plan *p)
{
    char **lists[] = {p->wall, p->argv, p->folder, p->wanted, p->environment};
    int sys = errno;

    for (size_t i = 0; i < LEN(lists); i++)
        mem_free(lists[i]);
    if (p->text)
        munmap(p->text, p->n_text);
    errno = sys;
}
