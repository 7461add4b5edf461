/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fields.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/revision.h"
#include "model/strings.h"
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_STRING = 64 * KIB, MAX_LIST = 10000 };
/* Whole numbers up to here are exact in a double, hence in every JSON reader. */
#define MAX_EXACT 9007199254740991.0 /* 2^53 - 1 */

/* ---- exact texts ---- */

void duration_text(int64_t ns, char out[32])
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{3600 * NS_PER_S, "h"}, {60 * NS_PER_S, "m"}, {NS_PER_S, "s"}};

    for (size_t i = 0; i < LEN(units) && ns != 0; i++) {
        if (ns % units[i].ns == 0) {
            snprintf(out, 32, "%" PRId64 "%s", ns / units[i].ns, units[i].name);
            return;
        }
    }
    snprintf(out, 32, "%" PRId64 "ms", ns / NS_PER_MS);
}

void size_text(int64_t bytes, char out[32])
{
    static const char suffix[] = "GMK";

    for (size_t i = 0; i < 3 && bytes != 0; i++) {
        const int64_t unit = INT64_C(1) << (30 - 10 * i);

        if (bytes % unit == 0) {
            snprintf(out, 32, "%" PRId64 "%c", bytes / unit, suffix[i]);
            return;
        }
    }
    snprintf(out, 32, "%" PRId64, bytes);
}

/* ---- one field ---- */

static void *at(const struct field *f, void *out)
{
    return (char *)out + f->offset;
}

static const void *at_const(const struct field *f, const void *in)
{
    return (const char *)in + f->offset;
}

static bool has_limits(const struct field *f)
{
    return f->low != 0 || f->high != 0;
}

static bool in_limits(const struct field *f, double x, double low, double high)
{
    if (has_limits(f)) {
        low = f->low;
        high = f->high;
    }
    return x >= low && x <= high;
}

static enum err_code set_string(const struct field *f, const char *text, void *out, struct err *e)
{
    char **s = at(f, out);
    const size_t max = f->high > 0 ? (size_t)f->high : MAX_STRING;

    if (strlen(text) > max)
        return err_set(e, ERR_INVALID, "%s: longer than the limit of %zu bytes", f->key, max);
    if (strlen(text) < (size_t)f->low)
        return err_set(e, ERR_INVALID, "%s: expected some text, got an empty string", f->key);
    mem_free(*s);
    *s = mem_dup(text);
    return ERR_OK;
}

static enum err_code read_string(const struct field *f, const json *v, void *out, struct err *e)
{
    if (!json_is_string(v))
        return err_expected(e, f->key, "a string", v);
    return set_string(f, json_str(v, ""), out, e);
}

static enum err_code read_bool(const struct field *f, const json *v, void *out, struct err *e)
{
    bool *b = at(f, out);
    const bool yes = json_bool(v, false);

    if (json_bool(v, true) != yes)
        return err_expected(e, f->key, "true or false", v);
    *b = yes;
    return ERR_OK;
}

static enum err_code set_bool(const struct field *f, const char *text, void *out, struct err *e)
{
    static const struct choice words[] = {
        {"yes", 1, 0}, {"no", 0, 0}, {"true", 1, 0}, {"false", 0, 0}, {"on", 1, 0},
        {"off", 0, 0}, {0}};
    unsigned value = 0;

    if (choice_parse(words, text, &value, e))
        return err_wrap(e, "%s", f->key);
    *(bool *)at(f, out) = value;
    return ERR_OK;
}

/* A whole number of the field's type; `got` is for the message. */
static enum err_code set_whole(const struct field *f, double x, const json *got, void *out,
                               struct err *e)
{
    const double high = f->type == FIELD_U32 ? UINT32_MAX : MAX_EXACT;
    const double low = f->type == FIELD_I64 ? -MAX_EXACT : 0;

    if (floor(x) != x || !in_limits(f, x, low, high)) {
        char what[96];

        snprintf(what, sizeof(what), "a whole number from %.0f to %.0f",
                 has_limits(f) ? f->low : low, has_limits(f) ? f->high : high);
        return err_expected(e, f->key, what, got);
    }
    if (f->type == FIELD_U32)
        *(uint32_t *)at(f, out) = (uint32_t)x;
    else
        *(int64_t *)at(f, out) = (int64_t)x;
    return ERR_OK;
}

