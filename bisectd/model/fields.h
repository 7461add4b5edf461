/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Structs to and from JSON by tables: one row a field.
 *
 * Every error begins with the path of the key at fault ("build.timeout: expected …"), so that
 * whoever knows where that key stands in a file can say so.
 */
#ifndef MODEL_FIELDS_H
#define MODEL_FIELDS_H

#include "base/err.h"
#include "base/json.h"
#include "model/check.h"
#include "model/choice.h"
#include <stdbool.h>
#include <stdint.h>

enum field_type {
    FIELD_STRING,   /* char *, owned */
    FIELD_BOOL,     /* bool */
    FIELD_U32,      /* uint32_t */
    FIELD_I64,      /* int64_t */
    FIELD_SEED,     /* uint64_t; a number below 2^53, else a string of digits */
    FIELD_NUM,      /* double; nan is null */
    FIELD_PERCENT,  /* double; 2 or "2%"; < 0 is absent */
    FIELD_DURATION, /* int64_t, ns; seconds, or "90s"; given out as a string */
    FIELD_SIZE,     /* int64_t, bytes; a number, or "4G"; given out as a string */
    FIELD_CHOICE,   /* an enum, by the names of `choices` */
    FIELD_STRINGS,  /* struct strings */
    FIELD_PAIRS,    /* struct pairs; an object of strings */
    FIELD_REVISION, /* struct revision; null if none */
    FIELD_DIGEST,   /* char[65]; absent if empty */
    FIELD_TYPE_COUNT
};

enum {
    FIELD_NEEDED = 1,   /* absent or null is an error */
    FIELD_SKIP_ZERO = 2 /* a zero (false, empty) is not given out */
};

struct field {
    const char *key;
    enum field_type type;
    size_t offset;
    unsigned flags;
    double low, high; /* numbers, seconds, bytes, or bytes of a string; both 0: the type's own */
    const struct choice *choices;
};

enum unknown_keys { UNKNOWN_REFUSED, UNKNOWN_IGNORED };

/**
 * Reads an object into the struct at `out`. Absent keys leave what is there; strings and lists
 * that are there are replaced. After an error some fields may be set: `out` is to be freed alike.
 */
MUST_CHECK enum err_code fields_read(const struct field *fields, size_t n, const json *object,
                                     enum unknown_keys unknown, void *out, struct err *e);
MUST_CHECK enum err_code field_read(const struct field *field, const json *v, void *out,
                                    struct err *e);
/** The same from text, as a command line gives it. Lists are not read from text. */
MUST_CHECK enum err_code field_read_text(const struct field *field, const char *text, void *out,
                                         struct err *e);
const struct field *field_find(const struct field *fields, size_t n, const char *key);

/** Puts the fields into `object`, in the table's order. */
void fields_write(const struct field *fields, size_t n, const void *in, json *object);
/** Frees strings and lists. */
void fields_fini(const struct field *fields, size_t n, void *out);

/** Shortest exact text: "20m", "90s", "250ms"; "16M", "1000". `out` holds 32. */
void duration_text(int64_t ns, char out[32]);
void size_text(int64_t bytes, char out[32]);

#endif
