/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/visit.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/crew.h"
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

/* False: it went away meanwhile. */
static bool ask_crew(struct http *http, struct crew *out)
{
    struct http_request r = {.method = HTTP_GET, .path = "/metrics"};
    AUTO(buf_fini) struct buf text = {0};

    if (http_call_raw(http, &r, NULL, &text, NULL))
        return false;
    crew_read(buf_str(&text), out);
    return true;
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

enum { SLOT_MS = 100, SLOT_TRIES = 100 };
static const int64_t reader_limit_ns = 60 * NS_PER_S;

/* What it lacks is said, since a search may wait for it in vain. */
static void note_difference(const struct visit *v, const struct crew *c)
{
    if (v->asked_workers > 0 && v->asked_workers != c->n_local)
        terminal_note("the bisectd that runs on %s is in use and has %lld of its own workers: "
                      "--workers %lld has no effect",
                      v->store, (long long)c->n_local, (long long)v->asked_workers);
    if (!crew_fits(c, 0, v->platform))
        terminal_note("the bisectd that runs on %s is in use and its own workers are of platform "
                      "%s: platform %s waits for a worker that connects by itself",
                      v->store, c->platform, v->platform);
}

/* A daemon with workers. One that is not as asked for and of no use to others gives way. */
static bool is_wanted(const struct visit *v, const struct crew *c)
{
    if (crew_fits(c, v->asked_workers, v->platform))
        return true;
    if (crew_may_go(c))
        return false;
    note_difference(v, c);
    return true;
}

static enum err_code wait_gone(const struct visit *v, struct err *e)
{
    if (daemon_wait_gone(v->store, reader_limit_ns))
        return ERR_OK;
    err_set(e, ERR_CONFLICT, "another command reads this store, and does not come to an end");
    return err_hint(e, "Stop that command, then try again.");
}

/* One living daemon on the store, fit for the need; *out stays NULL if there is none. */
static enum err_code attach(const struct visit *v, const char *base, struct http **out,
                            struct err *e)
{
    AUTO(http_free) struct http *http = NULL;

    if (visit_connect(base, NULL, 0, &http, e))
        return e->code;
    if (!is_alive(http))
        return ERR_OK;
    AUTO(crew_fini) struct crew crew = {0};
    bool has_crew = v->need != CLIENT_READS && ask_crew(http, &crew);
    if (v->need != CLIENT_READS && !has_crew)
        return ERR_OK;
    /* One that was started to read a store has no workers, and never will. */
    bool is_reader = has_crew && crew.n_local == 0 && !has_pool_workers(http);
    if (!has_crew || (!is_reader && is_wanted(v, &crew))) {
        *out = TAKE(http);
        return ERR_OK;
    }
    http_free(http);
    http = NULL;
    if (!is_reader)
        daemon_end(v->store);
    return wait_gone(v, e);
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
