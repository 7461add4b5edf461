/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/visit.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/daemon.h"
#include "cli/terminal.h"
#include <string.h>
#include <time.h>

void visit_fini(struct visit *v)
{
    if (v->reader > 0)
        daemon_stop(v->reader);
    mem_free(v->store);
    mem_free(v->platform);
    *v = (struct visit){0};
}

static enum http_go stop_when_interrupted(void *context)
{
    (void)context;
    return interrupt_seen() ? HTTP_STOP : HTTP_GO_ON;
}

enum err_code visit_connect(const char *base, const char *token, int64_t retry_ns,
                            struct http **out, struct err *e)
{
    struct http_options options = {
        .base = base, .token = token, .retry_ns = retry_ns, .tick = stop_when_interrupted};

    return http_new(&options, out, e);
}

static bool is_alive(struct http *http)
{
    struct http_request r = {.method = HTTP_GET, .path = "/healthz", .timeout_ns = 5 * NS_PER_S};
    AUTO(buf_fini) struct buf answer = {0};

    return http_call_raw(http, &r, NULL, &answer, NULL) == ERR_OK;
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * NS_PER_MS};

    nanosleep(&t, NULL);
}

static bool has_local_workers(struct http *http)
{
    static const char name[] = "\nbisectd_local_workers ";
    struct http_request r = {.method = HTTP_GET, .path = "/metrics"};
    AUTO(buf_fini) struct buf text = {0};

    if (http_call_raw(http, &r, NULL, &text, NULL))
        return true;
    const char *found = strstr(buf_str(&text), name);
    return !found || found[sizeof(name) - 1] != '0';
}

/* Local ones of an earlier daemon may still be listed as alive. */
static bool has_pool_workers(struct http *http)
{
    AUTO(json_free) json *page = NULL;

    if (http_get(http, "/api/v1/workers", &page, NULL))
        return false;
    const json *items = json_at(page, "items");
    for (size_t i = 0; i < json_len(items); i++) {
        const json *w = json_item(items, i);
        if (json_bool(json_at(w, "is_live"), false) &&
            strcmp(json_str(json_at(w, "engine"), ""), "local") != 0)
            return true;
    }
    return false;
}

/* A daemon that was started to read a store has none, and never will. */
static bool has_workers(struct http *http)
{
    return has_local_workers(http) || has_pool_workers(http);
}

enum { SLOT_MS = 100, SLOT_TRIES = 100 };
static const int64_t reader_limit_ns = 60 * NS_PER_S;

/* One living daemon on the store, fit for the need; *out stays NULL if there is none. */
static enum err_code attach(const struct visit *v, const char *base, struct http **out,
                            struct err *e)
{
    AUTO(http_free) struct http *http = NULL;

    if (visit_connect(base, NULL, 0, &http, e))
        return e->code;
    if (!is_alive(http))
        return ERR_OK;
    if (v->need == CLIENT_READS || has_workers(http)) {
        *out = TAKE(http);
        return ERR_OK;
    }
    http_free(http);
    http = NULL;
    if (daemon_wait_gone(v->store, reader_limit_ns))
        return ERR_OK;
    err_set(e, ERR_CONFLICT, "another command reads this store, and does not come to an end");
    return err_hint(e, "Stop that command, then try again.");
}

static enum err_code start(struct visit *v, const char *base, struct http **out, struct err *e)
{
    struct daemon_plan plan = {v->store, v->n_workers, v->platform};
    pid_t pid;

    if (daemon_start(&plan, &pid, e))
        return e->code;
    v->has_started = true;
    v->reader = v->need == CLIENT_READS ? pid : 0;
    return visit_connect(base, NULL, NS_PER_S, out, e);
}

/* A daemon that is just stopping still has the folder's lock: then neither connecting nor starting
 * works for a moment. */
enum err_code visit_open(struct visit *v, struct http **out, struct err *e)
{
    AUTO(mem_free) char *base = daemon_base(v->store);
    struct err why = {0};
    struct http *http = NULL;

    for (int i = 0; i < SLOT_TRIES && !http; i++) {
        why = (struct err){0};
        if (i > 0)
            pause_ms(SLOT_MS);
        if (attach(v, base, &http, &why))
            break;
        if (interrupt_seen()) {
            err_set(&why, ERR_TIMEOUT, "stopped");
            break;
        }
        if (!http && start(v, base, &http, &why) && !strstr(why.text, "in use"))
            break;
    }
    if (!http) {
        if (e)
            *e = why;
        return why.code;
    }
    *out = http;
    return ERR_OK;
}
