/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/sync.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "workers/source/content.h"
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0755, FILE_MODE = 0644, PROGRAM_MODE = 0755, STEP = 64 * KIB };

/**
 * One pass over the folder: what is wanted and what is there, merged name by name. The same merge
 * serves applying and verifying; they differ in what they do at each name.
 */
struct pass {
    const struct acts *acts;
    const struct listing *listing; /* when applying */
    const struct manifest *old;    /* what is known; when verifying, what is wanted too */
    struct manifest *made;
    struct checkout_count *count;
    struct buf path; /* of the folder at hand, with a '/' at its end unless empty */
};

struct acts {
    /** A name that is not wanted. */
    enum err_code (*extra)(struct pass *p, int at, const char *name, struct err *e);
    /** A wanted file or link, whether something of its name is there or not. */
    enum err_code (*file)(struct pass *p, int at, const char *name, size_t i, struct err *e);
    /** A wanted folder; opens it. */
    enum err_code (*folder)(struct pass *p, int at, const char *name, int *fd, struct err *e);
};

static const char *wanted_path(const struct pass *p, size_t i)
{
    return p->listing ? p->listing->entries[i].path : p->old->items[i].path;
}

static enum entry_kind wanted_kind(const struct pass *p, size_t i)
{
    return p->listing ? p->listing->entries[i].kind : p->old->items[i].kind;
}

/** For messages. */
static enum err_code fail(const struct pass *p, const char *name, const char *what, struct err *e)
{
    AUTO(buf_fini) struct buf shown = {0};
    int sys = errno;

    text_clean(&shown, name, strlen(name), 200);
    return err_sys(e, sys, "%s %s%s in the work tree", what, buf_str(&p->path), buf_str(&shown));
}

/* Names in a folder */

struct names {
    char **items;
    size_t n, cap;
};

static void names_fini(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        mem_free(names->items[i]);
    mem_free(names->items);
}
DEFINE_AUTO_FINI(struct names, names_fini)

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void names_add(struct names *names, const char *name)
{
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return;
    if (names->n == names->cap) {
        names->cap = names->cap ? 2 * names->cap : 64;
        names->items = mem_resize(names->items, names->cap, sizeof(*names->items));
    }
    names->items[names->n++] = mem_dup(name);
}

static int names_read(struct names *names, int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    int sys;

    if (!dir) {
        fd_close(copy);
        return -1;
    }
    errno = 0;
    for (struct dirent *d; (d = readdir(dir)); errno = 0)
        names_add(names, d->d_name);
    sys = errno;
    closedir(dir);
    if (names->n)
        qsort(names->items, names->n, sizeof(*names->items), by_name);
    errno = sys;
    return sys ? -1 : 0;
}

/* The merge */

/** How many of the wanted, from `i` below `end`, begin with the same name as `i` does. */
static size_t group(const struct pass *p, size_t i, size_t end, size_t n_name)
{
    const char *first = wanted_path(p, i);
    size_t n_all = p->path.len + n_name, n = 1;

    if (first[n_all] != '/')
        return 1;
    while (i + n < end && !strncmp(wanted_path(p, i + n), first, n_all) &&
           wanted_path(p, i + n)[n_all] == '/')
        n++;
    return n;
}

static enum err_code merge(struct pass *p, int fd, size_t i, size_t end, struct err *e);

static enum err_code enter(struct pass *p, int at, const char *name, size_t i, size_t end,
                           struct err *e)
{
    AUTO(fd_close) int fd = -1;
    size_t before = p->path.len;
    enum err_code rc = p->acts->folder(p, at, name, &fd, e);

    if (rc)
        return rc;
    buf_printf(&p->path, "%s/", name);
    rc = merge(p, fd, i, end, e);
    p->path.len = before;
    p->path.data[before] = '\0';
    return rc;
}

/** The wanted from `i`, `n` of them, that share the name `name`. */
static enum err_code want(struct pass *p, int at, const char *name, size_t i, size_t n,
                          struct err *e)
{
    bool is_leaf = !wanted_path(p, i)[p->path.len + strlen(name)];
    enum err_code rc;

    if (!is_leaf)
        return enter(p, at, name, i, i + n, e);
    if (wanted_kind(p, i) != ENTRY_FOLDER)
        return p->acts->file(p, at, name, i, e);
    rc = enter(p, at, name, i, i, e);
    if (!rc && p->made) {
        struct known item = {.path = p->listing->entries[i].path,
                             .id = p->listing->entries[i].id,
                             .kind = ENTRY_FOLDER};
        manifest_add(p->made, &item);
    }
    return rc;
}

static enum err_code merge(struct pass *p, int fd, size_t i, size_t end, struct err *e)
{
    AUTO(names_fini) struct names there = {0};
    size_t k = 0;
    enum err_code rc = ERR_OK;

