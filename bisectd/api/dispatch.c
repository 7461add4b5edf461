/* SPDX-License-Identifier: Apache-2.0 */
#include "api/dispatch.h"
#include "api/route.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/answers.h"
#include "store/tokens.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define UPLOAD_MARK ".upload-"

/* A body over its limit is read and dropped up to here, so that the client sees the 413 and not
 * a reset connection. */
enum { DRAIN_BYTES = 64 * MIB, MAX_KEY_BYTES = 200 };

static enum role role_of(const char *name)
{
    /* clang-format off */
    static const struct {
        const char *name;
        enum role role;
    } rows[] = {
        {"admin",     ROLE_ADMIN},
        {"worker",    ROLE_WORKER},
        {"sheriff",   ROLE_DEVELOPER},
        {"developer", ROLE_DEVELOPER},
        {"ci",        ROLE_CI},
        {"reader",    ROLE_READER},
    };
    /* clang-format on */
    for (size_t i = 0; i < LEN(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].role;
    return ROLE_NONE;
}

/* A worker reads what it must and nothing of others' business, and so does CI, which only tells;
 * readers and developers lease nothing. So roles are not quite a ladder. */
static bool role_may(enum role has, enum role needs)
{
    if (has == ROLE_ADMIN || needs == ROLE_NONE || has == needs)
        return true;
    if (needs == ROLE_READER || needs == ROLE_CI)
        return has == ROLE_DEVELOPER;
    return false;
}

static enum err_code find_role(struct exchange *x, const struct head *h, const struct service *s,
                               struct err *e)
{
    char name[32];
    const char *token = h->authorization;

