/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/mirror.h"
#include "base/file.h"
#include "base/mem.h"
#include "commits/names.h"
#include "workers/source/library.h"
#include "workers/source/repository.h"
#include <stdlib.h>
#include <string.h>

struct mirror {
    struct repository *repository;
    struct fetch_watch watch;
};

enum { MAX_NAME = 200 }; /* of a file, with what is put around it */

/** Refs of the mirror that are not the repository's. */
static const char pins[] = "refs/bisectd/";

void mirror_free(struct mirror *m)
{
    if (!m)
        return;
    repository_free(m->repository);
    mem_free(m);
}

const char *mirror_path(const struct mirror *m)
{
    return m->repository->path;
}

git_repository *mirror_git(const struct mirror *m)
{
    return m->repository->git;
}

git_repository *mirror_origin(const struct mirror *m)
{
    return m->repository->origin;
}

const char *mirror_name(const struct mirror *m)
{
    return m->repository->shown;
}

/* Copying refs: one packed-refs file, replaced whole */

struct ref {
    char *name;
    git_oid target;
};
struct refs {
    struct ref *items;
    size_t n, cap;
};

static void refs_fini(struct refs *r)
{
    for (size_t i = 0; i < r->n; i++)
        mem_free(r->items[i].name);
    mem_free(r->items);
}
DEFINE_AUTO_FINI(struct refs, refs_fini)

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct ref *)a)->name, ((const struct ref *)b)->name);
}

static void refs_add(struct refs *r, const char *name, const git_oid *target)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 64;
        r->items = mem_resize(r->items, r->cap, sizeof(*r->items));
    }
    r->items[r->n++] = (struct ref){mem_dup(name), *target};
}

/** Adds the refs of `repo` whose being a pin is `are_pins`. Dangling ones lead nowhere: left out.
 */
static enum err_code refs_gather(struct refs *to, git_repository *repo, bool are_pins,
                                 struct err *e)
{
    AUTO(git_reference_iterator_free) git_reference_iterator *it = NULL;
    int rc = git_reference_iterator_new(&it, repo);

    while (rc >= 0) {
        AUTO(git_reference_free) git_reference *ref = NULL, *direct = NULL;
        rc = git_reference_next(&ref, it);
        if (rc < 0)
            break;
        const char *name = git_reference_name(ref);
        bool is_pin = !strncmp(name, pins, strlen(pins));
        /* A replacement would be taken for the real thing by a git that reads the mirror. */
        if (is_pin != are_pins || !strncmp(name, "refs/replace/", 13))
            continue;
        if (git_reference_resolve(&direct, ref) == 0)
            refs_add(to, name, git_reference_target(direct));
    }
    return rc == GIT_ITEROVER ? ERR_OK : err_git(e, rc, "read refs");
}

static enum err_code write_if_new(const char *path, const struct buf *text, struct err *e)
{
    AUTO(buf_fini) struct buf old = {0};

    if (!file_read(path, 256 * MIB, &old, NULL) && old.len == text->len &&
        !memcmp(old.data, text->data, text->len))
        return ERR_OK;
    return file_write(path, text->data, text->len, 0644, e);
}

static enum err_code copy_head(const struct repository *r, struct err *e)
{
    AUTO(git_reference_free) git_reference *head = NULL;
    AUTO(mem_free) char *path = path_join(r->path, "HEAD");
    AUTO(buf_fini) struct buf text = {0};

    if (git_reference_lookup(&head, r->origin, "HEAD") < 0)
        return ERR_OK; /* none to copy: ours stays, and the user's own is asked first */
    if (git_reference_type(head) == GIT_REFERENCE_SYMBOLIC)
        buf_printf(&text, "ref: %s\n", git_reference_symbolic_target(head));
    else
        buf_printf(&text, "%s\n", git_oid_tostr_s(git_reference_target(head)));
    return write_if_new(path, &text, e);
}

static enum err_code copy_refs(const struct repository *r, struct err *e)
{
    AUTO(refs_fini) struct refs refs = {0};
    AUTO(buf_fini) struct buf text = {0};
    AUTO(fd_close) int lock = -1;
    AUTO(mem_free) char *path = path_join(r->path, "packed-refs");
    enum err_code rc;

