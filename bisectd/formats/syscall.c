/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/syscall.h"
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define PLAIN SYSCALL_PLAIN, false, NULL
#define WAIT  SYSCALL_PLAIN, true, NULL
/* Sorted by name: syscall_find halves. */
const struct syscall_row syscalls[] = {
/*   name               fd  path at  effect, waits, makes */
    {"accept",           0, -1, -1, SYSCALL_MAKE, true, "socket"},
    {"accept4",          0, -1, -1, SYSCALL_MAKE, true, "socket"},
    {"access",          -1,  0, -1, PLAIN},
    {"acct",            -1,  0, -1, PLAIN},
    {"bind",             0, -1, -1, PLAIN},
    {"cachestat",        0, -1, -1, PLAIN},
    {"chdir",           -1,  0, -1, PLAIN},
    {"chmod",           -1,  0, -1, PLAIN},
    {"chown",           -1,  0, -1, PLAIN},
    {"chown32",         -1,  0, -1, PLAIN},
    {"chroot",          -1,  0, -1, PLAIN},
    {"clock_nanosleep", -1, -1, -1, WAIT},
    {"clock_nanosleep_time64", -1, -1, -1, WAIT},
    {"clone",           -1, -1, -1, SYSCALL_CLONE, false, NULL},
    {"clone3",          -1, -1, -1, SYSCALL_CLONE, false, NULL},
    {"close",            0, -1, -1, SYSCALL_CLOSE, false, NULL},
    {"close_range",     -1, -1, -1, SYSCALL_CLOSE_RANGE, false, NULL},
    {"connect",          0, -1, -1, WAIT},
    {"copy_file_range",  2, -1, -1, PLAIN},
    {"creat",           -1,  0, -1, SYSCALL_OPEN, false, NULL},
    {"dup",              0, -1, -1, SYSCALL_DUP, false, NULL},
    {"dup2",             0, -1, -1, SYSCALL_DUP_TO, false, NULL},
    {"dup3",             0, -1, -1, SYSCALL_DUP_TO, false, NULL},
    {"epoll_create",    -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[eventpoll]"},
    {"epoll_create1",   -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[eventpoll]"},
    {"epoll_ctl",        0, -1, -1, PLAIN},
    {"epoll_pwait",      0, -1, -1, WAIT},
    {"epoll_pwait2",     0, -1, -1, WAIT},
    {"epoll_wait",       0, -1, -1, WAIT},
    {"eventfd",         -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[eventfd]"},
    {"eventfd2",        -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[eventfd]"},
    {"execve",          -1,  0, -1, SYSCALL_EXEC, false, NULL},
    {"execveat",        -1,  1,  0, SYSCALL_EXEC, false, NULL},
    {"faccessat",       -1,  1,  0, PLAIN},
    {"faccessat2",      -1,  1,  0, PLAIN},
    {"fadvise64",        0, -1, -1, PLAIN},
    {"fadvise64_64",     0, -1, -1, PLAIN},
    {"fallocate",        0, -1, -1, PLAIN},
    {"fchdir",           0, -1, -1, PLAIN},
    {"fchmod",           0, -1, -1, PLAIN},
    {"fchmodat",        -1,  1,  0, PLAIN},
    {"fchmodat2",       -1,  1,  0, PLAIN},
    {"fchown",           0, -1, -1, PLAIN},
    {"fchown32",         0, -1, -1, PLAIN},
    {"fchownat",        -1,  1,  0, PLAIN},
    {"fcntl",            0, -1, -1, SYSCALL_FCNTL, false, NULL},
    {"fcntl64",          0, -1, -1, SYSCALL_FCNTL, false, NULL},
    {"fdatasync",        0, -1, -1, PLAIN},
    {"fgetxattr",        0, -1, -1, PLAIN},
    {"flistxattr",       0, -1, -1, PLAIN},
    {"flock",            0, -1, -1, PLAIN},
    {"fork",            -1, -1, -1, SYSCALL_CLONE, false, NULL},
    {"fremovexattr",     0, -1, -1, PLAIN},
    {"fsetxattr",        0, -1, -1, PLAIN},
    {"fstat",            0, -1, -1, PLAIN},
    {"fstat64",          0, -1, -1, PLAIN},
    {"fstatat64",       -1,  1,  0, PLAIN},
    {"fstatfs",          0, -1, -1, PLAIN},
    {"fstatfs64",        0, -1, -1, PLAIN},
    {"fsync",            0, -1, -1, PLAIN},
    {"ftruncate",        0, -1, -1, PLAIN},
    {"ftruncate64",      0, -1, -1, PLAIN},
    {"futex",           -1, -1, -1, WAIT},
    {"futex_time64",    -1, -1, -1, WAIT},
    {"futex_waitv",     -1, -1, -1, WAIT},
    {"futimesat",       -1,  1,  0, PLAIN},
    {"getdents",         0, -1, -1, PLAIN},
    {"getdents64",       0, -1, -1, PLAIN},
    {"getpeername",      0, -1, -1, PLAIN},
    {"getsockname",      0, -1, -1, PLAIN},
    {"getsockopt",       0, -1, -1, PLAIN},
    {"getxattr",        -1,  0, -1, PLAIN},
    {"inotify_add_watch", -1, 1, -1, PLAIN},
    {"inotify_init",    -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:inotify"},
    {"inotify_init1",   -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:inotify"},
    {"io_getevents",    -1, -1, -1, WAIT},
    {"io_pgetevents",   -1, -1, -1, WAIT},
    {"io_uring_enter",   0, -1, -1, WAIT},
    {"io_uring_setup",  -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[io_uring]"},
    {"ioctl",            0, -1, -1, PLAIN},
    {"lchown",          -1,  0, -1, PLAIN},
    {"lchown32",        -1,  0, -1, PLAIN},
    {"lgetxattr",       -1,  0, -1, PLAIN},
    {"link",            -1,  0, -1, PLAIN},
    {"linkat",          -1,  1,  0, PLAIN},
    {"listen",           0, -1, -1, PLAIN},
    {"listxattr",       -1,  0, -1, PLAIN},
    {"llistxattr",      -1,  0, -1, PLAIN},
    {"lremovexattr",    -1,  0, -1, PLAIN},
    {"lseek",            0, -1, -1, PLAIN},
    {"lsetxattr",       -1,  0, -1, PLAIN},
    {"lstat",           -1,  0, -1, PLAIN},
    {"lstat64",         -1,  0, -1, PLAIN},
    {"memfd_create",    -1, -1, -1, SYSCALL_MAKE, false, "memfd"},
    {"mkdir",           -1,  0, -1, PLAIN},
    {"mkdirat",         -1,  1,  0, PLAIN},
    {"mknod",           -1,  0, -1, PLAIN},
    {"mknodat",         -1,  1,  0, PLAIN},
    {"mmap",             4, -1, -1, PLAIN},
    {"mmap2",            4, -1, -1, PLAIN},
    {"mount",           -1,  1, -1, PLAIN},
    {"msgrcv",          -1, -1, -1, WAIT},
    {"name_to_handle_at", -1, 1, 0, PLAIN},
    {"nanosleep",       -1, -1, -1, WAIT},
    {"newfstatat",      -1,  1,  0, PLAIN},
    {"open",            -1,  0, -1, SYSCALL_OPEN, false, NULL},
    {"openat",          -1,  1,  0, SYSCALL_OPEN, false, NULL},
    {"openat2",         -1,  1,  0, SYSCALL_OPEN, false, NULL},
    {"pause",           -1, -1, -1, WAIT},
    {"perf_event_open", -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[perf_event]"},
    {"pidfd_open",      -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[pidfd]"},
    {"pipe",            -1, -1, -1, SYSCALL_PIPE, false, "pipe"},
    {"pipe2",           -1, -1, -1, SYSCALL_PIPE, false, "pipe"},
    {"poll",            -1, -1, -1, WAIT},
    {"ppoll",           -1, -1, -1, WAIT},
    {"ppoll_time64",    -1, -1, -1, WAIT},
    {"pread",            0, -1, -1, PLAIN},
    {"pread64",          0, -1, -1, PLAIN},
    {"preadv",           0, -1, -1, PLAIN},
    {"preadv2",          0, -1, -1, PLAIN},
    {"pselect6",        -1, -1, -1, WAIT},
    {"pselect6_time64", -1, -1, -1, WAIT},
    {"pwrite",           0, -1, -1, PLAIN},
    {"pwrite64",         0, -1, -1, PLAIN},
    {"pwritev",          0, -1, -1, PLAIN},
    {"pwritev2",         0, -1, -1, PLAIN},
    {"read",             0, -1, -1, PLAIN},
    {"readahead",        0, -1, -1, PLAIN},
    {"readlink",        -1,  0, -1, PLAIN},
    {"readlinkat",      -1,  1,  0, PLAIN},
    {"readv",            0, -1, -1, PLAIN},
    {"recv",             0, -1, -1, PLAIN},
    {"recvfrom",         0, -1, -1, PLAIN},
    {"recvmmsg",         0, -1, -1, PLAIN},
    {"recvmsg",          0, -1, -1, PLAIN},
    {"removexattr",     -1,  0, -1, PLAIN},
    {"rename",          -1,  0, -1, PLAIN},
    {"renameat",        -1,  1,  0, PLAIN},
    {"renameat2",       -1,  1,  0, PLAIN},
    {"restart_syscall", -1, -1, -1, WAIT},
    {"rmdir",           -1,  0, -1, PLAIN},
    {"rt_sigsuspend",   -1, -1, -1, WAIT},
    {"rt_sigtimedwait", -1, -1, -1, WAIT},
    {"select",          -1, -1, -1, WAIT},
    {"semop",           -1, -1, -1, WAIT},
    {"semtimedop",      -1, -1, -1, WAIT},
    {"send",             0, -1, -1, PLAIN},
    {"sendfile",         0, -1, -1, PLAIN},
    {"sendfile64",       0, -1, -1, PLAIN},
    {"sendmmsg",         0, -1, -1, PLAIN},
    {"sendmsg",          0, -1, -1, PLAIN},
    {"sendto",           0, -1, -1, PLAIN},
    {"setsockopt",       0, -1, -1, PLAIN},
    {"setxattr",        -1,  0, -1, PLAIN},
    {"shutdown",         0, -1, -1, PLAIN},
    {"signalfd",        -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[signalfd]"},
    {"signalfd4",       -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[signalfd]"},
    {"socket",          -1, -1, -1, SYSCALL_MAKE, false, "socket"},
    {"socketpair",      -1, -1, -1, SYSCALL_PIPE, false, "socket"},
    {"splice",           0, -1, -1, PLAIN},
    {"stat",            -1,  0, -1, PLAIN},
    {"stat64",          -1,  0, -1, PLAIN},
    {"statfs",          -1,  0, -1, PLAIN},
    {"statfs64",        -1,  0, -1, PLAIN},
    {"statx",           -1,  1,  0, PLAIN},
    {"swapoff",         -1,  0, -1, PLAIN},
    {"swapon",          -1,  0, -1, PLAIN},
    {"symlink",         -1,  1, -1, PLAIN},
    {"symlinkat",       -1,  2,  1, PLAIN},
    {"sync_file_range",  0, -1, -1, PLAIN},
    {"syncfs",           0, -1, -1, PLAIN},
    {"tee",              0, -1, -1, PLAIN},
    {"timerfd_create",  -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[timerfd]"},
    {"timerfd_gettime",  0, -1, -1, PLAIN},
    {"timerfd_settime",  0, -1, -1, PLAIN},
    {"truncate",        -1,  0, -1, PLAIN},
    {"truncate64",      -1,  0, -1, PLAIN},
    {"umount",          -1,  0, -1, PLAIN},
    {"umount2",         -1,  0, -1, PLAIN},
    {"unlink",          -1,  0, -1, PLAIN},
    {"unlinkat",        -1,  1,  0, PLAIN},
    {"unshare",         -1, -1, -1, SYSCALL_UNSHARE, false, NULL},
    {"userfaultfd",     -1, -1, -1, SYSCALL_MAKE, false, "anon_inode:[userfaultfd]"},
    {"utime",           -1,  0, -1, PLAIN},
    {"utimensat",       -1,  1,  0, PLAIN},
    {"utimes",          -1,  0, -1, PLAIN},
    {"vfork",           -1, -1, -1, SYSCALL_CLONE, true, NULL},
    {"vmsplice",         0, -1, -1, PLAIN},
    {"wait4",           -1, -1, -1, WAIT},
    {"waitid",          -1, -1, -1, WAIT},
    {"waitpid",         -1, -1, -1, WAIT},
    {"write",            0, -1, -1, PLAIN},
    {"writev",           0, -1, -1, PLAIN},
};
/* clang-format on */
const size_t n_syscalls = LEN(syscalls);

const struct syscall_row *syscall_find(const char *name, size_t n)
{
    size_t low = 0, high = n_syscalls;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(syscalls[middle].name, name, n);
        if (order == 0 && syscalls[middle].name[n] == '\0')
            return &syscalls[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/** Reads of these take as long as somebody at the other end lets them. */
static bool is_peer(const char *path)
{
    static const char *const kinds[] = {"pipe", "socket",      "TCP",      "UDP",
                                        "UNIX", "SCTP",        "DCCP",     "NETLINK",
                                        "RAW",  "anon_inode:", "/dev/tty", "/dev/pts/"};

    for (size_t i = 0; i < LEN(kinds); i++)
        if (strncmp(path, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

bool syscall_waits(const char *name, const char *path)
{
    const struct syscall_row *row = syscall_find(name, strlen(name));
    bool moves = row && (strstr(name, "read") || strstr(name, "recv") || strstr(name, "write") ||
                         strstr(name, "send") || strstr(name, "splice"));

    return row && (row->is_wait || (moves && is_peer(path)));
}
