/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/promised.h"
#include "base/mem.h"
#include <string.h>

enum { MAX_DEPTH = 256 };

/** Trees already looked through. */
struct seen {
    git_oid *slots;
    bool *is_used;
    size_t n, n_slots;
};

struct search {
    git_repository *repo;
    git_odb *odb;
    struct seen seen;
    const char *commit;
};

/* Partial or not */

/** extensions.partialClone, as the first git with partial clones wrote it, or remote.*.promisor. */
static bool says_partial(const git_config_entry *entry)
{
    size_t n = strlen(entry->name), n_end = strlen(".promisor");
    int is_true = 0;

    if (!strcmp(entry->name, "extensions.partialclone"))
        return true;
    return !strncmp(entry->name, "remote.", 7) && n > n_end &&
           !strcmp(entry->name + n - n_end, ".promisor") && entry->value &&
           git_config_parse_bool(&is_true, entry->value) == 0 && is_true;
}

static bool is_partial(git_repository *origin)
{
    AUTO(git_config_free) git_config *config = NULL;
    AUTO(git_config_iterator_free) git_config_iterator *it = NULL;
    git_config_entry *entry;
    bool found = false;

    if (git_repository_config(&config, origin) < 0 || git_config_iterator_new(&it, config) < 0)
        return false;
    while (!found && git_config_next(&entry, it) == 0)
        found = says_partial(entry);
    return found;
}

/* The set of trees seen */

static size_t slot_of(const struct seen *s, const git_oid *id)
{
    uint64_t hash;
    size_t at;

    memcpy(&hash, id->id, sizeof(hash));
    at = hash & (s->n_slots - 1);
    while (s->is_used[at] && !git_oid_equal(&s->slots[at], id))
        at = (at + 1) & (s->n_slots - 1);
    return at;
}

static void seen_fini(struct seen *s)
{
    mem_free(s->slots);
    mem_free(s->is_used);
}

static void grow(struct seen *s)
{
    struct seen bigger = {.n_slots = s->n_slots ? 2 * s->n_slots : 1024};

    bigger.slots = mem_array(bigger.n_slots, sizeof(*bigger.slots));
    bigger.is_used = mem_array(bigger.n_slots, sizeof(*bigger.is_used));
    for (size_t i = 0; i < s->n_slots; i++) {
        if (!s->is_used[i])
            continue;
        size_t at = slot_of(&bigger, &s->slots[i]);
        bigger.slots[at] = s->slots[i];
        bigger.is_used[at] = true;
        bigger.n++;
    }
    seen_fini(s);
    *s = bigger;
}

/** Whether `id` is new; it is not any more. */
static bool seen_add(struct seen *s, const git_oid *id)
{
    if (2 * (s->n + 1) > s->n_slots)
        grow(s);

    size_t at = slot_of(s, id);
    if (s->is_used[at])
        return false;
    s->slots[at] = *id;
    s->is_used[at] = true;
    s->n++;
    return true;
}

/* Looking */

static enum err_code lacking(const struct search *s, const char *what, struct err *e)
{
    err_set(e, ERR_INVALID, "the repository is a partial clone without %s of commit %s", what,
            s->commit);
    return err_hint(e, "git fetch --refetch --no-filter brings all files; or make a full clone");
}

static enum err_code look(struct search *s, const git_oid *id, int depth, struct err *e)
{
    AUTO(git_tree_free) git_tree *tree = NULL;
    enum err_code rc = ERR_OK;

    if (!seen_add(&s->seen, id))
        return ERR_OK;
    if (depth > MAX_DEPTH || git_tree_lookup(&tree, s->repo, id) < 0)
        return lacking(s, "a folder", e);
    for (size_t i = 0; !rc && i < git_tree_entrycount(tree); i++) {
        const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
        const git_oid *at = git_tree_entry_id(entry);
        git_object_t type = git_tree_entry_type(entry);
        if (type == GIT_OBJECT_TREE)
            rc = look(s, at, depth + 1, e);
        else if (type == GIT_OBJECT_BLOB && seen_add(&s->seen, at) && !git_odb_exists(s->odb, at))
            rc = lacking(s, git_tree_entry_name(entry), e);
    }
    return rc;
}

enum err_code promised_check(git_repository *repo, git_repository *origin,
                             const struct range *range, struct err *e)
{
    AUTO(git_odb_free) git_odb *odb = NULL;
    struct search s = {.repo = repo};
    enum err_code rc = ERR_OK;

    if (!origin || !is_partial(origin))
        return ERR_OK;
    int git = git_repository_odb(&odb, repo);
    if (git < 0)
        return err_git(e, git, "open the objects of %s", git_repository_path(repo));
    s.odb = odb;
    for (uint32_t i = 0; !rc && i < range->n; i++) {
        git_oid id;
        revision_to_oid(&range->commits[i].tree, &id);
        s.commit = range->commits[i].id.hex;
        rc = look(&s, &id, 0, e);
    }
    seen_fini(&s.seen);
    return rc;
}
