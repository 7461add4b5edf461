/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many system calls of which few matter.
 *
 *     callmany OTHERS SYNCS FILE [mixed]
 *
 * Makes OTHERS calls of getpid and, evenly among them, SYNCS calls of fsync on FILE, which it
 * makes. "mixed": getpid, lseek, fstat and a pread of a page of it in turn, as programs that handle
 * files do; getpid alone is about the cheapest call there is.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void call_other(long i, bool is_mixed, int fd)
{
    static char page[4096];
    struct stat st;

    switch (is_mixed ? i % 4 : 0) {
    case 0:
        (void)syscall(SYS_getpid);
        break;
    case 1:
        (void)lseek(fd, 0, SEEK_SET);
        break;
    case 2:
        (void)fstat(fd, &st);
        break;
    default:
        if (pread(fd, page, sizeof(page), 0) < 0)
            exit(1);
    }
}

int main(int argc, char **argv)
{
    bool is_mixed = argc == 5 && strcmp(argv[4], "mixed") == 0;
    static const char page[4096];

    if (argc != 4 && !is_mixed) {
        fprintf(stderr, "usage: callmany OTHERS SYNCS FILE [mixed]\n");
        return 2;
    }
    const long n_others = strtol(argv[1], NULL, 10), n_syncs = strtol(argv[2], NULL, 10);
    int fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || (is_mixed && write(fd, page, sizeof(page)) < 0)) {
        perror(argv[3]);
        return 1;
    }
    for (long i = 0, done = 0; i < n_others || done < n_syncs; i++) {
        if (i < n_others)
            call_other(i, is_mixed, fd);
        for (; done < n_syncs && (i >= n_others || done * n_others <= i * n_syncs); done++)
            if (fsync(fd) != 0)
                return 1;
    }
    return 0;
}
