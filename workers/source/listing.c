/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/listing.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "workers/source/submodule.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 10000000, MAX_DEPTH = 256, MAX_NESTED = 16 };

void listing_free(struct listing *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++)
        mem_free(l->entries[i].path);
    for (uint32_t i = 0; i < l->n_parts; i++) {
        repository_free(l->parts[i].repository);
        mem_free(l->parts[i].prefix);
    }
    mem_free(l->entries);
    mem_free(l->parts);
    mem_free(l);
}

int path_order(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    unsigned char x = *a == '/' ? 0 : (unsigned char)*a, y = *b == '/' ? 0 : (unsigned char)*b;

    /* Of "a" and "a/b" the shorter is first; both count as 0 otherwise. */
    if (!x && !y)
        return (*a != '\0') - (*b != '\0');
    return x - y;
}

/** A listing under construction. */
struct gathering {
    const struct source *source;
    char *scratch;
    struct listing *listing;
    struct buf path;
    int nested, depth;
};

/** The repository being listed. */
struct current {
    uint32_t part;
    struct submodules_file *modules;
    struct hash *attributes; /* NULL until there are some */
};

static enum err_code list_commit(struct gathering *g, struct repository *r, const git_oid *commit,
                                 struct err *e);

static enum err_code damaged(const struct part *p, const git_oid *id, struct err *e)
{
    err_set(e, ERR_IO, "%s lacks object %s, which it should have, or cannot read it",
            p->repository->shown, git_oid_tostr_s(id));
    return err_hint(e, "git fsck tells what is damaged; a fresh clone mends it");
}

/** A name that could reach out of its folder, or into git's own. */
static bool is_unsafe(const char *name)
{
    return !*name || !strcmp(name, ".") || !strcmp(name, "..") || !strcasecmp(name, ".git") ||
           strchr(name, '/');
}

static enum err_code add(struct gathering *g, const git_oid *id, enum entry_kind kind,
                         uint32_t part, struct err *e)
{
    struct listing *l = g->listing;

    if (l->n == MAX_ENTRIES)
        return err_set(e, ERR_INVALID, "the revision has more than %d files", MAX_ENTRIES);
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 1024;
        l->entries = mem_resize(l->entries, l->cap, sizeof(*l->entries));
    }
    l->entries[l->n++] = (struct entry){mem_dup(buf_str(&g->path)), *id, kind, part};
    return ERR_OK;
}

static void cut_path(struct gathering *g, size_t n)
{
    if (g->path.len > n) {
        g->path.len = n;
        g->path.data[n] = '\0';
    }
}

static enum err_code list_submodule(struct gathering *g, const struct current *c,
                                    const git_oid *commit, struct err *e)
{
    AUTO(repository_free) struct repository *r = NULL;
    const struct part *p = &g->listing->parts[c->part];
    struct submodule_query q = {
        .source = g->source,
        .parent = p->repository,
        .module = submodules_file_find(c->modules, buf_str(&g->path) + strlen(p->prefix)),
        .path = buf_str(&g->path),
        .commit = *commit};
    enum err_code rc;

    if (g->source->submodules == SUBMODULES_NONE || (q.module && q.module->is_skipped))
        return add(g, commit, ENTRY_FOLDER, c->part, e);
    if (g->nested == MAX_NESTED)
        return err_set(e, ERR_INVALID, "submodule %s: nested more than %d deep", q.path,
                       MAX_NESTED);
    if ((rc = submodule_locate(&q, &r, e)))
        return rc;
    size_t n = g->path.len, n_before = g->listing->n;
    buf_addc(&g->path, '/');
    g->nested++;
    rc = list_commit(g, TAKE(r), commit, e);
    g->nested--;
    cut_path(g, n);
    if (!rc && g->listing->n == n_before)
        rc = add(g, commit, ENTRY_FOLDER, c->part, e);
    return rc;
}

static enum err_code list_tree(struct gathering *g, struct current *c, const git_oid *id,
                               struct err *e);

static void note_attributes(struct gathering *g, struct current *c, const git_oid *id)
{
    if (!c->attributes)
        c->attributes = hash_new();
    hash_add(c->attributes, buf_str(&g->path), g->path.len + 1);
    hash_add(c->attributes, id->id, sizeof(id->id));
}

/** The entry whose path g->path holds. */
static enum err_code list_entry(struct gathering *g, struct current *c, const git_tree_entry *entry,
                                struct err *e)
{
    const git_oid *id = git_tree_entry_id(entry);
    enum err_code rc;

    switch (git_tree_entry_filemode(entry)) {
    case GIT_FILEMODE_TREE:
        buf_addc(&g->path, '/');
        g->depth++;
        rc = list_tree(g, c, id, e);
        g->depth--;
        return rc;
    case GIT_FILEMODE_COMMIT:
        return list_submodule(g, c, id, e);
    case GIT_FILEMODE_LINK:
        return add(g, id, ENTRY_LINK, c->part, e);
    case GIT_FILEMODE_BLOB_EXECUTABLE:
        return add(g, id, ENTRY_PROGRAM, c->part, e);
    default:
        if (!strcmp(git_tree_entry_name(entry), ".gitattributes"))
            note_attributes(g, c, id);
        return add(g, id, ENTRY_FILE, c->part, e);
    }
}

