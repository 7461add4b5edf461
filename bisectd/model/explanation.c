/* SPDX-License-Identifier: Apache-2.0 */
#include "model/explanation.h"
#include "base/mem.h"
#include "model/fields.h"
#include <math.h>

enum { MAX_TEXT = 4 * KIB, MAX_NAME = 64, MAX_SYMBOL = 256, MAX_PATH = 8 * KIB, MAX_ROWS = 10000 };

/* clang-format off */
static const struct choice bases[] = {
    {"nothing", SHARE_OF_NOTHING, false}, {"time", SHARE_OF_TIME, false},
    {"count", SHARE_OF_COUNT, false}, {0}};

#define AT(member) offsetof(struct explanation, member)
static const struct field fields[] = {
    {"culprit",         FIELD_REVISION, AT(culprit),         FIELD_NEEDED, 0, 0, NULL},
    {"parent",          FIELD_REVISION, AT(parent),          FIELD_NEEDED, 0, 0, NULL},
    {"metric_delta",    FIELD_NUM,      AT(metric_delta),    0, 0, 0, NULL},
    {"metric",          FIELD_STRING,   AT(metric_name),     0, 0, MAX_NAME, NULL},
    {"unit",            FIELD_STRING,   AT(metric_unit),     0, 0, MAX_NAME, NULL},
    {"share_of",        FIELD_CHOICE,   AT(basis),           0, 0, 0, bases},
    {"change_seconds",  FIELD_NUM,      AT(change_s),        0, 0, 0, NULL},
    {"change_traced",   FIELD_BOOL,     AT(is_change_traced), 0, 0, 0, NULL},
    {"explained",       FIELD_NUM,      AT(explained),       0, 0, 1, NULL},
    {"explained_error", FIELD_NUM,      AT(explained_error), 0, 0, 0, NULL},
    {"left_out",        FIELD_U32,      AT(n_left_out),      0, 0, 0, NULL},
    {"runs_plain",      FIELD_U32,      AT(n_plain),         0, 0, 0, NULL},
    {"runs_counted",    FIELD_U32,      AT(n_counted),       0, 0, 0, NULL},
    {"runs_timed",      FIELD_U32,      AT(n_timed),         0, 0, 0, NULL},
    {"timed",           FIELD_STRING,   AT(timed),           0, 0, MAX_TEXT, NULL},
    {"error",           FIELD_STRING,   AT(error),           0, 0, MAX_TEXT, NULL},
    {"message",         FIELD_STRING,   AT(message),         0, 0, MAX_TEXT, NULL},
};
#define DIFFERENCE(member) offsetof(struct difference, member)
static const struct field difference_fields[] = {
    {"call",  FIELD_STRING, DIFFERENCE(call),    FIELD_NEEDED, 1, MAX_NAME, NULL},
    {"path",  FIELD_STRING, DIFFERENCE(path),    FIELD_NEEDED, 0, MAX_PATH, NULL},
    {"group", FIELD_STRING, DIFFERENCE(group),   FIELD_NEEDED, 1, MAX_NAME, NULL},
    {"waits", FIELD_BOOL,   DIFFERENCE(is_wait), FIELD_SKIP_ZERO, 0, 0, NULL},
    {"share", FIELD_NUM,    DIFFERENCE(share),   0, 0, 0, NULL},
};
#define RESOURCE(member) offsetof(struct resource, member)
static const struct field resource_fields[] = {
    {"name",  FIELD_STRING, RESOURCE(name),  FIELD_NEEDED, 1, MAX_NAME, NULL},
    {"unit",  FIELD_STRING, RESOURCE(unit),  FIELD_NEEDED, 0, MAX_NAME, NULL},
    {"share", FIELD_NUM,    RESOURCE(share), 0, 0, 0, NULL},
};
#define SYMBOL(member) offsetof(struct symbol, member)
static const struct field symbol_fields[] = {
    {"symbol", FIELD_STRING, SYMBOL(name),   FIELD_NEEDED, 1, MAX_SYMBOL, NULL},
    {"object", FIELD_STRING, SYMBOL(object), FIELD_NEEDED, 0, MAX_PATH, NULL},
    {"share",  FIELD_NUM,    SYMBOL(share),  0, 0, 0, NULL},
};
/* clang-format on */

void explanation_free(struct explanation *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->n_differences; i++)
        fields_fini(difference_fields, LEN(difference_fields), &v->differences[i]);
    for (size_t i = 0; i < v->n_resources; i++)
        fields_fini(resource_fields, LEN(resource_fields), &v->resources[i]);
    for (size_t i = 0; i < v->n_symbols; i++)
        fields_fini(symbol_fields, LEN(symbol_fields), &v->symbols[i]);
    mem_free(v->differences);
    mem_free(v->resources);
    mem_free(v->symbols);
    fields_fini(fields, LEN(fields), v);
    mem_free(v);
}

struct difference *explanation_add_difference(struct explanation *v)
{
    v->differences = mem_resize(v->differences, v->n_differences + 1, sizeof(*v->differences));
    v->differences[v->n_differences] = (struct difference){.seconds = {NAN, NAN}, .share = NAN};
    return &v->differences[v->n_differences++];
}

struct resource *explanation_add_resource(struct explanation *v)
{
    v->resources = mem_resize(v->resources, v->n_resources + 1, sizeof(*v->resources));
    v->resources[v->n_resources] = (struct resource){.share = NAN};
    return &v->resources[v->n_resources++];
}

