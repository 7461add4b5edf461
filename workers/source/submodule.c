/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/submodule.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/source/origin.h"
#include <string.h>

enum { MAX_FILE = MIB, MAX_SUBMODULES = 10000 };

void submodules_file_free(struct submodules_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n; i++) {
        mem_free(f->items[i].name);
        mem_free(f->items[i].path);
        mem_free(f->items[i].url);
    }
    mem_free(f->items);
    mem_free(f);
}

const struct submodule *submodules_file_find(const struct submodules_file *f, const char *path)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->items[i].path && !strcmp(f->items[i].path, path))
            return &f->items[i];
    return NULL;
}

/* Reading .gitmodules */

/** Whether the file asks to read other files, which git does not allow here either. */
static bool has_include(const char *text)
{
    for (const char *at = text; (at = strchr(at, '[')); at++) {
        const char *name = at + 1 + strspn(at + 1, " \t");
        if (!strncasecmp(name, "include", 7))
            return true;
    }
    return false;
}

static struct submodule *named(struct submodules_file *f, const char *name, size_t n)
{
    for (size_t i = 0; i < f->n; i++)
        if (strlen(f->items[i].name) == n && !memcmp(f->items[i].name, name, n))
            return &f->items[i];
    if (f->n == MAX_SUBMODULES)
        return NULL;
    f->items = mem_resize(f->items, f->n + 1, sizeof(*f->items));
    f->items[f->n] = (struct submodule){.name = mem_dup_n(name, n)};
    return &f->items[f->n++];
}

static void replace(char **field, const char *value)
{
    mem_free(*field);
    *field = mem_dup(value);
}

static void take_entry(struct submodules_file *f, const char *key, const char *value)
{
    static const char section[] = "submodule.";
    const char *dot = strrchr(key, '.');
    const char *name = key + strlen(section);

    if (strncmp(key, section, strlen(section)) != 0 || dot <= name)
        return;
    struct submodule *m = named(f, name, (size_t)(dot - name));
    if (!m || !value)
        return;
    if (!strcmp(dot, ".path")) {
        replace(&m->path, value);
        for (size_t n = strlen(m->path); n > 1 && m->path[n - 1] == '/'; n--)
            m->path[n - 1] = '\0';
    } else if (!strcmp(dot, ".url"))
        replace(&m->url, value);
    else if (!strcmp(dot, ".update"))
        m->is_skipped = !strcmp(value, "none");
}

static enum err_code parse(struct submodules_file *f, const char *path, struct err *e)
{
    AUTO(git_config_free) git_config *config = NULL;
    AUTO(git_config_iterator_free) git_config_iterator *it = NULL;
    git_config_entry *entry;
    int rc = git_config_open_ondisk(&config, path);

    if (rc >= 0)
        rc = git_config_iterator_new(&it, config);
    while (rc >= 0 && (rc = git_config_next(&entry, it)) >= 0)
        take_entry(f, entry->name, entry->value);
    if (rc == GIT_ITEROVER)
        return ERR_OK;
    err_git(e, rc, ".gitmodules");
    if (e)
        e->code = ERR_INVALID;
    return ERR_INVALID;
}

enum err_code submodules_file_load(git_repository *repo, const git_tree *tree, const char *scratch,
                                   struct submodules_file **out, struct err *e)
{
    AUTO(submodules_file_free) struct submodules_file *f = mem_alloc(sizeof(*f));
    AUTO(git_blob_free) git_blob *blob = NULL;
    const git_tree_entry *entry = git_tree_entry_byname(tree, ".gitmodules");
    enum err_code rc;

    if (!entry || git_tree_entry_type(entry) != GIT_OBJECT_BLOB ||
        git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK) {
        *out = TAKE(f);
        return ERR_OK;
    }
    int git = git_blob_lookup(&blob, repo, git_tree_entry_id(entry));
    if (git < 0) {
        err_git(e, git, ".gitmodules");
        if (e)
            e->code = ERR_IO;
        return ERR_IO;
    }
    size_t n = (size_t)git_blob_rawsize(blob);
    AUTO(mem_free) char *text = mem_dup_n(git_blob_rawcontent(blob), n < MAX_FILE ? n : 0);
    if (n >= MAX_FILE || strlen(text) != n || has_include(text))
        return err_set(e, ERR_INVALID, ".gitmodules: too large, binary, or includes other files");
    if ((rc = file_write(scratch, text, n, 0600, e)) || (rc = parse(f, scratch, e)))
        return rc;
    *out = TAKE(f);
    return ERR_OK;
}

/* Finding the repository */

static bool is_repository(const char *path)
{
    return git_repository_open_ext(NULL, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) == 0;
}

/** The clone at a path if there is one and it has the commit. */
static struct repository *try_clone(const struct submodule_query *q, const char *path)
{
    AUTO(repository_free) struct repository *r = NULL;

    if (!is_repository(path) || repository_open(q->source->cache_dir, NULL, path, &r, NULL) ||
        !repository_has(r, &q->commit))
        return NULL;
    return TAKE(r);
}

/** Where git keeps clones of submodules: in the git dir, of all work trees or of this one, or, as
 * it once did, in the work tree. */
static struct repository *find_clone(const struct submodule_query *q)
{
    git_repository *origin = q->parent->origin;
    const struct submodule *m = q->module;

