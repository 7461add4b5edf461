/* SPDX-License-Identifier: Apache-2.0 */
/** Every key of bisectd.yml and of a project file: one row each. */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "config/node.h"
#include <stdint.h>

enum schema_file { SCHEMA_DAEMON, SCHEMA_PROJECT };

enum schema_type {
    SCHEMA_TEXT,
    SCHEMA_NAME,       /* letters, digits and ._- */
    SCHEMA_CHOICE,     /* one of the words of `allowed` */
    SCHEMA_BOOL,       /* yes or no */
    SCHEMA_COUNT,      /* a whole number from low to high */
    SCHEMA_DURATION,   /* "90s"; low and high in seconds */
    SCHEMA_SIZE,       /* "16M"; low and high in bytes */
    SCHEMA_PERCENT,    /* 2 or "2%" */
    SCHEMA_LIST,       /* of texts */
    SCHEMA_MAP,        /* of texts, by names the user chooses */
    SCHEMA_SECTION,    /* a map of keys with rows of their own */
    SCHEMA_SECTIONS,   /* a map of such maps, by names the user chooses: rows "path.*.key" */
    SCHEMA_ITEMS,      /* a list of such maps: rows "path.*.key" */
    SCHEMA_PROJECTS,   /* a list of project files and of projects written out */
    SCHEMA_SUBMODULES, /* a word of `allowed`, or a map of texts */
    SCHEMA_LATER,      /* of a later version: only a value that asks for nothing is taken */
    SCHEMA_TYPE_COUNT
};

struct schema_row {
    enum schema_file file;
    const char *path;
    enum schema_type type;
    const char
        *standard; /* the default, as one would write it; NULL: none, must be given or is empty */
    double low, high;    /* of numbers; both 0: the type's own */
    const char *allowed; /* words with spaces between them, or NULL */
    size_t offset;       /* rows limits.*: where in struct limits */
    const char *help;
};
extern const struct schema_row schema[];
extern const size_t schema_len;

/** Row of a path in which names a user chose stand as "*"; NULL if there is none. */
const struct schema_row *schema_find(enum schema_file file, const char *path);

/**
 * The tree as JSON: types, limits and keys checked by the table, sizes and durations left as text.
 *
 * Errors: "FILE:LINE:COLUMN: key.path: what was expected"; `prefix` is put before the path.
 */
MUST_CHECK enum err_code schema_read(enum schema_file file, const char *file_name,
                                     const char *prefix, const struct node *root, json **out,
                                     struct err *e);

/** What the text of a number, duration (in seconds), size (in bytes) or percentage amounts to. */
MUST_CHECK enum err_code schema_amount(const struct schema_row *row, const char *text, double *out);
const char *schema_amount_words(enum schema_type type); /* "a duration such as 90s, 5m or 2h" */
/** "from 1s to 24h", in the row's unit. */
void schema_limits(const struct schema_row *row, char out[80]);
/** The words of a copy of `allowed`, as strings within it; returns how many. */
size_t schema_words(char *copy, const char **words, size_t max);

/** The same as a struct limits holds it: durations in ns. */
MUST_CHECK enum err_code schema_number(const struct schema_row *row, const char *text, int64_t *out,
                                       struct err *e);

void schema_print(struct buf *out);
json *schema_to_json(void);

#endif
