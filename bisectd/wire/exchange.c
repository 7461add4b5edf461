/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/exchange.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONNECT_TIMEOUT_NS (10 * NS_PER_S)
#define CALL_TIMEOUT_NS    (60 * NS_PER_S)
#define SILENCE_NS         (60 * NS_PER_S)
#define FIRST_PAUSE_NS     (100 * NS_PER_MS)
#define LONGEST_PAUSE_NS   (5 * NS_PER_S)
enum {
    TICK_MS = 100,
    ANSWER_BYTES = 64 * MIB,
    ERROR_BYTES = 64 * KIB /* kept of an error's document */
};

struct exchange exchange_of(struct http *h, const struct http_request *r)
{
    struct exchange x = {.http = h,
                         .request = r,
                         .accept = "application/json",
                         .body = r->bytes,
                         .n_body = r->bytes ? r->n_bytes : 0,
                         .from_fd = -1,
                         .to_fd = -1,
                         .max_bytes = r->max_bytes ? r->max_bytes : ANSWER_BYTES};

    if (r->json) {
        json_dump(r->json, JSON_COMPACT, &x.json);
        x.body = x.json.data;
        x.n_body = x.json.len;
    }
    return x;
}

void exchange_fini(struct exchange *x)
{
    buf_fini(&x->json);
    buf_fini(&x->error_document);
    sse_fini(&x->sse);
}
/* ---- callbacks ---- */

static size_t send_some(char *to, size_t size, size_t n, void *context)
{
    struct exchange *x = context;
    size_t room = size * n, left = x->n_body - x->n_sent;

    if (room > left)
        room = left;
    if (x->from_fd >= 0) {
        ssize_t got = pread(x->from_fd, to, room, (off_t)x->n_sent);
        if (got < 0 || (got == 0 && room > 0)) {
            err_sys(&x->fault, got < 0 ? errno : EIO, "read the file to send");
            return CURL_READFUNC_ABORT;
        }
        room = (size_t)got;
    } else if (room) {
        memcpy(to, x->body + x->n_sent, room);
    }
    x->n_sent += room;
    return room;
}

static int rewind_body(void *context, curl_off_t offset, int whence)
{
    struct exchange *x = context;

    if (whence != SEEK_SET || offset < 0 || (size_t)offset > x->n_body)
        return CURL_SEEKFUNC_FAIL;
    x->n_sent = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

static bool hear(void *context, const char *name, const char *data, size_t n)
{
    struct exchange *x = context;

    x->is_heard = x->listener->event(x->listener->context, name, data, n) == HTTP_STOP;
    return !x->is_heard;
}

static bool write_all(int fd, const char *bytes, size_t n, struct err *e)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            err_sys(e, errno, "write what was received");
            return false;
        }
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

static size_t receive_some(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *x = context;
    size_t n = size * count;
    bool stopped = false;

    x->last_byte = mono_now();
    curl_easy_getinfo(x->http->easy, CURLINFO_RESPONSE_CODE, &x->status);
    if (x->status >= 400) {
        size_t room = ERROR_BYTES - x->error_document.len;
        buf_add(&x->error_document, bytes, n < room ? n : room);
        return n;
    }
    if (x->listener) {
        if (sse_feed(&x->sse, bytes, n, hear, x, &stopped, &x->fault))
            return 0;
        return stopped ? 0 : n;
    }
    x->n_received += n;
    if (x->n_received > x->max_bytes) {
        err_set(&x->fault, ERR_LIMIT, "the answer is over its limit of %zu bytes", x->max_bytes);
        return 0;
    }
    if (x->to_fd >= 0)
        return write_all(x->to_fd, bytes, n, &x->fault) ? n : 0;
    if (x->to_buf)
        buf_add(x->to_buf, bytes, n);
    return n;
}

static struct curl_slist *add_header(struct curl_slist *headers, const char *name,
                                     const char *value)
{
    AUTO(mem_free) char *line = mem_printf("%s: %s", name, value);
    struct curl_slist *more = curl_slist_append(headers, line);

    return more ? more : headers;
}

