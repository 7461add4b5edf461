/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/agent/agent.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "workers/agent/heartbeat.h"
#include "workers/agent/work.h"
#include "workers/sandbox/clip.h"
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define ASK_NS           (45 * NS_PER_S) /* the coordinator holds the question for 30 s */
#define REPORT_NS        (60 * NS_PER_S)
#define FIRST_PAUSE_NS   (200 * NS_PER_MS)
#define LONGEST_PAUSE_NS (10 * NS_PER_S)
enum {
    LOG_BYTES = 16 * MIB - 64 * KIB, /* the coordinator takes 16 MiB, marks and all */
    TICK_MS = 100
};

static enum http_go go_on(void *context)
{
    const struct agent *a = context;

    return a->must_stop(a->context) ? HTTP_STOP : HTTP_GO_ON;
}

/** Growing pauses while the coordinator is away, and one line when it goes and comes. */
struct patience {
    int64_t pause_ns;
    bool is_away;
};

static void wait_for_peer(const struct agent *a, struct patience *p, const struct err *e)
{
    if (!p->is_away) {
        AUTO(buf_fini) struct buf text = {0};
        text_quote(&text, a->http.base);
        buf_adds(&text, " error=");
        text_quote(&text, e->text);
        LOG(LOG_WARN, "coordinator away", "url=%s", buf_str(&text));
    }
    p->is_away = true;
    p->pause_ns = p->pause_ns ? p->pause_ns * 2 : FIRST_PAUSE_NS;
    if (p->pause_ns > LONGEST_PAUSE_NS)
        p->pause_ns = LONGEST_PAUSE_NS;
    int64_t until = mono_now().ns + p->pause_ns;
    while (mono_now().ns < until && !a->must_stop(a->context))
        nanosleep(&(struct timespec){.tv_nsec = TICK_MS * 1000000L}, NULL);
}

static void peer_answered(const struct agent *a, struct patience *p)
{
    if (p->is_away) {
        AUTO(buf_fini) struct buf url = {0};
        text_quote(&url, a->http.base);
        LOG(LOG_INFO, "coordinator back", "url=%s", buf_str(&url));
    }
    *p = (struct patience){0};
}

/** Errors that come from the question, not from the way to the coordinator. */
static bool is_final(enum err_code code)
{
    return code == ERR_DENIED || code == ERR_INVALID || code == ERR_CONFLICT ||
           code == ERR_NOT_FOUND;
}

/* ---- asking ---- */

static json *question(const struct agent *a)
{
    json *body = json_new_object(), *tags = json_new_array();

    for (size_t i = 0; i < a->tags->n; i++)
        json_push(tags, json_new_string(a->tags->items[i]));
    json_put(body, "worker", json_new_string(a->shop->name));
    json_put(body, "host", json_new_string(a->shop->host));
    json_put(body, "platform", json_new_string(a->shop->platform));
    return json_put(body, "tags", tags);
}

/** *lease is NULL when there is nothing to do now. */
static enum err_code ask(const struct agent *a, struct http *http, struct lease **lease,
                         struct err *e)
{
    AUTO(json_free) json *body = question(a);
    AUTO(json_free) json *answer = NULL;
    struct http_request r = {.method = HTTP_POST,
                             .path = "/api/v1/leases?wait=30",
                             .json = body,
                             .repeat = HTTP_REPEAT_NEVER,
                             .timeout_ns = ASK_NS};

    *lease = NULL;
    enum err_code code = http_call(http, &r, NULL, &answer, e);
    if (code || !answer)
        return code;
    if (lease_from_json(answer, lease, e)) {
        err_wrap(e, "the lease makes no sense to this worker");
        return ERR_PEER;
    }
    return ERR_OK;
}

/* ---- reporting ---- */

struct report {
    const struct agent *agent;
    const struct lease *lease;
    struct http *http;
};

/** Sends until it is accepted or refused; false when refused or told to stop. `answer` may be NULL.
 */
static bool insist(const struct report *rp, const struct http_request *r, const char *what,
                   struct buf *answer)
{
    struct patience patience = {0};
    struct err e = {0};

    while (!rp->agent->must_stop(rp->agent->context)) {
        if (answer)
            buf_clear(answer);
        enum err_code code = http_call_raw(rp->http, r, NULL, answer, &e);
        if (code == ERR_OK) {
            peer_answered(rp->agent, &patience);
            return true;
        }
        if (is_final(code) || (code == ERR_LIMIT && e.sys == 413)) {
            LOG(LOG_WARN, "report refused", "bisection=%s lease=%s what=%s error=\"%s\"",
                rp->lease->bisection, rp->lease->id, what, e.text);
            return false;
        }
        wait_for_peer(rp->agent, &patience, &e);
    }
    return false;
}

