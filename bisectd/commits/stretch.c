/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/stretch.h"
#include "base/mem.h"
#include "model/check.h"
#include "model/range_index.h"
#include "workers/source/alter.h"
#include "workers/source/library.h"

/* clang-format off */
DEFINE_AUTO(git_revwalk, git_revwalk_free)
/* clang-format on */

static enum err_code empty_stretch(const struct fixup *f, struct err *e)
{
    err_set(e, ERR_INVALID, "range: there are no commits in %.200s", f->range);
    return err_hint(e, "A..B is what B reaches and A does not: A is to be the older one.");
}

/** Walks all of the stretch and marks those of its commits that are in the range. */
static enum err_code walk(git_repository *repo, const git_oid *from, const git_oid *to,
                          const struct range_index *index, uint64_t bit, struct range *range,
                          bool *is_empty, struct err *e)
{
    AUTO(git_revwalk_free) git_revwalk *w = NULL;
    git_oid id;
    int rc = git_revwalk_new(&w, repo);

    if (rc >= 0)
        rc = git_revwalk_push(w, to);
    if (rc >= 0 && from)
        rc = git_revwalk_hide(w, from);
    *is_empty = true;
    while (rc >= 0 && (rc = git_revwalk_next(&id, w)) == 0) {
        struct revision r;
        revision_from_oid(&id, &r);
        uint32_t v = range_index_find(index, &r);
        *is_empty = false;
        if (v != UINT32_MAX)
            range->commits[v].fixups |= bit;
    }
    return rc == GIT_ITEROVER ? ERR_OK : err_git(e, rc, "range: read its commits");
}

static enum err_code resolve(const struct mirror *m, const char *name, git_oid *out, struct err *e)
{
    struct revision r;

    if (mirror_resolve(m, name, &r, e))
        return err_wrap(e, "range");
    revision_to_oid(&r, out);
    return ERR_OK;
}

static enum err_code mark(const struct mirror *m, const struct fixup *f,
                          const struct range_index *index, uint64_t bit, struct range *range,
                          struct err *e)
{
    AUTO(mem_free) char *from = NULL;
    AUTO(mem_free) char *to = NULL;
    git_oid ends[2];
    struct revision picked;
    bool is_empty;
    enum err_code code = fixup_ends(f->range, &from, &to, e);

    if (!code && from)
        code = resolve(m, from, &ends[0], e);
    if (!code)
        code = resolve(m, to, &ends[1], e);
    if (!code)
        code =
            walk(mirror_git(m), from ? &ends[0] : NULL, &ends[1], index, bit, range, &is_empty, e);
    if (!code && is_empty)
        code = empty_stretch(f, e);
    if (!code && revision_is_set(&f->commit) && mirror_resolve(m, f->commit.hex, &picked, e))
        code = err_wrap(e, "commit");
    if (!code && f->content && alter_check_patch(f, e))
        code = err_wrap(e, "patch");
    return code;
}

enum err_code stretch_mark(const struct mirror *m, struct fixup *const *fixups, size_t n,
                           struct range *range, struct err *e)
{
    AUTO(range_index_free) struct range_index *index = n ? range_index_new(range) : NULL;
    struct err own = {0};

    e = e ? e : &own;
    for (size_t i = 0; i < n && i < FIXUP_MAX; i++)
        if (mark(m, fixups[i], index, UINT64_C(1) << i, range, e))
            return err_under(e, "fixups[%zu]", i);
    return ERR_OK;
}

enum err_code stretch_fix(const struct mirror *m, struct fixup *f, struct err *e)
{
    AUTO(mem_free) char *from = NULL;
    AUTO(mem_free) char *to = NULL;
    struct revision ends[2];

    if (fixup_ends(f->range, &from, &to, e))
        return e ? e->code : ERR_INVALID;
    if ((from && mirror_resolve(m, from, &ends[0], e)) || mirror_resolve(m, to, &ends[1], e))
        return err_wrap(e, "range");
    mem_free(f->range);
    f->range = from ? mem_printf("%s..%s", ends[0].hex, ends[1].hex) : mem_dup(ends[1].hex);
    return ERR_OK;
}
