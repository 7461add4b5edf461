/* SPDX-License-Identifier: Apache-2.0 */
/** What the system calls of Linux are called, on any machine, by the kernel and by strace. Pure. */
#ifndef MODEL_SYSCALL_NAME_H
#define MODEL_SYSCALL_NAME_H

#include "base/auto.h"
#include <stdbool.h>

/** Whether a system call has the name that the `n` bytes spell; knows those up to Linux 6.17. */
bool syscall_name_is_known(const char *name, size_t n);

extern const char *const syscall_names[]; /* sorted */
extern const size_t n_syscall_names;

#endif
