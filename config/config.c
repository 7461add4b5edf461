/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/node.h"
#include "config/schema.h"
#include "model/check.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = MIB, MAX_PROJECTS = 10000 };

static const char *const engine_names[] = {[ENGINE_LOCAL] = "local", [ENGINE_POOL] = "pool"};

const char *engine_name(enum engine_kind k)
{
    return engine_names[k];
}

void listen_fini(struct listen_at *l)
{
    mem_free(l->host);
    *l = (struct listen_at){0};
}

void config_free(struct config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_projects; i++)
        project_free(c->projects[i]);
    mem_free(c->projects);
    listen_fini(&c->listen);
    mem_free(c->path);
    mem_free(c->data_dir);
    mem_free(c);
}

const struct project *config_project(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_projects; i++) {
        if (strcmp(c->projects[i]->name, name) == 0)
            return c->projects[i];
    }
    return NULL;
}

/* ---- limits ---- */

static int64_t *limit_at(struct limits *limits, const struct schema_row *row)
{
    return (int64_t *)((char *)limits + row->offset);
}

static bool is_limit(const struct schema_row *row)
{
    return row->file == SCHEMA_DAEMON && strncmp(row->path, "limits.", 7) == 0;
}

struct limits limits_default(void)
{
    struct limits limits = {0};

    for (size_t i = 0; i < schema_len; i++) {
        if (is_limit(&schema[i]) &&
            schema_number(&schema[i], schema[i].standard, limit_at(&limits, &schema[i]), NULL))
            assert(!"a default of the schema is no number");
    }
    return limits;
}

static enum err_code set_limits(const json *given, struct limits *limits, struct err *e)
{
    for (size_t i = 0; i < schema_len; i++) {
        const json *v = is_limit(&schema[i]) ? json_at(given, schema[i].path + 7) : NULL;

        if (json_is_number(v))
            *limit_at(limits, &schema[i]) = json_int(v, 0);
        else if (v && schema_number(&schema[i], json_str(v, ""), limit_at(limits, &schema[i]), e))
            return ERR_INVALID;
    }
    if (limits->renew_ns * 2 > limits->lease_ns)
        return err_set(e, ERR_INVALID, "limits.renew: expected at most half of limits.lease");
    return ERR_OK;
}

/* ---- calibration ---- */

static enum err_code set_amount(const char *path, const json *given, int64_t *out, struct err *e)
{
    const struct schema_row *row = schema_find(SCHEMA_DAEMON, path);

    if (json_is_number(given)) {
        *out = json_int(given, 0);
        return ERR_OK;
    }
    return schema_number(row, json_str(given, row->standard), out, e);
}

static enum err_code set_calibration(const json *given, struct calibration_config *c, struct err *e)
{
    const struct schema_row *share = schema_find(SCHEMA_DAEMON, "calibration.share");
    double percent = 0;

    if (schema_amount(share, json_str(json_at(given, "share"), share->standard), &percent))
        return err_set(e, ERR_INVALID, "calibration.share: expected %s",
                       schema_amount_words(share->type));
    c->share = percent / 100;
    if (set_amount("calibration.runs", json_at(given, "runs"), &c->n_runs, e) ||
        set_amount("calibration.idle", json_at(given, "idle"), &c->idle_ns, e))
        return ERR_INVALID;
    return ERR_OK;
}

/* ---- defaults ---- */

/* A folder of the XDG base directories, below which `rest` is appended. */
static char *xdg_path(const char *variable, const char *below_home, const char *rest)
{
    const char *dir = getenv(variable);
    const char *home = getenv("HOME");

    if (dir && *dir == '/')
        return path_join(dir, rest);
    AUTO(mem_free) char *base = path_join(home && *home == '/' ? home : "/", below_home);
    return path_join(base, rest);
}

struct config *config_default(void)
{
    struct config *c = mem_alloc(sizeof(*c));

