/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/build/listing.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FTSENT.fts_number of a folder that was chosen with all that is below it. */
enum { CHOSEN = 1 };

struct walk {
    size_t n_tree; /* length of the tree's own path and the slash */
    const struct strings *globs;
    bool *has_match; /* of each glob */
    struct buf names;
    struct listing_sum sum;
};

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_chosen(struct walk *w, const FTSENT *at, const char *path)
{
    bool chosen = w->globs->n == 0 || at->fts_parent->fts_number == CHOSEN;

    for (size_t i = 0; i < w->globs->n; i++) {
        if (!text_glob(w->globs->items[i], path))
            continue;
        w->has_match[i] = true;
        chosen = true;
    }
    return chosen;
}

static enum err_code visit(struct walk *w, FTS *fts, FTSENT *at, struct err *e)
{
    if (at->fts_info == FTS_DNR || at->fts_info == FTS_ERR || at->fts_info == FTS_NS)
        return err_sys(e, at->fts_errno, "read %s", at->fts_path);
    bool is_folder = at->fts_info == FTS_D;
    if (at->fts_level == 0)
        return ERR_OK;
    if (strcmp(at->fts_name, ".git") == 0) {
        if (is_folder)
            fts_set(fts, at, FTS_SKIP);
        return ERR_OK;
    }
    bool is_link = at->fts_info == FTS_SL || at->fts_info == FTS_SLNONE;
    if (!is_folder && !is_link && at->fts_info != FTS_F)
        return ERR_OK;
    const char *path = at->fts_path + w->n_tree;
    if (!is_chosen(w, at, path))
        return ERR_OK;
    if (is_folder)
        at->fts_number = CHOSEN;
    if (at->fts_info == FTS_F && access(at->fts_path, R_OK) != 0)
        return err_sys(e, errno, "artifact %s", path);
    buf_adds(&w->names, "./");
    buf_add(&w->names, path, strlen(path) + 1);
    w->sum.n_entries++;
    if (at->fts_info == FTS_F)
        w->sum.bytes += at->fts_statp->st_size;
    return ERR_OK;
}

static enum err_code walk_all(struct walk *w, const char *tree, struct err *e)
{
    char *const roots[] = {(char *)tree, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    enum err_code code = ERR_OK;
    FTSENT *at;

    if (!fts)
        return err_sys(e, errno, "read %s", tree);
    while (!code && (errno = 0, at = fts_read(fts)) != NULL)
        if (at->fts_info != FTS_DP)
            code = visit(w, fts, at, e);
    if (!code && errno)
        code = err_sys(e, errno, "read %s", tree);
    fts_close(fts);
    return code == ERR_NOT_FOUND ? ERR_IO : code; /* an entry that vanished under us is no answer */
}

enum err_code listing_write(const char *tree, const struct strings *globs, const char *list,
                            struct listing_sum *sum, struct clip *log, struct err *e)
{
    struct walk w = {.n_tree = strlen(tree) + 1, .globs = globs};

    w.has_match = mem_array(globs->n + 1, sizeof(*w.has_match));
    enum err_code code = walk_all(&w, tree, e);
    for (size_t i = 0; !code && log && i < globs->n; i++)
        if (!w.has_match[i])
            clip_printf(log, "artifacts: nothing matches \"%s\"\n", globs->items[i]);
    if (!code && w.sum.n_entries == 0)
        code = err_set(e, ERR_NOT_FOUND,
                       globs->n ? "the build made none of the files that \"artifacts\" names"
                                : "the tree is empty");
    if (!code)
        code = file_write(list, buf_str(&w.names), w.names.len, 0600, e);
    if (!code)
        *sum = w.sum;
    mem_free(w.has_match);
    buf_fini(&w.names);
    return code;
}
