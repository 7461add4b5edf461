/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ready.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/check.h"
#include <string.h>

enum { TEXT_MOST = 1000, HOST_MOST = 64, HTTP_PORT = 80 };

void ready_fini(struct ready *r)
{
    mem_free(r->text);
    mem_free(r->words);
    *r = (struct ready){0};
}

/** What stands behind "got". */
static const char *shown(const char *s)
{
    return *s ? s : "nothing";
}

static enum err_code parse_port(const char *s, uint16_t *out, struct err *e)
{
    int64_t n = 0;

    if (text_int(s, 1, 65535, &n, NULL))
        return err_set(e, ERR_INVALID, "expected a port from 1 to 65535, got %.40s", shown(s));
    *out = (uint16_t)n;
    return ERR_OK;
}

static enum err_code read_exit(const char *s, struct ready *out, struct err *e)
{
    if (*s)
        return err_set(e, ERR_INVALID, "exit takes no value, got %.40s", s);
    out->words = mem_dup("it has exited");
    return ERR_OK;
}

static enum err_code read_line(const char *s, struct ready *out, struct err *e)
{
    if (!*s || strlen(s) > TEXT_MOST || strchr(s, '\n'))
        return err_set(e, ERR_INVALID, "expected line:TEXT, one line of 1 to %d bytes", TEXT_MOST);
    out->text = mem_dup(s);
    out->words = mem_printf("it has printed \"%s\"", s);
    return ERR_OK;
}

static enum err_code read_port(const char *s, struct ready *out, struct err *e)
{
    if (parse_port(s, &out->port, e))
        return ERR_INVALID;
    out->words = mem_printf("port %u is open", out->port);
    return ERR_OK;
}

/** Whether the URL's host, up to `n` bytes, is this machine. */
static bool is_here(const char *host, size_t n)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

    for (size_t i = 0; i < LEN(names); i++)
        if (strlen(names[i]) == n && strncmp(names[i], host, n) == 0)
            return true;
    return false;
}

static bool has_only_url_bytes(const char *s)
{
    for (; *s; s++)
        if (*s <= ' ' || *s > '~')
            return false;
    return true;
}

static enum err_code read_http(const char *s, struct ready *out, struct err *e)
{
    static const char scheme[] = "http://";
    const char *host = s + strlen(scheme);

    if (strncmp(s, scheme, strlen(scheme)) != 0 || strlen(s) > TEXT_MOST || !has_only_url_bytes(s))
        return err_set(e, ERR_INVALID, "expected http:URL such as http:http://localhost:8080/");
    const size_t n_authority = strcspn(host, "/?#");
    const size_t n_host = *host == '[' ? strcspn(host, "]/") + 1 : strcspn(host, ":/?#");
    const char *path = host + n_authority;
    AUTO(mem_free) char *authority = mem_dup_n(host, n_authority);
    AUTO(mem_free) char *target = mem_dup_n(path, strcspn(path, "#"));
    if (n_host > n_authority || !is_here(host, n_host))
        return err_set(e, ERR_INVALID, "expected a URL of localhost, 127.0.0.1 or [::1], got %.80s",
                       s);
    out->port = HTTP_PORT;
    if (n_host < n_authority &&
        (authority[n_host] != ':' || parse_port(authority + n_host + 1, &out->port, e)))
        return err_set(e, ERR_INVALID, "expected a port from 1 to 65535 in %.80s", s);
    out->text = mem_printf("GET %s%s HTTP/1.0\r\nHost: %s\r\nConnection: close\r\n\r\n",
                           *target == '/' ? "" : "/", target, authority);
    out->words = mem_printf("%s answers", s);
    return ERR_OK;
}

static enum err_code read_file(const char *s, struct ready *out, struct err *e)
{
    static const char *const folders[] = {"$BISECTD_OUT/", "$BISECTD_SOURCE/", "$HOME/",
                                          "$TMPDIR/"};
    const char *below = *s == '/' ? s + 1 : s;
    bool is_known = *s != '$';

    for (size_t i = 0; i < LEN(folders); i++) {
        if (strncmp(s, folders[i], strlen(folders[i])) == 0) {
            below = s + strlen(folders[i]);
            is_known = true;
        }
    }
    if (!is_known)
        return err_set(e, ERR_INVALID,
                       "expected a path; of variables, $BISECTD_OUT, $BISECTD_SOURCE, $HOME and "
                       "$TMPDIR may begin one, got %.80s",
                       s);
    if (strlen(s) > TEXT_MOST || path_check("file", below, e))
        return err_set(e, ERR_INVALID, "expected file:PATH, without .., got %.80s", shown(s));
    out->text = mem_dup(s);
    out->words = mem_printf("%s is there", s);
    return ERR_OK;
}

enum err_code ready_parse(const char *s, struct ready *out, struct err *e)
{
    /* clang-format off */
    static const struct {
        const char *name;
        enum ready_kind kind;
        enum err_code (*read)(const char *s, struct ready *out, struct err *e);
    } ways[] = {
        {"exit", READY_EXIT, read_exit},
        {"line", READY_LINE, read_line},
        {"port", READY_PORT, read_port},
        {"http", READY_HTTP, read_http},
        {"file", READY_FILE, read_file},
    };
    /* clang-format on */
    const size_t n = strcspn(s, ":");

    for (size_t i = 0; i < LEN(ways); i++) {
        AUTO(ready_fini) struct ready r = {.kind = ways[i].kind};
        if (strlen(ways[i].name) != n || strncmp(ways[i].name, s, n) != 0)
            continue;
        if (ways[i].read(s + n + (s[n] == ':'), &r, e))
            return ERR_INVALID;
        *out = r;
        r = (struct ready){0};
        return ERR_OK;
    }
    return err_set(e, ERR_INVALID,
                   "expected exit, line:TEXT, port:N, http:URL or file:PATH, got %.80s", shown(s));
}
