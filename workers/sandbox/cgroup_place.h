/* SPDX-License-Identifier: Apache-2.0 */
/** Finding a process's control group among the mounts, from the kernel's own words. */
#ifndef SANDBOX_CGROUP_PLACE_H
#define SANDBOX_CGROUP_PLACE_H

#include <stdbool.h>

/**
 * The folder of a process's own group.
 *
 * `mounts` is /proc/PID/mountinfo, `groups` is /proc/PID/cgroup. `controller` is one of version
 * 1's, or NULL for the group of version 2. A mount may show a part of the tree only, as in a
 * container. Caller frees with mem_free. NULL: not mounted, or mounted so that the group is not in
 * it.
 */
char *cgroup_place(const char *mounts, const char *groups, const char *controller);

/** Whether a list with blanks between has the word. */
bool cgroup_has_word(const char *list, const char *word);

#endif