static enum err_code read_whole(const struct field *f, const json *v, void *out, struct err *e)
{
    return set_whole(f, json_is_number(v) ? json_num(v, NAN) : NAN, v, out, e);
}

static enum err_code set_whole_text(const struct field *f, const char *text, void *out,
                                    struct err *e)
{
    AUTO(json_free) json *got = json_new_string(text);
    double x = NAN;

    if (text_num(text, &x, NULL))
        x = NAN;
    return set_whole(f, x, got, out, e);
}

static enum err_code set_seed(const struct field *f, const char *text, void *out, struct err *e)
{
    uint64_t seed = 0;
    size_t n = 0;

    for (; isdigit((unsigned char)text[n]); n++) {
        const uint64_t digit = (uint64_t)(text[n] - '0');

        if (__builtin_mul_overflow(seed, UINT64_C(10), &seed) ||
            __builtin_add_overflow(seed, digit, &seed))
            return err_set(e, ERR_INVALID, "%s: %s is more than 64 bits", f->key, text);
    }
    if (n == 0 || text[n])
        return err_set(e, ERR_INVALID, "%s: expected a whole number from 0, got %s", f->key, text);
    if (f->high > 0 && (double)seed > f->high)
        return err_set(e, ERR_INVALID, "%s: expected a whole number from 0 to %.0f, got %s", f->key,
                       f->high, text);
    *(uint64_t *)at(f, out) = seed;
    return ERR_OK;
}

static enum err_code read_seed(const struct field *f, const json *v, void *out, struct err *e)
{
    const int64_t seed = json_int(v, -1);

    if (json_is_string(v))
        return set_seed(f, json_str(v, ""), out, e);
    if (seed < 0 || (f->high > 0 && (double)seed > f->high))
        return err_expected(e, f->key, "a whole number from 0 to 2^53 - 1", v);
    *(uint64_t *)at(f, out) = (uint64_t)seed;
    return ERR_OK;
}

static enum err_code set_num(const struct field *f, double x, const json *got, void *out,
                             struct err *e)
{
    if (!isfinite(x) || !in_limits(f, x, -INFINITY, INFINITY)) {
        char what[96] = "a number";

        if (has_limits(f))
            snprintf(what, sizeof(what), "a number from %g to %g", f->low, f->high);
        return err_expected(e, f->key, what, got);
    }
    *(double *)at(f, out) = x;
    return ERR_OK;
}

static enum err_code read_num(const struct field *f, const json *v, void *out, struct err *e)
{
    return set_num(f, json_is_number(v) ? json_num(v, NAN) : NAN, v, out, e);
}

static enum err_code set_num_text(const struct field *f, const char *text, void *out, struct err *e)
{
    AUTO(json_free) json *got = json_new_string(text);
    AUTO(mem_free) char *bare = mem_dup(text);
    const size_t n = strlen(bare);
    double x = NAN;

    if (f->type == FIELD_PERCENT && n > 0 && bare[n - 1] == '%')
        bare[n - 1] = '\0';
    if (text_num(bare, &x, NULL))
        x = NAN;
    return set_num(f, x, got, out, e);
}

static enum err_code read_percent(const struct field *f, const json *v, void *out, struct err *e)
{
    if (json_is_string(v))
        return set_num_text(f, json_str(v, ""), out, e);
    return read_num(f, v, out, e);
}

static enum err_code set_duration_ns(const struct field *f, int64_t ns, void *out, struct err *e)
{
    if (!in_limits(f, (double)ns / NS_PER_S, 0, INT64_MAX / NS_PER_S)) {
        char low[32], high[32], got[32];

        duration_text((int64_t)(f->low * NS_PER_S), low);
        duration_text((int64_t)(f->high * NS_PER_S), high);
        duration_text(ns, got);
        return err_set(e, ERR_INVALID, "%s: expected a duration from %s to %s, got %s", f->key, low,
                       high, got);
    }
    *(int64_t *)at(f, out) = ns / NS_PER_MS * NS_PER_MS;
    return ERR_OK;
}

static enum err_code set_duration(const struct field *f, const char *text, void *out, struct err *e)
{
    int64_t ns = 0;