    if ((rc = repository_lock(r->path, &lock, e)) ||
        (rc = refs_gather(&refs, r->origin, false, e)) ||
        (rc = refs_gather(&refs, r->git, true, e)))
        return rc;
    if (refs.n)
        qsort(refs.items, refs.n, sizeof(*refs.items), by_name);
    buf_adds(&text, "# pack-refs with: sorted \n");
    for (size_t i = 0; i < refs.n; i++)
        buf_printf(&text, "%s %s\n", git_oid_tostr_s(&refs.items[i].target), refs.items[i].name);
    if ((rc = write_if_new(path, &text, e)))
        return rc;
    return copy_head(r, e);
}

/* Opening */

static enum err_code check_name(const char *name, const char *what, struct err *e)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-";

    if (!*name || *name == '.' || name[strspn(name, allowed)] || strlen(name) > MAX_NAME)
        return err_set(e, ERR_INVALID, "%s '%.100s': letters, digits, '.', '_' and '-' only", what,
                       name);
    return ERR_OK;
}

enum err_code mirror_open(const struct mirror_place *place, const struct fetch_watch *watch,
                          struct mirror **out, struct err *e)
{
    AUTO(mirror_free) struct mirror *m = mem_alloc(sizeof(*m));
    AUTO(mem_free) char *folder = path_join(place->data_dir, "mirrors");
    enum err_code rc;

    if (watch)
        m->watch = *watch;
    if ((rc = check_name(place->name, "name of a mirror", e)) ||
        (rc = repository_open(folder, place->name, place->repository, &m->repository, e)))
        return rc;
    rc = m->repository->origin ? copy_refs(m->repository, e)
                               : repository_fetch(m->repository, NULL, &m->watch, e);
    if (rc)
        return rc;
    *out = TAKE(m);
    return ERR_OK;
}

/* Looking up */

static bool is_full_hash(const char *name)
{
    return strlen(name) == 40 && strspn(name, "0123456789abcdefABCDEF") == 40;
}

enum err_code mirror_resolve(const struct mirror *m, const char *name, struct revision *out,
                             struct err *e)
{
    const struct repository *r = m->repository;
    /* The user's own knows more: HEAD of the work tree, reflogs, upstreams. */
    git_repository *first = r->origin ? r->origin : r->git;
    git_oid oid;
    enum err_code rc = names_lookup(first, name, &oid, e);

    if (rc == ERR_NOT_FOUND && !r->origin && is_full_hash(name)) {
        struct revision only;
        /* Commits outside heads and tags (a pull request's) can be had from many servers. */
        if (!revision_parse(name, &only, NULL) &&
            !repository_fetch(m->repository, &only, &m->watch, NULL))
            rc = names_lookup(first, name, &oid, e);
    }
    if (rc == ERR_NOT_FOUND)
        return names_explain(first, r->shown, name, e);
    if (rc)
        return rc;
    revision_from_oid(&oid, out);
    return ERR_OK;
}

/* Pins */

static char *pin_name(const char *id, const char *end)
{
    return mem_printf("%s%s/%s", pins, id, end);
}

static enum err_code pin_one(git_repository *git, const char *id, const char *end,
                             const struct revision *at, struct err *e)
{
    AUTO(git_reference_free) git_reference *ref = NULL;
    AUTO(mem_free) char *name = pin_name(id, end);
    git_oid oid;

    revision_to_oid(at, &oid);
    int rc = git_reference_create(&ref, git, name, &oid, 1, NULL);
    return rc < 0 ? err_git(e, rc, "pin %s", name) : ERR_OK;
}

enum err_code mirror_pin(struct mirror *m, const char *id, const struct revision *good,
                         const struct revision *bad, struct err *e)
{
    AUTO(fd_close) int lock = -1;
    enum err_code rc;

    if ((rc = check_name(id, "pin", e)) || (rc = repository_lock(mirror_path(m), &lock, e)) ||
        (rc = pin_one(mirror_git(m), id, "good", good, e)))
        return rc;
    return pin_one(mirror_git(m), id, "bad", bad, e);
}

enum err_code mirror_unpin(struct mirror *m, const char *id, struct err *e)
{
    static const char *const ends[] = {"good", "bad"};
    AUTO(fd_close) int lock = -1;
    enum err_code rc;

    if ((rc = check_name(id, "pin", e)) || (rc = repository_lock(mirror_path(m), &lock, e)))
        return rc;
    for (size_t i = 0; i < LEN(ends); i++) {
        AUTO(mem_free) char *name = pin_name(id, ends[i]);
        int git = git_reference_remove(mirror_git(m), name);
        if (git < 0 && git != GIT_ENOTFOUND)
            return err_git(e, git, "unpin %s", name);
    }
    return ERR_OK;
}
