/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* jansson has macros of these names. */
#undef json_is_object
#undef json_is_array
#undef json_is_string
#undef json_is_number
#undef json_is_null

enum { MOST_LEVELS = 64, INDENT = 2 };

__attribute__((constructor)) static void use_our_memory(void)
{
    json_set_alloc_funcs(mem_alloc, mem_free);
}

json *json_keep(json *v)
{
    return json_incref(v);
}

void json_free(json *v)
{
    json_decref(v);
}

/* Text to value */

/** The parser recurses, so depth is bounded before it starts. Strings are skipped as it would. */
static bool is_too_deep(const char *text, size_t n)
{
    size_t depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > MOST_LEVELS)
                return true;
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return false;
}

static enum err_code parse(const char *text, size_t n, size_t flags, json **out, struct err *e)
{
    json_error_t why;

    if (is_too_deep(text, n))
        return err_set(e, ERR_INVALID, "JSON nested deeper than %d levels", MOST_LEVELS);
    json *v = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | flags, &why);
    if (!v) {
        AUTO(buf_fini) struct buf clean = {0};
        text_clean(&clean, why.text, strlen(why.text), 200);
        return err_set(e, ERR_INVALID, "JSON line %d, column %d: %s", why.line, why.column,
                       buf_str(&clean));
    }
    *out = v;
    return ERR_OK;
}

enum err_code json_parse(const char *text, size_t n, json **out, struct err *e)
{
    return parse(text, n, 0, out, e);
}

enum err_code json_parse_foreign(const char *text, size_t n, json **out, struct err *e)
{
    return parse(text, n, JSON_DECODE_INT_AS_REAL, out, e);
}

/* Value to text: jansson writes 0.1 as 0.10000000000000001, we write the shortest that reads back.
 */

static void dump_real(double d, struct buf *out)
{
    char s[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(s, sizeof(s), "%.*g", digits, d);
        if (strtod(s, NULL) == d)
            break;
    }
    buf_adds(out, s);
    if (!strpbrk(s, ".e"))
        buf_adds(out, ".0"); /* it stays a real when read back */
}

static void dump_string(const char *s, size_t n, struct buf *out)
{
    static const char plain[] = "\b\f\n\r\t\"\\";
    static const char letter[] = "bfnrt\"\\";

    buf_addc(out, '"');
    for (size_t i = 0; i < n; i++) {
        const char *known = s[i] ? strchr(plain, s[i]) : NULL;
        if (known)
            buf_printf(out, "\\%c", letter[known - plain]);
        else if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
            buf_printf(out, "\\u%04x", (unsigned char)s[i]);
        else
            buf_addc(out, s[i]);
    }
    buf_addc(out, '"');
}

static void dump_break(enum json_layout layout, int level, struct buf *out)
{
    if (layout == JSON_PRETTY)
        buf_printf(out, "\n%*s", level * INDENT, "");
}

static void dump_value(const json *v, enum json_layout layout, int level, struct buf *out);

static void dump_array(const json *v, enum json_layout layout, int level, struct buf *out)
{
    size_t n = json_array_size(v);

    buf_addc(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_addc(out, ',');
        dump_break(layout, level + 1, out);
        dump_value(json_array_get(v, i), layout, level + 1, out);
    }
    if (n > 0)
        dump_break(layout, level, out);
    buf_addc(out, ']');
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void dump_object(const json *v, enum json_layout layout, int level, struct buf *out)
{
    size_t n = json_object_size(v);
    const char **keys = mem_array(n, sizeof(*keys));
    size_t i = 0;

    for (const char *k = json_first_key(v); k; k = json_next_key(v, k))
        keys[i++] = k;
    if (layout == JSON_SORTED)
        qsort(keys, n, sizeof(*keys), compare_keys);

    buf_addc(out, '{');
    for (i = 0; i < n; i++) {
        if (i > 0)
            buf_addc(out, ',');
        dump_break(layout, level + 1, out);
        dump_string(keys[i], strlen(keys[i]), out);
        buf_adds(out, layout == JSON_PRETTY ? ": " : ":");
        dump_value(json_object_get(v, keys[i]), layout, level + 1, out);
    }
    if (n > 0)
        dump_break(layout, level, out);
    buf_addc(out, '}');
    mem_free(keys);
}

static void dump_value(const json *v, enum json_layout layout, int level, struct buf *out)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        dump_object(v, layout, level, out);
        break;
    case JSON_ARRAY:
        dump_array(v, layout, level, out);
        break;
    case JSON_STRING:
        dump_string(json_string_value(v), json_string_length(v), out);
        break;
    case JSON_INTEGER:
        buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        break;
    case JSON_REAL:
        dump_real(json_real_value(v), out);
        break;
    case JSON_TRUE:
        buf_adds(out, "true");
        break;
    case JSON_FALSE:
        buf_adds(out, "false");
        break;
    case JSON_NULL:
        buf_adds(out, "null");
        break;
    }
}

void json_dump(const json *v, enum json_layout layout, struct buf *out)
{
    if (v)
        dump_value(v, layout, 0, out);
    else
        buf_adds(out, "null");
}

/* Building */

json *json_new_object(void)
{
    return json_object();
}

json *json_new_array(void)
{
    return json_array();
}

json *json_new_string(const char *s)
{
    if (!s)
        return json_null();
    AUTO(buf_fini) struct buf repaired = {0};
    text_repair(&repaired, s, strlen(s));
    return json_stringn_nocheck(buf_str(&repaired), repaired.len);
}

