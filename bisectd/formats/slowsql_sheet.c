/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/slowsql_sheet.h"
#include "base/mem.h"
#include "formats/skim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const sheet_pair_names[2] = {"before", "after"};

static const struct rate no_rate = {.ratio = NAN, .low = NAN, .high = NAN};

static void free_notes(struct sheet_note *notes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mem_free(notes[i].name);
    mem_free(notes);
}

void sheet_free(struct sheet *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_groups; i++)
        mem_free(s->groups[i].name);
    for (size_t i = 0; i < s->n_rows; i++) {
        mem_free(s->rows[i].cells);
        mem_free(s->rows[i].db);
        mem_free(s->rows[i].thread);
        mem_free(s->rows[i].statement);
    }
    free_notes(s->filtered, s->n_filtered);
    free_notes(s->rejected, s->n_rejected);
    mem_free(s->groups);
    mem_free(s->rows);
    mem_free(s);
}

/* Building */

size_t sheet_cells_at(const char *key, size_t n_key)
{
    const char *end = key + n_key;
    const char *after = n_key > 1 ? skim_value(key + 1, end) : NULL;

    return after && after < end ? (size_t)(after - key) + 1 : n_key;
}

/** The key as four values of JSON. */
static enum err_code parse_key(const struct tally_row *row, json **out, struct err *e)
{
    if (json_parse_foreign(row->key, row->n_key, out, e) || json_len(*out) != 4)
        return err_set(e, ERR_INVALID, "%.*s is no key of slow SQL",
                       (int)(row->n_key < 200 ? row->n_key : 200), row->key);
    return ERR_OK;
}

static void add_note(struct sheet_note **notes, size_t *n, const char *name, int64_t many)
{
    *notes = mem_resize(*notes, *n + 1, sizeof(**notes));
    (*notes)[(*n)++] = (struct sheet_note){.name = mem_dup(name), .n = many};
}

static void take_note(struct sheet *s, const json *key, const struct sums *sums)
{
    const char *what = json_str(json_item(key, 1), ""), *which = json_str(json_item(key, 2), "");

    if (sums->reports == 0)
        return;
    if (strcmp(what, "read") == 0)
        s->n_read += sums->reports;
    else if (strcmp(what, "superseded") == 0)
        s->n_superseded += sums->reports;
    else if (strcmp(what, "filtered") == 0)
        add_note(&s->filtered, &s->n_filtered, which, sums->reports);
    else if (strcmp(what, "rejected") == 0)
        add_note(&s->rejected, &s->n_rejected, which, sums->reports);
}

static uint32_t group_at(struct sheet *s, const char *name)
{
    for (size_t i = 0; i < s->n_groups; i++)
        if (strcmp(s->groups[i].name, name) == 0)
            return (uint32_t)i;
    s->groups = mem_resize(s->groups, s->n_groups + 1, sizeof(*s->groups));
    s->groups[s->n_groups] = (struct sheet_group){.name = mem_dup(name)};
    return (uint32_t)s->n_groups++;
}

static void add_sums(struct sums *to, const struct sums *s)
{
    to->count += s->count;
    to->total_ms += s->total_ms;
    to->reports += s->reports;
    to->used += s->used;
}

static bool is_nothing(const struct sums *s)
{
    return s->count == 0 && s->total_ms == 0 && s->reports == 0;
}

static char *cell_of(const json *key, size_t i)
{
    const char *text = json_str(json_item(key, i), "");

    return text[0] ? mem_dup(text) : NULL;
}

static void take_row(struct sheet *s, const json *key, const struct tally_row *row)
{
    if (is_nothing(&row->sums)) /* all of it was counted again elsewhere */
        return;

    uint32_t group = group_at(s, json_str(json_item(key, 0), ""));

    if (json_is_null(json_item(key, 1))) {
        add_sums(&s->groups[group].reports, &row->sums);
        return;
    }
    size_t at = sheet_cells_at(row->key, row->n_key);
    s->rows[s->n_rows++] = (struct sheet_row){.cells = mem_dup_n(row->key + at, row->n_key - at),
                                              .db = cell_of(key, 1),
                                              .thread = cell_of(key, 2),
                                              .statement = cell_of(key, 3),
                                              .group = group,
                                              .of = {row->sums},
                                              .rate = no_rate};
    add_sums(&s->groups[group].slow, &row->sums);
}

