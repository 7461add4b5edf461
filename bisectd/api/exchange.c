/* SPDX-License-Identifier: Apache-2.0 */
#include "api/exchange.h"
#include "api/service.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include <string.h>
#include <unistd.h>

struct exchange *exchange_new(const char *method, const char *path)
{
    struct exchange *x = mem_alloc(sizeof(*x));

    x->method = mem_dup(method);
    x->path = mem_dup(path);
    x->upload.fd = -1;
    x->download.fd = -1;
    return x;
}

static void spool_fini(struct spool *s)
{
    fd_close(s->fd);
    if (s->path)
        (void)unlink(s->path);
    mem_free(s->path);
}

void exchange_free(struct exchange *x)
{
    if (!x)
        return;
    if (x->work)
        work_abandon(x->work);
    for (size_t i = 0; i < LEN(x->args); i++)
        mem_free(x->args[i]);
    spool_fini(&x->upload);
    spool_fini(&x->download);
    pairs_fini(&x->query);
    buf_fini(&x->body);
    buf_fini(&x->answer);
    json_free(x->json);
    mem_free(x->idempotency_key);
    mem_free(x->topic);
    mem_free(x->method);
    mem_free(x->path);
    mem_free(x);
}

const char *exchange_query(const struct exchange *x, const char *name)
{
    return pairs_get(&x->query, name);
}

enum err_code exchange_query_int(const struct exchange *x, const char *name, int64_t low,
                                 int64_t high, int64_t otherwise, int64_t *out, struct err *e)
{
    const char *text = exchange_query(x, name);

    if (!text) {
        *out = otherwise;
        return ERR_OK;
    }
    if (text_int(text, low, high, out, e))
        return err_wrap(e, "query parameter %s", name);
    return ERR_OK;
}

void exchange_wait(struct exchange *x, struct mono deadline)
{
    x->stage = EXCHANGE_WAITING;
    x->deadline = deadline;
}

int status_of(enum err_code code)
{
    /* clang-format off */
    static const int statuses[ERR_COUNT] = {
        [ERR_OK]        = 200,
        [ERR_NOMEM]     = 500,
        [ERR_INVALID]   = 400,
        [ERR_NOT_FOUND] = 404,
        [ERR_CONFLICT]  = 409,
        [ERR_TIMEOUT]   = 503,
        [ERR_LIMIT]     = 429,
        [ERR_DENIED]    = 403,
        [ERR_IO]        = 503,
        [ERR_PEER]      = 502,
    };
    /* clang-format on */
    return code < ERR_COUNT && statuses[code] ? statuses[code] : 500;
}

/* Forgets an earlier answer, so that the last one given counts. */
static void answer_begin(struct exchange *x, int status, const char *type)
{
    spool_fini(&x->download);
    x->download = (struct spool){.fd = -1};
    mem_free(TAKE(x->topic));
    buf_clear(&x->answer);
    x->status = status;
    x->content_type = type;
    x->stage = EXCHANGE_HELD;
}

void answer_json(struct exchange *x, int status, json *v)
{
    AUTO(json_free) json *owned = v;

    answer_begin(x, status, "application/json");
    json_dump(owned, JSON_COMPACT, &x->answer);
    buf_addc(&x->answer, '\n');
}

void answer_empty(struct exchange *x, int status)
{
    answer_begin(x, status, NULL);
}

void answer_text(struct exchange *x, int status, const char *type, struct buf *text)
{
    answer_begin(x, status, type);
    buf_add(&x->answer, buf_str(text), text->len);
    buf_fini(text);
}

void answer_refusal(struct exchange *x, int status, const struct err *e)
{
    json *error = json_new_object();

    json_put(error, "code", json_new_string(err_name(e->code)));
    json_put(error, "message", json_new_string(e->text));
    json_put(error, "hint", e->hint[0] ? json_new_string(e->hint) : json_new_null());
    answer_json(x, status, json_put(json_new_object(), "error", error));
}

void answer_error(struct exchange *x, const struct err *e)
{
    answer_refusal(x, status_of(e->code), e);
}

void answer_file(struct exchange *x, int fd, int64_t bytes, const char *type)
{
    answer_begin(x, 200, type);
    x->download = (struct spool){.fd = fd, .bytes = bytes};
}

void answer_stream(struct exchange *x, const char *bisection)
{
    answer_begin(x, 200, "text/event-stream");
    x->topic = mem_dup(bisection);
}

void answer_page(struct exchange *x, json *items, json *next)
{
    json *page = json_new_object();

    json_put(page, "items", items);
    json_put(page, "next", next ? next : json_new_null());
    answer_json(x, 200, page);
}
