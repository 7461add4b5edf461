/* SPDX-License-Identifier: Apache-2.0 */
#include "search/history.h"

#include "base/hash.h"
#include "base/mem.h"
#include <stdio.h>

struct range *history_line(uint32_t n_commits)
{
    struct range *r = mem_alloc(sizeof(*r));

    r->n = n_commits + 1;
    r->n_candidates = n_commits;
    r->bad = n_commits;
    r->good_is_ancestor = true;
    r->commits = mem_array(r->n, sizeof(*r->commits));
    for (uint32_t v = 0; v < r->n; v++) {
        struct commit *c = &r->commits[v];
        snprintf(c->id.hex, sizeof(c->id.hex), "%016llx%024x", (unsigned long long)mix64(v), v);
        snprintf(c->tree.hex, sizeof(c->tree.hex), "%040x", v + 1);
        c->subject = mem_printf("commit %u", v);
        c->author = mem_dup("A <a@example.org>");
        c->is_candidate = v > 0;
        c->is_mainline = c->matters = true;
        c->parents = mem_array(1, sizeof(*c->parents));
        c->n_parents = v > 0;
        c->parents[0] = v > 0 ? v - 1 : 0;
    }
    return r;
}
