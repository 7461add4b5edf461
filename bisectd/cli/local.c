/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/local.h"
#include "base/file.h"
#include "base/mem.h"
#include "commits/mirror.h"
#include "commits/range.h"
#include <errno.h>
#include <stdlib.h>

/* A folder for the mirror, gone at the end of the scope. */
struct scratch {
    char *path;
};

static void scratch_fini(struct scratch *s)
{
    if (s->path && file_remove_tree(s->path, NULL)) {
        /* What is left is small, in a folder for temporary files, and nobody's fault here. */
    }
    mem_free(s->path);
}
DEFINE_AUTO_FINI(struct scratch, scratch_fini)

static enum err_code scratch_open(struct scratch *out, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    AUTO(mem_free) char *path = mem_printf("%s/bisectctl-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");

    if (!mkdtemp(path))
        return err_sys(e, errno, "make a folder like %s", path);
    out->path = TAKE(path);
    return ERR_OK;
}

static enum err_code open_in(const struct scratch *s, const char *repository, struct mirror **out,
                             struct err *e)
{
    struct mirror_place place = {
        .data_dir = s->path, .name = "repository", .repository = repository};

    return mirror_open(&place, NULL, out, e);
}

enum err_code local_range(const struct local_query *q, struct range **out, struct err *e)
{
    AUTO(scratch_fini) struct scratch s = {0};
    AUTO(mirror_free) struct mirror *m = NULL;
    struct range_query query = {.good = q->good, .bad = q->bad, .paths = q->paths};

    if (scratch_open(&s, e) || open_in(&s, q->repository, &m, e))
        return e ? e->code : ERR_INVALID;
    return range_load(m, &query, out, e);
}

enum err_code local_resolve(const char *repository, const char *name, struct revision *out,
                            struct err *e)
{
    AUTO(scratch_fini) struct scratch s = {0};
    AUTO(mirror_free) struct mirror *m = NULL;

    if (scratch_open(&s, e) || open_in(&s, repository, &m, e))
        return e ? e->code : ERR_INVALID;
    return mirror_resolve(m, name, out, e);
}