    c->data_dir = xdg_path("XDG_STATE_HOME", ".local/state", "bisectd");
    c->engine = ENGINE_LOCAL;
    c->n_workers = 1;
    c->limits = limits_default();
    if (set_calibration(NULL, &c->calibration, NULL))
        assert(!"a default of calibration is no number");
    if (sandbox_kind_parse(schema_find(SCHEMA_DAEMON, "sandbox")->standard, &c->sandbox, NULL))
        assert(!"the default of sandbox is no kind");
    if (listen_parse(schema_find(SCHEMA_DAEMON, "listen")->standard, &c->listen, NULL))
        assert(!"the default of listen is no address");
    return c;
}

char *config_find(void)
{
    char *path = xdg_path("XDG_CONFIG_HOME", ".config", "bisectd/bisectd.yml");

    if (file_exists(path))
        return path;
    mem_free(path);
    return file_exists("/etc/bisectd/bisectd.yml") ? mem_dup("/etc/bisectd/bisectd.yml") : NULL;
}

/* ---- values that need more than the table ---- */

enum err_code listen_parse(const char *text, struct listen_at *out, struct err *e)
{
    const char *colon = strrchr(text, ':');
    size_t n_host = colon ? (size_t)(colon - text) : 0;
    int64_t port = 0;

    if (strcmp(text, "none") == 0) {
        listen_fini(out);
        return ERR_OK;
    }
    if (n_host > 2 && text[0] == '[' && text[n_host - 1] == ']') {
        text++;
        n_host -= 2;
    } else if (memchr(text, ':', n_host))
        n_host = 0;
    if (n_host == 0 || n_host > 255 || text_int(colon + 1, 0, 65535, &port, NULL))
        return err_set(e, ERR_INVALID,
                       "expected HOST:PORT such as 127.0.0.1:8641 or [::1]:8641, or none, got %s",
                       text);
    listen_fini(out);
    *out = (struct listen_at){.host = mem_dup_n(text, n_host), .port = (uint16_t)port};
    return ERR_OK;
}

/* A URL, user@host:path of ssh, and absolute paths stand; the rest is a path below `folder`. */
static bool is_relative(const char *repository)
{
    const char *colon = strchr(repository, ':');
    const char *slash = strchr(repository, '/');

    if (*repository == '/' || strstr(repository, "://"))
        return false;
    return !colon || (slash && slash < colon);
}

static char *resolve(const char *folder, const char *path)
{
    AUTO(mem_free) char *joined = *path == '/' ? mem_dup(path) : path_join(folder, path);
    char *real = path_real(joined, NULL);

    return real ? real : TAKE(joined);
}

/* ---- files ---- */

/* A file on its way in. */
struct source {
    char *path;   /* as given, for messages */
    char *real;   /* absolute */
    char *folder; /* absolute */
    struct node *root;
};

static void source_fini(struct source *s)
{
    mem_free(s->path);
    mem_free(s->real);
    mem_free(s->folder);
    node_free(s->root);
}
DEFINE_AUTO_FINI(struct source, source_fini)

static enum err_code source_read(const char *path, struct source *s, struct err *e)
{
    AUTO(buf_fini) struct buf text = {0};

    if (file_read(path, MAX_FILE, &text, e))
        return e->code;
    s->real = path_real(path, e);
    if (!s->real)
        return e->code;
    s->path = mem_dup(path);
    const size_t n_folder = (size_t)(strrchr(s->real, '/') - s->real);
    s->folder = mem_dup_n(s->real, n_folder ? n_folder : 1);
    return node_parse(path, text.data, text.len, &s->root, e);
}

/* Puts file, line and column before an error that begins with a key's path below `root`. */
static enum err_code place_error(struct err *e, const struct source *s, const struct node *root,
                                 const char *prefix)
{
    const struct err inner = *e;
    const struct mark at = node_find(root, inner.text);

    err_set(e, inner.code, "%s:%zu:%zu: %s%s", s->path, at.line, at.column, prefix, inner.text);
    return inner.hint[0] ? err_hint(e, "%s", inner.hint) : inner.code;
}