    if (!origin || !m || strstr(m->name, "..") || strstr(m->path, ".."))
        return NULL;
    AUTO(mem_free) char *shared = mem_printf("%s/modules/%s", q->parent->from, m->name);
    AUTO(mem_free) char *own = mem_printf("%s/modules/%s", git_repository_path(origin), m->name);
    const char *tree = git_repository_workdir(origin);
    AUTO(mem_free) char *inside = tree ? path_join(tree, m->path) : NULL;
    const char *const places[] = {shared, own, inside};
    struct repository *found = NULL;

    for (size_t i = 0; !found && i < LEN(places); i++)
        found = places[i] ? try_clone(q, places[i]) : NULL;
    return found;
}

static char *config_value(git_repository *repo, const char *key)
{
    AUTO(git_config_free) git_config *config = NULL;
    AUTO(git_buf_dispose) git_buf value = {0};

    if (git_repository_config(&config, repo) < 0 ||
        git_config_get_string_buf(&value, config, key) < 0)
        return NULL;
    return mem_dup(value.ptr);
}

/** What relative URLs are relative to: the remote a clone came from, or the repository itself. */
static char *base_url(const struct repository *parent)
{
    git_repository *origin = parent->origin;

    if (!origin)
        return mem_dup(parent->from);
    char *remote = config_value(origin, "remote.origin.url");
    if (remote)
        return remote;
    const char *tree = git_repository_workdir(origin);
    return mem_dup(tree ? tree : parent->from);
}

/** The URL that .gitmodules gives. */
static enum err_code recorded_url(const struct submodule_query *q, char **out, struct err *e)
{
    const struct submodule *m = q->module;

    if (!m || !m->url || !*m->url) {
        err_set(e, ERR_INVALID, ".gitmodules of this revision has no URL for it");
        return err_hint(e, "give one under submodule_urls in the project, or set submodules: none");
    }
    AUTO(mem_free) char *base = base_url(q->parent);
    AUTO(mem_free) char *url = NULL;
    enum err_code rc = origin_resolve(base, m->url, &url, e);
    if (rc)
        return rc;
    if (origin_is_here(url) && !origin_is_here(q->parent->from)) {
        err_set(e, ERR_INVALID, ".gitmodules names a path on this machine, %.200s", m->url);
        return err_hint(e, "if that is meant, give it under submodule_urls in the project");
    }
    *out = TAKE(url);
    return ERR_OK;
}

/** The URL that the parent's local clone is configured with, or NULL. Caller frees. */
static char *configured_url(const struct submodule_query *q)
{
    if (!q->module || !q->parent->origin)
        return NULL;
    AUTO(mem_free) char *key = mem_printf("submodule.%s.url", q->module->name);
    return config_value(q->parent->origin, key);
}

/** A repository that cannot be opened or asked is nobody's commit's fault. */
static enum err_code as_infrastructure(struct err *e, enum err_code rc)
{
    if (rc == ERR_INVALID || rc == ERR_NOT_FOUND)
        rc = ERR_IO;
    if (e)
        e->code = rc;
    return rc;
}

static enum err_code fetch_commit(const struct submodule_query *q, struct repository *r,
                                  struct err *e)
{
    struct revision only;
    enum err_code rc;

    if (repository_has(r, &q->commit))
        return ERR_OK;
    if ((rc = repository_fetch(r, NULL, q->source->watch, e)))
        return rc;
    revision_from_oid(&q->commit, &only);
    /* A commit outside heads and tags can be had from many servers. */
    if (!repository_has(r, &q->commit) && !r->origin)
        (void)!repository_fetch(r, &only, q->source->watch, NULL);
    if (repository_has(r, &q->commit))
        return ERR_OK;
    err_set(e, ERR_NOT_FOUND, "commit %s is not in %s", only.hex, r->shown);
    return err_hint(
        e, "if the repository has moved, give its URL under submodule_urls in the project");
}

static enum err_code take_from(const struct submodule_query *q, const char *url,
                               struct repository **out, struct err *e)
{
    AUTO(repository_free) struct repository *r = NULL;
    enum err_code rc;

    if ((rc = repository_open(q->source->cache_dir, NULL, url, &r, e)))
        return as_infrastructure(e, rc);
    if ((rc = fetch_commit(q, r, e)))
        return rc;
    *out = TAKE(r);
    return ERR_OK;
}

static enum err_code locate(const struct submodule_query *q, struct repository **out, struct err *e)
{
    const struct pairs *overrides = q->source->submodule_urls;
    const char *override = overrides ? pairs_get(overrides, q->path) : NULL;
    enum err_code rc;

    if (override)
        return take_from(q, override, out, e);
    if ((*out = find_clone(q)))
        return ERR_OK;
    /* The configuration is of today, the revision may be of a time before the URL changed. */
    AUTO(mem_free) char *url = NULL, *configured = configured_url(q);
    if (configured && !take_from(q, configured, out, NULL))
        return ERR_OK;
    if ((rc = recorded_url(q, &url, e)))
        return rc;
    return take_from(q, url, out, e);
}

enum err_code submodule_locate(const struct submodule_query *q, struct repository **out,
                               struct err *e)
{
    enum err_code rc = locate(q, out, e);

    return rc ? err_wrap(e, "submodule %s", q->path) : ERR_OK;
}
