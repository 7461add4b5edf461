/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/origin.h"
#include "base/mem.h"
#include <string.h>

bool origin_is_local(const char *repository)
{
    const char *colon = strchr(repository, ':');
    const char *slash = strchr(repository, '/');

    return !colon || (slash && slash < colon);
}

bool origin_is_here(const char *repository)
{
    return origin_is_local(repository) || !strncmp(repository, "file://", 7);
}

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

/** Cuts the last part off "a/b" or "host:b", never the host of a URL; false when none is left. */
static bool chop(char *base, bool *is_colon)
{
    char *scheme = strstr(base, "://");
    char *at = strrchr(scheme ? scheme + 3 : base, '/');

    *is_colon = !at && !scheme;
    if (*is_colon)
        at = strrchr(base, ':');
    if (!at)
        return false;
    *at = '\0';
    return true;
}

enum err_code origin_resolve(const char *parent, const char *url, char **out, struct err *e)
{
    if (!begins(url, "./") && !begins(url, "../")) {
        *out = mem_dup(url);
        return ERR_OK;
    }

    AUTO(mem_free) char *base = mem_dup(parent);
    const char *rest = url;
    bool is_colon = false;
    size_t n = strlen(base);

    while (n > 1 && base[n - 1] == '/')
        base[--n] = '\0';
    while (begins(rest, "./") || begins(rest, "../")) {
        bool is_up = rest[1] == '.';
        rest += is_up ? 3 : 2;
        if (is_up && !chop(base, &is_colon))
            return err_set(e, ERR_INVALID, "cannot go up from '%s' by '%s'", parent, url);
    }
    *out = mem_printf("%s%s%s", base, is_colon ? ":" : "/", rest);
    n = strlen(*out);
    while (n > 1 && (*out)[n - 1] == '/')
        (*out)[--n] = '\0';
    return ERR_OK;
}

char *origin_shown(const char *repository)
{
    const char *host = strstr(repository, "://");
    const char *at, *colon;

    if (!host)
        return mem_dup(repository);
    host += 3;
    at = memchr(host, '@', strcspn(host, "/"));
    colon = at ? memchr(host, ':', (size_t)(at - host)) : NULL;
    if (!colon)
        return mem_dup(repository);
    return mem_printf("%.*s:***%s", (int)(colon - repository), repository, at);
}
