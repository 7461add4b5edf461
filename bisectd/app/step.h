/* SPDX-License-Identifier: Apache-2.0 */
/** One step of a search with all that is read off its outcome: pure, here or in another thread. */
#ifndef APP_STEP_H
#define APP_STEP_H

#include "app/pool.h"
#include "app/record.h"
#include "search/bisection.h"

struct course;

struct step {
    struct job job;
    struct course *course;   /* NULL: gone meanwhile */
    struct bisection *state; /* nobody else holds it */
    struct record *record;
    /* outcome */
    struct effects effects;
    json *posterior;
    json *document; /* verdict without id, state, seconds and activity */
};
/** Takes both over. */
struct step *step_new(struct course *c, struct bisection *state, struct record *record);
void step_free(struct step *s);
DEFINE_AUTO(struct step, step_free)
void step_run(struct step *s);

/** The verdict document of a state. Caller frees. */
json *step_document(const struct bisection *state);

#endif
