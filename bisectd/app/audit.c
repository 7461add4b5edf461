/* SPDX-License-Identifier: Apache-2.0 */
#include "app/audit.h"
#include "app/replay.h"
#include "base/log.h"
#include "base/mem.h"
#include <string.h>

struct audit {
    struct job job;
    struct work *work; /* NULL: what is stored cannot be replayed */
    struct id bisection;
    struct verdict *stated;
    struct err why; /* with no work */
    bool is_done, is_dropped;
};

static void audit_free(struct audit *a)
{
    if (a->work)
        a->work->release(a->work);
    verdict_free(a->stated);
    mem_free(a);
}

static void job_run(struct job *j)
{
    struct audit *a = (struct audit *)j;

    a->work->run(a->work);
}

static void job_done(struct job *j)
{
    struct audit *a = (struct audit *)j;

    a->is_done = true;
    if (a->is_dropped)
        audit_free(a);
}

enum err_code audit_start(struct pool *pool, struct store *s, const char *bisection,
                          const struct verdict *stated, struct audit **out, struct err *e)
{
    AUTO(json_free) json *document = verdict_to_json(stated);
    AUTO(verdict_free) struct verdict *copy = NULL;
    struct work *work = NULL;
    struct err why = {0};

    if (verdict_from_json(document, &copy, e))
        return e->code;
    if (replay_new(s, bisection, &work, &why) == ERR_IO) {
        *e = why;
        return e->code;
    }
    struct audit *a = mem_alloc(sizeof(*a));
    a->job = (struct job){.run = job_run, .done = job_done};
    a->work = work;
    strncpy(a->bisection.text, bisection, sizeof(a->bisection.text) - 1);
    a->stated = TAKE(copy);
    a->why = why;
    a->is_done = !work;
    if (work)
        pool_submit(pool, &a->job);
    *out = a;
    return ERR_OK;
}

bool audit_is_done(const struct audit *a)
{
    return a->is_done;
}

/* A search that does not come to its end over these samples has no verdict to compare with: that
 * of another version of this program may go another way. */
static void judge(const struct audit *a, struct replay_row *out)
{
    AUTO(verdict_free) struct verdict *now = NULL;
    struct err why = a->why;

    out->stated = stated_text(a->stated);
    if (a->work && a->work->error.code)
        why = a->work->error;
    if (!why.code && verdict_from_json(json_at(a->work->answer, "verdict"), &now, &why))
        err_wrap(&why, "its samples give no verdict");
    if (why.code) {
        out->outcome = REPLAY_UNKNOWN;
        out->says = mem_dup(why.text);
        return;
    }
    out->says = stated_text(now);
    if (now->kind == VERDICT_NONE)
        out->outcome = REPLAY_UNKNOWN;
    else
        out->outcome = stated_agree(a->stated, now) ? REPLAY_FOLLOWS : REPLAY_DIFFERS;
}

enum err_code audit_settle(struct audit *a, struct store *s, struct err *e)
{
    AUTO(replay_row_fini) struct replay_row row = {0};

    judge(a, &row);
    if (row.outcome == REPLAY_DIFFERS)
        LOG(LOG_WARN, "verdict does not follow from its samples", "bisection=%s",
            a->bisection.text);
    enum err_code code = store_replay_put(s, a->bisection.text, &row, e);
    audit_free(a);
    return code;
}

void audit_drop(struct audit *a)
{
    if (!a)
        return;
    a->is_dropped = true;
    if (a->is_done)
        audit_free(a);
}
