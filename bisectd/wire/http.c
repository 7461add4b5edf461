/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/http.h"
#include "base/mem.h"
#include "base/text.h"
#include "wire/exchange.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_TIMEOUT_NS (600 * NS_PER_S)
enum { EVENT_BYTES = 16 * MIB, SHOWN_BYTES = 120 };

/* ---- opening ---- */

static void start_library(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static bool is_one_line(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == 0x7f)
            return false;
    return true;
}

/** The path of "unix:/path"; NULL for anything else. */
static const char *socket_of(const char *base)
{
    return strncmp(base, "unix:/", 6) == 0 ? base + 5 : NULL;
}

/** A path may hold anything but an end of line; a URL nothing that is not printed. */
static enum err_code check_characters(const char *base, struct err *e)
{
    if (socket_of(base) && strchr(base, '\n'))
        return err_set(e, ERR_INVALID, "the path of a coordinator's socket holds an end of line");
    if (!socket_of(base) && !is_one_line(base))
        return err_set(e, ERR_INVALID, "a coordinator's URL has no spaces or control characters");
    return ERR_OK;
}

enum err_code http_base_check(const char *base, struct err *e)
{
    static const char *const schemes[] = {"http://", "https://"};
    AUTO(buf_fini) struct buf shown = {0};

    if (check_characters(base, e))
        return ERR_INVALID;
    if (socket_of(base))
        return ERR_OK;
    for (size_t i = 0; i < LEN(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (strncmp(base, schemes[i], n) == 0 && base[n] != '\0' && base[n] != '/')
            return ERR_OK;
    }
    text_clean(&shown, base, strlen(base), SHOWN_BYTES);
    err_set(e, ERR_INVALID, "\"%s\" is not a coordinator's address", buf_str(&shown));
    return err_hint(e, "give http://HOST:PORT, https://HOST or unix:/path/to/socket");
}

static enum err_code take_base(struct http *h, const char *base, struct err *e)
{
    enum err_code code = http_base_check(base, e);
    size_t n = strlen(base);

    if (code)
        return code;
    h->base = mem_dup(base);
    if (socket_of(base)) {
        h->socket = mem_dup(socket_of(base));
        h->url = mem_dup("http://localhost");
        return ERR_OK;
    }
    while (base[n - 1] == '/')
        n--;
    h->url = mem_dup_n(base, n);
    return ERR_OK;
}

enum err_code http_new(const struct http_options *o, struct http **out, struct err *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    AUTO(http_free) struct http *h = mem_alloc(sizeof(*h));

    pthread_once(&once, start_library);
    enum err_code code = take_base(h, o->base, e);
    if (code)
        return code;
    if (o->token && (!is_one_line(o->token) || !*o->token))
        return err_set(e, ERR_INVALID, "the token is empty or holds spaces or control characters");
    h->options = *o;
    h->token = o->token ? mem_dup(o->token) : NULL;
    h->ca_file = o->ca_file ? mem_dup(o->ca_file) : NULL;
    h->easy = curl_easy_init();
    h->multi = curl_multi_init();
    if (!h->easy || !h->multi)
        return err_set(e, ERR_NOMEM, "start the HTTP client");
    *out = TAKE(h);
    return ERR_OK;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    if (h->easy)
        curl_easy_cleanup(h->easy);
    if (h->multi)
        curl_multi_cleanup(h->multi);
    mem_free(h->base);
    mem_free(h->url);
    mem_free(h->socket);
    mem_free(h->token);
    mem_free(h->ca_file);
    mem_free(h);
}

const char *http_base(const struct http *h)
{
    return h->base;
}

/* ---- the calls ---- */

enum err_code http_call_raw(struct http *h, const struct http_request *r, int *status,
                            struct buf *out, struct err *e)
{
    AUTO(exchange_fini) struct exchange x = exchange_of(h, r);

    x.to_buf = out;
    x.accept = "*/*";
    enum err_code code = exchange_perform(&x, e);
    if (code)
        return code;
    if (status)
        *status = (int)x.status;
    return ERR_OK;
}

enum err_code http_call(struct http *h, const struct http_request *r, int *status, json **out,
                        struct err *e)
{
    AUTO(exchange_fini) struct exchange x = exchange_of(h, r);
    AUTO(buf_fini) struct buf answer = {0};
    json *document = NULL;

    x.to_buf = &answer;
    enum err_code code = exchange_perform(&x, e);
    if (code)
        return code;
    if (answer.len && json_parse(answer.data, answer.len, &document, e)) {
        if (e)
            e->sys = (int)x.status;
        err_wrap(e, "%s answered with something that is not JSON", h->base);
        if (e)
            e->code = ERR_PEER;
        return ERR_PEER;
    }
    if (status)
        *status = (int)x.status;
    if (out)
        *out = document;
    else
        json_free(document);
    return ERR_OK;
}

enum err_code http_get(struct http *h, const char *path, json **out, struct err *e)
{
    return http_call(h, &(struct http_request){.method = HTTP_GET, .path = path}, NULL, out, e);
}

enum err_code http_post(struct http *h, const char *path, const json *body, json **out,
                        struct err *e)
{
    struct http_request r = {.method = HTTP_POST, .path = path, .json = body};
    return http_call(h, &r, NULL, out, e);
}

enum err_code http_upload_fd(struct http *h, const char *path, int fd, struct err *e)
{
    struct http_request r = {.method = HTTP_PUT, .path = path, .timeout_ns = FILE_TIMEOUT_NS};
    AUTO(exchange_fini) struct exchange x = exchange_of(h, &r);
    struct stat s;

    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))
        return err_sys(e, errno, "look at the file to send");
    x.from_fd = fd;
    x.n_body = (size_t)s.st_size;
    return exchange_perform(&x, e);
}

enum err_code http_download_fd(struct http *h, const char *path, int fd, size_t max_bytes,
                               struct err *e)
{
    struct http_request r = {
        .method = HTTP_GET, .path = path, .timeout_ns = FILE_TIMEOUT_NS, .max_bytes = max_bytes};
    AUTO(exchange_fini) struct exchange x = exchange_of(h, &r);

    x.to_fd = fd;
    x.accept = "*/*";
    return exchange_perform(&x, e);
}

enum err_code http_events(struct http *h, const char *path, const struct http_listener *l,
                          struct err *e)
{
    struct http_request r = {.method = HTTP_GET, .path = path, .repeat = HTTP_REPEAT_NEVER};
    AUTO(exchange_fini) struct exchange x = exchange_of(h, &r);

    x.listener = l;
    x.accept = "text/event-stream";
    sse_init(&x.sse, EVENT_BYTES);
    return exchange_perform(&x, e);
}

void http_escape(struct buf *out, const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || (c < 0x80 && strchr("-._~", c));
        if (is_plain)
            buf_addc(out, *s);
        else
            buf_printf(out, "%%%02X", c);
    }
}