/* Pairs */

static int by_cells(const void *a, const void *b)
{
    return strcmp(((const struct sheet_row *)a)->cells, ((const struct sheet_row *)b)->cells);
}

static bool is_pair(const struct sheet *s)
{
    for (size_t i = 0; i < s->n_groups; i++)
        if (strcmp(s->groups[i].name, sheet_pair_names[0]) != 0 &&
            strcmp(s->groups[i].name, sheet_pair_names[1]) != 0)
            return false;
    return s->n_groups > 0;
}

/** Groups 0 and 1 become before and after, and so do the numbers of the rows. */
static void order_pair(struct sheet *s)
{
    uint32_t before = group_at(s, sheet_pair_names[0]);

    (void)group_at(s, sheet_pair_names[1]);
    if (before == 1) {
        struct sheet_group other = s->groups[0];
        s->groups[0] = s->groups[1];
        s->groups[1] = other;
    }
    for (size_t i = 0; i < s->n_rows; i++) {
        struct sheet_row *r = &s->rows[i];
        bool is_after = r->group != before;
        r->of[1] = is_after ? r->of[0] : (struct sums){0};
        r->of[0] = is_after ? (struct sums){0} : r->of[0];
        r->group = 0;
    }
}

static void free_cells(struct sheet_row *r)
{
    mem_free(r->cells);
    mem_free(r->db);
    mem_free(r->thread);
    mem_free(r->statement);
}

/** One row of the two that are told by the same. */
static void join_rows(struct sheet *s)
{
    size_t n = 0;

    if (s->n_rows)
        qsort(s->rows, s->n_rows, sizeof(*s->rows), by_cells);
    for (size_t i = 0; i < s->n_rows; i++) {
        struct sheet_row *last = n ? &s->rows[n - 1] : NULL;
        if (!last || strcmp(last->cells, s->rows[i].cells) != 0) {
            s->rows[n++] = s->rows[i];
            continue;
        }
        for (size_t g = 0; g < 2; g++)
            add_sums(&last->of[g], &s->rows[i].of[g]);
        free_cells(&s->rows[i]);
    }
    s->n_rows = n;
}

static double per(int64_t total, double size)
{
    return size > 0 ? (double)total / size : NAN;
}

static double size_of(const struct sheet *s, size_t group)
{
    const struct sums *r = &s->groups[group].reports;

    return s->is_by_hours ? (double)r->used : (double)r->reports;
}

static double ratio_of(const struct sheet *s, int64_t before, int64_t after)
{
    double rates[2] = {per(before, size_of(s, 0)), per(after, size_of(s, 1))};

    if (isnan(rates[0]) || isnan(rates[1]) || (before == 0 && after == 0))
        return NAN;
    return before == 0 ? INFINITY : rates[1] / rates[0];
}

static void set_ratios(struct sheet *s)
{
    s->is_by_hours = s->groups[0].reports.used > 0 && s->groups[1].reports.used > 0;
    for (size_t i = 0; i < s->n_rows; i++)
        s->rows[i].rate.ratio = ratio_of(s, s->rows[i].of[0].total_ms, s->rows[i].of[1].total_ms);
    s->rate.ratio = ratio_of(s, s->groups[0].slow.total_ms, s->groups[1].slow.total_ms);
}

/* Order */

/** By build, then the largest total, then by key. */
static int by_rank(const void *a, const void *b, void *sheet)
{
    const struct sheet_row *x = a, *y = b;
    const struct sheet *s = sheet;
    int64_t totals[2] = {x->of[0].total_ms + x->of[1].total_ms,
                         y->of[0].total_ms + y->of[1].total_ms};
    int order = strcmp(s->groups[x->group].name, s->groups[y->group].name);

    if (order)
        return order;
    if (totals[0] != totals[1])
        return totals[0] < totals[1] ? 1 : -1;
    return strcmp(x->cells, y->cells);
}

static bool is_below_zero(const struct sums *s)
{
    return s->count < 0 || s->total_ms < 0 || s->reports < 0 || s->used < 0;
}

