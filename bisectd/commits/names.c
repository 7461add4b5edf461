/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/names.h"
#include "base/mem.h"
#include "base/text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 1000, MAX_REFS_SEARCHED = 20000 };

/** A name as a message shows it. Caller frees. */
static char *shown_name(const char *name)
{
    struct buf clean = {0};

    text_clean(&clean, name, strlen(name), 100);
    return buf_take(&clean);
}

static enum err_code peel(git_object *object, const char *shown, git_oid *out, struct err *e)
{
    AUTO(git_object_free) git_object *commit = NULL;

    if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT) < 0) {
        const char *kind = git_object_type2string(git_object_type(object));
        return err_set(e, ERR_INVALID, "'%s' names a %s, not a commit", shown, kind);
    }
    *out = *git_object_id(commit);
    return ERR_OK;
}

/**
 * "HEAD@{3}" with what the reflog of HEAD says in its place: libgit2 reads the branch's. NULL when
 * the name is of another form. Caller frees.
 */
static char *from_head_log(git_repository *repo, const char *name)
{
    AUTO(git_reflog_free) git_reflog *log = NULL;
    char *end;

    if (strncmp(name, "HEAD@{", 6) != 0 || !isdigit((unsigned char)name[6]))
        return NULL;
    unsigned long n = strtoul(name + 6, &end, 10);
    if (*end != '}' || git_reflog_read(&log, repo, "HEAD") < 0)
        return NULL;
    const git_reflog_entry *entry = git_reflog_entry_byindex(log, n);
    return entry ? mem_printf("%s%s", git_oid_tostr_s(git_reflog_entry_id_new(entry)), end + 1)
                 : NULL;
}

enum err_code names_lookup(git_repository *repo, const char *name, git_oid *out, struct err *e)
{
    AUTO(git_object_free) git_object *object = NULL;
    AUTO(mem_free) char *shown = shown_name(name);
    AUTO(mem_free) char *whole = from_head_log(repo, name);

    if (!*name)
        return err_set(e, ERR_INVALID, "the name of a revision is empty");
    if (strlen(name) > MAX_NAME)
        return err_set(e, ERR_LIMIT, "revision '%s': longer than %d bytes", shown, MAX_NAME);
    if (strstr(name, "..") && !strchr(name, '/') && !strchr(name, '{'))
        return err_set(e, ERR_INVALID, "'%s' names a range, not one revision", shown);
    /* libgit2 does not know git's short form of HEAD. */
    if (*name == '@' && name[1] != '{')
        whole = mem_printf("HEAD%s", name + 1);
    int rc = git_revparse_single(&object, repo, whole ? whole : name);
    if (rc == GIT_ENOTFOUND)
        return err_set(e, ERR_NOT_FOUND, "no revision '%s'", shown);
    if (rc == GIT_EAMBIGUOUS) {
        err_set(e, ERR_INVALID, "'%s' is ambiguous: several objects begin so", shown);
        return err_hint(e, "give more digits of the hash");
    }
    if (rc < 0)
        return err_git(e, rc, "revision '%s'", shown);
    return peel(object, shown, out, e);
}

/* Near names */

static const char *short_name(const char *ref)
{
    static const char *const before[] = {"refs/heads/", "refs/tags/", "refs/remotes/"};

    for (size_t i = 0; i < LEN(before); i++)
        if (!strncmp(ref, before[i], strlen(before[i])))
            return ref + strlen(before[i]);
    return NULL;
}

/** The branch or tag nearest to `name`, or NULL. Caller frees. */
static char *nearest(git_repository *repo, const char *name)
{
    AUTO(git_reference_iterator_free) git_reference_iterator *it = NULL;
    AUTO(mem_free) char *best = NULL;
    const char *ref, *found;

    if (git_reference_iterator_new(&it, repo) < 0)
        return NULL;
    for (int n = 0; n < MAX_REFS_SEARCHED && git_reference_next_name(&ref, it) == 0; n++) {
        const char *names[2] = {best, short_name(ref)};
        if (!names[1])
            continue;
        found = best ? text_nearest(name, names, 2) : text_nearest(name, names + 1, 1);
        if (found && found != best) {
            char *copy = mem_dup(found);
            mem_free(best);
            best = copy;
        }
    }
    return TAKE(best);
}

enum err_code names_explain(git_repository *repo, const char *shown, const char *name,
                            struct err *e)
{
    AUTO(mem_free) char *clean = shown_name(name);
    AUTO(mem_free) char *stem = mem_dup_n(name, strcspn(name, "~^@:"));
    AUTO(mem_free) char *near = NULL;
    git_oid oid;

    if (git_repository_is_shallow(repo)) {
        err_set(e, ERR_NOT_FOUND, "no revision '%s' in %s, which is a shallow clone", clean, shown);
        return err_hint(e, "git fetch --unshallow brings the rest of the history");
    }
    if (*stem && strcmp(stem, name) != 0 && !names_lookup(repo, stem, &oid, NULL)) {
        AUTO(mem_free) char *there = shown_name(stem);
        return err_set(e, ERR_NOT_FOUND, "no revision '%s' in %s, though there is '%s'", clean,
                       shown, there);
    }
    err_set(e, ERR_NOT_FOUND, "no revision '%s' in %s", clean, shown);
    near = *stem ? nearest(repo, stem) : NULL;
    if (near) {
        AUTO(mem_free) char *whole = mem_printf("%s%s", near, name + strlen(stem));
        AUTO(mem_free) char *meant = shown_name(whole);
        return err_hint(e, "did you mean '%s'?", meant);
    }
    return err_hint(e, "git log --all tells which revisions there are; a fetch may bring more");
}
