/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/content.h"
#include <string.h>

void content_fini(struct content *c)
{
    git_blob_free(c->blob);
    git_buf_dispose(&c->filtered);
    *c = (struct content){0};
}

static enum err_code filter(const struct part *p, const struct entry *entry, struct content *c,
                            struct err *e)
{
    AUTO(git_filter_list_free) git_filter_list *filters = NULL;
    git_filter_options options = {.version = GIT_FILTER_OPTIONS_VERSION};
    const char *path = entry->path + strlen(p->prefix);

    options.flags = GIT_FILTER_NO_SYSTEM_ATTRIBUTES | GIT_FILTER_ATTRIBUTES_FROM_COMMIT |
                    GIT_FILTER_ALLOW_UNSAFE;
    options.attr_commit_id = p->commit;
    int rc = git_filter_list_load_ext(&filters, p->repository->git, c->blob, path,
                                      GIT_FILTER_TO_WORKTREE, &options);
    if (rc >= 0 && filters)
        rc = git_filter_list_apply_to_blob(&c->filtered, filters, c->blob);
    if (rc < 0)
        return err_git(e, rc, "apply the attributes of %s", entry->path);
    if (filters) {
        c->data = c->filtered.ptr;
        c->n = c->filtered.size;
    }
    return ERR_OK;
}

enum err_code content_load(const struct listing *l, const struct entry *entry, struct content *out,
                           struct err *e)
{
    const struct part *p = &l->parts[entry->part];
    int rc = git_blob_lookup(&out->blob, p->repository->git, &entry->id);

    if (rc < 0) {
        err_set(e, ERR_IO, "%s lacks the bytes of %s (object %s)", p->repository->shown,
                entry->path, git_oid_tostr_s(&entry->id));
        return err_hint(e, "git fsck tells what is damaged; a fresh clone mends it");
    }
    out->data = git_blob_rawcontent(out->blob);
    out->n = (size_t)git_blob_rawsize(out->blob);
    if (entry->kind == ENTRY_LINK || !*p->attributes.hex)
        return ERR_OK;
    return filter(p, entry, out, e);
}