/* The bytes of a patch beside its name: whoever gets the project has no such file. */
static enum err_code read_patch(const char *folder, json *fixup, struct err *e)
{
    const char *name = json_str(json_at(fixup, "patch"), NULL);
    AUTO(buf_fini) struct buf bytes = {0};
    AUTO(buf_fini) struct buf text = {0};

    if (!name)
        return ERR_OK;
    AUTO(mem_free) char *path = *name == '/' ? mem_dup(name) : path_join(folder, name);
    if (file_read(path, FIXUP_MAX_PATCH, &bytes, e)) {
        const struct err inner = *e;
        if (inner.code == ERR_LIMIT)
            err_set(e, ERR_INVALID, "patch: %s is larger than %d KiB", path, FIXUP_MAX_PATCH / KIB);
        else
            err_set(e, ERR_INVALID, "patch: %s", inner.text);
        return err_hint(e, inner.code == ERR_LIMIT
                               ? "Commit what it does, and name that with commit instead of patch."
                               : "The name is relative to the folder of the project file.");
    }
    if (bytes.len == 0)
        return err_set(e, ERR_INVALID, "patch: %s is empty", path);
    base64_add(&text, bytes.data, bytes.len);
    json_put(fixup, "content", json_new_string(buf_str(&text)));
    return ERR_OK;
}

static enum err_code read_patches(const struct source *s, json *v, struct err *e)
{
    const json *fixups = json_at(v, "fixups");

    for (size_t i = 0; i < json_len(fixups); i++) {
        if (read_patch(s->folder, json_item(fixups, i), e))
            return err_under(e, "fixups[%zu]", i);
    }
    return ERR_OK;
}

static enum err_code project_build(const struct source *s, const struct node *root,
                                   const char *prefix, json *v, struct project **out, struct err *e)
{
    const char *repository = json_str(json_at(v, "repository"), "");

    if (*repository && is_relative(repository)) {
        AUTO(mem_free) char *absolute = resolve(s->folder, repository);

        json_put(v, "repository", json_new_string(absolute));
    }
    const char *map = json_str(json_at(v, "revision_map"), "");
    if (*map && *map != '/') {
        AUTO(mem_free) char *absolute = resolve(s->folder, map);
        json_put(v, "revision_map", json_new_string(absolute));
    }
    if (read_patches(s, v, e) || project_from_json(v, out, e))
        return place_error(e, s, root, prefix);
    return ERR_OK;
}

static enum err_code project_of(const struct source *s, struct project **out, struct err *e)
{
    AUTO(json_free) json *v = NULL;

    if (schema_read(SCHEMA_PROJECT, s->path, "", s->root, &v, e))
        return ERR_INVALID;
    return project_build(s, s->root, "", v, out, e);
}

enum err_code project_load(const char *path, struct project **out, struct err *e)
{
    AUTO(source_fini) struct source s = {0};
    struct err own = {0};

    e = e ? e : &own;
    if (source_read(path, &s, e))
        return e->code;
    return project_of(&s, out, e);
}

static enum err_code add_project(struct config *c, const struct source *s, size_t i, json *v,
                                 struct err *e)
{
    const struct member *item = &node_at(s->root, "projects")->members[i];
    AUTO(mem_free) char *prefix = mem_printf("projects[%zu].", i);
    AUTO(project_free) struct project *p = NULL;

    if (json_is_object(v)) {
        if (project_build(s, item->value, prefix, v, &p, e))
            return e->code;
    } else {
        AUTO(mem_free)
        char *path = *json_str(v, "") == '/' ? mem_dup(json_str(v, ""))
                                             : path_join(s->folder, json_str(v, ""));

        if (project_load(path, &p, e))
            return err_wrap(e, "%s:%zu:%zu: projects[%zu]", s->path, item->at.line, item->at.column,
                            i);
    }
    if (config_project(c, p->name))
        return err_set(e, ERR_INVALID, "%s:%zu:%zu: projects[%zu]: a second project named %s",
                       s->path, item->at.line, item->at.column, i, p->name);
    c->projects = mem_resize(c->projects, c->n_projects + 1, sizeof(struct project *));
    c->projects[c->n_projects++] = TAKE(p);
    return ERR_OK;
}

