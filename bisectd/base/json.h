/* SPDX-License-Identifier: Apache-2.0 */
/**
 * JSON values: a thin skin over jansson, so that the library stays in this folder.
 *
 * Building never fails (see mem.h). Setting takes over the value given to it. Text that is not
 * UTF-8 is repaired with U+FFFD on the way in, since names and messages of a repository may hold
 * anything.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

struct json_t; /* jansson's; reference counted */
typedef struct json_t json;

/* Lifetime */
json *json_keep(json *v); /* one more reference; returns v; NULL passes */
void json_free(json *v);  /* one reference less */
DEFINE_AUTO(json, json_free)

/* Text to value and back */
/** Strict RFC 8259, duplicate keys refused, at most 64 levels. Errors name line and column. */
MUST_CHECK enum err_code json_parse(const char *text, size_t n, json **out, struct err *e);
/** The same for documents of other programs, whose integers may pass 64 bits: numbers become reals. */
MUST_CHECK enum err_code json_parse_foreign(const char *text, size_t n, json **out, struct err *e);
enum json_layout { JSON_COMPACT, JSON_PRETTY, JSON_SORTED /* compact, for hashing */ };
void json_dump(const json *v, enum json_layout layout, struct buf *out);

/* Building */
json *json_new_object(void);
json *json_new_array(void);
json *json_new_string(const char *s); /* NULL gives null */
json *json_new_int(int64_t i);
json *json_new_real(double d); /* nan and inf give null */
json *json_new_bool(bool b);
json *json_new_null(void);
/** Returns the object, so that calls can be nested. `v` is owned by it afterwards. */
json *json_put(json *object, const char *key, json *v);
json *json_push(json *array, json *v);
void json_remove(json *object, const char *key);

/* Reading: NULL or the default where absent or of another type. Borrowed. */
json *json_at(const json *object, const char *key);
json *json_item(const json *array, size_t i);
size_t json_len(const json *array_or_object); /* 0 for the rest */
bool json_is_object(const json *v);
bool json_is_array(const json *v);
bool json_is_string(const json *v);
bool json_is_number(const json *v);
bool json_is_null(const json *v); /* true for NULL also */
const char *json_str(const json *v, const char *otherwise);
int64_t json_int(const json *v, int64_t otherwise);
double json_num(const json *v, double otherwise);
bool json_bool(const json *v, bool otherwise);
/** Follows an RFC 6901 pointer; NULL where it leads nowhere. */
json *json_pointer(const json *v, const char *pointer);

/* Reading what must be there: ERR_INVALID names the key and what was expected. */
MUST_CHECK enum err_code json_need_str(const json *o, const char *key, const char **out, struct err *e);
MUST_CHECK enum err_code json_need_int(const json *o, const char *key, int64_t *out, struct err *e);
MUST_CHECK enum err_code json_need_num(const json *o, const char *key, double *out, struct err *e);
MUST_CHECK enum err_code json_need_array(const json *o, const char *key, json **out, struct err *e);
MUST_CHECK enum err_code json_need_object(const json *o, const char *key, json **out, struct err *e);

/** Members in insertion order: for (const char *k = json_first_key(o); k; k = json_next_key(o, k)). */
const char *json_first_key(const json *object);
const char *json_next_key(const json *object, const char *key);

#endif