    if (names_read(&there, fd) < 0)
        return fail(p, "", "list", e);
    while (!rc && (i < end || k < there.n)) {
        char name[NAME_MAX + 1] = "";
        int order = 1;
        if (i < end) {
            const char *rest = wanted_path(p, i) + p->path.len;
            size_t n_name = strcspn(rest, "/");
            if (n_name > NAME_MAX)
                return err_set(e, ERR_INVALID, "the revision has a file name of %zu bytes", n_name);
            memcpy(name, rest, n_name);
            order = k < there.n ? strcmp(name, there.items[k]) : -1;
        }
        if (order > 0) {
            rc = p->acts->extra(p, fd, there.items[k++], e);
            continue;
        }
        k += order == 0;
        size_t n = group(p, i, end, strlen(name));
        rc = want(p, fd, name, i, n, e);
        i += n;
    }
    return rc;
}

/* Applying */

static enum err_code remove_any(struct pass *p, int at, const char *name, struct err *e)
{
    p->count->n_removed++;
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
        return ERR_OK;
    if (errno != EISDIR && errno != EPERM)
        return fail(p, name, "remove", e);
    AUTO(mem_free) char *path = mem_printf("/proc/self/fd/%d/%s", at, name);
    return file_remove_tree(path, e);
}

static enum err_code apply_folder(struct pass *p, int at, const char *name, int *fd, struct err *e)
{
    struct stat st;
    bool is_there = fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0;

    if (is_there && !S_ISDIR(st.st_mode)) {
        enum err_code rc = remove_any(p, at, name, e);
        if (rc)
            return rc;
        is_there = false;
    }
    if (!is_there && mkdirat(at, name, FOLDER_MODE) < 0)
        return fail(p, name, "create folder", e);
    /* Before opening: a folder may have lost the rights to be read. */
    if ((!is_there || (st.st_mode & 07777) != FOLDER_MODE) &&
        fchmodat(at, name, FOLDER_MODE, 0) < 0)
        return fail(p, name, "set the mode of", e);
    *fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *fd < 0 ? fail(p, name, "open", e) : ERR_OK;
}

/** Whether the file there already has these bytes. */
static bool has_bytes(int at, const char *name, const struct content *c)
{
    AUTO(fd_close) int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char piece[STEP];
    size_t done = 0;
    ssize_t n;

    if (fd < 0)
        return false;
    while ((n = read(fd, piece, sizeof(piece))) > 0) {
        if ((size_t)n > c->n - done || memcmp(piece, c->data + done, (size_t)n) != 0)
            return false;
        done += (size_t)n;
    }
    return n == 0 && done == c->n;
}