static enum err_code add_projects(struct config *c, const struct source *s, json *list,
                                  struct err *e)
{
    if (json_len(list) > MAX_PROJECTS)
        return err_set(e, ERR_LIMIT, "%s: projects: more than %d", s->path, MAX_PROJECTS);
    for (size_t i = 0; i < json_len(list); i++) {
        if (add_project(c, s, i, json_item(list, i), e))
            return e->code;
    }
    return ERR_OK;
}

static enum err_code set_values(struct config *c, const struct source *s, const json *v,
                                struct err *e)
{
    const char *listen = json_str(json_at(v, "listen"), NULL);
    const char *data_dir = json_str(json_at(v, "data_dir"), NULL);
    const char *engine = json_str(json_at(v, "engine"), "local");
    const char *sandbox = json_str(json_at(v, "sandbox"), NULL);

    if (listen && listen_parse(listen, &c->listen, e)) {
        err_wrap(e, "listen");
        return place_error(e, s, s->root, "");
    }
    if (data_dir && !*data_dir) {
        err_set(e, ERR_INVALID, "data_dir: expected a folder, got an empty string");
        return place_error(e, s, s->root, "");
    }
    if (data_dir) {
        mem_free(c->data_dir);
        c->data_dir = resolve(s->folder, data_dir);
    }
    c->engine = strcmp(engine, "pool") == 0 ? ENGINE_POOL : ENGINE_LOCAL;
    c->n_workers = (uint32_t)json_int(json_at(v, "workers"), c->n_workers);
    if (sandbox && sandbox_kind_parse(sandbox, &c->sandbox, e))
        return place_error(e, s, s->root, "");
    if (set_limits(json_at(v, "limits"), &c->limits, e) ||
        set_calibration(json_at(v, "calibration"), &c->calibration, e))
        return place_error(e, s, s->root, "");
    return ERR_OK;
}

static enum err_code config_of(const struct source *s, struct config **out, struct err *e)
{
    AUTO(config_free) struct config *c = config_default();
    AUTO(json_free) json *v = NULL;

    if (schema_read(SCHEMA_DAEMON, s->path, "", s->root, &v, e) || set_values(c, s, v, e) ||
        add_projects(c, s, json_at(v, "projects"), e))
        return e->code;
    c->path = mem_dup(s->real);
    *out = TAKE(c);
    return ERR_OK;
}

enum err_code config_load(const char *path, struct config **out, struct err *e)
{
    AUTO(source_fini) struct source s = {0};
    struct err own = {0};

    e = e ? e : &own;
    if (source_read(path, &s, e))
        return e->code;
    return config_of(&s, out, e);
}

/* ---- config check ---- */

static size_t n_keys_of(enum schema_file file, const struct node *root)
{
    size_t n = 0;

    for (size_t i = 0; root->kind == NODE_MAP && i < root->n; i++)
        n += schema_find(file, root->members[i].key) != NULL;
    return n;
}

enum err_code config_check_file(const char *path, const char **what, struct err *e)
{
    AUTO(source_fini) struct source s = {0};
    AUTO(config_free) struct config *c = NULL;
    AUTO(project_free) struct project *p = NULL;
    struct err own = {0};

    e = e ? e : &own;
    if (source_read(path, &s, e))
        return e->code;
    if (n_keys_of(SCHEMA_PROJECT, s.root) > n_keys_of(SCHEMA_DAEMON, s.root)) {
        *what = "project";
        return project_of(&s, &p, e);
    }
    *what = "configuration";
    return config_of(&s, &c, e);
}

void config_defaults_text(struct buf *out)
{
    schema_print(out);
}

json *config_defaults_json(void)
{
    return schema_to_json();
}
