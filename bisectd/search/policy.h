/* SPDX-License-Identifier: Apache-2.0 */
/** Ways to search a scene: ours, and those it is compared with. One file a row. */
#ifndef SEARCH_POLICY_H
#define SEARCH_POLICY_H

#include "search/scene.h"

struct policy {
    const char *name;
    /** What all trials share and none changes; NULL: nothing. */
    void *(*prepare)(const struct setting *s);
    void (*release)(void *shared);
    /** One search from begin to end. `out` is fresh. */
    void (*play)(const void *shared, struct scene *s, struct answer *out);
};

extern const struct policy policy_bisectd, policy_git, policy_pinpoint, policy_bayesect,
    policy_known;
extern const struct policy *const policies[];
extern const char *const policy_names[]; /* in the same order; ends with NULL */

/** NULL if there is none of that name. */
const struct policy *policy_find(const char *name);

#endif