    if (duration_parse(text, &ns, e))
        return err_wrap(e, "%s", f->key);
    return set_duration_ns(f, ns, out, e);
}

static enum err_code read_duration(const struct field *f, const json *v, void *out, struct err *e)
{
    const double seconds = json_num(v, -1);

    if (json_is_string(v))
        return set_duration(f, json_str(v, ""), out, e);
    if (!json_is_number(v) || !(seconds >= 0 && seconds < 1e9))
        return err_expected(e, f->key, "a duration such as \"90s\", \"5m\" or \"2h\"", v);
    return set_duration_ns(f, (int64_t)llround(seconds * NS_PER_S), out, e);
}

static enum err_code set_size_bytes(const struct field *f, int64_t bytes, void *out, struct err *e)
{
    if (!in_limits(f, (double)bytes, 0, MAX_EXACT)) {
        char low[32], high[32], got[32];

        size_text((int64_t)f->low, low);
        size_text((int64_t)f->high, high);
        size_text(bytes, got);
        return err_set(e, ERR_INVALID, "%s: expected a size from %s to %s, got %s", f->key, low,
                       high, got);
    }
    *(int64_t *)at(f, out) = bytes;
    return ERR_OK;
}

static enum err_code set_size(const struct field *f, const char *text, void *out, struct err *e)
{
    int64_t bytes = 0;

    if (text_size(text, &bytes, e))
        return err_wrap(e, "%s", f->key);
    return set_size_bytes(f, bytes, out, e);
}

static enum err_code read_size(const struct field *f, const json *v, void *out, struct err *e)
{
    const int64_t bytes = json_int(v, -1);

    if (json_is_string(v))
        return set_size(f, json_str(v, ""), out, e);
    if (bytes < 0)
        return err_expected(e, f->key, "a size such as \"512K\", \"16M\" or \"4G\"", v);
    return set_size_bytes(f, bytes, out, e);
}

static enum err_code set_choice(const struct field *f, const char *text, void *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(f->choices, text, &value, e))
        return err_wrap(e, "%s", f->key);
    memcpy(at(f, out), &value, sizeof(value)); /* an enum of ours has the size of unsigned */
    return ERR_OK;
}

static enum err_code read_choice(const struct field *f, const json *v, void *out, struct err *e)
{
    AUTO(buf_fini) struct buf what = {0};

    if (json_is_string(v))
        return set_choice(f, json_str(v, ""), out, e);
    for (const struct choice *c = f->choices; c->name; c++) {
        if (!c->is_later)
            buf_printf(&what, "%s%s", what.len ? ", " : "one of ", c->name);
    }
    return err_expected(e, f->key, buf_str(&what), v);
}

static enum err_code read_strings(const struct field *f, const json *v, void *out, struct err *e)
{
    struct strings *list = at(f, out);

    if (!json_is_array(v))
        return err_expected(e, f->key, "a list of strings", v);
    if (json_len(v) > MAX_LIST)
        return err_set(e, ERR_INVALID, "%s: more than %d items", f->key, MAX_LIST);
    strings_fini(list);
    for (size_t i = 0; i < json_len(v); i++) {
        const json *item = json_item(v, i);
        char key[128];

        snprintf(key, sizeof(key), "%s[%zu]", f->key, i);
        if (!json_is_string(item))
            return err_expected(e, key, "a string", item);
        if (strlen(json_str(item, "")) > MAX_STRING)
            return err_set(e, ERR_INVALID, "%s: longer than the limit of %d bytes", key,
                           MAX_STRING);
        strings_add(list, json_str(item, ""));
    }
    return ERR_OK;
}

static enum err_code read_pairs(const struct field *f, const json *v, void *out, struct err *e)
{
    struct pairs *list = at(f, out);

    if (!json_is_object(v))
        return err_expected(e, f->key, "an object of strings", v);
    if (json_len(v) > MAX_LIST)
        return err_set(e, ERR_INVALID, "%s: more than %d items", f->key, MAX_LIST);
    pairs_fini(list);
    for (const char *k = json_first_key(v); k; k = json_next_key(v, k)) {
        const json *item = json_at(v, k);
        char key[256];

        snprintf(key, sizeof(key), "%s.%s", f->key, k);
        if (!json_is_string(item))
            return err_expected(e, key, "a string", item);
        if (strlen(json_str(item, "")) > MAX_STRING)
            return err_set(e, ERR_INVALID, "%s: longer than the limit of %d bytes", key,
                           MAX_STRING);
        pairs_add(list, k, json_str(item, ""));
    }
    return ERR_OK;
}