/** Only where reports of sessions were taken off again, and only until what they had added comes
 *  in from the other parts, may a sum be below zero. */
static enum err_code check_signs(const struct tally *t, enum sheet_kind kind, const struct sheet *s,
                                 struct err *e)
{
    for (size_t i = 0; i < tally_n(t); i++) {
        const struct tally_row *row = tally_row(t, i);
        if (!is_below_zero(&row->sums) || (kind == SHEET_PART && s->n_superseded > 0))
            continue;
        err_set(e, ERR_INVALID, "a sum of %.*s is below zero",
                (int)(row->n_key < 150 ? row->n_key : 150), row->key);
        return err_hint(e, "Lines that were mapped are missing, or one was changed.");
    }
    return ERR_OK;
}

static enum err_code take_all(const struct tally *t, struct sheet *s, struct err *e)
{
    for (size_t i = 0; i < tally_n(t); i++) {
        const struct tally_row *row = tally_row(t, i);
        AUTO(json_free) json *key = NULL;
        enum err_code rc = parse_key(row, &key, e);
        if (rc)
            return rc;
        if (json_is_null(json_item(key, 0)))
            take_note(s, key, &row->sums);
        else
            take_row(s, key, row);
    }
    return ERR_OK;
}

/** Can no sum of rows pass 64 bits? */
static bool fits(const struct tally *t)
{
    int64_t all[4] = {0};

    for (size_t i = 0; i < tally_n(t); i++) {
        const struct sums *s = &tally_row(t, i)->sums;
        const int64_t parts[4] = {s->count, s->total_ms, s->reports, s->used};
        for (size_t k = 0; k < 4; k++)
            if (parts[k] == INT64_MIN ||
                __builtin_add_overflow(all[k], parts[k] < 0 ? -parts[k] : parts[k], &all[k]))
                return false;
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct sheet_note *)a)->name, ((const struct sheet_note *)b)->name);
}

enum err_code sheet_of(const struct tally *t, enum sheet_kind kind, struct sheet **out,
                       struct err *e)
{
    AUTO(sheet_free) struct sheet *s = mem_alloc(sizeof(*s));

    if (tally_is_over(t) || !fits(t))
        return err_set(e, ERR_LIMIT, "a sum is over 2^63");
    s->rate = no_rate;
    s->rows = mem_array(tally_n(t) + 1, sizeof(*s->rows));
    if (take_all(t, s, e) || check_signs(t, kind, s, e))
        return ERR_INVALID;
    s->is_pair = kind == SHEET_PAIR || is_pair(s);
    if (s->is_pair) {
        order_pair(s);
        join_rows(s);
        set_ratios(s);
    } else if (s->n_groups == 0) {
        (void)group_at(s, "all");
    }
    s->is_builds = !s->is_pair && !(s->n_groups == 1 && strcmp(s->groups[0].name, "all") == 0);
    qsort_r(s->rows, s->n_rows, sizeof(*s->rows), by_rank, s);
    if (s->n_filtered)
        qsort(s->filtered, s->n_filtered, sizeof(*s->filtered), by_name);
    if (s->n_rejected)
        qsort(s->rejected, s->n_rejected, sizeof(*s->rejected), by_name);
    *out = TAKE(s);
    return ERR_OK;
}

/* JSON */

static json *text_or_null(const char *s)
{
    return s ? json_new_string(s) : json_new_null();
}

static json *group_to_json(const struct sheet *s, const struct sums *of, size_t group)
{
    const struct sheet_group *g = &s->groups[group];
    json *o = json_new_object();

    json_put(o, "count", json_new_int(of->count));
    json_put(o, "total_ms", json_new_int(of->total_ms));
    json_put(o, "mean_ms", json_new_real(per(of->total_ms, (double)of->count)));
    json_put(o, "share", json_new_real(per(of->total_ms, (double)g->slow.total_ms)));
    json_put(o, "reports", json_new_int(of->reports));
    json_put(o, "per_report_ms", json_new_real(per(of->total_ms, (double)g->reports.reports)));
    json_put(o, "per_1000_hours_ms",
             json_new_real(per(of->total_ms, (double)g->reports.used / 1e9)));
    return o;
}

