/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which file each descriptor of each traced process is, as far as their system calls tell.
 *
 * For logs without -y. Memory has a limit; what finds no room is not known, and counted.
 *
 * Pure.
 */
#ifndef FORMATS_TRACE_FILES_H
#define FORMATS_TRACE_FILES_H

#include "formats/strace_call.h"
#include "formats/syscall.h"

enum {
    TRACE_PROCESSES_MOST = 32768,
    TRACE_DESCRIPTORS_MOST = 200000, /* of all processes together */
    TRACE_NAME_BYTES = 8 * MIB       /* of their paths */
};

struct trace_files;

struct trace_files *trace_files_new(void);
void trace_files_free(struct trace_files *f);
DEFINE_AUTO(struct trace_files, trace_files_free)

/** A call has begun: a new process may show before its parent's call returns. */
void trace_files_begun(struct trace_files *f, const struct strace_call *c,
                       const struct syscall_row *row);
/** A call has returned. `path`: what it opened, where it opened one. */
void trace_files_learn(struct trace_files *f, const struct strace_call *c,
                       const struct syscall_row *row, const char *path);
/** The process has ended. */
void trace_files_gone(struct trace_files *f, int64_t pid);

/** NULL if it is not known; borrowed until the next change. `is_directory` may be NULL. */
const char *trace_files_path(struct trace_files *f, int64_t pid, int64_t fd, bool *is_directory);
/** What found no room so far. */
uint64_t trace_files_lost(const struct trace_files *f);

#endif