static enum err_code read_revision(const struct field *f, const json *v, void *out, struct err *e)
{
    if (!json_is_string(v) || revision_parse(json_str(v, ""), at(f, out), NULL))
        return err_expected(e, f->key, "a commit's 40 hex digits", v);
    return ERR_OK;
}

static enum err_code read_digest(const struct field *f, const json *v, void *out, struct err *e)
{
    const char *hex = json_str(v, "");

    if (strlen(hex) != 64 || strspn(hex, "0123456789abcdef") != 64)
        return err_expected(e, f->key, "a SHA-256 of 64 hex digits", v);
    memcpy(at(f, out), hex, 65);
    return ERR_OK;
}

/* ---- giving out ---- */

static json *write_string(const struct field *f, const void *in)
{
    const char *s = *(char *const *)at_const(f, in);

    return s ? json_new_string(s) : NULL;
}

static json *write_bool(const struct field *f, const void *in)
{
    const bool b = *(const bool *)at_const(f, in);

    return b || !(f->flags & FIELD_SKIP_ZERO) ? json_new_bool(b) : NULL;
}

static json *write_u32(const struct field *f, const void *in)
{
    const uint32_t i = *(const uint32_t *)at_const(f, in);

    return i || !(f->flags & FIELD_SKIP_ZERO) ? json_new_int(i) : NULL;
}

static json *write_i64(const struct field *f, const void *in)
{
    const int64_t i = *(const int64_t *)at_const(f, in);

    return i || !(f->flags & FIELD_SKIP_ZERO) ? json_new_int(i) : NULL;
}

static json *write_seed(const struct field *f, const void *in)
{
    const uint64_t seed = *(const uint64_t *)at_const(f, in);
    char digits[24];

    if (seed <= (uint64_t)MAX_EXACT)
        return json_new_int((int64_t)seed);
    snprintf(digits, sizeof(digits), "%" PRIu64, seed);
    return json_new_string(digits);
}

static json *write_num(const struct field *f, const void *in)
{
    return json_new_real(*(const double *)at_const(f, in));
}

static json *write_percent(const struct field *f, const void *in)
{
    const double percent = *(const double *)at_const(f, in);

    return percent >= 0 ? json_new_real(percent) : NULL;
}

static json *write_duration(const struct field *f, const void *in)
{
    const int64_t ns = *(const int64_t *)at_const(f, in);
    char text[32];

    duration_text(ns, text);
    return ns || !(f->flags & FIELD_SKIP_ZERO) ? json_new_string(text) : NULL;
}

static json *write_size(const struct field *f, const void *in)
{
    const int64_t bytes = *(const int64_t *)at_const(f, in);
    char text[32];

    size_text(bytes, text);
    return bytes || !(f->flags & FIELD_SKIP_ZERO) ? json_new_string(text) : NULL;
}

static json *write_choice(const struct field *f, const void *in)
{
    unsigned value = 0;

    memcpy(&value, at_const(f, in), sizeof(value));
    const char *name = choice_name(f->choices, value);
    return name ? json_new_string(name) : NULL;
}

static json *write_strings(const struct field *f, const void *in)
{
    const struct strings *list = at_const(f, in);
    json *array = NULL;

    if (list->n == 0 && f->flags & FIELD_SKIP_ZERO)
        return NULL;
    array = json_new_array();
    for (size_t i = 0; i < list->n; i++)
        json_push(array, json_new_string(list->items[i]));
    return array;
}

static json *write_pairs(const struct field *f, const void *in)
{
    const struct pairs *list = at_const(f, in);
    json *object = NULL;

    if (list->n == 0 && f->flags & FIELD_SKIP_ZERO)
        return NULL;
    object = json_new_object();
    for (size_t i = 0; i < list->n; i++)
        json_put(object, list->items[i].key, json_new_string(list->items[i].value));
    return object;
}

