/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a command and the children that it waits for cost.
 *
 *     cost FILE COMMAND [ARGUMENT...]
 *
 * Runs the command and adds a line to FILE: elapsed ns, user and system ns, peak KiB of the largest
 * process. Exits as the command does.
 */
#include "base/clock.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long nanoseconds(struct timeval t)
{
    return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
    struct rusage used;
    int status = 0;

    if (argc < 3) {
        fprintf(stderr, "usage: cost FILE COMMAND [ARGUMENT...]\n");
        return 2;
    }
    struct mono start = mono_now();
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
        perror("cost");
        return 1;
    }
    long long wall = mono_now().ns - start.ns;
    FILE *out = fopen(argv[1], "a");
    if (!out) {
        perror(argv[1]);
        return 1;
    }
    fprintf(out, "%lld %lld %ld\n", wall, nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime),
            used.ru_maxrss);
    if (fclose(out) != 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
