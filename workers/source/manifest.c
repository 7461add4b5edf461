/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/manifest.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_BYTES = 1024 * MIB };
static const char magic[] = "bisectd-manifest-1";

void manifest_free(struct manifest *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n; i++)
        mem_free(m->items[i].path);
    mem_free(m->items);
    mem_free(m);
}

static int64_t stamp_ns(const struct timespec *t)
{
    return (int64_t)t->tv_sec * NS_PER_S + t->tv_nsec;
}

void look_from(const struct stat *st, struct look *out)
{
    out->n_bytes = st->st_size;
    out->modified_ns = stamp_ns(&st->st_mtim);
    out->changed_ns = stamp_ns(&st->st_ctim);
    out->inode = st->st_ino;
    out->mode = st->st_mode;
}

bool look_equal(const struct look *a, const struct look *b)
{
    return a->n_bytes == b->n_bytes && a->modified_ns == b->modified_ns &&
           a->changed_ns == b->changed_ns && a->inode == b->inode && a->mode == b->mode;
}

void manifest_add(struct manifest *m, const struct known *item)
{
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 1024;
        m->items = mem_resize(m->items, m->cap, sizeof(*m->items));
    }
    m->items[m->n] = *item;
    m->items[m->n++].path = mem_dup(item->path);
}

static int by_path(const void *key, const void *item)
{
    return path_order(key, ((const struct known *)item)->path);
}

const struct known *manifest_find(const struct manifest *m, const char *path)
{
    return m->n ? bsearch(path, m->items, m->n, sizeof(*m->items), by_path) : NULL;
}

/* On disk: a header line, then one line a file, its path last and ended by NUL */

static void boot_id(struct buf *out)
{
    buf_clear(out);
    /* Without one, no manifest outlives the process that wrote it. */
    if (file_read("/proc/sys/kernel/random/boot_id", 100, out, NULL))
        buf_printf(out, "pid-%d", (int)getpid());
    while (out->len && out->data[out->len - 1] == '\n')
        out->data[--out->len] = '\0';
}

static bool parse_header(const char *line, size_t *n)
{
    AUTO(buf_fini) struct buf boot = {0}, want = {0};
    char *end;

    boot_id(&boot);
    buf_printf(&want, "%s %s ", magic, buf_str(&boot));
    if (strncmp(line, buf_str(&want), want.len) != 0)
        return false;
    *n = strtoull(line + want.len, &end, 10);
    return end > line + want.len && *end == '\0';
}

static bool parse_item(const char *line, struct known *out)
{
    char id[GIT_OID_HEXSZ + 1];
    int at = 0, kind = -1;

    if (sscanf(line, "%40s %d %16s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu32 "%n",
               id, &kind, out->attributes, &out->look.n_bytes, &out->look.modified_ns,
               &out->look.changed_ns, &out->look.inode, &out->look.mode, &at) != 8 ||
        line[at] != ' ' || !line[at + 1] || git_oid_fromstr(&out->id, id) < 0 ||
        kind < ENTRY_FILE || kind > ENTRY_FOLDER)
        return false;
    out->kind = (enum entry_kind)kind;
    out->path = (char *)line + at + 1;
    return true;
}

static bool parse(struct manifest *m, const char *at, const char *end)
{
    size_t n = 0;

    if (at == end || !parse_header(at, &n))
        return false;
    for (at += strlen(at) + 1; at < end; at += strlen(at) + 1) {
        struct known item = {0};
        if (!parse_item(at, &item) || (m->n && path_order(m->items[m->n - 1].path, item.path) >= 0))
            return false;
        manifest_add(m, &item);
    }
    return m->n == n;
}

struct manifest *manifest_load(const char *path)
{
    AUTO(manifest_free) struct manifest *m = mem_alloc(sizeof(*m));
    AUTO(buf_fini) struct buf text = {0};

    if (!file_read(path, MAX_BYTES, &text, NULL) && text.len && !text.data[text.len - 1] &&
        parse(m, text.data, text.data + text.len))
        return TAKE(m);
    return mem_alloc(sizeof(*m));
}

enum err_code manifest_save(const struct manifest *m, const char *path, struct err *e)
{
    AUTO(buf_fini) struct buf text = {0}, boot = {0};

    boot_id(&boot);
    buf_printf(&text, "%s %s %zu", magic, buf_str(&boot), m->n);
    buf_addc(&text, '\0');
    for (size_t i = 0; i < m->n; i++) {
        const struct known *k = &m->items[i];
        buf_printf(&text, "%s %d %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu32 " %s",
                   git_oid_tostr_s(&k->id), k->kind, *k->attributes ? k->attributes : "-",
                   k->look.n_bytes, k->look.modified_ns, k->look.changed_ns, k->look.inode,
                   k->look.mode, k->path);
        buf_addc(&text, '\0');
    }
    return file_write(path, text.data, text.len, 0600, e);
}

/* Waiting out the tick */

static enum err_code file_now(const char *scratch, int64_t *ns, struct err *e)
{
    AUTO(fd_close) int fd = open(scratch, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct stat st;

    if (fd < 0 || write(fd, "\n", 1) != 1 || fstat(fd, &st) < 0)
        return err_sys(e, errno, "write %s", scratch);
    *ns = stamp_ns(&st.st_ctim);
    return ERR_OK;
}

enum err_code manifest_settle(const struct manifest *m, const char *scratch, struct err *e)
{
    const struct timespec pause = {0, 2 * NS_PER_MS};
    const struct mono begun = mono_now();
    int64_t latest = 0, now = 0;
    enum err_code rc;

    for (size_t i = 0; i < m->n; i++)
        if (m->items[i].look.changed_ns > latest)
            latest = m->items[i].look.changed_ns;
    /* Some file systems count in whole seconds; a clock that was set back is not waited for. */
    while ((rc = file_now(scratch, &now, e)) == ERR_OK && now <= latest &&
           mono_now().ns - begun.ns < 3 * NS_PER_S)
        nanosleep(&pause, NULL);
    return rc;
}
