/* SPDX-License-Identifier: Apache-2.0 */
#include "app/step.h"
#include "base/mem.h"

struct step *step_new(struct course *c, struct bisection *state, struct record *record)
{
    struct step *s = mem_alloc(sizeof(*s));

    s->course = c;
    s->state = state;
    s->record = record;
    return s;
}

void step_free(struct step *s)
{
    if (!s)
        return;
    bisection_free(s->state);
    record_free(s->record);
    effects_fini(&s->effects);
    json_free(s->posterior);
    json_free(s->document);
    mem_free(s);
}

json *step_document(const struct bisection *state)
{
    AUTO(verdict_fini) struct verdict v = {0};

    bisection_verdict(state, &v);
    return verdict_to_json(&v);
}

void step_run(struct step *s)
{
    bisection_step(s->state, &s->record->event, &s->effects);
    s->posterior = bisection_posterior_json(s->state);
    s->document = step_document(s->state);
}
