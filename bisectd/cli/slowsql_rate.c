/* SPDX-License-Identifier: Apache-2.0 */
/* What needs every report by itself: intervals, and changes by build. */
#include "base/mem.h"
#include "cli/slowsql.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGE_ROWS = 20, NOWHERE = -1 };

static const double margin_default = .05, share_with_time = .99;
static const uint64_t seed_default = 1;

/** For each row of the tally: which group, and which cells. */
struct places {
    int64_t *groups; /* NOWHERE: of no group that counts */
    uint32_t *cells;
    struct tally *names; /* of the cells: the keys without their groups */
};

static void places_fini(struct places *p)
{
    mem_free(p->groups);
    mem_free(p->cells);
    tally_free(p->names);
}
DEFINE_AUTO_FINI(struct places, places_fini)

/** The group of a key, without its quotes. */
static struct span group_of(const struct tally_row *row)
{
    size_t at = sheet_cells_at(row->key, row->n_key);

    return at >= 4 && row->key[1] == '"' ? (struct span){row->key + 2, at - 4} : (struct span){0};
}

static void places_init(struct places *p, const struct tally *t)
{
    p->groups = mem_array(tally_n(t) + 1, sizeof(*p->groups));
    p->cells = mem_array(tally_n(t) + 1, sizeof(*p->cells));
    p->names = tally_new();
    for (size_t i = 0; i < tally_n(t); i++) {
        const struct tally_row *row = tally_row(t, i);
        size_t at = sheet_cells_at(row->key, row->n_key);
        p->groups[i] = NOWHERE;
        p->cells[i] = (uint32_t)tally_at(p->names, row->key + at, row->n_key - at);
    }
}

static void rate_data_init(struct rate_data *d, const struct gathered *g, const struct options *o)
{
    *d = (struct rate_data){.uses = mem_array(g->n_reports + 1, sizeof(*d->uses)),
                            .hits = mem_array(2 * g->n_items + 1, sizeof(*d->hits)),
                            .margin = o->min_effect >= 0 ? o->min_effect / 100 : margin_default,
                            .seed = o->has_seed ? o->seed : seed_default};
}

static void rate_data_fini(struct rate_data *d)
{
    mem_free(d->uses);
    mem_free(d->hits);
}
DEFINE_AUTO_FINI(struct rate_data, rate_data_fini)

/** Adds a report, and its items: all of them as row `all`, and each as its cells. */
static void add_report(struct rate_data *d, const struct gathered *g, const struct places *p,
                       const struct gathered_report *r, uint32_t all)
{
    uint32_t group = (uint32_t)p->groups[r->row];

    d->uses[d->n_uses++] = (struct rate_use){r->client, group, 1, r->order.used};
    for (size_t i = 0; i < r->n_items; i++) {
        const struct gathered_item *item = &g->items[r->first_item + i];
        d->hits[d->n_hits++] =
            (struct rate_hit){r->client, p->cells[item->row], group, item->total_ms};
        d->hits[d->n_hits++] = (struct rate_hit){r->client, all, group, item->total_ms};
    }
}

/** Do nearly all reports say how long they lasted? */
static bool says_time(const struct gathered *g)
{
    size_t n = 0, n_said = 0;

    for (size_t i = 0; i < g->n_reports; i++) {
        if (g->reports[i].is_superseded)
            continue;
        n++;
        n_said += g->reports[i].has_time && g->reports[i].order.used > 0;
    }
    return n > 0 && (double)n_said >= share_with_time * (double)n;
}

static void use_all(struct rate_data *d, const struct gathered *g, const struct places *p)
{
    uint32_t all = (uint32_t)tally_n(p->names);

    d->is_by_hours = says_time(g);
    d->n_rows = all + 1;
    for (size_t i = 0; i < g->n_reports; i++)
        if (!g->reports[i].is_superseded && p->groups[g->reports[i].row] != NOWHERE)
            add_report(d, g, p, &g->reports[i], all);
}

/* Pairs */

void slowsql_rate(const struct gathered *g, const struct options *o, struct sheet *s)
{
    AUTO(places_fini) struct places p = {0};
    AUTO(rate_data_fini) struct rate_data d = {0};

    if (g->is_reduced || !s->is_pair)
        return;
    places_init(&p, g->tally);
    for (size_t i = 0; i < tally_n(g->tally); i++)
        for (size_t k = 0; k < LEN(sheet_pair_names); k++) {
            struct span group = group_of(tally_row(g->tally, i));
            if (group.n == strlen(sheet_pair_names[k]) &&
                memcmp(group.s, sheet_pair_names[k], group.n) == 0)
                p.groups[i] = (int64_t)k;
        }
    rate_data_init(&d, g, o);
    use_all(&d, g, &p);
    struct rate *rates = mem_array(d.n_rows, sizeof(*rates));
    rates_compare(&d, rates);
    s->has_rates = true;
    s->is_by_hours = d.is_by_hours;
    s->rate = rates[d.n_rows - 1];
    for (size_t i = 0; i < s->n_rows; i++)
        s->rows[i].rate = rates[tally_at(p.names, s->rows[i].cells, strlen(s->rows[i].cells))];
    mem_free(rates);
}

