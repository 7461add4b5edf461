/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/checkout.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/source/alter.h"
#include "workers/source/listing.h"
#include "workers/source/manifest.h"
#include "workers/source/sync.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

/** The folder beside the work tree that remembers what is in it. */
static char *state_dir(const struct source *s)
{
    size_t n = strlen(s->tree_dir);

    while (n > 1 && s->tree_dir[n - 1] == '/')
        n--;
    return mem_printf("%.*s.state", (int)n, s->tree_dir);
}

static enum err_code apply(const struct source *s, const char *state, const struct listing *listing,
                           struct checkout_count *count, struct err *e)
{
    AUTO(mem_free) char *path = path_join(state, "manifest");
    AUTO(mem_free) char *tick = path_join(state, "tick");
    AUTO(manifest_free) struct manifest *old = manifest_load(path);
    AUTO(manifest_free) struct manifest *made = mem_alloc(sizeof(*made));
    enum err_code rc;

    /* Until this checkout is finished there is none to verify. */
    if (unlink(path) < 0 && errno != ENOENT)
        return err_sys(e, errno, "remove %s", path);
    if ((rc = sync_apply(s->tree_dir, listing, old, made, count, e)) ||
        (rc = manifest_settle(made, tick, e)))
        return rc;
    return manifest_save(made, path, e);
}

/** Brings a commit that an alteration moves to where the revision's own are. */
static enum err_code bring(const struct source *s, const struct revision *r, struct err *e)
{
    AUTO(repository_free) struct repository *unused = NULL;
    git_oid id;

    if (!revision_is_set(r))
        return ERR_OK;
    revision_to_oid(r, &id);
    return listing_open_top(s, &id, &unused, e);
}

/** Replaces *commit by one that is altered. */
static enum err_code alter(const struct source *s, git_oid *commit, struct err *e)
{
    const struct alteration *a = s->alteration;
    AUTO(repository_free) struct repository *top = NULL;

    if (!a || (!revision_is_set(&a->revert) && a->n_fixups == 0))
        return ERR_OK;
    enum err_code code = bring(s, &a->revert, e);
    for (size_t i = 0; !code && i < a->n_fixups; i++)
        code = bring(s, &a->fixups[i]->commit, e);
    if (!code)
        code = listing_open_top(s, commit, &top, e);
    return code ? code : alter_commit(top, commit, a, commit, e);
}

enum err_code source_checkout(const struct source *s, const struct revision *revision,
                              struct checkout_count *count, struct err *e)
{
    AUTO(mem_free) char *state = state_dir(s);
    AUTO(listing_free) struct listing *listing = NULL;
    struct checkout_count counted = {0};
    git_oid commit;
    enum err_code rc;

    library_start();
    revision_to_oid(revision, &commit);
    if (file_mkdirs(state, 0700, e)) {
        if (e)
            e->code = ERR_IO; /* whatever is in the way, it is no revision's fault */
        return ERR_IO;
    }
    if ((rc = alter(s, &commit, e)) || (rc = listing_load(s, state, &commit, &listing, e)) ||
        (rc = apply(s, state, listing, &counted, e)))
        return rc;
    if (count)
        *count = counted;
    return ERR_OK;
}

enum err_code source_verify(const struct source *s, struct err *e)
{
    AUTO(mem_free) char *state = state_dir(s);
    AUTO(mem_free) char *path = path_join(state, "manifest");
    AUTO(manifest_free) struct manifest *m = NULL;

    library_start();
    if (!file_exists(path))
        return err_set(e, ERR_NOT_FOUND, "no finished checkout in %s", s->tree_dir);
    m = manifest_load(path);
    return sync_verify(s->tree_dir, m, e);
}