static enum err_code list_tree(struct gathering *g, struct current *c, const git_oid *id,
                               struct err *e)
{
    const struct part *p = &g->listing->parts[c->part];
    AUTO(git_tree_free) git_tree *tree = NULL;
    size_t n = g->path.len;
    enum err_code rc = ERR_OK;

    if (g->depth > MAX_DEPTH)
        return err_set(e, ERR_INVALID, "the revision has folders more than %d deep", MAX_DEPTH);
    if (git_tree_lookup(&tree, p->repository->git, id) < 0)
        return damaged(p, id, e);
    for (size_t i = 0; !rc && i < git_tree_entrycount(tree); i++) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        const char *name = git_tree_entry_name(entry);
        buf_adds(&g->path, name);
        if (is_unsafe(name) || g->path.len >= PATH_MAX / 2) {
            AUTO(buf_fini) struct buf shown = {0};
            text_clean(&shown, buf_str(&g->path), g->path.len, 200);
            return err_set(e, ERR_INVALID,
                           "the revision has a file whose name is unsafe or too long: %s",
                           buf_str(&shown));
        }
        rc = list_entry(g, c, entry, e);
        cut_path(g, n);
    }
    return rc;
}

static void add_part(struct gathering *g, struct repository *r, const git_oid *commit)
{
    struct listing *l = g->listing;

    l->parts = mem_resize(l->parts, l->n_parts + 1, sizeof(*l->parts));
    l->parts[l->n_parts++] =
        (struct part){.repository = r, .commit = *commit, .prefix = mem_dup(buf_str(&g->path))};
}

/** Takes over `r`. */
static enum err_code list_commit(struct gathering *g, struct repository *r, const git_oid *id,
                                 struct err *e)
{
    AUTO(git_commit_free) git_commit *commit = NULL;
    AUTO(git_tree_free) git_tree *tree = NULL;
    AUTO(submodules_file_free) struct submodules_file *modules = NULL;
    struct current c = {.part = g->listing->n_parts};
    enum err_code rc;

    add_part(g, r, id);
    if (git_commit_lookup(&commit, r->git, id) < 0)
        return damaged(&g->listing->parts[c.part], id, e);
    if (git_commit_tree(&tree, commit) < 0)
        return damaged(&g->listing->parts[c.part], git_commit_tree_id(commit), e);
    if ((rc = submodules_file_load(r->git, tree, g->scratch, &modules, e)))
        return rc;
    c.modules = modules;
    rc = list_tree(g, &c, git_tree_id(tree), e);
    if (c.attributes)
        g->listing->parts[c.part].attributes = hash_end(c.attributes);
    return rc;
}

/* The whole */

static int by_path(const void *a, const void *b)
{
    return path_order(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

static enum err_code check_paths(const struct listing *l, struct err *e)
{
    for (size_t i = 1; i < l->n; i++) {
        const char *path = l->entries[i].path, *before = l->entries[i - 1].path;
        size_t n = strlen(before);
        if (!strncmp(path, before, n) && (path[n] == '\0' || path[n] == '/')) {
            AUTO(buf_fini) struct buf shown = {0};
            text_clean(&shown, before, n, 200);
            return err_set(e, ERR_INVALID, "the revision has two files of one name: %s",
                           buf_str(&shown));
        }
    }
    return ERR_OK;
}

enum err_code listing_open_top(const struct source *s, const git_oid *commit,
                               struct repository **out, struct err *e)
{
    AUTO(repository_free) struct repository *r = NULL;
    struct revision only;
    enum err_code rc;

    if ((rc = repository_open(s->cache_dir, NULL, s->repository, &r, e))) {
        /* It could be opened when the bisection was asked for. */
        if (e)
            e->code = rc = ERR_IO;
        return rc;
    }
    revision_from_oid(commit, &only);
    if (!repository_has(r, commit) && (rc = repository_fetch(r, NULL, s->watch, e)))
        return rc;
    if (!repository_has(r, commit) && !r->origin)
        (void)!repository_fetch(r, &only, s->watch, NULL);
    if (!repository_has(r, commit))
        return err_set(e, ERR_NOT_FOUND, "commit %s is not in %s", only.hex, r->shown);
    *out = TAKE(r);
    return ERR_OK;
}

enum err_code listing_load(const struct source *s, const char *state_dir, const git_oid *commit,
                           struct listing **out, struct err *e)
{
    AUTO(listing_free) struct listing *l = mem_alloc(sizeof(*l));
    AUTO(mem_free) char *scratch = path_join(state_dir, "gitmodules");
    struct gathering g = {.source = s, .scratch = scratch, .listing = l};
    struct repository *top = NULL;
    enum err_code rc = listing_open_top(s, commit, &top, e);

    if (rc)
        return rc;
    rc = list_commit(&g, top, commit, e);
    buf_fini(&g.path);
    if (rc)
        return rc;
    if (l->n)
        qsort(l->entries, l->n, sizeof(*l->entries), by_path);
    if ((rc = check_paths(l, e)))
        return rc;
    *out = TAKE(l);
    return ERR_OK;
}
