/* SPDX-License-Identifier: Apache-2.0 */
#include "app/reading.h"
#include "app/resolve.h"
#include "base/mem.h"
#include <assert.h>

struct reading {
    struct job job;
    bool is_done, is_dropped;
    struct request *request; /* a copy: the pool shares nothing */
    struct buf answer;
    struct range *range;
    struct packed_range packed;
    struct bisection *state;
    struct err error;
};

static void reading_free(struct reading *r)
{
    request_free(r->request);
    buf_fini(&r->answer);
    range_free(r->range);
    packed_range_fini(&r->packed);
    bisection_free(r->state);
    mem_free(r);
}
DEFINE_AUTO(struct reading, reading_free)

static void run(struct job *j)
{
    struct reading *r = (struct reading *)j;

    if (!resolve_read(&r->answer, &r->range, &r->error) &&
        !store_range_pack(r->range, &r->packed, &r->error))
        (void)!bisection_new(r->request, r->range, &r->state, &r->error);
}

static void done(struct job *j)
{
    struct reading *r = (struct reading *)j;

    r->is_done = true;
    if (r->is_dropped)
        reading_free(r);
}

enum err_code reading_start(struct pool *pool, const struct request *request, struct buf *answer,
                            struct reading **out, struct err *e)
{
    AUTO(reading_free) struct reading *r = mem_alloc(sizeof(*r));
    AUTO(json_free) json *copy = request_to_json(request);

    r->job = (struct job){.run = run, .done = done};
    r->answer = *answer;
    *answer = (struct buf){0};
    if (request_from_json(copy, &r->request, e))
        return e->code;
    *out = TAKE(r);
    pool_submit(pool, &(*out)->job);
    return ERR_OK;
}

bool reading_is_done(const struct reading *r)
{
    return r->is_done;
}

enum err_code reading_take(struct reading *reading, struct range **range,
                           struct packed_range *packed, struct bisection **state, struct err *e)
{
    AUTO(reading_free) struct reading *r = reading;

    assert(r->is_done);
    if (r->error.code) {
        *e = r->error;
        return e->code;
    }
    *range = TAKE(r->range);
    *packed = r->packed;
    r->packed = (struct packed_range){0};
    *state = TAKE(r->state);
    return ERR_OK;
}

void reading_drop(struct reading *r)
{
    if (!r)
        return;
    r->is_dropped = true;
    if (r->is_done)
        reading_free(r);
}