static json *write_revision(const struct field *f, const void *in)
{
    const struct revision *r = at_const(f, in);

    if (!revision_is_set(r) && f->flags & FIELD_SKIP_ZERO)
        return NULL;
    return json_new_string(revision_is_set(r) ? r->hex : NULL);
}

static json *write_digest(const struct field *f, const void *in)
{
    const char *hex = at_const(f, in);

    return *hex ? json_new_string(hex) : NULL;
}

/* ---- the types ---- */

/* clang-format off */
static const struct {
    enum err_code (*read)(const struct field *, const json *, void *, struct err *);
    enum err_code (*set)(const struct field *, const char *, void *, struct err *); /* NULL: not from text */
    json *(*write)(const struct field *, const void *); /* NULL: not to be given out */
} types[FIELD_TYPE_COUNT] = {
    [FIELD_STRING]   = {read_string,   set_string,     write_string},
    [FIELD_BOOL]     = {read_bool,     set_bool,       write_bool},
    [FIELD_U32]      = {read_whole,    set_whole_text, write_u32},
    [FIELD_I64]      = {read_whole,    set_whole_text, write_i64},
    [FIELD_SEED]     = {read_seed,     set_seed,       write_seed},
    [FIELD_NUM]      = {read_num,      set_num_text,   write_num},
    [FIELD_PERCENT]  = {read_percent,  set_num_text,   write_percent},
    [FIELD_DURATION] = {read_duration, set_duration,   write_duration},
    [FIELD_SIZE]     = {read_size,     set_size,       write_size},
    [FIELD_CHOICE]   = {read_choice,   set_choice,     write_choice},
    [FIELD_STRINGS]  = {read_strings,  NULL,           write_strings},
    [FIELD_PAIRS]    = {read_pairs,    NULL,           write_pairs},
    [FIELD_REVISION] = {read_revision, NULL,           write_revision},
    [FIELD_DIGEST]   = {read_digest,   NULL,           write_digest},
};
/* clang-format on */

enum err_code field_read(const struct field *field, const json *v, void *out, struct err *e)
{
    return types[field->type].read(field, v, out, e);
}

enum err_code field_read_text(const struct field *field, const char *text, void *out, struct err *e)
{
    assert(types[field->type].set);
    return types[field->type].set(field, text, out, e);
}

const struct field *field_find(const struct field *fields, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(fields[i].key, key) == 0)
            return &fields[i];
    }
    return NULL;
}

static enum err_code refuse_unknown(const struct field *fields, size_t n, const json *object,
                                    struct err *e)
{
    const char *known[64];

    assert(n <= LEN(known));
    for (size_t i = 0; i < n; i++)
        known[i] = fields[i].key;
    for (const char *k = json_first_key(object); k; k = json_next_key(object, k)) {
        if (!field_find(fields, n, k))
            return err_unknown_key(e, k, known, n);
    }
    return ERR_OK;
}

enum err_code fields_read(const struct field *fields, size_t n, const json *object,
                          enum unknown_keys unknown, void *out, struct err *e)
{
    if (!json_is_object(object))
        return err_set(e, ERR_INVALID, "expected an object");
    if (unknown == UNKNOWN_REFUSED && refuse_unknown(fields, n, object, e))
        return ERR_INVALID;
    for (size_t i = 0; i < n; i++) {
        const json *v = json_at(object, fields[i].key);

        if (json_is_null(v)) {
            if (fields[i].flags & FIELD_NEEDED)
                return err_set(e, ERR_INVALID, "%s: missing", fields[i].key);
            continue;
        }
        if (field_read(&fields[i], v, out, e))
            return ERR_INVALID;
    }
    return ERR_OK;
}

void fields_write(const struct field *fields, size_t n, const void *in, json *object)
{
    for (size_t i = 0; i < n; i++) {
        json *v = types[fields[i].type].write(&fields[i], in);

        if (v)
            json_put(object, fields[i].key, v);
    }
}

void fields_fini(const struct field *fields, size_t n, void *out)
{
    for (size_t i = 0; i < n; i++) {
        void *field = at(&fields[i], out);

        if (fields[i].type == FIELD_STRING) {
            mem_free(*(char **)field);
            *(char **)field = NULL;
        } else if (fields[i].type == FIELD_STRINGS)
            strings_fini(field);
        else if (fields[i].type == FIELD_PAIRS)
            pairs_fini(field);
    }
}
