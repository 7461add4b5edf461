/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/alter.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/subprocess.h"
#include "base/text.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
DEFINE_AUTO(git_index, git_index_free)
DEFINE_AUTO(git_index_conflict_iterator, git_index_conflict_iterator_free)
DEFINE_AUTO(git_signature, git_signature_free)
/* clang-format on */

enum { SHOWN_HEX = 10, SHOWN_PATH = 200 };
#define GIT_TIMEOUT_NS (600 * NS_PER_S)

/** Whether libgit2's last error is about what was asked of it, not about this machine. */
static bool is_refusal(void)
{
    const git_error *last = git_error_last();
    int class = last ? last->klass : GIT_ERROR_NONE;

    return class != GIT_ERROR_OS && class != GIT_ERROR_NOMEMORY && class != GIT_ERROR_ODB &&
           class != GIT_ERROR_ZLIB && class != GIT_ERROR_OBJECT && class != GIT_ERROR_FILESYSTEM;
}

static enum err_code refuse(struct err *e, int rc, const char *what)
{
    bool is_refused = is_refusal();
    enum err_code code = err_git(e, rc, "%s", what);

    if (is_refused && e)
        e->code = ERR_INVALID;
    return is_refused ? ERR_INVALID : code;
}

/* Patches: libgit2 takes them only where they were made, git a few lines away too. */

/** The first thing git has to say: "build.sh:1". */
static void complaint(const struct buf *said, struct buf *out)
{
    static const char *const heads[] = {"error: ", "fatal: ", "patch failed: "};
    const char *line = buf_str(said);

    for (size_t i = 0; i < LEN(heads); i++)
        if (!strncmp(line, heads[i], strlen(heads[i])))
            line += strlen(heads[i]);
    text_clean(out, line, strcspn(line, "\n"), SHOWN_PATH);
}

enum { MAX_ARGUMENTS = 8 };

/** Runs git on an index of ours, kept from whatever a person has configured. *status is its exit
 *  status. */
static enum err_code run_git(const char *repository, const char *index, const char *const *words,
                             const struct buf *in, struct buf *out, struct buf *said, int *status,
                             struct err *e)
{
    AUTO(mem_free)
    char *path = mem_printf("PATH=%s", getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
    AUTO(mem_free) char *at = mem_printf("GIT_DIR=%s", repository);
    AUTO(mem_free) char *list = mem_printf("GIT_INDEX_FILE=%s", index);
    const char *argv[8 + MAX_ARGUMENTS] = {
        "env", "-i", path, at, list, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "git"};
    int ended;

    for (size_t i = 0; words[i]; i++) {
        assert(i < MAX_ARGUMENTS - 1);
        argv[8 + i] = words[i];
    }
    if (subprocess_run(argv, in, out, said, MIB, GIT_TIMEOUT_NS, &ended, e))
        return err_wrap(e, "git %s", words[0]);
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    if (*status == 127)
        return err_set(e, ERR_IO, "git %s: there is no git on this machine", words[0]);
    return ERR_OK;
}

static enum err_code git_failed(const char *what, const struct buf *said, struct err *e)
{
    AUTO(buf_fini) struct buf words = {0};

    complaint(said, &words);
    return err_set(e, ERR_IO, "git %s: %s", what, buf_str(&words));
}

/** For git's own work; it must succeed. */
static enum err_code must_git(const char *repository, const char *index, const char *const *words,
                              struct buf *out, struct err *e)
{
    AUTO(buf_fini) struct buf said = {0};
    int status = -1;

    if (run_git(repository, index, words, NULL, out, &said, &status, e))
        return e ? e->code : ERR_IO;
    return status ? git_failed(words[0], &said, e) : ERR_OK;
}

/** `refused` is what to say when git does not take the patch. */
static enum err_code feed_patch(const char *repository, const char *index, const char *how,
                                const struct fixup *f, const char *refused, struct err *e)
{
    const char *const words[] = {"apply", how, "--whitespace=nowarn", "-", NULL};
    AUTO(buf_fini) struct buf bytes = {0};
    AUTO(buf_fini) struct buf said = {0};
    AUTO(buf_fini) struct buf why = {0};
    int status = -1;

    if (base64_read(&bytes, f->content, e) ||
        run_git(repository, index, words, &bytes, NULL, &said, &status, e))
        return e ? e->code : ERR_INVALID;
    if (status == 0)
        return ERR_OK;
    complaint(&said, &why);
    return err_set(e, ERR_INVALID, "%.100s %s: %s", f->patch, refused, buf_str(&why));
}

enum err_code alter_check_patch(const struct fixup *f, struct err *e)
{
    if (!feed_patch("/nowhere", "/nowhere", "--numstat", f, "is no patch", e))
        return ERR_OK;
    return err_hint(e, "git diff, git format-patch and diff -u make patches.");
}

/** The tree that the patch makes of the commit's. */
static enum err_code patch_tree(const char *repository, const char *index, const git_commit *at,
                                const struct fixup *f, git_oid *out, struct err *e)
{
    const char *const read[] = {"read-tree", git_oid_tostr_s(git_commit_tree_id(at)), NULL};
    const char *const write[] = {"write-tree", NULL};
    AUTO(buf_fini) struct buf hex = {0};
    enum err_code code = must_git(repository, index, read, NULL, e);

    if (!code)
        code = feed_patch(repository, index, "--cached", f, "does not apply", e);
    if (!code)
        code = must_git(repository, index, write, &hex, e);
    if (!code && git_oid_fromstr(out, buf_str(&hex)) < 0)
        code = err_set(e, ERR_IO, "git write-tree: no tree");
    return code;
}

static enum err_code apply_patch(struct repository *r, const git_commit *at, const struct fixup *f,
                                 git_oid *out, struct err *e)
{
    AUTO(mem_free) char *index = mem_printf("%s/altered-%d.index", r->path, (int)getpid());
    enum err_code code = patch_tree(r->path, index, at, f, out, e);

    unlink(index);
    return code;
}

/* Commits */

static enum err_code conflict(git_index *index, const char *doing, const struct revision *r,
                              struct err *e)
{
    AUTO(git_index_conflict_iterator_free) git_index_conflict_iterator *it = NULL;
    const git_index_entry *base, *ours, *theirs;
    AUTO(buf_fini) struct buf path = {0};