/* Changes */

/** The builds of a sheet that count, oldest first. */
struct build_list {
    struct listed_build {
        stamp at;
        const struct sheet_group *group;
        const char *revision; /* NULL: unknown, or more than one */
    } * items;
    uint32_t n;
};

static int by_stamp(const void *a, const void *b)
{
    const struct listed_build *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static void list_builds(const struct sheet *s, const struct build_map *map, struct build_list *list)
{
    list->items = mem_array(s->n_groups + 1, sizeof(*list->items));
    for (size_t i = 0; i < s->n_groups; i++) {
        stamp at = build_id_stamp((struct span){s->groups[i].name, strlen(s->groups[i].name)});
        const struct build_row *row = map ? build_map_find(map, at) : NULL;
        if (!at || (map && !row) || s->groups[i].reports.reports == 0)
            continue;
        list->items[list->n++] =
            (struct listed_build){at, &s->groups[i], row ? row->revision : NULL};
    }
    qsort(list->items, list->n, sizeof(*list->items), by_stamp);
}

static void place_builds(struct places *p, const struct tally *t, const struct build_list *list)
{
    for (size_t i = 0; i < tally_n(t); i++) {
        const struct listed_build key = {.at = build_id_stamp(group_of(tally_row(t, i)))};
        const struct listed_build *found =
            key.at && list->n ? bsearch(&key, list->items, list->n, sizeof(*list->items), by_stamp)
                              : NULL;
        if (found)
            p->groups[i] = found - list->items;
    }
}

static char *dup_or_null(const char *text)
{
    return text ? mem_dup(text) : NULL;
}

static void tell(struct slowsql_findings *f, const struct sheet_row *row,
                 const struct slow_change *c, const struct build_list *list)
{
    const struct listed_build *b = list->items;

    f->changes = mem_resize(f->changes, f->n_changes + 1, sizeof(*f->changes));
    f->changes[f->n_changes++] = (struct slowsql_told_change){
        .db = dup_or_null(row->db),
        .thread = dup_or_null(row->thread),
        .statement = dup_or_null(row->statement),
        .change = *c,
        .builds = {b[c->first - 1].group->name, b[c->first].group->name, b[c->low - 1].group->name,
                   b[c->high].group->name},
        .good = b[c->low - 1].revision,
        .bad = b[c->high].revision};
}

/** Only the hits of one kind of row. */
static enum err_code search_row(const struct rate_data *all, const struct places *p,
                                const struct sheet_row *row, const struct build_list *list,
                                struct slowsql_findings *f, struct err *e)
{
    struct slow_change changes[CHANGES_MOST];
    struct rate_data one = *all;
    uint32_t cells = (uint32_t)tally_at(p->names, row->cells, strlen(row->cells));
    size_t n = 0;

    one.n_hits = 0;
    one.hits = mem_array(all->n_hits + 1, sizeof(*one.hits));
    for (size_t i = 0; i < all->n_hits; i++)
        if (all->hits[i].row == cells)
            one.hits[one.n_hits++] = all->hits[i];
    enum err_code rc = slow_changes_find(&one, list->n, changes, &n, e);
    mem_free(one.hits);
    for (size_t i = 0; i < n; i++)
        tell(f, row, &changes[i], list);
    return rc;
}

/** Rows of other builds have the same cells. */
static bool is_first_of_cells(const struct sheet *s, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(s->rows[i].cells, s->rows[at].cells) == 0)
            return false;
    return true;
}

enum err_code slowsql_find_changes(const struct gathered *g, const struct build_map *map,
                                   const struct options *o, struct slowsql_findings *f,
                                   struct err *e)
{
    AUTO(places_fini) struct places p = {0};
    AUTO(rate_data_fini) struct rate_data d = {0};
    struct build_list list = {0};
    const struct sheet *s = f->sheet;
    enum err_code rc = ERR_OK;
    size_t n_searched = 0;

    if (g->is_reduced || !s->is_builds)
        return ERR_OK;
    list_builds(s, map, &list);
    if (list.n == 0 && map)
        rc = err_set(e, ERR_INVALID, "--builds: lists none of the builds that sent reports");
    places_init(&p, g->tally);
    place_builds(&p, g->tally, &list);
    rate_data_init(&d, g, o);
    use_all(&d, g, &p);
    for (size_t i = 0; i < s->n_rows && !rc && n_searched < CHANGE_ROWS; i++) {
        if (!is_first_of_cells(s, i))
            continue;
        n_searched++;
        rc = search_row(&d, &p, &s->rows[i], &list, f, e);
    }
    mem_free(list.items);
    return rc;
}
