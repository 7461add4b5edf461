/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/text.h"
#include "config/schema.h"
#include "model/fields.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
/* Words of later versions that get a clearer answer than "expected one of". */
static const struct { const char *path, *word; } later_words[] = {
    {"engine", "slurm"},
};
/* clang-format on */

/* Where the reader stands: `path` as it is shown, `pattern` as the table has it. */
struct place {
    enum schema_file file;
    const char *file_name;
    const char *prefix;
    const char *path;
    const char *pattern;
};

static enum err_code fail(const struct place *p, struct mark at, struct err *e, const char *format,
                          ...) PRINTF(4, 5);
static enum err_code fail(const struct place *p, struct mark at, struct err *e, const char *format,
                          ...)
{
    char what[512];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return err_set(e, ERR_INVALID, "%s:%zu:%zu: %s%s%s%s", p->file_name, at.line, at.column,
                   p->prefix, p->path, *p->path ? ": " : "", what);
}

static enum err_code expected(const struct place *p, const struct node *n, const char *what,
                              struct err *e)
{
    char got[128];

    node_show(n, got, sizeof(got));
    return fail(p, n->at, e, "expected %s, got %s", what, got);
}

/* ---- scalars ---- */

static enum err_code read_number(const struct place *p, const struct schema_row *row,
                                 const struct node *n, json **out, struct err *e)
{
    char limits[80], what[160];
    double x = 0;

    schema_limits(row, limits);
    snprintf(what, sizeof(what), "%s %s", schema_amount_words(row->type), limits);
    if (n->kind != NODE_TEXT || schema_amount(row, n->text, &x) || x < row->low || x > row->high)
        return expected(p, n, what, e);
    *out = row->type == SCHEMA_COUNT ? json_new_int((int64_t)x) : json_new_string(n->text);
    return ERR_OK;
}

static enum err_code read_text(const struct place *p, const struct schema_row *row,
                               const struct node *n, json **out, struct err *e)
{
    if (n->kind != NODE_TEXT || node_is_null(n))
        return expected(p, n, row->type == SCHEMA_NAME ? "a name" : "text", e);
    if (row->type == SCHEMA_NAME && name_check("", n->text, NULL))
        return expected(p, n, "a name of letters, digits, '.', '_' and '-', at most 64 long", e);
    *out = json_new_string(n->text);
    return ERR_OK;
}

/* 1 yes, 0 no, -1 neither. */
static int truth_of(const struct node *n)
{
    static const char *const yes[] = {"yes", "true", "on"}, *const no[] = {"no", "false", "off"};

    for (size_t i = 0; n->kind == NODE_TEXT && n->is_plain && i < LEN(yes); i++) {
        if (strcasecmp(n->text, yes[i]) == 0)
            return 1;
        if (strcasecmp(n->text, no[i]) == 0)
            return 0;
    }
    return -1;
}

static enum err_code read_bool(const struct place *p, const struct schema_row *row,
                               const struct node *n, json **out, struct err *e)
{
    (void)row;
    if (truth_of(n) < 0)
        return expected(p, n, "yes or no", e);
    *out = json_new_bool(truth_of(n));
    return ERR_OK;
}

static enum err_code read_choice(const struct place *p, const struct schema_row *row,
                                 const struct node *n, json **out, struct err *e)
{
    AUTO(mem_free) char *copy = mem_dup(row->allowed);
    AUTO(buf_fini) struct buf what = {0};
    const char *words[64];
    const size_t n_words = schema_words(copy, words, LEN(words));

    for (size_t i = 0; i < n_words; i++)
        buf_printf(&what, "%s%s", i ? ", " : n_words > 1 ? "one of " : "", words[i]);
    if (n->kind != NODE_TEXT)
        return expected(p, n, buf_str(&what), e);
    for (size_t i = 0; i < n_words; i++) {
        if (strcmp(n->text, words[i]) == 0) {
            *out = json_new_string(n->text);
            return ERR_OK;
        }
    }
    for (size_t i = 0; i < LEN(later_words); i++) {
        if (strcmp(later_words[i].path, row->path) == 0 &&
            strcmp(later_words[i].word, n->text) == 0)
            return fail(p, n->at, e, "%s is not available in this version; expected %s", n->text,
                        buf_str(&what));
    }
    const char *nearest = text_nearest(n->text, words, n_words);
    expected(p, n, buf_str(&what), e);
    return nearest ? err_hint(e, "Did you mean %s?", nearest) : ERR_INVALID;
}

/* ---- lists and maps ---- */