    if (git_index_conflict_iterator_new(&it, index) == 0 &&
        git_index_conflict_next(&base, &ours, &theirs, it) == 0) {
        const char *name = ours ? ours->path : theirs ? theirs->path : base->path;
        text_clean(&path, name, strlen(name), SHOWN_PATH);
    }
    return err_set(e, ERR_INVALID, "%s %.*s conflicts in %s", doing, SHOWN_HEX, r->hex,
                   buf_str(&path));
}

enum movement { REVERT, PICK };

/** Three-way, as git does it. Of a merge: what it brought to its first parent. */
static enum err_code move_commit(git_repository *repo, git_commit *at, const struct revision *r,
                                 enum movement movement, git_oid *out, struct err *e)
{
    static const char *const doing[] = {[REVERT] = "reverting", [PICK] = "cherry-picking"};
    AUTO(git_commit_free) git_commit *moved = NULL;
    AUTO(git_index_free) git_index *index = NULL;
    AUTO(mem_free) char *what = mem_printf("%s %.*s", doing[movement], SHOWN_HEX, r->hex);
    git_oid id;

    revision_to_oid(r, &id);
    int rc = git_commit_lookup(&moved, repo, &id);
    if (rc < 0)
        return err_git(e, rc, "%s", what);
    unsigned mainline = git_commit_parentcount(moved) > 1 ? 1 : 0;
    rc = movement == REVERT ? git_revert_commit(&index, repo, moved, at, mainline, NULL)
                            : git_cherrypick_commit(&index, repo, moved, at, mainline, NULL);
    if (rc < 0)
        return refuse(e, rc, what);
    if (git_index_has_conflicts(index))
        return conflict(index, doing[movement], r, e);
    rc = git_index_write_tree_to(out, index, repo);
    return rc < 0 ? refuse(e, rc, what) : ERR_OK;
}

/* Steps */

/** A commit of the tree on top of *at, which it replaces. */
static enum err_code record(git_repository *repo, const git_oid *tree_id, git_commit **at,
                            struct err *e)
{
    AUTO(git_signature_free) git_signature *we = NULL;
    AUTO(git_tree_free) git_tree *tree = NULL;
    git_commit *next = NULL;
    const git_commit *parents[] = {*at};
    git_oid id;
    int rc = git_tree_lookup(&tree, repo, tree_id);

    if (rc >= 0)
        rc = git_signature_new(&we, "bisectd", "bisectd", git_commit_time(*at), 0);
    if (rc >= 0)
        rc = git_commit_create(&id, repo, NULL, we, we, NULL, "altered\n", tree, 1, parents);
    if (rc >= 0)
        rc = git_commit_lookup(&next, repo, &id);
    if (rc < 0)
        return err_git(e, rc, "store an altered revision");
    git_commit_free(*at);
    *at = next;
    return ERR_OK;
}

static enum err_code revert(git_repository *repo, const struct revision *r, git_commit **at,
                            struct err *e)
{
    git_oid before = *git_commit_tree_id(*at), tree;

    if (move_commit(repo, *at, r, REVERT, &tree, e))
        return e ? e->code : ERR_INVALID;
    if (git_oid_equal(&before, &tree))
        return err_set(e, ERR_INVALID, "reverting %.*s changes nothing: it was undone since",
                       SHOWN_HEX, r->hex);
    return record(repo, &tree, at, e);
}

static enum err_code fix(struct repository *r, const struct fixup *f, git_commit **at,
                         struct err *e)
{
    git_oid tree;
    enum err_code code;

    if (f->content)
        code = apply_patch(r, *at, f, &tree, e);
    else if (revision_is_set(&f->commit))
        code = move_commit(r->git, *at, &f->commit, PICK, &tree, e);
    else
        return ERR_OK;
    return code ? code : record(r->git, &tree, at, e);
}

enum err_code alter_commit(struct repository *r, const git_oid *commit, const struct alteration *a,
                           git_oid *out, struct err *e)
{
    AUTO(git_commit_free) git_commit *at = NULL;
    int rc = git_commit_lookup(&at, r->git, commit);
    enum err_code code = ERR_OK;

    if (rc < 0)
        return err_git(e, rc, "read the revision to be altered");
    if (revision_is_set(&a->revert))
        code = revert(r->git, &a->revert, &at, e);
    for (size_t i = 0; !code && i < a->n_fixups; i++)
        code = fix(r, a->fixups[i], &at, e);
    if (!code)
        *out = *git_commit_id(at);
    return code;
}
