/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fixup.h"
#include "base/base64.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/fields.h"
#include <string.h>

enum { MAX_RANGE = 2048, MAX_PATH_BYTES = 4 * KIB, NAME_BYTES = 100, SHOWN_HEX = 10 };

/* clang-format off */
#define AT(member) offsetof(struct fixup, member)
static const struct field fields[] = {
    {"range",       FIELD_STRING,   AT(range),       FIELD_NEEDED,    1, MAX_RANGE, NULL},
    {"patch",       FIELD_STRING,   AT(patch),       0,               1, MAX_PATH_BYTES, NULL},
    {"content",     FIELD_STRING,   AT(content),     0,               1, 2.0 * FIXUP_MAX_PATCHES, NULL},
    {"commit",      FIELD_REVISION, AT(commit),      FIELD_SKIP_ZERO, 0, 0, NULL},
    {"environment", FIELD_PAIRS,    AT(environment), FIELD_SKIP_ZERO, 0, 0, NULL},
};
/* clang-format on */

void fixup_free(struct fixup *f)
{
    if (!f)
        return;
    fields_fini(fields, LEN(fields), f);
    mem_free(f);
}

struct fixup *fixup_copy(const struct fixup *f)
{
    struct fixup *copy = mem_alloc(sizeof(*copy));

    copy->range = mem_dup(f->range);
    copy->patch = f->patch ? mem_dup(f->patch) : NULL;
    copy->content = f->content ? mem_dup(f->content) : NULL;
    copy->commit = f->commit;
    for (size_t i = 0; i < f->environment.n; i++)
        pairs_add(&copy->environment, f->environment.items[i].key, f->environment.items[i].value);
    return copy;
}

void fixup_name(const struct fixup *f, struct buf *out)
{
    const char *gap = "";

    if (f->patch) {
        text_clean(out, f->patch, strlen(f->patch), NAME_BYTES);
        gap = " ";
    }
    if (revision_is_set(&f->commit)) {
        buf_printf(out, "commit %.*s", SHOWN_HEX, f->commit.hex);
        gap = " ";
    }
    for (size_t i = 0; i < f->environment.n; i++) {
        buf_printf(out, "%s%s=", gap, f->environment.items[i].key);
        text_clean(out, f->environment.items[i].value, strlen(f->environment.items[i].value),
                   NAME_BYTES);
        gap = " ";
    }
}

enum err_code fixup_ends(const char *range, char **from, char **to, struct err *e)
{
    const char *dots = strstr(range, "..");
    bool is_three = dots && dots[2] == '.';

    if (!*range || is_three || dots == range || (dots && !dots[2])) {
        AUTO(buf_fini) struct buf shown = {0};
        text_clean(&shown, range, strlen(range), NAME_BYTES);
        err_set(e, ERR_INVALID, "range: expected A..B, got \"%s\"", buf_str(&shown));
        return err_hint(e, "A..B is what B reaches and A does not, as in git rev-list; B alone is "
                           "all that B reaches.");
    }
    *from = dots ? mem_dup_n(range, (size_t)(dots - range)) : NULL;
    *to = mem_dup(dots ? dots + 2 : range);
    return ERR_OK;
}

/* ---- checks ---- */

static enum err_code check_content(const struct fixup *f, struct err *e)
{
    AUTO(buf_fini) struct buf bytes = {0};

    if (!f->patch)
        return f->content ? err_set(e, ERR_INVALID, "content: without the patch it is of") : ERR_OK;
    if (!f->content)
        return err_set(e, ERR_INVALID, "content: missing: the bytes of the patch in base64");
    if (base64_size(f->content) > FIXUP_MAX_PATCH) {
        err_set(e, ERR_INVALID, "patch: larger than %d KiB", FIXUP_MAX_PATCH / KIB);
        return err_hint(e, "Commit what it does, and name that with commit instead of patch.");
    }
    if (base64_read(&bytes, f->content, NULL))
        return err_set(e, ERR_INVALID, "content: expected base64");
    return ERR_OK;
}

enum err_code fixup_check(const struct fixup *f, struct err *e)
{
    AUTO(mem_free) char *from = NULL;
    AUTO(mem_free) char *to = NULL;

    if (fixup_ends(f->range, &from, &to, e) || environment_check(&f->environment, e) ||
        check_content(f, e))
        return ERR_INVALID;
    if (f->patch && revision_is_set(&f->commit))
        return err_set(e, ERR_INVALID, "commit: a fixup has a patch or a commit; make two of it");
    if (f->patch || revision_is_set(&f->commit) || f->environment.n > 0)
        return ERR_OK;
    err_set(e, ERR_INVALID, "patch: missing");
    return err_hint(e, "A fixup needs at least one of patch, commit and environment.");
}

/* ---- JSON ---- */

json *fixup_to_json(const struct fixup *f)
{
    json *o = json_new_object();

    fields_write(fields, LEN(fields), f, o);
    return o;
}

enum err_code fixup_from_json(const json *v, struct fixup **out, struct err *e)
{
    AUTO(fixup_free) struct fixup *f = mem_alloc(sizeof(*f));
    const json *commit = json_at(v, "commit");

    if (fields_read(fields, LEN(fields), v, UNKNOWN_REFUSED, f, e)) {
        if (!json_is_null(commit) && !revision_is_set(&f->commit))
            return err_hint(e, "git rev-parse REV prints the hash of a revision.");
        return ERR_INVALID;
    }
    if (fixup_check(f, e))
        return ERR_INVALID;
    *out = TAKE(f);
    return ERR_OK;
}

json *fixup_set_to_json(uint64_t set)
{
    json *list = json_new_array();

    for (unsigned i = 0; i < FIXUP_MAX; i++)
        if (set >> i & 1)
            json_push(list, json_new_int(i));
    return list;
}

enum err_code fixup_set_from_json(const json *v, const char *key, uint64_t *out, struct err *e)
{
    uint64_t set = 0;

    if (!json_is_null(v) && !json_is_array(v))
        return err_expected(e, key, "a list of fixups by number", v);
    for (size_t i = 0; i < json_len(v); i++) {
        const int64_t at = json_int(json_item(v, i), -1);

        if (at < 0 || at >= FIXUP_MAX)
            return err_expected(e, key, "the number of a fixup", json_item(v, i));
        set |= UINT64_C(1) << at;
    }
    *out = set;
    return ERR_OK;
}
