/* SPDX-License-Identifier: Apache-2.0 */
#include "model/points.h"
#include "base/mem.h"
#include "model/fields.h"
#include "model/quantity.h"
#include <string.h>

enum { MAX_HOST = 64 };

/* clang-format off */
#define AT(member) offsetof(struct points, member)
static const struct field fields[] = {
    {"project",  FIELD_STRING, AT(project),  FIELD_NEEDED, 1, 64, NULL},
    {"metric",   FIELD_STRING, AT(metric),   FIELD_NEEDED, 1, 64, NULL},
    {"platform", FIELD_STRING, AT(platform), FIELD_NEEDED, 1, 64, NULL},
    {"host",     FIELD_STRING, AT(host),     FIELD_NEEDED, 1, MAX_HOST, NULL},
};
/* A point, with its time as text. */
struct row {
    struct point point;
    char *at;
};
#define ROW(member) offsetof(struct row, member)
static const struct field row_fields[] = {
    {"revision", FIELD_REVISION, ROW(point.revision), FIELD_NEEDED, 0, 0, NULL},
    {"at",       FIELD_STRING,   ROW(at),             FIELD_NEEDED, 1, 64, NULL},
    {"value",    FIELD_NUM,      ROW(point.value),    FIELD_NEEDED, 0, 0, NULL},
    {"nth",      FIELD_U32,      ROW(point.nth),      FIELD_SKIP_ZERO, 0, POINT_NTH_MOST, NULL},
};
/* clang-format on */

void points_free(struct points *p)
{
    if (!p)
        return;
    fields_fini(fields, LEN(fields), p);
    mem_free(p->items);
    mem_free(p);
}

json *points_to_json(const struct points *p)
{
    json *o = json_new_object();
    json *list = json_new_array();

    fields_write(fields, LEN(fields), p, o);
    for (size_t i = 0; i < p->n; i++) {
        char at[32];
        struct row row = {p->items[i], at};
        json *item = json_new_object();
        utc_format(p->items[i].at, at);
        fields_write(row_fields, LEN(row_fields), &row, item);
        json_push(list, item);
    }
    return json_put(o, "points", list);
}

static enum err_code read_row(const json *v, struct row *row, struct err *e)
{
    if (fields_read(row_fields, LEN(row_fields), v, UNKNOWN_REFUSED, row, e))
        return ERR_INVALID;
    if (quantity_check(row->point.value, e))
        return err_wrap(e, "value");
    if (utc_parse(row->at, &row->point.at, e))
        return err_wrap(e, "at");
    row->point.at.ns -= row->point.at.ns % NS_PER_MS;
    row->point.value += 0.0; /* no -0 */
    return ERR_OK;
}

static enum err_code read_rows(const json *list, struct points *p, struct err *e)
{
    if (!json_is_array(list) || json_len(list) == 0 || json_len(list) > POINTS_MOST)
        return err_set(e, ERR_INVALID, "points: expected a list of 1 to %d", POINTS_MOST);
    p->items = mem_array(json_len(list), sizeof(*p->items));
    for (; p->n < json_len(list); p->n++) {
        struct row row = {.at = NULL};
        enum err_code code = read_row(json_item(list, p->n), &row, e);
        p->items[p->n] = row.point;
        fields_fini(row_fields, LEN(row_fields), &row);
        if (code)
            return err_under(e, "points[%zu]", p->n);
    }
    return ERR_OK;
}

enum err_code points_from_json(const json *v, struct points **out, struct err *e)
{
    static const char *const known[] = {"project", "metric", "platform", "host", "points"};
    AUTO(points_free) struct points *p = mem_alloc(sizeof(*p));
    struct err own = {0};

    e = e ? e : &own;
    if (fields_read(fields, LEN(fields), v, UNKNOWN_IGNORED, p, e))
        return ERR_INVALID;
    for (const char *k = json_first_key(v); k; k = json_next_key(v, k)) {
        size_t i = 0;
        while (i < LEN(known) && strcmp(known[i], k) != 0)
            i++;
        if (i == LEN(known))
            return err_unknown_key(e, k, known, LEN(known));
    }
    if (name_check("project", p->project, e) || name_check("metric", p->metric, e) ||
        name_check("platform", p->platform, e) || read_rows(json_at(v, "points"), p, e))
        return e->code;
    *out = TAKE(p);
    return ERR_OK;
}
