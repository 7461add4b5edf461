/* SPDX-License-Identifier: Apache-2.0 */
/* /leases: what workers take, keep and bring back. */
#include "api/route.h"
#include "base/mem.h"
#include "store/logs.h"
#include <string.h>

enum { MAX_NAME_BYTES = 100, MAX_TAGS = 32 };

static void taker_fini(struct taker *t)
{
    mem_free(t->worker);
    mem_free(t->host);
    mem_free(t->platform);
    strings_fini(&t->tags);
}
DEFINE_AUTO_FINI(struct taker, taker_fini)

static enum err_code need_name(const json *body, const char *key, char **out, struct err *e)
{
    const char *text;

    if (json_need_str(body, key, &text, e))
        return e->code;
    if (!*text || strlen(text) > MAX_NAME_BYTES)
        return err_set(e, ERR_INVALID, "\"%s\" must have 1 to %d bytes", key, MAX_NAME_BYTES);
    *out = mem_dup(text);
    return ERR_OK;
}

static enum err_code taker_from_json(const json *body, struct taker *out, struct err *e)
{
    const json *tags = json_at(body, "tags");

    if (need_name(body, "worker", &out->worker, e) || need_name(body, "host", &out->host, e) ||
        need_name(body, "platform", &out->platform, e))
        return e->code;
    if (json_len(tags) > MAX_TAGS)
        return err_set(e, ERR_INVALID, "more than %d tags", MAX_TAGS);
    for (size_t i = 0; i < json_len(tags); i++) {
        const char *tag = json_str(json_item(tags, i), NULL);
        if (!tag || !*tag || strlen(tag) > MAX_NAME_BYTES)
            return err_set(e, ERR_INVALID, "\"tags\" must hold strings of 1 to %d bytes",
                           MAX_NAME_BYTES);
        strings_add(&out->tags, tag);
    }
    return ERR_OK;
}

static enum err_code take(struct exchange *x, const struct service *s, json **lease, struct err *e)
{
    AUTO(taker_fini) struct taker t = {0};

    if (taker_from_json(x->json, &t, e))
        return e->code;
    return s->lease_take(s->self, &t, lease, e);
}

void lease_take(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    int64_t wait_s;
    json *lease = NULL;

    if (exchange_query_int(x, "wait", 0, s->max_wait_s, 0, &wait_s, &e)) {
        answer_error(x, &e);
        return;
    }
    enum err_code code = take(x, s, &lease, &e);
    if (code == ERR_OK) {
        answer_json(x, 200, lease);
    } else if (code != ERR_NOT_FOUND) {
        answer_error(x, &e);
    } else if (!wait_s || x->is_last_try) {
        answer_empty(x, 204);
    } else if (x->waits_for_task) {
        exchange_wait(x, x->deadline);
    } else {
        x->waits_for_task = true;
        exchange_wait(x, (struct mono){mono_now().ns + wait_s * NS_PER_S});
    }
}

void lease_renew(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    int64_t fence, expires_ns;
    const char *activity = json_str(json_at(x->json, "activity"), NULL);

    if (json_need_int(x->json, "fence", &fence, &e) ||
        s->lease_renew(s->self, x->args[0], fence, activity, &expires_ns, &e)) {
        answer_error(x, &e);
        return;
    }
    answer_json(x, 200,
                json_put(json_new_object(), "expires_s", json_new_int(expires_ns / NS_PER_S)));
}

static enum err_code put_log(struct exchange *x, const struct service *s, struct err *e)
{
    int64_t fence;

    if (!exchange_query(x, "fence"))
        return err_set(e, ERR_INVALID, "the query parameter fence is missing");
    if (exchange_query_int(x, "fence", 0, INT64_MAX, 0, &fence, e))
        return e->code;
    return store_log_put(s->store, x->args[0], fence, buf_str(&x->body), x->body.len, utc_now(), e);
}

void lease_log(struct exchange *x, const struct service *s)
{
    struct err e = {0};

    if (put_log(x, s, &e))
        answer_error(x, &e);
    else
        answer_empty(x, 204);
}

void lease_result(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    AUTO(task_result_free) struct task_result *result = NULL;
    json *answer = NULL;

    if (task_result_from_json(x->json, &result, &e) ||
        s->lease_result(s->self, x->args[0], result, &answer, &e))
        answer_error(x, &e);
    else
        answer_json(x, 200, answer);
}

void task_log(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    struct buf text = {0};

    if (!store_log_get(s->store, x->args[0], &text, &e)) {
        answer_text(x, 200, "text/plain; charset=utf-8", &text);
        return;
    }
    buf_fini(&text);
    answer_error(x, &e);
}
