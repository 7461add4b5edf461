/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/inside.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* since Linux 6.3, which else may warn or refuse */
#endif

/* The build names the file. */
__asm__(".section .rodata\n"
        ".balign 16\n"
        "bisect_job_begin:\n"
        ".incbin \"" BISECT_JOB "\"\n"
        "bisect_job_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char bisect_job_begin[], bisect_job_end[];

enum err_code inside_open(int *out, struct err *e)
{
    AUTO(fd_close) int fd = memfd_create("bisect-job", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("bisect-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return err_sys(e, errno, "make room for bisect-job");
    for (const char *at = bisect_job_begin; at < bisect_job_end;) {
        ssize_t n = write(fd, at, (size_t)(bisect_job_end - at));
        if (n < 0)
            return err_sys(e, errno, "write bisect-job");
        at += n;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
        return err_sys(e, errno, "seal bisect-job");
    *out = fd;
    fd = -1;
    return ERR_OK;
}
