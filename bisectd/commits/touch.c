/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/touch.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include <string.h>

enum { MAX_DEPTH = 256, MAX_PATH = 16 * KIB };

/* clang-format off */
/** Names of documentation, as text_glob takes them; of a folder, all that is below. */
static const char *const prose[] = {
    "doc", "docs", "Documentation",
    "**/*.md", "**/*.rst", "**/*.adoc", "**/*.texi", "**/*.[1-8]",
    "**/README*", "**/CHANGELOG*", "**/ChangeLog*", "**/CHANGES*", "**/NEWS*",
    "AUTHORS*", "CONTRIBUTORS*", "MAINTAINERS*", "CONTRIBUTING*", "COPYING*", "LICENSE*", "NOTICE*",
    ".mailmap", "**/.gitignore", "**/.gitattributes",
};
/* clang-format on */

struct touch {
    git_repository *repo;
    const char *const *patterns;
    size_t n_patterns;
    bool is_inverse; /* looks for what no pattern matches */
    struct buf path; /* of the entry at hand */
    int depth;
    bool is_found;
};

static enum err_code compare(struct touch *t, const git_oid *a, const git_oid *b, struct err *e);

static enum err_code open_tree(git_repository *repo, const git_oid *id, git_tree **out,
                               struct err *e)
{
    if (!id) {
        *out = NULL;
        return ERR_OK;
    }
    if (git_tree_lookup(out, repo, id) == 0)
        return ERR_OK;
    err_set(e, ERR_INVALID, "tree %s is missing from the repository or cannot be read",
            git_oid_tostr_s(id));
    return err_hint(e,
                    "git fsck tells what is damaged; fetching again, or a fresh clone, mends it");
}

static size_t count_slashes(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += *s == '/';
    return n;
}

/** Whether anything below the folder `path` (ending in '/') may match: as far as the pattern is
 *  plain text both must agree, and only "**" and a '/' at its end reach deeper than it is itself.
 */
static bool may_hold(const char *pattern, const char *path)
{
    size_t plain = strcspn(pattern, "*?[\\"), n = strlen(path), n_pattern = strlen(pattern);
    bool is_deep = strstr(pattern, "**") || (n_pattern && pattern[n_pattern - 1] == '/');

    return strncmp(pattern, path, plain < n ? plain : n) == 0 &&
           (is_deep || count_slashes(pattern) >= count_slashes(path));
}

static bool any(const struct touch *t, bool (*holds)(const char *, const char *))
{
    for (size_t i = 0; i < t->n_patterns; i++)
        if (holds(t->patterns[i], buf_str(&t->path)))
            return true;
    return false;
}

static bool is_tree(const git_tree_entry *entry)
{
    return entry && git_tree_entry_type(entry) == GIT_OBJECT_TREE;
}

/** One name that differs; either side may lack it. A file and a folder of one name both count. */
static enum err_code compare_entry(struct touch *t, const git_tree_entry *a,
                                   const git_tree_entry *b, struct err *e)
{
    const char *name = git_tree_entry_name(a ? a : b);
    const git_tree_entry *folder_a = is_tree(a) ? a : NULL;
    const git_tree_entry *folder_b = is_tree(b) ? b : NULL;
    size_t before = t->path.len;
    enum err_code rc = ERR_OK;

    buf_adds(&t->path, name);
    if (t->path.len > MAX_PATH || t->depth >= MAX_DEPTH)
        return err_set(e, ERR_LIMIT, "a path in the history is longer than %d bytes or %d folders",
                       MAX_PATH, MAX_DEPTH);
    bool is_matched = any(t, text_glob); /* of a folder: all that is below, as git's pathspecs */
    bool is_folder = folder_a || folder_b;
    t->is_found = t->is_inverse ? !is_matched && !is_folder : is_matched;
    if (!is_matched && is_folder) {
        buf_addc(&t->path, '/');
        t->depth++;
        if (t->is_inverse || any(t, may_hold))
            rc = compare(t, folder_a ? git_tree_entry_id(folder_a) : NULL,
                         folder_b ? git_tree_entry_id(folder_b) : NULL, e);
        t->depth--;
    }
    if (t->path.len > before) {
        t->path.len = before;
        t->path.data[before] = '\0';
    }
    return rc;
}

static bool is_same(const git_tree_entry *a, const git_tree_entry *b)
{
    return git_oid_equal(git_tree_entry_id(a), git_tree_entry_id(b)) &&
           git_tree_entry_filemode_raw(a) == git_tree_entry_filemode_raw(b);
}

/** Both are sorted alike, so one pass meets equal names; a file and a folder of one name do not
 *  meet, and each counts for itself. */
static enum err_code compare_trees(struct touch *t, const git_tree *a, const git_tree *b,
                                   struct err *e)
{
    size_t n = a ? git_tree_entrycount(a) : 0, m = b ? git_tree_entrycount(b) : 0;
    enum err_code rc = ERR_OK;

    for (size_t i = 0, k = 0; !rc && !t->is_found && (i < n || k < m);) {
        const git_tree_entry *x = i < n ? git_tree_entry_byindex(a, i) : NULL;
        const git_tree_entry *y = k < m ? git_tree_entry_byindex(b, k) : NULL;
        int order = x && y ? git_tree_entry_cmp(x, y) : x ? -1 : 1;
        i += order <= 0;
        k += order >= 0;
        if (order || !is_same(x, y))
            rc = compare_entry(t, order <= 0 ? x : NULL, order >= 0 ? y : NULL, e);
    }
    return rc;
}

static enum err_code compare(struct touch *t, const git_oid *a, const git_oid *b, struct err *e)
{
    AUTO(git_tree_free) git_tree *old = NULL, *new = NULL;
    enum err_code rc;

    if (a && b && git_oid_equal(a, b))
        return ERR_OK;
    if ((rc = open_tree(t->repo, a, &old, e)) || (rc = open_tree(t->repo, b, &new, e)))
        return rc;
    return compare_trees(t, old, new, e);
}

enum err_code touch_differs(git_repository *repo, const struct strings *paths, const git_oid *a,
                            const git_oid *b, bool *out, struct err *e)
{
    if (git_oid_equal(a, b) || !paths || !paths->n) {
        *out = !git_oid_equal(a, b);
        return ERR_OK;
    }
    struct touch t = {
        .repo = repo, .patterns = (const char *const *)paths->items, .n_patterns = paths->n};
    enum err_code rc = compare(&t, a, b, e);
    buf_fini(&t.path);
    if (!rc)
        *out = t.is_found;
    return rc;
}

enum err_code touch_is_prose(git_repository *repo, const git_oid *a, const git_oid *b, bool *out,
                             struct err *e)
{
    struct touch t = {
        .repo = repo, .patterns = prose, .n_patterns = LEN(prose), .is_inverse = true};
    enum err_code rc = compare(&t, a, b, e);

    buf_fini(&t.path);
    if (!rc)
        *out = !t.is_found && !git_oid_equal(a, b);
    return rc;
}
