/* SPDX-License-Identifier: Apache-2.0 */
#include "api/route.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

/* Ids, hashes and names; longer ones exist nowhere. */
enum { MAX_ARG_BYTES = 128 };

static const char *part_end(const char *s)
{
    return s + strcspn(s, "/");
}

bool route_fits(const char *pattern, const char *path, char *args[EXCHANGE_MAX_ARGS])
{
    const char *found[EXCHANGE_MAX_ARGS] = {0};
    size_t found_len[EXCHANGE_MAX_ARGS] = {0};
    size_t n = 0;

    while (*pattern && *path) {
        const char *pattern_end = part_end(pattern);
        const char *path_end = part_end(path);
        size_t len = (size_t)(path_end - path);

        if (*pattern == ':') {
            if (!len || len > MAX_ARG_BYTES || n == EXCHANGE_MAX_ARGS)
                return false;
            found[n] = path;
            found_len[n++] = len;
        } else if (len != (size_t)(pattern_end - pattern) || strncmp(pattern, path, len) != 0) {
            return false;
        }
        if (*pattern_end != *path_end)
            return false;
        pattern = *pattern_end ? pattern_end + 1 : pattern_end;
        path = *path_end ? path_end + 1 : path_end;
    }
    if (*pattern || *path)
        return false;
    for (size_t i = 0; args && i < n; i++)
        args[i] = mem_dup_n(found[i], found_len[i]);
    return true;
}

enum match route_find(struct exchange *x)
{
    const char *method = strcmp(x->method, "HEAD") == 0 ? "GET" : x->method;
    struct buf allow = {0};

    for (size_t i = 0; i < n_routes && !x->route; i++) {
        if (!route_fits(routes[i].path, x->path, NULL))
            continue;
        if (strcmp(routes[i].method, method) == 0)
            x->route = &routes[i];
        else
            buf_printf(&allow, "%s%s", allow.len ? ", " : "", routes[i].method);
    }
    snprintf(x->allow_text, sizeof(x->allow_text), "%s", buf_str(&allow));
    buf_fini(&allow);
    if (!x->route)
        return x->allow_text[0] ? MATCH_PATH : MATCH_NONE;
    (void)route_fits(x->route->path, x->path, x->args);
    return MATCH_ROUTE;
}
