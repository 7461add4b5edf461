/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include "model/fields.h"
#include "model/fixup.h"
#include "model/revision.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SUBJECT = 200 * 4, MAX_AUTHOR = 1000, MAX_PARENTS = 4096, MAX_COMMITS = 1 << 24 };

/* clang-format off */
static const struct field commit_fields[] = {
    {"id",        FIELD_REVISION, offsetof(struct commit, id),           FIELD_NEEDED, 0, 0, NULL},
    {"tree",      FIELD_REVISION, offsetof(struct commit, tree),         0, 0, 0, NULL},
    {"subject",   FIELD_STRING,   offsetof(struct commit, subject),      0, 0, MAX_SUBJECT, NULL},
    {"author",    FIELD_STRING,   offsetof(struct commit, author),       0, 0, MAX_AUTHOR, NULL},
    {"time",      FIELD_I64,      offsetof(struct commit, time_s),       0, 0, 0, NULL},
    {"candidate", FIELD_BOOL,     offsetof(struct commit, is_candidate), FIELD_SKIP_ZERO, 0, 0, NULL},
    {"mainline",  FIELD_BOOL,     offsetof(struct commit, is_mainline),  FIELD_SKIP_ZERO, 0, 0, NULL},
    {"matters",   FIELD_BOOL,     offsetof(struct commit, matters),      FIELD_SKIP_ZERO, 0, 0, NULL},
    {"prose",     FIELD_BOOL,     offsetof(struct commit, is_prose),     FIELD_SKIP_ZERO, 0, 0, NULL},
};
static const struct field range_fields[] = {
    {"good",             FIELD_U32,  offsetof(struct range, good),             FIELD_NEEDED, 0, 0, NULL},
    {"bad",              FIELD_U32,  offsetof(struct range, bad),              FIELD_NEEDED, 0, 0, NULL},
    {"good_is_ancestor", FIELD_BOOL, offsetof(struct range, good_is_ancestor), FIELD_NEEDED, 0, 0, NULL},
};
/* clang-format on */

void range_free(struct range *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n; i++) {
        fields_fini(commit_fields, LEN(commit_fields), &r->commits[i]);
        mem_free(r->commits[i].parents);
    }
    mem_free(r->commits);
    mem_free(r->merge_bases);
    mem_free(r);
}

struct range *range_copy(const struct range *from)
{
    struct range *r = mem_alloc(sizeof(*r));

    *r = *from;
    r->commits = mem_array(from->n, sizeof(*r->commits));
    for (uint32_t i = 0; i < from->n; i++) {
        struct commit *c = &r->commits[i];
        *c = from->commits[i];
        c->subject = c->subject ? mem_dup(c->subject) : NULL;
        c->author = c->author ? mem_dup(c->author) : NULL;
        c->parents = mem_array(c->n_parents, sizeof(*c->parents));
        if (c->n_parents)
            memcpy(c->parents, from->commits[i].parents, c->n_parents * sizeof(*c->parents));
    }
    r->merge_bases = mem_array(from->n_merge_bases, sizeof(*r->merge_bases));
    if (from->n_merge_bases)
        memcpy(r->merge_bases, from->merge_bases, from->n_merge_bases * sizeof(*r->merge_bases));
    return r;
}

uint32_t range_find(const struct range *r, const struct revision *id)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (revision_equal(&r->commits[i].id, id))
            return i;
    }
    return UINT32_MAX;
}

static json *indices_to_json(const uint32_t *indices, uint32_t n)
{
    json *array = json_new_array();

    for (uint32_t i = 0; i < n; i++)
        json_push(array, json_new_int(indices[i]));
    return array;
}

static void write_key(struct buf *out, const char *key)
{
    buf_addc(out, '"');
    buf_adds(out, key);
    buf_adds(out, "\":");
}

static void write_indices(struct buf *out, const char *key, const uint32_t *indices, uint32_t n)
{
    char digits[16];

    write_key(out, key);
    buf_addc(out, '[');
    for (uint32_t i = 0; i < n; i++)
        buf_add(out, digits,
                (size_t)snprintf(digits, sizeof(digits), "%s%u", i ? "," : "", indices[i]));
    buf_addc(out, ']');
}

static void write_string(struct buf *out, const char *key, const char *s)
{
    AUTO(json_free) json *v = json_new_string(s);

    if (!s)
        return;
    write_key(out, key);
    json_dump(v, JSON_COMPACT, out);
    buf_addc(out, ',');
}

static void write_revision(struct buf *out, const char *key, const struct revision *r)
{
    write_key(out, key);
    buf_adds(out, revision_is_set(r) ? "\"" : "null");
    buf_adds(out, r->hex);
    buf_adds(out, revision_is_set(r) ? "\"," : ",");
}

static void write_fixups(struct buf *out, uint64_t set)
{
    uint32_t items[FIXUP_MAX], n = 0;

    for (uint32_t i = 0; i < FIXUP_MAX; i++)
        if (set >> i & 1)
            items[n++] = i;
    write_indices(out, "fixups", items, n);
    buf_addc(out, ',');
}

