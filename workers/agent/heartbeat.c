/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/agent/heartbeat.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TELL_NS  (NS_PER_S / 2) /* least time between renewals that only tell */
#define RETRY_NS (2 * NS_PER_S)
#define CALL_NS  (10 * NS_PER_S)

struct heartbeat {
    const struct lease *lease;
    struct http *http;
    char *path;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    char activity[128];
    bool has_news;
    bool is_lost;
    bool is_ending;
};

static enum http_go go_on(void *context)
{
    struct heartbeat *h = context;

    pthread_mutex_lock(&h->mutex);
    bool is_ending = h->is_ending;
    pthread_mutex_unlock(&h->mutex);
    return is_ending ? HTTP_STOP : HTTP_GO_ON;
}

/** Sends one renewal; returns when the next is due at the latest. */
static int64_t renew(struct heartbeat *h, const char *activity)
{
    AUTO(json_free) json *body = json_new_object();
    struct err e = {0};

    json_put(body, "fence", json_new_int(h->lease->fence));
    json_put(body, "activity", json_new_string(activity));
    struct http_request r = {
        .method = HTTP_PUT, .path = h->path, .json = body, .timeout_ns = CALL_NS};
    enum err_code code = http_call(h->http, &r, NULL, NULL, &e);
    if (code == ERR_OK)
        return mono_now().ns + h->lease->renew_ns;
    if (code == ERR_CONFLICT || code == ERR_NOT_FOUND) {
        pthread_mutex_lock(&h->mutex);
        h->is_lost = true;
        pthread_mutex_unlock(&h->mutex);
        LOG(LOG_INFO, "lease lost", "bisection=%s lease=%s", h->lease->bisection, h->lease->id);
    }
    return mono_now().ns + (h->lease->renew_ns < RETRY_NS ? h->lease->renew_ns : RETRY_NS);
}

/** Pre: the mutex is held. Waits for `until`, for news, or for the end. */
static void wait_until(struct heartbeat *h, int64_t until_ns)
{
    struct timespec t = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};

    pthread_cond_clockwait(&h->changed, &h->mutex, CLOCK_MONOTONIC, &t);
}

static void *beat(void *context)
{
    struct heartbeat *h = context;
    int64_t sent_ns = mono_now().ns - TELL_NS, due_ns = mono_now().ns + h->lease->renew_ns;
    char activity[sizeof(h->activity)];

    pthread_mutex_lock(&h->mutex);
    while (!h->is_ending && !h->is_lost) {
        int64_t due = h->has_news && sent_ns + TELL_NS < due_ns ? sent_ns + TELL_NS : due_ns;
        if (mono_now().ns < due) {
            wait_until(h, due);
            continue;
        }
        memcpy(activity, h->activity, sizeof(activity));
        h->has_news = false;
        pthread_mutex_unlock(&h->mutex);
        sent_ns = mono_now().ns;
        due_ns = renew(h, activity);
        pthread_mutex_lock(&h->mutex);
    }
    pthread_mutex_unlock(&h->mutex);
    return NULL;
}

static enum err_code start_thread(struct heartbeat *h, struct err *e)
{
    sigset_t all, before;

    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int sys = pthread_create(&h->thread, NULL, beat, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return sys ? err_sys(e, sys, "start the heartbeat") : ERR_OK;
}

static void free_parts(struct heartbeat *h)
{
    pthread_mutex_destroy(&h->mutex);
    pthread_cond_destroy(&h->changed);
    http_free(h->http);
    mem_free(h->path);
    mem_free(h);
}

enum err_code heartbeat_new(const struct http_options *o, const struct lease *lease,
                            struct heartbeat **out, struct err *e)
{
    struct heartbeat *h = mem_alloc(sizeof(*h));
    struct http_options own = *o;
    AUTO(buf_fini) struct buf id = {0};

    pthread_mutex_init(&h->mutex, NULL);
    pthread_cond_init(&h->changed, NULL);
    http_escape(&id, lease->id);
    h->lease = lease;
    h->path = mem_printf("/api/v1/leases/%s", buf_str(&id));
    own.tick = go_on;
    own.context = h;
    own.retry_ns = 0; /* the next beat is soon enough */
    enum err_code code = http_new(&own, &h->http, e);
    if (!code)
        code = start_thread(h, e);
    if (code) {
        free_parts(h);
        return code;
    }
    *out = h;
    return ERR_OK;
}

void heartbeat_free(struct heartbeat *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->mutex);
    h->is_ending = true;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->mutex);
    pthread_join(h->thread, NULL);
    free_parts(h);
}

void heartbeat_tell(struct heartbeat *h, const char *format, ...)
{
    va_list args;

    pthread_mutex_lock(&h->mutex);
    va_start(args, format);
    vsnprintf(h->activity, sizeof(h->activity), format, args);
    va_end(args);
    h->has_news = true;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->mutex);
}

bool heartbeat_is_lost(struct heartbeat *h)
{
    pthread_mutex_lock(&h->mutex);
    bool is_lost = h->is_lost;
    pthread_mutex_unlock(&h->mutex);
    return is_lost;
}
