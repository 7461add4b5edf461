/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/stream.h"
#include "store/db.h"
#include "store/leases.h"
#include "store/rows.h"
#include <string.h>

static char *folder_of(const struct store *s, const char *sha256)
{
    return mem_printf("%s/logs/%.2s", s->dir, sha256);
}

static enum err_code write_file(struct store *s, const struct digest *name, const void *bytes,
                                size_t n, struct err *e)
{
    AUTO(mem_free) char *folder = folder_of(s, name->hex);
    AUTO(mem_free) char *path = mem_printf("%s/%s.zst", folder, name->hex);
    AUTO(buf_fini) struct buf packed = {0};

    if (file_exists(path)) /* same name, same text */
        return ERR_OK;
    enum err_code code = file_mkdirs(folder, 0700, e);
    if (code)
        return code;
    zstd_pack(bytes, n, &packed);
    return file_write(path, packed.data, packed.len, 0600, e);
}

/** A worker sends its log before or after its result. */
static enum err_code check_lease(struct store *s, const char *lease, int64_t fence,
                                 struct lease_row *l, struct err *e)
{
    enum err_code code = store_lease_load(s, lease, l, e);
    if (code)
        return code;
    struct tenure t = l->tenure;
    if (t.state == TENURE_FINISHED)
        t.state = TENURE_OPEN;
    return tenure_check(&t, fence, e);
}

enum err_code store_log_put(struct store *s, const char *lease, int64_t fence, const void *bytes,
                            size_t n, struct utc now, struct err *e)
{
    AUTO(lease_row_fini) struct lease_row l = {0};
    if (n > LOG_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "a log of %zu bytes is over the limit of %zu", n,
                       LOG_MAX_BYTES);
    enum err_code code = check_lease(s, lease, fence, &l, e);
    if (code)
        return code;
    struct digest name = hash_of(bytes, n);
    code =
        write_file(s, &name, bytes, n, e); /* first: a row never names a file that is not there */
    if (code)
        return err_wrap(e, "log of task %s", l.task.text);
    return db_run(
        s,
        "INSERT INTO logs (task, sha256, bytes, stored_ns) VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes,"
        " stored_ns = excluded.stored_ns",
        CELLS(cell_text(l.task.text), cell_text(name.hex), cell_int((int64_t)n), cell_int(now.ns)),
        NULL, e);
}

static enum err_code damaged(struct err *e, const char *path)
{
    err_set(e, ERR_IO, "log %s is not what was written", path);
    return err_hint(e, "restore it from a backup; results do not depend on it");
}

static enum err_code read_file(struct store *s, const char *sha256, struct buf *out, struct err *e)
{
    AUTO(mem_free) char *folder = folder_of(s, sha256);
    AUTO(mem_free) char *path = mem_printf("%s/%s.zst", folder, sha256);
    AUTO(buf_fini) struct buf packed = {0};
    AUTO(buf_fini) struct buf plain = {0};

    enum err_code code = file_read(path, LOG_MAX_BYTES + MIB, &packed, e);
    if (code)
        return code;
    if (zstd_unpack(packed.data, packed.len, LOG_MAX_BYTES, &plain, NULL))
        return damaged(e, path);
    struct digest have = hash_of(buf_str(&plain), plain.len);
    if (strcmp(have.hex, sha256))
        return damaged(e, path);
    buf_add(out, buf_str(&plain), plain.len);
    return ERR_OK;
}

enum err_code store_log_get(struct store *s, const char *task, struct buf *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_first(s, &q, "SELECT sha256 FROM logs WHERE task = ?1", CELLS(cell_text(task)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "log of task", task);
    return code ? code : read_file(s, query_text(&q, 0), out, e);
}
