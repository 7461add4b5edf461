/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/client.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/daemon.h"
#include "cli/store.h"
#include "cli/visit.h"
#include "commits/home.h"
#include "config/config.h"
#include "wire/http.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define API "/api/v1"

enum {
    TOKEN_MOST = 4 * KIB,
    PAGE = 1000,
    ID_LEAST = 4,
    LOG_MOST = 32 * MIB,
    HTTP_UNAUTHORIZED = 401
};

struct client {
    struct http *http;
    struct visit visit; /* its store is NULL: a service */
    bool is_default;    /* nobody named it, nor the repository */
};

void client_free(struct client *c)
{
    if (!c)
        return;
    http_free(c->http);
    visit_fini(&c->visit);
    mem_free(c);
}

const char *client_store(const struct client *c)
{
    return c->visit.store;
}

const char *client_base(const struct client *c)
{
    return http_base(c->http);
}

bool client_has_started(const struct client *c)
{
    return c->visit.has_started;
}

/* Asking */

/* No answer at all has no HTTP status: then what to do about it is ours to say. */
static enum err_code explain(const struct client *c, struct err *e)
{
    bool has_answer = e->sys >= 100;

    if (e->code == ERR_DENIED && e->sys == HTTP_UNAUTHORIZED)
        return err_hint(e, "Give a token with --token-file FILE or in $BISECTD_TOKEN_FILE; the "
                           "daemon's first one is admin.token in its data folder.");
    if (e->code != ERR_PEER || has_answer)
        return e->code;
    if (c->visit.store) {
        err_set(e, ERR_PEER, "the bisectd of %s is gone", c->visit.store);
        return err_hint(e,
                        "Nothing it accepted is lost: run the same command again to go on. Its "
                        "log is %s/bisectd.log.",
                        c->visit.store);
    }
    err_set(e, ERR_PEER, "no bisectd answers at %s", client_base(c));
    return err_hint(e, "Start it with `bisectd`, name it with --coordinator URL, or name the store "
                       "of an earlier run with --store DIR.");
}

/* One that reads may have been talking to the daemon of another reader, which takes it along. */
static bool find_reader_again(struct client *c, const struct err *e)
{
    /* 503: it is stopping, and has not gone yet. */
    bool is_gone = e->code == ERR_PEER && (e->sys < 100 || e->sys == 503);
    struct http *http = NULL;

    if (!is_gone || !c->visit.store || c->visit.need != CLIENT_READS || c->visit.has_started ||
        visit_open(&c->visit, &http, NULL))
        return false;
    http_free(c->http);
    c->http = http;
    return true;
}

static enum err_code call(struct client *c, const struct http_request *r, json **out, struct err *e)
{
    enum err_code code = http_call(c->http, r, NULL, out, e);

    if (code && find_reader_again(c, e)) {
        *e = (struct err){0};
        code = http_call(c->http, r, NULL, out, e);
    }
    return code ? explain(c, e) : ERR_OK;
}

enum err_code client_get(struct client *c, const char *path, json **out, struct err *e)
{
    AUTO(mem_free) char *full = mem_printf(API "%s", path);
    struct http_request r = {.method = HTTP_GET, .path = full};

    return call(c, &r, out, e);
}

enum err_code client_post(struct client *c, const char *path, const json *body, json **out,
                          struct err *e)
{
    AUTO(mem_free) char *full = mem_printf(API "%s", path);
    struct http_request r = {
        .method = HTTP_POST, .path = full, .json = body, .repeat = HTTP_REPEAT_SAFE};

    return call(c, &r, out, e);
}

enum err_code client_get_text(struct client *c, const char *path, struct buf *out, struct err *e)
{
    AUTO(mem_free) char *full = mem_printf(API "%s", path);
    struct http_request r = {.method = HTTP_GET, .path = full, .max_bytes = LOG_MOST};
    enum err_code code = http_call_raw(c->http, &r, NULL, out, e);

    if (code && find_reader_again(c, e)) {
        *e = (struct err){0};
        code = http_call_raw(c->http, &r, NULL, out, e);
    }
    return code ? explain(c, e) : ERR_OK;
}

static void add_cursor(struct buf *path, const char *after)
{
    if (!after)
        return;
    buf_adds(path, "&after=");
    http_escape(path, after);
}

enum err_code client_page(struct client *c, const struct client_query *query, json **out,
                          struct err *e)
{
    size_t limit = query->limit;
    AUTO(json_free) json *all = json_new_array();
    AUTO(json_free) json *page = NULL;

