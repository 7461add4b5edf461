/* SPDX-License-Identifier: Apache-2.0 */
#include "config/node.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MAX_DEPTH = 32, MAX_NODES = 20000 };

struct reader {
    const char *file;
    yaml_parser_t parser;
    size_t n_nodes;
    struct err *e;
};

static void yaml_event_delete_auto(yaml_event_t *event)
{
    yaml_event_delete(event);
}

void node_free(struct node *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->n; i++) {
        mem_free(n->members[i].key);
        node_free(n->members[i].value);
    }
    mem_free(n->members);
    mem_free(n->text);
    mem_free(n);
}

static struct mark mark_of(yaml_mark_t m)
{
    return (struct mark){.line = m.line + 1, .column = m.column + 1};
}

static enum err_code fail(struct reader *r, struct mark at, const char *what)
{
    return err_set(r->e, ERR_INVALID, "%s:%zu:%zu: %s", r->file, at.line, at.column, what);
}

/* ---- bytes ---- */

static const char *fault_at(const char *s, size_t n, size_t *n_bytes)
{
    uint32_t code_point = 0;

    *n_bytes = text_utf8(s, n, &code_point);
    if (*n_bytes == 0)
        return "expected UTF-8 text, got a byte that is none";
    if (*s == '\0')
        return "expected text, got a NUL byte";
    if (*s == '\t')
        return "expected spaces, got a tab; inside double quotes a tab is written \\t";
    return NULL;
}

static enum err_code check_bytes(const char *file, const char *text, size_t n, struct err *e)
{
    struct mark at = {1, 1};
    size_t n_bytes = 0;

    for (size_t i = 0; i < n; i += n_bytes) {
        const char *fault = fault_at(text + i, n - i, &n_bytes);

        if (fault)
            return err_set(e, ERR_INVALID, "%s:%zu:%zu: %s", file, at.line, at.column, fault);
        at.column++;
        if (text[i] == '\n')
            at = (struct mark){at.line + 1, 1};
    }
    return ERR_OK;
}

/* ---- events to nodes ---- */

static enum err_code next(struct reader *r, yaml_event_t *event)
{
    const yaml_parser_t *p = &r->parser;

    if (yaml_parser_parse(&r->parser, event))
        return ERR_OK;
    const struct mark at = mark_of(p->problem_mark);
    return err_set(r->e, ERR_INVALID, "%s:%zu:%zu: not valid YAML: %s%s%s", r->file, at.line,
                   at.column, p->problem ? p->problem : "unreadable", p->context ? " " : "",
                   p->context ? p->context : "");
}

/* What configuration has no use for, or NULL. */
static const char *excess(const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;

    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return "aliases (*name) are not allowed here; write the value out";
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        break;
    }
    if (anchor)
        return "anchors (&name) are not allowed here";
    return tag ? "tags (!name) are not allowed here" : NULL;
}

static enum err_code read_node(struct reader *r, const yaml_event_t *event, size_t depth,
                               struct node **out);

static void add_member(struct node *n, struct member m)
{
    if ((n->n & (n->n - 1)) == 0) /* full: room is the power of two from n on */
        n->members = mem_resize(n->members, n->n ? 2 * n->n : 1, sizeof(*n->members));
    n->members[n->n++] = m;
}

static enum err_code read_list(struct reader *r, struct node *list, size_t depth)
{
    for (;;) {
        AUTO(yaml_event_delete) yaml_event_t event = {0};
        struct node *item = NULL;

        if (next(r, &event))
            return ERR_INVALID;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            return ERR_OK;
        if (read_node(r, &event, depth + 1, &item))
            return ERR_INVALID;
        add_member(list, (struct member){.at = item->at, .value = item});
    }
}

static const struct member *find(const struct node *map, const char *key)
{
    for (size_t i = 0; map && map->kind == NODE_MAP && i < map->n; i++) {
        if (strcmp(map->members[i].key, key) == 0)
            return &map->members[i];
    }
    return NULL;
}

static enum err_code check_key(struct reader *r, const struct node *map, const yaml_event_t *event)
{
    const struct mark at = mark_of(event->start_mark);
    const char *key = (const char *)event->data.scalar.value;

    if (event->type != YAML_SCALAR_EVENT)
        return fail(r, at, "expected a plain key, got a list, a map or an alias");
    if (excess(event))
        return fail(r, at, excess(event));
    if (event->data.scalar.length != strlen(key))
        return fail(r, at, "expected text, got a NUL byte");
    if (!find(map, key))
        return ERR_OK;
    AUTO(buf_fini) struct buf shown = {0};
    text_clean(&shown, key, strlen(key), 80);
    return err_set(r->e, ERR_INVALID, "%s:%zu:%zu: %s: given twice; first on line %zu", r->file,
                   at.line, at.column, buf_str(&shown), find(map, key)->at.line);
}

static enum err_code read_map(struct reader *r, struct node *map, size_t depth)
{
    for (;;) {
        AUTO(yaml_event_delete) yaml_event_t key = {0};
        AUTO(yaml_event_delete) yaml_event_t value = {0};
        struct node *item = NULL;

        if (next(r, &key))
            return ERR_INVALID;
        if (key.type == YAML_MAPPING_END_EVENT)
            return ERR_OK;
        if (check_key(r, map, &key) || next(r, &value) || read_node(r, &value, depth + 1, &item))
            return ERR_INVALID;
        add_member(map, (struct member){.key = mem_dup((const char *)key.data.scalar.value),
                                        .at = mark_of(key.start_mark),
                                        .value = item});
    }
}