static bool is_loopback(const char *url)
{
    static const char *const hosts[] = {"http://127.",  "http://localhost",  "http://[::1]",
                                        "https://127.", "https://localhost", "https://[::1]"};

    for (size_t i = 0; i < LEN(hosts); i++)
        if (strncmp(url, hosts[i], strlen(hosts[i])) == 0)
            return true;
    return false;
}

static void set_method(struct exchange *x)
{
    static const char *const names[] = {
        [HTTP_GET] = "GET", [HTTP_POST] = "POST", [HTTP_PUT] = "PUT", [HTTP_DELETE] = "DELETE"};
    CURL *c = x->http->easy;
    enum http_method method = x->request->method;

    if (method == HTTP_POST || method == HTTP_PUT) {
        curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)x->n_body);
        curl_easy_setopt(c, CURLOPT_READFUNCTION, send_some);
        curl_easy_setopt(c, CURLOPT_READDATA, x);
        curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, rewind_body);
        curl_easy_setopt(c, CURLOPT_SEEKDATA, x);
    }
    if (method != HTTP_GET)
        curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, names[method]);
}

static struct curl_slist *set_headers(struct exchange *x)
{
    struct http *h = x->http;
    const char *type = x->request->json ? "application/json" : x->request->type;
    struct curl_slist *headers = NULL;

    headers = add_header(headers, "Accept", x->accept);
    if (x->n_body)
        headers = add_header(headers, "Content-Type", type ? type : "application/octet-stream");
    if (h->token) {
        AUTO(mem_free) char *bearer = mem_printf("Bearer %s", h->token);
        headers = add_header(headers, "Authorization", bearer);
    }
    struct curl_slist *more =
        curl_slist_append(headers, "Expect:"); /* no round trip before a body */
    if (more)
        headers = more;
    curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, headers);
    return headers;
}

static long milliseconds(int64_t ns, int64_t otherwise_ns)
{
    int64_t ms = (ns > 0 ? ns : otherwise_ns) / NS_PER_MS;
    return ms < 1 ? 1 : (long)ms;
}

static void set_limits(struct exchange *x)
{
    struct http *h = x->http;
    const struct http_options *o = &h->options;
    int64_t timeout_ns = x->request->timeout_ns > 0 ? x->request->timeout_ns : o->timeout_ns;

    curl_easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT_MS,
                     milliseconds(o->connect_timeout_ns, CONNECT_TIMEOUT_NS));
    if (!x->listener)
        curl_easy_setopt(h->easy, CURLOPT_TIMEOUT_MS, milliseconds(timeout_ns, CALL_TIMEOUT_NS));
    curl_easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h->easy, CURLOPT_TCP_KEEPALIVE, 1L);
}

/** Sets curl up for one try; the headers are to be freed after it. */
static struct curl_slist *prepare(struct exchange *x)
{
    struct http *h = x->http;
    AUTO(mem_free) char *url = mem_printf("%s%s", h->url, x->request->path);

    curl_easy_reset(h->easy);
    curl_easy_setopt(h->easy, CURLOPT_URL, url);
    if (h->socket)
        curl_easy_setopt(h->easy, CURLOPT_UNIX_SOCKET_PATH, h->socket);
    if (h->socket || is_loopback(h->url))
        curl_easy_setopt(h->easy, CURLOPT_PROXY, "");
    if (h->ca_file)
        curl_easy_setopt(h->easy, CURLOPT_CAINFO, h->ca_file);
    curl_easy_setopt(h->easy, CURLOPT_USERAGENT, "bisectd/" BISECTD_VERSION);
    curl_easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, receive_some);
    curl_easy_setopt(h->easy, CURLOPT_WRITEDATA, x);
    set_limits(x);
    set_method(x);

    x->n_sent = x->n_received = 0;
    x->status = 0;
    x->last_byte = mono_now();
    x->fault = (struct err){0};
    buf_clear(&x->error_document);
    return set_headers(x);
}

