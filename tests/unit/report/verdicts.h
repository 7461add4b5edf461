/* SPDX-License-Identifier: Apache-2.0 */
/** Verdicts for the tests of this folder. */
#ifndef UNIT_REPORT_VERDICTS_H
#define UNIT_REPORT_VERDICTS_H

#include "base/mem.h"
#include "model/bisection.h"
#include <string.h>

/** A revision whose 40 digits are one digit. */
static inline struct revision revision_of(char digit)
{
    struct revision r;

    memset(r.hex, digit, 40);
    r.hex[40] = '\0';
    return r;
}

static inline struct verdict *verdict_of(enum verdict_kind kind)
{
    struct verdict *v = mem_alloc(sizeof(*v));

    *v = (struct verdict){
        .id = mem_dup("4f3a9c1d"),
        .state = kind == VERDICT_NONE ? BISECTION_RUNNING : BISECTION_DONE,
        .kind = kind,
        .p_no_change = .001,
        .min_effect_percent = 1,
        .min_effect_value = 15.5,
        .metric_name = mem_dup("ts"),
        .metric_unit = mem_dup("ms"),
        .platform = mem_dup("linux-x64"),
        .good = revision_of('1'),
        .bad = revision_of('9'),
        .range_size = 214,
        .cost = {.n_builds = 9, .n_builds_reused = 2, .n_runs = 47, .seconds = 312.4},
        .confidence = .99,
        .message = mem_dup("A sentence."),
        .expected_runs = 30,
    };
    return v;
}

static inline void add_culprit(struct verdict *v, char digit, const char *subject, double share)
{
    v->culprits = mem_resize(v->culprits, v->n_culprits + 1, sizeof(*v->culprits));
    v->culprits[v->n_culprits++] = (struct culprit){
        .revision = revision_of(digit),
        .subject = mem_dup(subject),
        .author = mem_dup("Jane Doe <jane@example.org>"),
        .probability = .993,
        .good = {1550.2, 12},
        .bad = {2498.0, 14},
        .delta = 947.8,
        .ratio = 1.611,
        .interval = {921.0, 974.1},
        .share = share,
    };
}

static inline void add_candidate(struct verdict *v, char digit, double probability)
{
    v->candidates = mem_resize(v->candidates, v->n_candidates + 1, sizeof(*v->candidates));
    v->candidates[v->n_candidates++] = (struct candidate){revision_of(digit), probability};
}

static inline void add_untestable(struct verdict *v, char digit)
{
    v->untestable = mem_resize(v->untestable, v->n_untestable + 1, sizeof(*v->untestable));
    v->untestable[v->n_untestable++] = revision_of(digit);
}

#endif