static void put_rate(json *o, const struct sheet *s, const struct rate *r)
{
    json_put(o, "ratio", json_new_real(r->ratio));
    if (!s->has_rates || isnan(r->low)) {
        json_put(o, "interval", json_new_null());
    } else {
        json *interval = json_new_array();
        json_push(interval, json_new_real(r->low));
        json_push(interval, json_new_real(r->high));
        json_put(o, "interval", interval);
    }
    json_put(o, "verdict", json_new_string(rate_verdict_names[r->verdict]));
}

static void put_groups(json *o, const struct sheet *s, const struct sums of[2], size_t group)
{
    json_put(o, sheet_pair_names[0], group_to_json(s, &of[0], group));
    if (s->is_pair)
        json_put(o, sheet_pair_names[1], group_to_json(s, &of[1], 1));
}

static json *row_to_json(const struct sheet *s, const struct sheet_row *r)
{
    json *o = json_new_object();

    if (s->is_builds)
        json_put(o, "build", json_new_string(s->groups[r->group].name));
    json_put(o, "db", text_or_null(r->db));
    json_put(o, "thread", text_or_null(r->thread));
    json_put(o, "statement", text_or_null(r->statement));
    put_groups(o, s, r->of, r->group);
    if (s->is_pair)
        put_rate(o, s, &r->rate);
    return o;
}

/** All rows together. The reports that have any of them are not known. */
static json *total_to_json(const struct sheet *s)
{
    struct sums of[2] = {s->groups[0].slow, s->is_pair ? s->groups[1].slow : (struct sums){0}};
    json *o = json_new_object();

    put_groups(o, s, of, 0);
    json_remove(json_at(o, sheet_pair_names[0]), "reports");
    json_remove(json_at(o, sheet_pair_names[0]), "share");
    if (!s->is_pair)
        return o;
    json_remove(json_at(o, sheet_pair_names[1]), "reports");
    json_remove(json_at(o, sheet_pair_names[1]), "share");
    put_rate(o, s, &s->rate);
    return o;
}

static json *notes_to_json(const struct sheet_note *notes, size_t n)
{
    json *o = json_new_object();

    for (size_t i = 0; i < n; i++)
        json_put(o, notes[i].name, json_new_int(notes[i].n));
    return o;
}

static json *builds_to_json(const struct sheet *s)
{
    json *list = json_new_array();

    for (size_t i = 0; i < s->n_groups; i++) {
        json *o = json_new_object();
        json_put(o, "build", json_new_string(s->groups[i].name));
        json_put(o, "reports", json_new_int(s->groups[i].reports.reports));
        json_put(o, "hours", json_new_real((double)s->groups[i].reports.used / 1e6));
        json_push(list, o);
    }
    return list;
}

json *sheet_to_json(const struct sheet *s, size_t limit)
{
    json *o = json_new_object(), *rows = json_new_array();
    json *reports = json_new_array(), *hours = json_new_array();
    struct sums all = {0};

    for (size_t i = 0; i < s->n_rows && (limit == 0 || i < limit); i++)
        json_push(rows, row_to_json(s, &s->rows[i]));
    json_put(o, "rows", rows);
    if (!s->is_builds)
        json_put(o, "total", total_to_json(s));
    for (size_t i = 0; i < s->n_groups; i++) {
        add_sums(&all, &s->groups[i].reports);
        if (s->is_builds && i + 1 < s->n_groups)
            continue;
        const struct sums *shown = s->is_builds ? &all : &s->groups[i].reports;
        json_push(reports, json_new_int(shown->reports));
        json_push(hours, json_new_real((double)shown->used / 1e6));
    }
    json_put(o, "reports", reports);
    json_put(o, "hours", hours);
    if (s->is_builds)
        json_put(o, "builds", builds_to_json(s));
    if (s->is_pair)
        json_put(o, "rate", json_new_string(s->is_by_hours ? "per_1000_hours" : "per_report"));
    json_put(o, "read", json_new_int(s->n_read));
    json_put(o, "superseded", json_new_int(s->n_superseded));
    json_put(o, "filtered", notes_to_json(s->filtered, s->n_filtered));
    return json_put(o, "rejects", notes_to_json(s->rejected, s->n_rejected));
}