static enum err_code read_text(struct reader *r, const yaml_event_t *event, struct node *n)
{
    const char *text = (const char *)event->data.scalar.value;

    if (event->data.scalar.length != strlen(text)) /* "\0" in double quotes */
        return fail(r, n->at, "expected text, got a NUL byte");
    n->text = mem_dup(text);
    n->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return ERR_OK;
}

static enum err_code read_node(struct reader *r, const yaml_event_t *event, size_t depth,
                               struct node **out)
{
    AUTO(node_free) struct node *n = mem_alloc(sizeof(*n));
    enum err_code code = ERR_OK;

    n->at = mark_of(event->start_mark);
    if (excess(event))
        return fail(r, n->at, excess(event));
    if (depth > MAX_DEPTH)
        return fail(r, n->at, "nested too deeply");
    if (++r->n_nodes > MAX_NODES)
        return fail(r, n->at, "too many values in one file");
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        n->kind = NODE_TEXT;
        code = read_text(r, event, n);
        break;
    case YAML_SEQUENCE_START_EVENT:
        n->kind = NODE_LIST;
        code = read_list(r, n, depth);
        break;
    default:
        n->kind = NODE_MAP;
        code = read_map(r, n, depth);
        break;
    }
    if (code)
        return code;
    *out = TAKE(n);
    return ERR_OK;
}

/* The one document of the stream; NULL where it is empty. */
static enum err_code read_stream(struct reader *r, struct node **out)
{
    AUTO(node_free) struct node *root = NULL;

    for (;;) {
        AUTO(yaml_event_delete) yaml_event_t event = {0};

        if (next(r, &event))
            return ERR_INVALID;
        if (event.type == YAML_STREAM_END_EVENT)
            break;
        if (event.type == YAML_STREAM_START_EVENT || event.type == YAML_DOCUMENT_END_EVENT)
            continue;
        if (event.type == YAML_DOCUMENT_START_EVENT && !root)
            continue;
        if (root)
            return fail(r, mark_of(event.start_mark), "expected one document, got a second one");
        if (read_node(r, &event, 0, &root))
            return ERR_INVALID;
    }
    if (!root)
        return fail(r, (struct mark){1, 1}, "expected keys, got an empty file");
    *out = TAKE(root);
    return ERR_OK;
}

enum err_code node_parse(const char *file, const char *text, size_t n, struct node **out,
                         struct err *e)
{
    struct reader r = {.file = file, .e = e};

    if (check_bytes(file, text, n, e))
        return ERR_INVALID;
    if (!yaml_parser_initialize(&r.parser))
        return err_set(e, ERR_NOMEM, "%s: no memory to read it", file);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)(text ? text : ""), n);
    const enum err_code code = read_stream(&r, out);
    yaml_parser_delete(&r.parser);
    return code;
}

/* ---- reading the tree ---- */

const struct node *node_at(const struct node *map, const char *key)
{
    const struct member *m = find(map, key);

    return m ? m->value : NULL;
}

bool node_is_null(const struct node *n)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};

    for (size_t i = 0; n->kind == NODE_TEXT && n->is_plain && i < LEN(words); i++) {
        if (strcmp(n->text, words[i]) == 0)
            return true;
    }
    return false;
}

void node_show(const struct node *n, char *out, size_t size)
{
    AUTO(buf_fini) struct buf shown = {0};

    if (n->kind == NODE_TEXT)
        text_clean(&shown, n->text, strlen(n->text), 60);
    if (n->kind != NODE_TEXT)
        snprintf(out, size, "%s", n->kind == NODE_LIST ? "a list" : "a map");
    else if (node_is_null(n))
        snprintf(out, size, "nothing");
    else
        snprintf(out, size, "\"%s\"", buf_str(&shown));
}

/* The member a path goes on to, and what is left of the path; of several keys the longest. */
static const struct member *step(const struct node *n, const char **path)
{
    const struct member *best = NULL;
    size_t best_len = 0;

    if (n->kind == NODE_LIST && **path == '[') {
        char *end = NULL;
        const size_t i = strtoul(*path + 1, &end, 10);

        if (*end != ']' || i >= n->n)
            return NULL;
        *path = end + 1;
        return &n->members[i];
    }
    *path += **path == '.';
    for (size_t i = 0; n->kind == NODE_MAP && i < n->n; i++) {
        const size_t len = strlen(n->members[i].key);

        if (len > best_len && strncmp(n->members[i].key, *path, len) == 0 &&
            strchr(".[:", (*path)[len])) {
            best = &n->members[i];
            best_len = len;
        }
    }
    *path += best_len;
    return best;
}

struct mark node_find(const struct node *root, const char *path)
{
    struct mark at = root->at;

    for (const struct node *n = root; *path && *path != ':';) {
        const struct member *m = step(n, &path);

        if (!m)
            break;
        at = m->at;
        n = m->value;
    }
    return at;
}