json *json_new_int(int64_t i)
{
    return json_integer(i);
}

json *json_new_real(double d)
{
    return isfinite(d) ? json_real(d) : json_null();
}

json *json_new_bool(bool b)
{
    return json_boolean(b);
}

json *json_new_null(void)
{
    return json_null();
}

json *json_put(json *object, const char *key, json *v)
{
    AUTO(buf_fini) struct buf repaired = {0};

    text_repair(&repaired, key, strlen(key));
    int rc = json_object_set_new_nocheck(object, buf_str(&repaired), v ? v : json_null());
    assert(rc == 0); /* not an object, or an object put into itself */
    return object;
}

json *json_push(json *array, json *v)
{
    int rc = json_array_append_new(array, v ? v : json_null());

    assert(rc == 0); /* not an array, or an array pushed into itself */
    return array;
}

void json_remove(json *object, const char *key)
{
    json_object_del(object, key);
}

/* Reading */

json *json_at(const json *object, const char *key)
{
    return json_object_get(object, key);
}

json *json_item(const json *array, size_t i)
{
    return json_array_get(array, i);
}

size_t json_len(const json *array_or_object)
{
    return json_is_array(array_or_object) ? json_array_size(array_or_object)
                                          : json_object_size(array_or_object);
}

bool json_is_object(const json *v)
{
    return v && json_typeof(v) == JSON_OBJECT;
}

bool json_is_array(const json *v)
{
    return v && json_typeof(v) == JSON_ARRAY;
}

bool json_is_string(const json *v)
{
    return v && json_typeof(v) == JSON_STRING;
}

bool json_is_number(const json *v)
{
    return v && (json_typeof(v) == JSON_INTEGER || json_typeof(v) == JSON_REAL);
}

bool json_is_null(const json *v)
{
    return !v || json_typeof(v) == JSON_NULL;
}

const char *json_str(const json *v, const char *otherwise)
{
    return json_is_string(v) ? json_string_value(v) : otherwise;
}

int64_t json_int(const json *v, int64_t otherwise)
{
    return json_is_integer(v) ? json_integer_value(v) : otherwise;
}

double json_num(const json *v, double otherwise)
{
    return json_is_number(v) ? json_number_value(v) : otherwise;
}

bool json_bool(const json *v, bool otherwise)
{
    return json_is_boolean(v) ? json_is_true(v) : otherwise;
}

/** Index of an array item as RFC 6901 writes it: digits, no leading zero. */
static json *pointer_item(const json *array, const char *s, size_t n)
{
    size_t i = 0;

    if (n == 0 || n > 9 || strspn(s, "0123456789") < n || (n > 1 && s[0] == '0'))
        return NULL;
    for (size_t k = 0; k < n; k++)
        i = i * 10 + (size_t)(s[k] - '0');
    return json_array_get(array, i);
}

/** Reads one reference token; false where a ~ is neither ~0 nor ~1. */
static bool pointer_token(const char *s, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '~') {
            buf_addc(out, s[i]);
            continue;
        }
        i++;
        if (i == n || (s[i] != '0' && s[i] != '1'))
            return false;
        buf_addc(out, s[i] == '0' ? '~' : '/');
    }
    return true;
}

json *json_pointer(const json *v, const char *pointer)
{
    const char *s = pointer;

    while (v && *s) {
        if (*s++ != '/')
            return NULL;
        size_t n = strcspn(s, "/");
        AUTO(buf_fini) struct buf token = {0};
        if (!pointer_token(s, n, &token))
            return NULL;
        v = json_is_array(v) ? pointer_item(v, s, n) : json_object_get(v, buf_str(&token));
        s += n;
    }
    return (json *)v;
}

static enum err_code need(const json *o, const char *key, const char *expected, struct err *e)
{
    if (json_at(o, key))
        return err_set(e, ERR_INVALID, "\"%s\": expected %s", key, expected);
    return err_set(e, ERR_INVALID, "\"%s\" is missing; expected %s", key, expected);
}

enum err_code json_need_str(const json *o, const char *key, const char **out, struct err *e)
{
    const json *v = json_at(o, key);

    if (!json_is_string(v))
        return need(o, key, "a string", e);
    *out = json_string_value(v);
    return ERR_OK;
}

enum err_code json_need_int(const json *o, const char *key, int64_t *out, struct err *e)
{
    const json *v = json_at(o, key);

    if (!json_is_integer(v))
        return need(o, key, "a whole number", e);
    *out = json_integer_value(v);
    return ERR_OK;
}

enum err_code json_need_num(const json *o, const char *key, double *out, struct err *e)
{
    const json *v = json_at(o, key);

    if (!json_is_number(v))
        return need(o, key, "a number", e);
    *out = json_number_value(v);
    return ERR_OK;
}

enum err_code json_need_array(const json *o, const char *key, json **out, struct err *e)
{
    json *v = json_at(o, key);

    if (!json_is_array(v))
        return need(o, key, "an array", e);
    *out = v;
    return ERR_OK;
}

enum err_code json_need_object(const json *o, const char *key, json **out, struct err *e)
{
    json *v = json_at(o, key);

    if (!json_is_object(v))
        return need(o, key, "an object", e);
    *out = v;
    return ERR_OK;
}

const char *json_first_key(const json *object)
{
    return json_object_iter_key(json_object_iter((json *)object));
}

const char *json_next_key(const json *object, const char *key)
{
    void *at = json_object_key_to_iter(key);

    return json_object_iter_key(json_object_iter_next((json *)object, at));
}
