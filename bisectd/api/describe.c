/* SPDX-License-Identifier: Apache-2.0 */
/* The routes table as an OpenAPI document. */
#include "api/route.h"
#include "base/mem.h"
#include <ctype.h>
#include <string.h>

static json *parameter(const char *name, size_t len, const char *where, bool is_required)
{
    AUTO(mem_free) char *text = mem_dup_n(name, len);
    json *p = json_new_object();

    json_put(p, "name", json_new_string(text));
    json_put(p, "in", json_new_string(where));
    json_put(p, "required", json_new_bool(is_required));
    json_put(p, "schema", json_put(json_new_object(), "type", json_new_string("string")));
    return p;
}

/* "/a/:id" as "/a/{id}", its arguments into `parameters`. */
static char *path_template(const char *path, json *parameters)
{
    struct buf out = {0};

    while (*path) {
        size_t len = strcspn(path + 1, "/") + 1;
        if (path[1] == ':') {
            json_push(parameters, parameter(path + 2, len - 2, "path", true));
            buf_printf(&out, "/{%.*s}", (int)(len - 2), path + 2);
        } else {
            buf_add(&out, path, len);
        }
        path += len;
    }
    return buf_take(&out);
}

static void query_parameters(const char *names, json *parameters)
{
    while (*names) {
        size_t len = strcspn(names, " ");
        json_push(parameters, parameter(names, len, "query", false));
        names += len;
        names += strspn(names, " ");
    }
}

static json *content(const char *type)
{
    json *schema = json_put(json_new_object(), "schema", json_new_object());

    return json_put(json_new_object(), "content", json_put(json_new_object(), type, schema));
}

static json *responses(const struct route *r)
{
    json *answers = json_new_object();
    json *ok = json_put(json_new_object(), "description", json_new_string("done"));
    json *error = content("application/json");

    json_put(error, "description",
             json_new_string("an error: {\"error\":{\"code\",\"message\",\"hint\"}}"));
    json_put(answers, "2XX", ok);
    json_put(answers, "default", error);
    if (r->role != ROLE_NONE)
        json_put(answers, "401",
                 json_put(json_new_object(), "description",
                          json_new_string("a token is missing or unknown")));
    return answers;
}

/* "get" and the rest of the path's last two words: unique, and stable for generated clients. */
static char *operation_id(const struct route *r)
{
    struct buf out = {0};
    const char *path = strncmp(r->path, "/api/v1/", 8) == 0 ? r->path + 8 : r->path + 1;

    for (const char *m = r->method; *m; m++)
        buf_addc(&out, (char)tolower((unsigned char)*m));
    buf_addc(&out, '_');
    for (; *path; path++)
        buf_addc(&out, isalnum((unsigned char)*path) ? *path : '_');
    return buf_take(&out);
}

static json *operation(const struct route *r, json *parameters, int64_t max_bytes)
{
    /* clang-format off */
    static const char *const types[] = {
        [BODY_NONE] = NULL,
        [BODY_JSON] = "application/json",
        [BODY_TEXT] = "text/plain",
        [BODY_FILE] = "application/zstd",
    };
    /* clang-format on */
    AUTO(mem_free) char *id = operation_id(r);
    json *o = json_new_object();

    json_put(o, "operationId", json_new_string(id));
    json_put(o, "summary", json_new_string(r->help));
    json_put(o, "parameters", parameters);
    if (types[r->body]) {
        json *body = content(types[r->body]);
        json_put(body, "x-max-bytes", json_new_int(max_bytes));
        json_put(o, "requestBody", body);
    }
    json_put(o, "responses", responses(r));
    if (r->role == ROLE_NONE)
        json_put(o, "security", json_new_array());
    return o;
}

static json *bearer_scheme(void)
{
    json *bearer = json_new_object();

    json_put(bearer, "type", json_new_string("http"));
    json_put(bearer, "scheme", json_new_string("bearer"));
    return json_put(json_new_object(), "securitySchemes",
                    json_put(json_new_object(), "bearer", bearer));
}

json *routes_describe(const struct route *table, size_t n, const int64_t max_bytes[LIMIT_COUNT])
{
    json *paths = json_new_object();
    json *document = json_new_object();
    json *info = json_new_object();

    for (size_t i = 0; i < n; i++) {
        json *parameters = json_new_array();
        AUTO(mem_free) char *path = path_template(table[i].path, parameters);
        AUTO(mem_free) char *method = mem_dup(table[i].method);

        for (char *m = method; *m; m++)
            *m = (char)tolower((unsigned char)*m);
        query_parameters(table[i].query, parameters);
        if (!json_at(paths, path))
            json_put(paths, path, json_new_object());
        json_put(json_at(paths, path), method,
                 operation(&table[i], parameters, max_bytes[table[i].limit]));
    }
    json_put(info, "title", json_new_string("bisectd"));
    json_put(info, "version", json_new_string(BISECTD_VERSION));
    json_put(document, "openapi", json_new_string("3.0.3"));
    json_put(document, "info", info);
    json_put(document, "paths", paths);
    json_put(document, "components", bearer_scheme());
    json_put(document, "security",
             json_push(json_new_array(), json_put(json_new_object(), "bearer", json_new_array())));
    return document;
}