    do {
        AUTO(buf_fini) struct buf full = {0};
        size_t left = limit ? limit - json_len(all) : PAGE;
        buf_printf(&full, "%s%climit=%zu", query->path, strchr(query->path, '?') ? '&' : '?',
                   left < PAGE ? left : (size_t)PAGE);
        add_cursor(&full, page ? json_str(json_at(page, "next"), NULL) : query->after);
        json_free(page);
        page = NULL;
        if (client_get(c, buf_str(&full), &page, e))
            return e->code;
        json *items = json_at(page, "items");
        for (size_t i = 0; i < json_len(items); i++)
            json_push(all, json_keep(json_item(items, i)));
        if (json_len(items) == 0)
            break;
    } while (!json_is_null(json_at(page, "next")) && (!limit || json_len(all) < limit));
    json *next = json_at(page, "next");
    *out = json_put(json_new_object(), "items", TAKE(all));
    json_put(*out, "next", json_is_null(next) ? json_new_null() : json_keep(next));
    return ERR_OK;
}

enum err_code client_list(struct client *c, const char *path, size_t limit, json **out,
                          struct err *e)
{
    AUTO(json_free) json *page = NULL;
    struct client_query query = {.path = path, .limit = limit};

    if (client_page(c, &query, &page, e))
        return e->code;
    *out = json_keep(json_at(page, "items"));
    return ERR_OK;
}

/* Finding */

static enum err_code read_token(const char *path, struct buf *out, struct err *e)
{
    if (file_read(path, TOKEN_MOST, out, e))
        return err_wrap(e, "token file");
    while (out->len > 0 && strchr(" \t\r\n", out->data[out->len - 1]))
        out->data[--out->len] = '\0';
    return ERR_OK;
}

/* `own`: where a daemon of this person's keeps its first token; NULL: not known. */
static enum err_code open_service(const struct options *o, const char *base, const char *own,
                                  struct client **out, struct err *e)
{
    AUTO(buf_fini) struct buf token = {0};
    const char *path = o->token_file ? o->token_file : getenv("BISECTD_TOKEN_FILE");
    bool is_unix = strncmp(base, "unix:", 5) == 0;

    if (path && path[0]) {
        if (read_token(path, &token, e))
            return e->code;
    } else if (own && !is_unix && access(own, R_OK) == 0 && read_token(own, &token, e)) {
        return e->code;
    }
    AUTO(client_free) struct client *c = mem_alloc(sizeof(*c));
    if (visit_connect(base, token.len ? buf_str(&token) : NULL, 2 * NS_PER_S, &c->http, e))
        return e->code;
    *out = TAKE(c);
    return ERR_OK;
}

enum err_code client_open_store(const char *store, const struct options *o, enum client_need need,
                                struct client **out, struct err *e)
{
    AUTO(client_free) struct client *c = mem_alloc(sizeof(*c));

    if (store_make(store, e) || store_check(store, e))
        return e->code;
    c->visit.need = need;
    c->visit.n_workers = need == CLIENT_READS ? 0 : o->workers > 0 ? o->workers : 1;
    c->visit.asked_workers = need == CLIENT_WORKS && o->workers > 0 ? o->workers : 0;
    c->visit.platform = need == CLIENT_WORKS && o->platform ? mem_dup(o->platform) : NULL;
    c->visit.store = path_real(store, e);
    if (!c->visit.store || visit_open(&c->visit, &c->http, e))
        return e->code;
    *out = TAKE(c);
    return ERR_OK;
}

/* The store of the repository we stand in, if a run has made one. */
static char *store_here(void)
{
    AUTO(mem_free) char *home = NULL;

    if (home_of(".", &home, NULL))
        return NULL;
    AUTO(mem_free) char *store = path_join(home, "bisectd");
    return store_is_there(store) ? TAKE(store) : NULL;
}

static enum err_code open_named_store(const struct options *o, enum client_need need,
                                      struct client **out, struct err *e)
{
    if (store_check_name(o->store, e))
        return e->code;
    if (!store_is_there(o->store)) {
        err_set(e, ERR_NOT_FOUND, "no store at %s", o->store);
        return err_hint(e, "A store is the folder that `run` was given as --store; by default it "
                           "is bisectd/ in the repository's .git.");
    }
    return client_open_store(o->store, o, need, out, e);
}

/* The daemon of a configuration: its TCP address, or the socket in its data folder. */
static enum err_code open_configured(const struct options *o, const struct config *config,
                                     struct client **out, struct err *e)
{
    AUTO(mem_free) char *token = path_join(config->data_dir, "admin.token");
    AUTO(mem_free) char *base = NULL;
    const char *host = config->listen.host;

    bool is_any = host && (!host[0] || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0);
    if (!host)
        base = daemon_base(config->data_dir);
    else if (is_any)
        base = mem_printf("http://127.0.0.1:%u", config->listen.port);
    else
        base = mem_printf(strchr(host, ':') ? "http://[%s]:%u" : "http://%s:%u", host,
                          config->listen.port);
    return open_service(o, base, token, out, e);
}