    x->is_private = h->is_private;
    if (h->is_private) {
        x->role = ROLE_ADMIN;
        return ERR_OK;
    }
    if (!token)
        return ERR_OK;
    if (strncasecmp(token, "Bearer ", 7) != 0)
        return err_set(e, ERR_DENIED, "the Authorization header is not of the form Bearer TOKEN");
    if (store_token_check(s->store, token + 7, utc_now(), name, e))
        return e->code;
    x->role = role_of(name);
    return ERR_OK;
}

static bool check_caller(struct exchange *x, const struct head *h, const struct service *s)
{
    struct err e = {0};

    if (x->route->role == ROLE_NONE)
        return true;
    if (find_role(x, h, s, &e)) {
        if (e.code == ERR_DENIED)
            answer_refusal(x, 401, &e);
        else
            answer_error(x, &e);
        return false;
    }
    if (role_may(x->role, x->route->role))
        return true;
    if (x->role == ROLE_NONE) {
        err_set(&e, ERR_DENIED, "this needs a token");
        err_hint(&e, "send Authorization: Bearer TOKEN; a first start writes one to "
                     "DATA_DIR/admin.token");
        answer_refusal(x, 401, &e);
    } else {
        err_set(&e, ERR_DENIED, "this token's role may not do that");
        answer_refusal(x, 403, &e);
    }
    return false;
}

/* Is `name` one of the blank-separated `names`? */
static bool is_listed(const char *names, const char *name)
{
    size_t len = strlen(name);

    while (*names) {
        size_t n = strcspn(names, " ");
        if (n == len && strncmp(names, name, n) == 0)
            return true;
        names += n;
        names += strspn(names, " ");
    }
    return false;
}

static bool check_query(struct exchange *x)
{
    struct err e = {0};

    for (size_t i = 0; i < x->query.n; i++) {
        if (is_listed(x->route->query, x->query.items[i].key))
            continue;
        err_set(&e, ERR_INVALID, "unknown query parameter %.64s", x->query.items[i].key);
        if (x->route->query[0])
            err_hint(&e, "known here: %s", x->route->query);
        else
            err_hint(&e, "this path takes none");
        answer_error(x, &e);
        return false;
    }
    return true;
}

static void refuse_size(struct exchange *x)
{
    struct err e = {0};

    x->is_over_limit = true;
    err_set(&e, ERR_LIMIT, "the body is larger than the limit of %lld bytes here",
            (long long)x->max_body);
    answer_refusal(x, 413, &e);
}

static void refuse_route(struct exchange *x, enum match m)
{
    struct err e = {0};

    if (m == MATCH_PATH) {
        err_set(&e, ERR_INVALID, "%.16s is not possible here", x->method);
        err_hint(&e, "this path takes %s", x->allow_text);
        answer_refusal(x, 405, &e);
        x->allow = x->allow_text;
        return;
    }
    err_set(&e, ERR_NOT_FOUND, "no such path: %.200s", x->path);
    err_hint(&e, "GET /api/v1/openapi.json lists all paths");
    answer_error(x, &e);
}

void uploads_clean(const struct service *s)
{
    AUTO(mem_free) char *folder = path_join(store_data_dir(s->store), "artifacts");
    DIR *d = opendir(folder);
    struct dirent *entry;

    while (d && (entry = readdir(d)))
        if (strncmp(entry->d_name, UPLOAD_MARK, sizeof(UPLOAD_MARK) - 1) == 0)
            (void)unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
}

static bool open_upload(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    AUTO(mem_free) char *folder = path_join(store_data_dir(s->store), "artifacts");
    AUTO(mem_free) char *path = mem_printf("%s/" UPLOAD_MARK "XXXXXX", folder);

    if (!file_mkdirs(folder, 0700, &e)) {
        x->upload.fd = mkostemp(path, O_CLOEXEC);
        if (x->upload.fd >= 0)
            x->upload.path = TAKE(path);
        else
            err_sys(&e, errno, "create a file in %s", folder);
    }
    if (e.code)
        answer_error(x, &e);
    return !e.code;
}

void exchange_admit(struct exchange *x, const struct head *h, const struct service *s)
{
    enum match m = route_find(x);

    if (x->route)
        x->max_body = s->max_bytes[x->route->limit];
    if (m != MATCH_ROUTE) {
        refuse_route(x, m);
    } else if (!check_caller(x, h, s) || !check_query(x)) {
        /* answered */
    } else if (h->content_bytes > x->max_body) {
        refuse_size(x);
    } else if (x->route->body != BODY_FILE || open_upload(x, s)) {
        if (h->idempotency_key && strcmp(x->method, "POST") == 0)
            x->idempotency_key =
                mem_dup_n(h->idempotency_key, strnlen(h->idempotency_key, MAX_KEY_BYTES));
    }
    x->stage = EXCHANGE_READING;
}

static void write_upload(struct exchange *x, const char *bytes, size_t n)
{
    struct err e = {0};

    while (n) {
        ssize_t put = write(x->upload.fd, bytes, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            err_sys(&e, errno, "write the upload");
            answer_error(x, &e);
            x->stage = EXCHANGE_READING;
            return;
        }
        bytes += put;
        n -= (size_t)put;
    }
}

bool exchange_body(struct exchange *x, const void *bytes, size_t n)
{
    x->upload.bytes += (int64_t)n;
    if (x->status) /* refused: the rest is of no interest */
        return x->upload.bytes <= DRAIN_BYTES;
    if (x->upload.bytes > x->max_body) {
        refuse_size(x);
        x->stage = EXCHANGE_READING;
        buf_fini(&x->body);
        x->upload.bytes = 0;
        return true;
    }
    if (x->route->body == BODY_FILE)
        write_upload(x, bytes, n);
    else
        buf_add(&x->body, bytes, n);
    return true;
}

/* True: this very request was answered before, and has that answer now. */
static bool answer_again(struct exchange *x, const struct service *s, const char *scope,
                         const struct digest *request)
{
    struct err e = {0};
    AUTO(answer_fini) struct answer before = {0};
    struct buf body = {0};

    switch (store_answer_get(s->store, scope, x->idempotency_key, request, &before, &e)) {
    case ERR_NOT_FOUND:
        return false;
    case ERR_OK:
        buf_adds(&body, before.body);
        answer_text(x, before.status, "application/json", &body);
        return true;
    default:
        answer_error(x, &e);
        return true;
    }
}

static void remember_answer(struct exchange *x, const struct service *s, const char *scope,
                            const struct digest *request)
{
    struct err e = {0};

    if (x->stage != EXCHANGE_HELD || x->status >= 500)
        return;
    if (store_answer_put(s->store, scope, x->idempotency_key, request, x->status,
                         buf_str(&x->answer), utc_now(), &e))
        answer_error(x, &e);
}

static bool parse_body(struct exchange *x)
{
    struct err e = {0};

    if (x->route->body != BODY_JSON || !x->body.len || x->json)
        return true;
    if (!json_parse(buf_str(&x->body), x->body.len, &x->json, &e))
        return true;
    err_wrap(&e, "request body");
    answer_error(x, &e);
    return false;
}

void exchange_run(struct exchange *x, const struct service *s)
{
    AUTO(mem_free) char *scope = NULL;
    struct digest request = {{0}};

    if (x->idempotency_key) {
        scope = mem_printf("%s %s %d", x->method, x->path, (int)x->role);
        request = hash_of(buf_str(&x->body), x->body.len);
        if (x->stage == EXCHANGE_READY && answer_again(x, s, scope, &request))
            return;
    }
    if (!parse_body(x))
        return;
    x->route->handle(x, s);
    assert(x->stage == EXCHANGE_HELD || x->stage == EXCHANGE_WAITING);
    if (scope)
        remember_answer(x, s, scope, &request);
    if (x->stage == EXCHANGE_HELD && x->status >= 500)
        LOG(LOG_WARN, "request failed", "method=%s path=%s status=%d", x->method, x->path,
            x->status);
}