static int write_bytes(int fd, const struct content *c)
{
    for (size_t done = 0; done < c->n;) {
        ssize_t n = write(fd, c->data + done, c->n - done);
        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static enum err_code write_file(struct pass *p, int at, const char *name, const struct content *c,
                                mode_t mode, struct err *e)
{
    AUTO(fd_close)
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return fail(p, name, "create", e);
    if (write_bytes(fd, c) < 0 || fchmod(fd, mode) < 0)
        return fail(p, name, "write", e);
    return ERR_OK;
}

static enum err_code make_link(struct pass *p, int at, const char *name, const struct content *c,
                               struct err *e)
{
    AUTO(mem_free) char *target = mem_dup_n(c->data, c->n);

    if (!c->n || c->n >= PATH_MAX || strlen(target) != c->n)
        return err_set(e, ERR_INVALID,
                       "the revision has a symbolic link without a usable target: %s%s",
                       buf_str(&p->path), name);
    return symlinkat(target, at, name) < 0 ? fail(p, name, "create link", e) : ERR_OK;
}

static bool is_link_to(int at, const char *name, const struct content *c)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(at, name, target, sizeof(target));

    return n >= 0 && (size_t)n == c->n && !memcmp(target, c->data, c->n);
}

static mode_t mode_of(enum entry_kind kind)
{
    return kind == ENTRY_PROGRAM ? PROGRAM_MODE : FILE_MODE;
}

/** The file is not known to be right: compares it, and writes it if it is wrong. `st` may be NULL.
 */
static enum err_code apply_content(struct pass *p, int at, const char *name,
                                   const struct entry *entry, const struct stat *st, struct err *e)
{
    AUTO(content_fini) struct content c = {0};
    enum err_code rc = content_load(p->listing, entry, &c, e);
    bool is_right = false;

    if (rc)
        return rc;
    if (st && entry->kind == ENTRY_LINK)
        is_right = S_ISLNK(st->st_mode) && is_link_to(at, name, &c);
    else if (st)
        is_right = S_ISREG(st->st_mode) && st->st_nlink == 1 && (size_t)st->st_size == c.n &&
                   has_bytes(at, name, &c);
    if (is_right) {
        if (entry->kind != ENTRY_LINK && (st->st_mode & 07777) != mode_of(entry->kind)) {
            p->count->n_written++;
            if (fchmodat(at, name, mode_of(entry->kind), 0) < 0)
                return fail(p, name, "set the mode of", e);
        }
        return ERR_OK;
    }
    p->count->n_written++;
    if (st && S_ISDIR(st->st_mode) && (rc = remove_any(p, at, name, e)))
        return rc;
    if (st && !S_ISDIR(st->st_mode) && unlinkat(at, name, 0) < 0)
        return fail(p, name, "replace", e);
    return entry->kind == ENTRY_LINK ? make_link(p, at, name, &c, e)
                                     : write_file(p, at, name, &c, mode_of(entry->kind), e);
}

static bool is_known(const struct known *known, const struct known *now)
{
    return known && git_oid_equal(&known->id, &now->id) && known->kind == now->kind &&
           !strcmp(known->attributes, now->attributes) && look_equal(&known->look, &now->look);
}

static enum err_code apply_file(struct pass *p, int at, const char *name, size_t i, struct err *e)
{
    const struct entry *entry = &p->listing->entries[i];
    const char *attributes = p->listing->parts[entry->part].attributes.hex;
    struct known now = {.path = entry->path, .id = entry->id, .kind = entry->kind};
    struct stat st;
    bool is_there = fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    enum err_code rc;

    snprintf(now.attributes, sizeof(now.attributes), "%.16s", *attributes ? attributes : "-");
    p->count->n_files++;
    if (is_there)
        look_from(&st, &now.look);
    if (!is_there || !is_known(manifest_find(p->old, entry->path), &now)) {
        if ((rc = apply_content(p, at, name, entry, is_there ? &st : NULL, e)))
            return rc;
        if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return fail(p, name, "look at", e);
        look_from(&st, &now.look);
    }
    manifest_add(p->made, &now);
    return ERR_OK;
}

static const struct acts applying = {remove_any, apply_file, apply_folder};

enum err_code sync_apply(const char *tree_dir, const struct listing *listing,
                         const struct manifest *old, struct manifest *made,
                         struct checkout_count *count, struct err *e)
{
    struct pass p = {
        .acts = &applying, .listing = listing, .old = old, .made = made, .count = count};

    if (file_mkdirs(tree_dir, FOLDER_MODE, e)) {
        if (e)
            e->code = ERR_IO; /* whatever is in the way, it is no revision's fault */
        return ERR_IO;
    }
    if (chmod(tree_dir, FOLDER_MODE) < 0)
        return err_sys(e, errno, "set the mode of %s", tree_dir);
    AUTO(fd_close) int fd = open(tree_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, errno, "open %s", tree_dir);
    enum err_code rc = merge(&p, fd, 0, listing->n, e);
    buf_fini(&p.path);
    return rc;
}

/* Verifying */

static enum err_code differs(const struct pass *p, const char *name, const char *how, struct err *e)
{
    AUTO(buf_fini) struct buf shown = {0};

    text_clean(&shown, name, strlen(name), 200);
    return err_set(e, ERR_CONFLICT, "the work tree is not as it was checked out: %s%s %s",
                   buf_str(&p->path), buf_str(&shown), how);
}

static enum err_code verify_extra(struct pass *p, int at, const char *name, struct err *e)
{
    (void)at;
    return differs(p, name, "was added", e);
}

static enum err_code verify_file(struct pass *p, int at, const char *name, size_t i, struct err *e)
{
    struct stat st;
    struct look look;

    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return differs(p, name, "is gone", e);
    look_from(&st, &look);
    if (!look_equal(&look, &p->old->items[i].look))
        return differs(p, name, "was changed", e);
    return ERR_OK;
}

static enum err_code verify_folder(struct pass *p, int at, const char *name, int *fd, struct err *e)
{
    struct stat st;

    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return differs(p, name, "is gone", e);
    if (!S_ISDIR(st.st_mode) || (st.st_mode & 07777) != FOLDER_MODE)
        return differs(p, name, "was changed", e);
    *fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *fd < 0 ? fail(p, name, "open", e) : ERR_OK;
}

static const struct acts verifying = {verify_extra, verify_file, verify_folder};

enum err_code sync_verify(const char *tree_dir, const struct manifest *m, struct err *e)
{
    struct pass p = {.acts = &verifying, .old = m};
    AUTO(fd_close) int fd = open(tree_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return err_sys(e, errno, "open %s", tree_dir);
    enum err_code rc = merge(&p, fd, 0, m->n, e);
    buf_fini(&p.path);
    return rc;
}
