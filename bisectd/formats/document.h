/* SPDX-License-Identifier: Apache-2.0 */
/** What a command wrote, as the readers of formats get it: as text, and as JSON if it is that. */
#ifndef FORMATS_DOCUMENT_H
#define FORMATS_DOCUMENT_H

#include "base/err.h"
#include "base/json.h"
#include "formats/piece.h"
#include "formats/results.h"

struct document {
    struct piece text;
    json *json;       /* NULL if it is none */
    struct err error; /* why not, where it begins like JSON; else code ERR_OK */
};
/** `text` is borrowed. */
void document_init(struct document *d, struct piece text);
void document_fini(struct document *d);
DEFINE_AUTO_FINI(struct document, document_fini)

/**
 * JSON as other programs write it: bytes that are not UTF-8 become U+FFFD, and the bare NaN and
 * Infinity of C and Python become strings of that name, which are no numbers, so that what stands
 * beside them can be read.
 */
MUST_CHECK enum err_code foreign_json(struct piece text, json **out, struct err *e);

/** An object of the kind the format has at its top: ERR_INVALID says what is there instead. */
MUST_CHECK enum err_code document_need_json(const struct document *d, const char *what,
                                            struct err *e);

/** The next line that is a JSON object; others are passed over. False at the end, and with
 *  ERR_INVALID in `e` where a line begins like an object and is none. `n_line` counts. */
bool document_next_object(struct piece *rest, size_t *n_line, json **out, struct err *e);

/** A number of JSON as one more value of `x`; anything else as its fault, by the name `what`. */
void result_add_json(struct results *r, struct result *x, const json *v, const char *what);
/** All numbers of an array. An empty one is a fault. */
void result_add_array(struct results *r, struct result *x, const json *v, const char *what);
/** The same for text. */
void result_add_piece(struct results *r, struct result *x, struct piece p, const char *what);

#endif
