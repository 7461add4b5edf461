/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A YAML document as a tree that remembers where everything stands.
 *
 * The YAML of configuration files: maps with plain keys, lists, scalars. Anchors, aliases, tags,
 * duplicate keys, several documents, tabs, NUL bytes and text that is not UTF-8 are errors.
 */
#ifndef CONFIG_NODE_H
#define CONFIG_NODE_H

#include "base/auto.h"
#include "base/err.h"
#include <stdbool.h>

/** Both from 1; columns count characters. */
struct mark {
    size_t line, column;
};

enum node_kind { NODE_TEXT, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    struct mark at;
    char *text;    /* NODE_TEXT */
    bool is_plain; /* not quoted, not a block */
    size_t n;      /* members of a list or map, in the order of the file */
    struct member *members;
};
struct member {
    char *key; /* NULL in a list */
    struct mark at;
    struct node *value;
};

void node_free(struct node *n);
DEFINE_AUTO(struct node, node_free)
/** Errors begin with "FILE:LINE:COLUMN: ", where `file` is the name to show. */
MUST_CHECK enum err_code node_parse(const char *file, const char *text, size_t n, struct node **out,
                                    struct err *e);
const struct node *node_at(const struct node *map, const char *key); /* NULL: none */
/** Nothing was written: "key:", "key: ~" or "key: null". */
bool node_is_null(const struct node *n);
/** "a list", "a map", or the text in quotes (cleaned and cut) into `out`, for messages. */
void node_show(const struct node *n, char *out, size_t size);
/** Where the thing at a path such as "metrics.startup.regex" or "build.steps[2]" stands; where
 *  the path leads nowhere, the last thing on the way. Text from ": " on is passed over. */
struct mark node_find(const struct node *root, const char *path);

#endif