/** Asks those who want to be asked; false when one says stop. */
static bool tick(struct exchange *x)
{
    const struct http_options *o = &x->http->options;
    const struct http_listener *l = x->listener;

    if (o->tick && o->tick(o->context) == HTTP_STOP)
        x->is_stopped = true;
    if (l && l->tick && l->tick(l->context) == HTTP_STOP)
        x->is_heard = true;
    return !x->is_stopped && !x->is_heard;
}

static bool is_silent(const struct exchange *x)
{
    return x->listener && mono_now().ns - x->last_byte.ns > SILENCE_NS;
}

/** Drives curl until the try is over. */
static CURLcode drive(struct exchange *x)
{
    struct http *h = x->http;
    CURLcode result = CURLE_ABORTED_BY_CALLBACK;
    int64_t next_tick_ns = mono_now().ns + TICK_MS * NS_PER_MS;
    int n_running = 1;

    if (curl_multi_add_handle(h->multi, h->easy) != CURLM_OK)
        return CURLE_FAILED_INIT;
    while (n_running) {
        if (curl_multi_perform(h->multi, &n_running) != CURLM_OK)
            break;
        if (n_running)
            curl_multi_poll(h->multi, NULL, 0, TICK_MS, NULL);
        if (is_silent(x)) {
            result = CURLE_OPERATION_TIMEDOUT;
            break;
        }
        int64_t now = mono_now().ns;
        if (now >= next_tick_ns && !tick(x))
            break;
        if (now >= next_tick_ns)
            next_tick_ns = now + TICK_MS * NS_PER_MS;
    }
    int n_left;
    for (CURLMsg *m; (m = curl_multi_info_read(h->multi, &n_left)) != NULL;)
        if (m->msg == CURLMSG_DONE)
            result = m->data.result;
    curl_multi_remove_handle(h->multi, h->easy);
    if (result == CURLE_OK)
        curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &x->status);
    return result;
}

/* ---- what came of it ---- */

/* clang-format off */
static const struct {
    long status;
    enum err_code code;
} statuses[] = {
    {400, ERR_INVALID}, {422, ERR_INVALID},   {401, ERR_DENIED},   {403, ERR_DENIED},
    {404, ERR_NOT_FOUND}, {410, ERR_NOT_FOUND}, {408, ERR_TIMEOUT},
    {409, ERR_CONFLICT}, {412, ERR_CONFLICT}, {413, ERR_LIMIT},    {429, ERR_LIMIT},
};
/* clang-format on */

static enum err_code status_error(struct exchange *x, struct err *e)
{
    enum err_code code = ERR_PEER;
    AUTO(json_free) json *document = NULL;
    AUTO(buf_fini) struct buf clean = {0};

    for (size_t i = 0; i < LEN(statuses); i++)
        if (statuses[i].status == x->status)
            code = statuses[i].code;
    if (x->error_document.len &&
        json_parse(x->error_document.data, x->error_document.len, &document, NULL) != ERR_OK)
        document = NULL;
    const json *error = json_at(document, "error");
    const char *message = json_str(json_at(error, "message"), NULL);
    const char *hint = json_str(json_at(error, "hint"), NULL);

    if (message) {
        text_clean(&clean, message, strlen(message), 900);
        err_set(e, code, "%s", buf_str(&clean));
    } else {
        err_set(e, code, "%s answered with HTTP status %ld", x->http->base, x->status);
    }
    if (hint && *hint) {
        buf_clear(&clean);
        text_clean(&clean, hint, strlen(hint), 500);
        err_hint(e, "%s", buf_str(&clean));
    }
    if (e)
        e->sys = (int)x->status;
    return code;
}

static enum err_code curl_error(struct exchange *x, CURLcode result, struct err *e)
{
    enum err_code code = result == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_PEER;