static enum err_code read_list(const struct place *p, const struct schema_row *row,
                               const struct node *n, json **out, struct err *e)
{
    AUTO(json_free) json *list = json_new_array();

    if (n->kind != NODE_LIST)
        return expected(p, n, "a list such as [one, two]", e);
    for (size_t i = 0; i < n->n; i++) {
        AUTO(mem_free) char *path = mem_printf("%s[%zu]", p->path, i);
        struct place item = *p;
        json *v = NULL;

        item.path = path;
        if (read_text(&item, row, n->members[i].value, &v, e))
            return ERR_INVALID;
        json_push(list, v);
    }
    *out = TAKE(list);
    return ERR_OK;
}

static enum err_code read_map(const struct place *p, const struct schema_row *row,
                              const struct node *n, json **out, struct err *e)
{
    AUTO(json_free) json *map = json_new_object();

    if (n->kind != NODE_MAP)
        return expected(p, n, "a map such as {NAME: text}", e);
    for (size_t i = 0; i < n->n; i++) {
        AUTO(mem_free) char *path = mem_printf("%s.%s", p->path, n->members[i].key);
        struct place item = *p;
        json *v = NULL;

        item.path = path;
        if (read_text(&item, row, n->members[i].value, &v, e))
            return ERR_INVALID;
        json_put(map, n->members[i].key, v);
    }
    *out = TAKE(map);
    return ERR_OK;
}

static enum err_code read_submodules(const struct place *p, const struct schema_row *row,
                                     const struct node *n, json **out, struct err *e)
{
    return n->kind == NODE_MAP ? read_map(p, row, n, out, e) : read_choice(p, row, n, out, e);
}

/* Any YAML as JSON; whether it asks for anything is the model's to say. */
static json *free_form(const struct node *n)
{
    json *v = NULL;

    if (n->kind == NODE_TEXT) {
        if (node_is_null(n))
            return json_new_null();
        return truth_of(n) < 0 ? json_new_string(n->text) : json_new_bool(truth_of(n));
    }
    v = n->kind == NODE_LIST ? json_new_array() : json_new_object();
    for (size_t i = 0; i < n->n; i++) {
        json *item = free_form(n->members[i].value);

        if (n->kind == NODE_LIST)
            json_push(v, item);
        else
            json_put(v, n->members[i].key, item);
    }
    return v;
}

static enum err_code read_later(const struct place *p, const struct schema_row *row,
                                const struct node *n, json **out, struct err *e)
{
    (void)p;
    (void)row;
    (void)e;
    *out = free_form(n);
    return ERR_OK;
}

/* ---- sections ---- */

/* The key of a row that is one of the keys right below `pattern`, or NULL. */
static const char *key_below(const struct schema_row *row, const struct place *p)
{
    const size_t n = strlen(p->pattern);

    if (row->file != p->file || row->type == SCHEMA_LATER ||
        strncmp(row->path, p->pattern, n) != 0 || (n && row->path[n] != '.'))
        return NULL;
    const char *key = row->path + (n ? n + 1 : 0);
    return strchr(key, '.') ? NULL : key;
}

static enum err_code unknown_key(const struct place *p, const struct member *m, struct err *e)
{
    const char *known[64];
    size_t n_known = 0;
    struct err inner = {0};

    for (size_t i = 0; i < schema_len; i++) {
        const char *key = key_below(&schema[i], p);

        assert(n_known < LEN(known));
        if (key)
            known[n_known++] = key;
    }
    err_unknown_key(&inner, m->key, known, n_known);
    err_set(e, ERR_INVALID, "%s:%zu:%zu: %s%s%s%s", p->file_name, m->at.line, m->at.column,
            p->prefix, p->path, *p->path ? "." : "", inner.text);
    return err_hint(e, "%s", inner.hint);
}

static enum err_code read_value(const struct place *p, const struct schema_row *row,
                                const struct node *n, json **out, struct err *e);

static enum err_code read_keys(const struct place *p, const struct node *n, json **out,
                               struct err *e)
{
    AUTO(json_free) json *object = json_new_object();

    if (n->kind != NODE_MAP)
        return expected(p, n, "a map of keys", e);
    for (size_t i = 0; i < n->n; i++) {
        const struct member *m = &n->members[i];
        const char *dot = *p->path ? "." : "";
        AUTO(mem_free) char *path = mem_printf("%s%s%s", p->path, dot, m->key);
        AUTO(mem_free) char *pattern = mem_printf("%s%s%s", p->pattern, dot, m->key);
        const struct schema_row *row = strchr(m->key, '.') ? NULL : schema_find(p->file, pattern);
        struct place inner = *p;
        json *v = NULL;

        if (!row)
            return unknown_key(p, m, e);
        inner.path = path;
        inner.pattern = pattern;
        if (read_value(&inner, row, m->value, &v, e))
            return ERR_INVALID;
        json_put(object, m->key, v);
    }
    *out = TAKE(object);
    return ERR_OK;
}

