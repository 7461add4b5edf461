/* SPDX-License-Identifier: Apache-2.0 */
/** A service that answers by rote, on a store in a fresh folder. */
#ifndef UNIT_API_FIXTURE_H
#define UNIT_API_FIXTURE_H

#include "api/service.h"
#include "base/file.h"
#include "base/mem.h"
#include "unit/run.h"
#include <stdlib.h>
#include <string.h>

#define HELPER __attribute__((unused)) static

#define OK(call)                                                                                   \
    do {                                                                                           \
        struct err ok_ = {0};                                                                      \
        struct err *e = &ok_;                                                                      \
        enum err_code code_ = (call);                                                              \
        ck_assert_msg(code_ == ERR_OK, "%s: %s", #call, ok_.text);                                 \
    } while (0)

struct desk {
    char dir[64];
    struct store *store;
    struct service service;
    int n_created;
    bool has_task; /* the next lease_take gets one */
    bool is_over;  /* the bisection is done */
    enum sender sender;
    struct work *started;
};

HELPER enum err_code desk_create(void *self, const json *body, enum sender sender, char **id,
                                 bool *has_joined, struct err *e)
{
    struct desk *d = self;

    if (!json_is_object(body))
        return err_set(e, ERR_INVALID, "expected a request object");
    d->n_created++;
    d->sender = sender;
    *id = mem_printf("b%d", d->n_created);
    *has_joined = false;
    return ERR_OK;
}

HELPER enum err_code desk_show(void *self, const char *id, json **out, struct err *e)
{
    struct desk *d = self;

    if (strcmp(id, "b1") != 0)
        return err_set(e, ERR_NOT_FOUND, "there is no bisection %s", id);
    *out = json_put(json_new_object(), "id", json_new_string(id));
    json_put(*out, "state", json_new_string(d->is_over ? "done" : "running"));
    return ERR_OK;
}

HELPER enum err_code desk_cancel(void *self, const char *id, struct err *e)
{
    (void)self;
    (void)id;
    (void)e;
    return ERR_OK;
}

HELPER enum err_code desk_take(void *self, const struct taker *t, json **out, struct err *e)
{
    struct desk *d = self;

    if (!d->has_task)
        return err_set(e, ERR_NOT_FOUND, "nothing for %s", t->worker);
    d->has_task = false;
    *out = json_put(json_new_object(), "worker", json_new_string(t->worker));
    return ERR_OK;
}

HELPER enum err_code desk_renew(void *self, const char *id, int64_t fence, const char *activity,
                                int64_t *expires_ns, struct err *e)
{
    (void)self;
    (void)id;
    (void)activity;
    if (fence != 7)
        return err_set(e, ERR_CONFLICT, "stale");
    *expires_ns = 60 * NS_PER_S;
    return ERR_OK;
}

HELPER json *desk_projects(void *self)
{
    (void)self;
    return json_new_array();
}

HELPER void desk_metrics(void *self, struct buf *out)
{
    (void)self;
    buf_adds(out, "desk 1\n");
}

HELPER void desk_work(void *self, struct work *w)
{
    struct desk *d = self;

    d->started = w;
    w->is_under_way = true;
}

HELPER struct desk *desk_new(void)
{
    struct desk *d = mem_alloc(sizeof(*d));

    strcpy(d->dir, "/tmp/api-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(d->dir));
    OK(store_open(d->dir, &d->store, e));
    d->service = (struct service){
        .self = d,
        .store = d->store,
        .max_bytes = {1024, 1024, 4096, 4096, 1 << 20},
        .max_page = 10,
        .max_watchers = 3,
        .max_connections = 100,
        .max_wait_s = 30,
        .bisection_create = desk_create,
        .bisection_show = desk_show,
        .bisection_cancel = desk_cancel,
        .lease_take = desk_take,
        .lease_renew = desk_renew,
        .project_list = desk_projects,
        .metrics = desk_metrics,
        .work_start = desk_work,
    };
    return d;
}

HELPER void desk_free(struct desk *d)
{
    store_close(d->store);
    OK(file_remove_tree(d->dir, e));
    mem_free(d);
}
DEFINE_AUTO(struct desk, desk_free)

#endif