static void write_commit(struct buf *out, const struct commit *c)
{
    write_revision(out, "id", &c->id);
    write_revision(out, "tree", &c->tree);
    write_string(out, "subject", c->subject);
    write_string(out, "author", c->author);
    buf_printf(out, "\"time\":%" PRId64 ",", c->time_s);
    buf_adds(out, c->is_candidate ? "\"candidate\":true," : "");
    buf_adds(out, c->is_mainline ? "\"mainline\":true," : "");
    buf_adds(out, c->matters ? "\"matters\":true," : "");
    buf_adds(out, c->is_prose ? "\"prose\":true," : "");
    if (c->fixups)
        write_fixups(out, c->fixups);
    write_indices(out, "parents", c->parents, c->n_parents);
}

void range_write(const struct range *r, struct buf *out)
{
    buf_printf(out, "{\"good\":%u,\"bad\":%u,\"good_is_ancestor\":%s,", r->good, r->bad,
               r->good_is_ancestor ? "true" : "false");
    write_indices(out, "merge_bases", r->merge_bases, r->n_merge_bases);
    buf_adds(out, ",\"commits\":[");
    for (uint32_t i = 0; i < r->n; i++) {
        buf_adds(out, i ? ",{" : "{");
        write_commit(out, &r->commits[i]);
        buf_addc(out, '}');
    }
    buf_adds(out, "]}");
}

/* Numbers below `end`; an absent list is an empty one. */
static enum err_code indices_from_json(const json *v, const char *key, uint32_t end, uint32_t **out,
                                       uint32_t *n_out, struct err *e)
{
    const size_t n = json_len(v);

    if (!json_is_null(v) && !json_is_array(v))
        return err_expected(e, key, "a list of indices", v);
    if (n > MAX_PARENTS)
        return err_set(e, ERR_INVALID, "%s: more than %d items", key, MAX_PARENTS);
    for (size_t i = 0; i < n; i++) {
        const int64_t index = json_int(json_item(v, i), -1);

        if (index < 0 || index >= end)
            return err_expected(e, key, "the index of an earlier commit", json_item(v, i));
    }
    *out = mem_array(n, sizeof(**out));
    *n_out = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        (*out)[i] = (uint32_t)json_int(json_item(v, i), 0);
    return ERR_OK;
}

json *range_to_json(const struct range *r)
{
    json *commits = json_new_array();
    json *o = json_new_object();

    for (uint32_t i = 0; i < r->n; i++) {
        const struct commit *c = &r->commits[i];
        json *row = json_new_object();

        fields_write(commit_fields, LEN(commit_fields), c, row);
        if (c->fixups)
            json_put(row, "fixups", fixup_set_to_json(c->fixups));
        json_put(row, "parents", indices_to_json(c->parents, c->n_parents));
        json_push(commits, row);
    }
    fields_write(range_fields, LEN(range_fields), r, o);
    json_put(o, "merge_bases", indices_to_json(r->merge_bases, r->n_merge_bases));
    return json_put(o, "commits", commits);
}

static enum err_code commits_from_json(const json *v, struct range *r, struct err *e)
{
    const size_t n = json_len(v);

    if (!json_is_array(v) || n == 0)
        return err_expected(e, "commits", "a list of commits", v);
    if (n > MAX_COMMITS)
        return err_set(e, ERR_INVALID, "commits: more than %d", MAX_COMMITS);
    r->commits = mem_array(n, sizeof(*r->commits));
    for (uint32_t i = 0; i < n; i++) {
        struct commit *c = &r->commits[r->n++];
        const json *row = json_item(v, i);

        if (!json_is_object(row))
            return err_set(e, ERR_INVALID, "commits[%u]: expected an object", i);
        if (fields_read(commit_fields, LEN(commit_fields), row, UNKNOWN_IGNORED, c, e) ||
            fixup_set_from_json(json_at(row, "fixups"), "fixups", &c->fixups, e) ||
            indices_from_json(json_at(row, "parents"), "parents", i, &c->parents, &c->n_parents, e))
            return err_under(e, "commits[%u]", i);
        r->n_candidates += c->is_candidate;
    }
    return ERR_OK;
}

enum err_code range_from_json(const json *v, struct range **out, struct err *e)
{
    AUTO(range_free) struct range *r = mem_alloc(sizeof(*r));

    if (fields_read(range_fields, LEN(range_fields), v, UNKNOWN_IGNORED, r, e) ||
        commits_from_json(json_at(v, "commits"), r, e) ||
        indices_from_json(json_at(v, "merge_bases"), "merge_bases", r->n, &r->merge_bases,
                          &r->n_merge_bases, e))
        return ERR_INVALID;
    if (r->good >= r->n)
        return err_expected(e, "good", "the index of a commit", json_at(v, "good"));
    if (r->bad != r->n - 1)
        return err_expected(e, "bad", "the index of the last commit", json_at(v, "bad"));
    *out = TAKE(r);
    return ERR_OK;
}