static enum err_code read_section(const struct place *p, const struct schema_row *row,
                                  const struct node *n, json **out, struct err *e)
{
    (void)row;
    return read_keys(p, n, out, e);
}

static enum err_code read_sections(const struct place *p, const struct schema_row *row,
                                   const struct node *n, json **out, struct err *e)
{
    AUTO(json_free) json *object = json_new_object();
    AUTO(mem_free) char *pattern = mem_printf("%s.*", p->pattern);

    (void)row;
    if (n->kind != NODE_MAP)
        return expected(p, n, "a map of names", e);
    for (size_t i = 0; i < n->n; i++) {
        const struct member *m = &n->members[i];
        AUTO(mem_free) char *path = mem_printf("%s.%s", p->path, m->key);
        struct place inner = *p;
        json *v = NULL;

        if (name_check("", m->key, NULL))
            return fail(p, m->at, e,
                        "expected a name of letters, digits, '.', '_' and '-', at most 64 long, "
                        "got \"%.80s\"",
                        m->key);
        inner.path = path;
        inner.pattern = pattern;
        if (read_keys(&inner, m->value, &v, e))
            return ERR_INVALID;
        json_put(object, m->key, v);
    }
    *out = TAKE(object);
    return ERR_OK;
}

static enum err_code read_items(const struct place *p, const struct schema_row *row,
                                const struct node *n, json **out, struct err *e)
{
    AUTO(json_free) json *list = json_new_array();
    AUTO(mem_free) char *pattern = mem_printf("%s.*", p->pattern);

    (void)row;
    if (n->kind != NODE_LIST)
        return expected(p, n, "a list of maps", e);
    for (size_t i = 0; i < n->n; i++) {
        AUTO(mem_free) char *path = mem_printf("%s[%zu]", p->path, i);
        struct place inner = *p;
        json *v = NULL;

        inner.path = path;
        inner.pattern = pattern;
        if (read_keys(&inner, n->members[i].value, &v, e))
            return ERR_INVALID;
        json_push(list, v);
    }
    *out = TAKE(list);
    return ERR_OK;
}

/* File names stay texts, projects written out become objects. */
static enum err_code read_projects(const struct place *p, const struct schema_row *row,
                                   const struct node *n, json **out, struct err *e)
{
    AUTO(json_free) json *list = json_new_array();

    if (n->kind != NODE_LIST)
        return expected(p, n, "a list of project files", e);
    for (size_t i = 0; i < n->n; i++) {
        const struct node *item = n->members[i].value;
        AUTO(mem_free) char *path = mem_printf("%s[%zu]", p->path, i);
        AUTO(mem_free) char *prefix = mem_printf("%s%s.", p->prefix, path);
        struct place inner = *p;
        json *v = NULL;

        inner.path = path;
        if (item->kind == NODE_MAP) {
            if (schema_read(SCHEMA_PROJECT, p->file_name, prefix, item, &v, e))
                return ERR_INVALID;
        } else if (read_text(&inner, row, item, &v, e))
            return ERR_INVALID;
        json_push(list, v);
    }
    *out = TAKE(list);
    return ERR_OK;
}

static enum err_code read_value(const struct place *p, const struct schema_row *row,
                                const struct node *n, json **out, struct err *e)
{
    /* clang-format off */
    static enum err_code (*const readers[SCHEMA_TYPE_COUNT])(
        const struct place *, const struct schema_row *, const struct node *, json **, struct err *) = {
        [SCHEMA_TEXT]       = read_text,     [SCHEMA_NAME]     = read_text,
        [SCHEMA_CHOICE]     = read_choice,   [SCHEMA_BOOL]     = read_bool,
        [SCHEMA_COUNT]      = read_number,   [SCHEMA_DURATION] = read_number,
        [SCHEMA_SIZE]       = read_number,   [SCHEMA_PERCENT]  = read_number,
        [SCHEMA_LIST]       = read_list,     [SCHEMA_MAP]      = read_map,
        [SCHEMA_SECTION]    = read_section,  [SCHEMA_SECTIONS] = read_sections,
        [SCHEMA_ITEMS]      = read_items,
        [SCHEMA_PROJECTS]   = read_projects, [SCHEMA_SUBMODULES] = read_submodules,
        [SCHEMA_LATER]      = read_later,
    };
    /* clang-format on */

    return readers[row->type](p, row, n, out, e);
}

enum err_code schema_read(enum schema_file file, const char *file_name, const char *prefix,
                          const struct node *root, json **out, struct err *e)
{
    const struct place p = {
        .file = file, .file_name = file_name, .prefix = prefix, .path = "", .pattern = ""};

    return read_keys(&p, root, out, e);
}