static enum err_code open_default(const struct options *o, struct client **out, struct err *e)
{
    AUTO(config_free) struct config *config = config_default();

    if (open_configured(o, config, out, e))
        return e->code;
    (*out)->is_default = true;
    return ERR_OK;
}

bool client_is_default(const struct client *c)
{
    return c->is_default;
}

static enum err_code open_config_file(const struct options *o, const char *path,
                                      struct client **out, struct err *e)
{
    AUTO(config_free) struct config *config = NULL;

    if (config_load(path, &config, e))
        return e->code;
    return open_configured(o, config, out, e);
}

static enum err_code open_url(const struct options *o, const char *url, struct client **out,
                              struct err *e)
{
    AUTO(config_free) struct config *config = config_default();
    AUTO(mem_free) char *token = path_join(config->data_dir, "admin.token");
    bool is_here = strstr(url, "://127.0.0.1") || strstr(url, "://localhost");

    /* A token of ours goes nowhere but to this machine, unless it was named. */
    return open_service(o, url, is_here ? token : NULL, out, e);
}

static const char *url_of_environment(void)
{
    const char *url = getenv("BISECTD_URL");

    return url && url[0] ? url : NULL;
}

enum err_code client_open(const struct options *o, enum client_need need, struct client **out,
                          struct err *e)
{
    bool may_store = need != CLIENT_SERVICE;
    const char *url = o->coordinator ? o->coordinator : url_of_environment();

    if (o->coordinator)
        return open_url(o, url, out, e);
    if (o->store && may_store)
        return open_named_store(o, need, out, e);
    if (url)
        return open_url(o, url, out, e);
    AUTO(mem_free) char *config = o->config ? mem_dup(o->config) : config_find();
    if (config)
        return open_config_file(o, config, out, e);
    AUTO(mem_free) char *here = may_store ? store_here() : NULL;
    if (here)
        return client_open_store(here, o, need, out, e);
    return open_default(o, out, e);
}

static bool finds_store(const char *store)
{
    AUTO(mem_free) char *config = config_find();
    AUTO(mem_free) char *here = store_here();
    AUTO(mem_free) char *real = here ? path_real(here, NULL) : NULL;

    return !url_of_environment() && !config && real && strcmp(real, store) == 0;
}

/* Is it the current repository's store that a command without flags goes to? */
static bool prefers_store(void)
{
    AUTO(mem_free) char *config = config_find();
    AUTO(mem_free) char *here = store_here();

    return !config && here;
}

void client_place(const struct client *c, const struct options *o, struct place *out)
{
    const char *store = c->visit.store;

    if (store) {
        out->store = finds_store(store) ? NULL : store;
        return;
    }
    out->token_file = o->token_file;
    if (o->coordinator)
        out->coordinator = o->coordinator;
    else if (url_of_environment())
        return;
    else if (o->config)
        out->config = o->config;
    else if (prefers_store())
        out->coordinator = client_base(c);
}

/* Bisections */

static enum err_code get_verdict(struct client *c, const char *id, struct verdict **out,
                                 struct err *e)
{
    AUTO(buf_fini) struct buf path = {0};
    AUTO(json_free) json *document = NULL;

    buf_adds(&path, "/bisections/");
    http_escape(&path, id);
    if (client_get(c, buf_str(&path), &document, e))
        return e->code;
    if (verdict_from_json(document, out, e))
        return err_wrap(e, "answer of %s", client_base(c));
    return ERR_OK;
}

/* The newest bisections whose id begins with `part`; an error unless it is exactly one. */
static enum err_code complete_id(struct client *c, const char *part, char **out, struct err *e)
{
    AUTO(json_free) json *items = NULL;
    const char *found = NULL;
    size_t n_found = 0;

    if (strlen(part) < ID_LEAST) {
        err_set(e, ERR_NOT_FOUND, "no bisection %s at %s", part, client_base(c));
        return err_hint(e,
                        "A part of an ID needs at least %d characters; `bisectctl list` shows "
                        "whole ones.",
                        ID_LEAST);
    }
    if (client_list(c, "/bisections", PAGE, &items, e))
        return e->code;
    for (size_t i = 0; i < json_len(items); i++) {
        const char *id = json_str(json_at(json_item(items, i), "id"), "");
        if (strncmp(id, part, strlen(part)) == 0) {
            found = id;
            n_found++;
        }
    }
    if (n_found == 1) {
        *out = mem_dup(found);
        return ERR_OK;
    }
    if (n_found > 1)
        err_set(e, ERR_NOT_FOUND, "%zu bisections begin with %s", n_found, part);
    else
        err_set(e, ERR_NOT_FOUND, "no bisection %s at %s", part, client_base(c));
    return err_hint(e, "`bisectctl list` shows those there are.");
}