static bool send_log(const struct report *rp, const struct clip *log)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(buf_fini) struct buf id = {0};

    http_escape(&id, rp->lease->id);
    AUTO(mem_free)
    char *path = mem_printf("/api/v1/leases/%s/log?fence=%" PRId64, buf_str(&id), rp->lease->fence);
    clip_render(log, &text);
    struct http_request r = {.method = HTTP_PUT,
                             .path = path,
                             .bytes = buf_str(&text),
                             .n_bytes = text.len,
                             .type = "text/plain; charset=utf-8",
                             .timeout_ns = REPORT_NS};
    return insist(rp, &r, "log", NULL);
}

/** *n_accepted: how many samples the coordinator says it has stored, -1 if it does not say. */
static bool send_result(const struct report *rp, const struct task_result *result,
                        int64_t *n_accepted)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(json_free) json *answer = NULL;
    AUTO(json_free) json *body = task_result_to_json(result);
    AUTO(buf_fini) struct buf id = {0};

    http_escape(&id, rp->lease->id);
    AUTO(mem_free) char *path = mem_printf("/api/v1/leases/%s/result", buf_str(&id));
    struct http_request r = {.method = HTTP_POST,
                             .path = path,
                             .json = body,
                             .repeat = HTTP_REPEAT_SAFE,
                             .timeout_ns = REPORT_NS};
    if (!insist(rp, &r, "result", &text))
        return false;
    if (json_parse(buf_str(&text), text.len, &answer, NULL))
        answer = NULL;
    *n_accepted = json_int(json_at(answer, "accepted"), -1);
    return true;
}

/* ---- one lease ---- */

static enum err_code serve(const struct agent *a, struct http *http, const struct lease *lease,
                           struct err *e)
{
    AUTO(heartbeat_free) struct heartbeat *heartbeat = NULL;
    AUTO(task_result_free) struct task_result *result = NULL;
    AUTO(clip_fini) struct clip log;
    struct report rp = {.agent = a, .lease = lease, .http = http};

    clip_init(&log, LOG_BYTES);
    LOG(LOG_INFO, "task leased", "bisection=%s lease=%s task=%s builds=%" PRIu32 " runs=%" PRIu32,
        lease->bisection, lease->id, lease->task, lease->spec->n_builds, lease->spec->n_runs);
    enum err_code code = heartbeat_new(&a->http, lease, &heartbeat, e);
    if (code)
        return code;
    struct work work = {.shop = a->shop,
                        .quiet = a->quiet,
                        .lease = lease,
                        .http = http,
                        .heartbeat = heartbeat,
                        .log = &log,
                        .must_stop = a->must_stop,
                        .context = a->context};
    work_do(&work, &result);
    if (!result) {
        LOG(LOG_INFO, "task stopped", "bisection=%s lease=%s task=%s", lease->bisection, lease->id,
            lease->task);
        return ERR_OK;
    }
    if (result->fault)
        LOG(LOG_ERROR, "task fault", "bisection=%s lease=%s task=%s error=\"%s\"", lease->bisection,
            lease->id, lease->task, result->fault);
    send_log(&rp, &log); /* a refusal is logged, and the result says the same by itself */
    int64_t n_accepted = -1;
    if (send_result(&rp, result, &n_accepted))
        LOG(LOG_INFO, "task done", "bisection=%s lease=%s task=%s accepted=%" PRId64,
            lease->bisection, lease->id, lease->task, n_accepted);
    return ERR_OK;
}

enum err_code agent_run(const struct agent *a, struct err *e)
{
    AUTO(http_free) struct http *http = NULL;
    struct http_options o = a->http;
    struct patience patience = {0};

    o.tick = go_on;
    o.context = (void *)a;
    enum err_code code = http_new(&o, &http, e);
    if (code)
        return code;
    while (!a->must_stop(a->context)) {
        AUTO(lease_free) struct lease *lease = NULL;
        code = ask(a, http, &lease, e);
        if (code && a->must_stop(a->context))
            return ERR_OK;
        if (code == ERR_DENIED)
            err_hint(e, "give a worker's token by --token-file or $BISECTD_TOKEN_FILE");
        if (code == ERR_DENIED || code == ERR_INVALID)
            return err_wrap(e, "ask %s for work", a->http.base);
        if (code) {
            wait_for_peer(a, &patience, e);
            continue;
        }
        peer_answered(a, &patience);
        if (lease && serve(a, http, lease, e))
            return e ? e->code : ERR_IO;
        if (a->is_once)
            return ERR_OK;
    }
    return ERR_OK;
}