    if (result == CURLE_PARTIAL_FILE || result == CURLE_RECV_ERROR || result == CURLE_GOT_NOTHING)
        err_set(e, code, "%s broke off in the middle of an answer", x->http->base);
    else if (result == CURLE_OPERATION_TIMEDOUT)
        err_set(e, code, "%s did not answer in time", x->http->base);
    else
        err_set(e, code, "cannot talk to %s: %s", x->http->base, curl_easy_strerror(result));
    if (e)
        e->sys = (int)result;
    return code;
}

static enum err_code outcome(struct exchange *x, CURLcode result, struct err *e)
{
    if (x->is_heard)
        return ERR_OK;
    if (x->is_stopped)
        return err_set(e, ERR_TIMEOUT, "stopped");
    if (x->fault.code) {
        if (e)
            *e = x->fault;
        return x->fault.code;
    }
    if (result != CURLE_OK)
        return curl_error(x, result, e);
    if (x->status >= 300)
        return status_error(x, e);
    if (x->listener)
        return err_set(e, ERR_PEER, "%s ended the stream", x->http->base);
    return ERR_OK;
}

static bool may_repeat(const struct exchange *x, CURLcode result)
{
    const struct http_request *r = x->request;
    bool is_safe = r->repeat == HTTP_REPEAT_SAFE ||
                   (r->repeat == HTTP_REPEAT_BY_METHOD && r->method != HTTP_POST);

    if (x->is_stopped || x->is_heard || x->fault.code || r->repeat == HTTP_REPEAT_NEVER)
        return false;
    switch (result) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
        return true; /* nobody has seen it */
    case CURLE_OK:
        return is_safe &&
               (x->status == 429 || x->status == 502 || x->status == 503 || x->status == 504);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_FAILED_INIT:
        return false;
    default:
        return is_safe;
    }
}

/** Waits, ticking; false when told to stop. */
static bool pause_for(struct exchange *x, int64_t ns)
{
    int64_t until = mono_now().ns + ns;

    for (int64_t left = ns; left > 0; left = until - mono_now().ns) {
        long step_ms = left / NS_PER_MS < TICK_MS ? (long)(left / NS_PER_MS) + 1 : TICK_MS;
        nanosleep(&(struct timespec){.tv_nsec = step_ms * 1000000}, NULL);
        if (!tick(x))
            return false;
    }
    return true;
}

/** Brings the places of the answer back to where they were; false where that cannot be. */
static bool forget_answer(struct exchange *x, size_t n_before, off_t at_before)
{
    if (x->to_buf && x->to_buf->data) {
        x->to_buf->len = n_before;
        x->to_buf->data[n_before] = '\0';
    }
    if (x->to_fd < 0 || x->n_received == 0)
        return true;
    return at_before >= 0 && ftruncate(x->to_fd, at_before) == 0 &&
           lseek(x->to_fd, at_before, SEEK_SET) == at_before;
}

enum err_code exchange_perform(struct exchange *x, struct err *e)
{
    int64_t give_up_ns = mono_now().ns + x->http->options.retry_ns;
    int64_t pause_ns = FIRST_PAUSE_NS;
    size_t n_before = x->to_buf ? x->to_buf->len : 0;
    off_t at_before = x->to_fd >= 0 ? lseek(x->to_fd, 0, SEEK_CUR) : -1;

    for (;;) {
        struct curl_slist *headers = prepare(x);
        CURLcode result = drive(x);
        curl_slist_free_all(headers);
        enum err_code code = outcome(x, result, e);
        if (code == ERR_OK)
            return ERR_OK;
        uint8_t luck;
        random_bytes(&luck, sizeof(luck)); /* so that many clients do not come back at once */
        int64_t wait_ns = pause_ns / 2 + pause_ns / 2 * luck / 255;
        bool is_last = !may_repeat(x, result) || mono_now().ns + wait_ns > give_up_ns;
        if (!forget_answer(x, n_before, at_before) || is_last)
            return code;
        if (!pause_for(x, wait_ns))
            return err_set(e, ERR_TIMEOUT, "stopped");
        pause_ns = pause_ns * 2 < LONGEST_PAUSE_NS ? pause_ns * 2 : LONGEST_PAUSE_NS;
    }
}
