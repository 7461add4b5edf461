/* SPDX-License-Identifier: Apache-2.0 */
#include "search/policy.h"

#include <string.h>

const struct policy *const policies[] = {&policy_bisectd,  &policy_git,   &policy_pinpoint,
                                         &policy_bayesect, &policy_known, NULL};
const char *const policy_names[] = {"bisectd", "git", "pinpoint", "bayesect", "known", NULL};

const struct policy *policy_find(const char *name)
{
    for (size_t i = 0; policies[i]; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return NULL;
}