enum err_code client_bisection(struct client *c, const char *id, char **full_id,
                               struct verdict **out, struct err *e)
{
    AUTO(mem_free) char *whole = mem_dup(id);
    AUTO(verdict_free) struct verdict *v = NULL;

    if (get_verdict(c, whole, &v, e)) {
        if (e->code != ERR_NOT_FOUND)
            return e->code;
        mem_free(whole);
        whole = NULL;
        *e = (struct err){0};
        if (complete_id(c, id, &whole, e) || get_verdict(c, whole, &v, e))
            return e->code;
    }
    if (full_id)
        *full_id = TAKE(whole);
    if (out)
        *out = TAKE(v);
    return ERR_OK;
}

enum err_code client_explanation(struct client *c, const char *id, json **out, struct err *e)
{
    AUTO(buf_fini) struct buf path = {0};

    buf_adds(&path, "/bisections/");
    http_escape(&path, id);
    buf_adds(&path, "/explain");
    return client_get(c, buf_str(&path), out, e);
}

/* Following */

struct stream {
    const struct follower *f;
    bool is_over; /* done, or whoever follows has had enough */
    struct err err;
};

static bool is_finished(const struct verdict *v)
{
    return v->state == BISECTION_DONE || v->state == BISECTION_CANCELED;
}

/* False: whoever follows has had enough. */
static bool show_change(struct stream *s, const struct verdict *v)
{
    bool goes_on = s->f->changed(s->f->context, v);

    if (!goes_on || is_finished(v))
        s->is_over = true;
    return goes_on;
}

static enum http_go on_event(void *context, const char *name, const char *data, size_t n)
{
    struct stream *s = context;
    AUTO(json_free) json *document = NULL;
    AUTO(verdict_free) struct verdict *v = NULL;

    /* The coordinator ends the stream itself, which keeps the line for what we ask next: a private
     * daemon that sees nobody connected is gone. */
    if (strcmp(name, "done") == 0) {
        s->is_over = true;
        return HTTP_GO_ON;
    }
    if (strcmp(name, "progress") != 0)
        return HTTP_GO_ON;
    if (json_parse(data, n, &document, &s->err) || verdict_from_json(document, &v, &s->err)) {
        err_wrap(&s->err, "event of the coordinator");
        s->is_over = true;
        return HTTP_STOP;
    }
    return show_change(s, v) ? HTTP_GO_ON : HTTP_STOP;
}

static enum http_go on_tick(void *context)
{
    struct stream *s = context;

    if (s->f->tick(s->f->context))
        return HTTP_GO_ON;
    s->is_over = true;
    return HTTP_STOP;
}

enum { AGAIN_MS = 250, AGAIN_TRIES_STORE = 4, AGAIN_TRIES_SERVICE = 240 };

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * NS_PER_MS};

    nanosleep(&t, NULL);
}

/* The stream broke. A daemon that is restarted comes back; a private one does not. */
static enum err_code find_again(struct client *c, const char *id, struct stream *s, struct err *e)
{
    int tries = c->visit.store ? AGAIN_TRIES_STORE : AGAIN_TRIES_SERVICE;

    for (int i = 0; i < tries && !s->is_over; i++) {
        AUTO(verdict_free) struct verdict *v = NULL;
        *e = (struct err){0};
        pause_ms(AGAIN_MS);
        if (on_tick(s) == HTTP_STOP)
            return ERR_OK;
        if (get_verdict(c, id, &v, e) == ERR_OK) {
            show_change(s, v);
            return ERR_OK;
        }
        if (e->code != ERR_PEER && e->code != ERR_TIMEOUT)
            return e->code;
    }
    return s->is_over ? ERR_OK : e->code;
}

enum err_code client_follow(struct client *c, const char *id, const struct follower *f,
                            struct err *e)
{
    struct stream s = {.f = f};
    struct http_listener listener = {.event = on_event, .tick = on_tick, .context = &s};
    AUTO(buf_fini) struct buf path = {0};

    buf_adds(&path, API "/bisections/");
    http_escape(&path, id);
    buf_adds(&path, "/events");
    while (!s.is_over) {
        *e = (struct err){0};
        enum err_code code = http_events(c->http, buf_str(&path), &listener, e);
        if (s.is_over || code == ERR_OK)
            break;
        bool is_broken = code == ERR_PEER || code == ERR_TIMEOUT;
        if (!is_broken)
            return e->code;
        if (find_again(c, id, &s, e))
            return e->code;
    }
    *e = s.err;
    return e->code;
}
