/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many system calls of which few matter.
 *
 *     callmany OTHERS SYNCS FILE
 *
 * Makes OTHERS calls of getpid and, evenly among them, SYNCS calls of fsync on FILE, which it
 * makes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: callmany OTHERS SYNCS FILE\n");
        return 2;
    }
    const long n_others = strtol(argv[1], NULL, 10), n_syncs = strtol(argv[2], NULL, 10);
    int fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) {
        perror(argv[3]);
        return 1;
    }
    for (long i = 0, done = 0; i < n_others || done < n_syncs; i++) {
        if (i < n_others)
            (void)syscall(SYS_getpid);
        for (; done < n_syncs && (i >= n_others || done * n_others <= i * n_syncs); done++)
            if (fsync(fd) != 0)
                return 1;
    }
    return 0;
}