struct symbol *explanation_add_symbol(struct explanation *v)
{
    v->symbols = mem_resize(v->symbols, v->n_symbols + 1, sizeof(*v->symbols));
    v->symbols[v->n_symbols] = (struct symbol){.share = NAN};
    return &v->symbols[v->n_symbols++];
}

static json *pair_to_json(const double pair[SIDES])
{
    json *list = json_push(json_new_array(), json_new_real(pair[BEFORE]));

    return json_push(list, json_new_real(pair[AFTER]));
}

/* Whole numbers as such: "404", not "404.0". */
static json *counts_to_json(const double pair[SIDES])
{
    json *list = json_new_array();

    for (int i = 0; i < SIDES; i++) {
        const bool is_whole = pair[i] == floor(pair[i]) && fabs(pair[i]) < 9e15;
        json_push(list, is_whole ? json_new_int((int64_t)pair[i]) : json_new_real(pair[i]));
    }
    return list;
}

json *explanation_to_json(const struct explanation *v)
{
    json *o = json_new_object();
    json *differences = json_new_array();
    json *resources = json_new_array();
    json *symbols = json_new_array();

    fields_write(fields, LEN(fields), v, o);
    for (size_t i = 0; i < v->n_differences; i++) {
        const struct difference *d = &v->differences[i];
        json *row = json_new_object();
        fields_write(difference_fields, LEN(difference_fields), d, row);
        json_put(row, "count", counts_to_json(d->count));
        json_push(differences, json_put(row, "seconds", pair_to_json(d->seconds)));
    }
    for (size_t i = 0; i < v->n_resources; i++) {
        const struct resource *r = &v->resources[i];
        json *row = json_new_object();
        fields_write(resource_fields, LEN(resource_fields), r, row);
        json_put(row, "before", json_new_real(r->amount[BEFORE]));
        json_push(resources, json_put(row, "after", json_new_real(r->amount[AFTER])));
    }
    for (size_t i = 0; i < v->n_symbols; i++) {
        json *row = json_new_object();
        fields_write(symbol_fields, LEN(symbol_fields), &v->symbols[i], row);
        json_push(symbols, json_put(row, "seconds", pair_to_json(v->symbols[i].seconds)));
    }
    json_put(o, "differences", differences);
    json_put(o, "symbols", symbols);
    return json_put(o, "resources", resources);
}

static enum err_code read_pair(const json *o, const char *key, double out[SIDES], struct err *e)
{
    const json *v = json_at(o, key);

    if (!json_is_array(v) || json_len(v) != SIDES)
        return err_expected(e, key, "a list of two numbers", v);
    for (size_t i = 0; i < SIDES; i++)
        out[i] = json_num(json_item(v, i), NAN);
    return ERR_OK;
}

static enum err_code read_differences(const json *list, struct explanation *v, struct err *e)
{
    if (!json_is_array(list) || json_len(list) > MAX_ROWS)
        return err_set(e, ERR_INVALID, "differences: expected a list of at most %d", MAX_ROWS);
    for (size_t i = 0; i < json_len(list); i++) {
        const json *row = json_item(list, i);
        struct difference *d = explanation_add_difference(v);
        if (fields_read(difference_fields, LEN(difference_fields), row, UNKNOWN_IGNORED, d, e) ||
            read_pair(row, "count", d->count, e) || read_pair(row, "seconds", d->seconds, e))
            return err_under(e, "differences[%zu]", i);
    }
    return ERR_OK;
}

static enum err_code read_resources(const json *list, struct explanation *v, struct err *e)
{
    if (json_is_null(list))
        return ERR_OK;
    if (!json_is_array(list) || json_len(list) > MAX_ROWS)
        return err_set(e, ERR_INVALID, "resources: expected a list of at most %d", MAX_ROWS);
    for (size_t i = 0; i < json_len(list); i++) {
        const json *row = json_item(list, i);
        struct resource *r = explanation_add_resource(v);
        if (fields_read(resource_fields, LEN(resource_fields), row, UNKNOWN_IGNORED, r, e))
            return err_under(e, "resources[%zu]", i);
        r->amount[BEFORE] = json_num(json_at(row, "before"), NAN);
        r->amount[AFTER] = json_num(json_at(row, "after"), NAN);
    }
    return ERR_OK;
}

/** Absent from what an earlier version wrote. */
static enum err_code read_symbols(const json *list, struct explanation *v, struct err *e)
{
    if (json_is_null(list))
        return ERR_OK;
    if (!json_is_array(list) || json_len(list) > MAX_ROWS)
        return err_set(e, ERR_INVALID, "symbols: expected a list of at most %d", MAX_ROWS);
    for (size_t i = 0; i < json_len(list); i++) {
        const json *row = json_item(list, i);
        struct symbol *s = explanation_add_symbol(v);
        if (fields_read(symbol_fields, LEN(symbol_fields), row, UNKNOWN_IGNORED, s, e) ||
            read_pair(row, "seconds", s->seconds, e))
            return err_under(e, "symbols[%zu]", i);
    }
    return ERR_OK;
}

enum err_code explanation_from_json(const json *v, struct explanation **out, struct err *e)
{
    AUTO(explanation_free) struct explanation *read = mem_alloc(sizeof(*read));

    read->metric_delta = read->change_s = read->explained = read->explained_error = NAN;
    if (fields_read(fields, LEN(fields), v, UNKNOWN_IGNORED, read, e) ||
        read_differences(json_at(v, "differences"), read, e) ||
        read_resources(json_at(v, "resources"), read, e) ||
        read_symbols(json_at(v, "symbols"), read, e))
        return ERR_INVALID;
    *out = TAKE(read);
    return ERR_OK;
}
