/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/select.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/unit.h"
#include "model/quantity.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LISTED_BYTES = 300, NAME_BYTES = 80 };

/* The parts of a name in the order in which they are chosen. */
enum part { SUITE, TEST, OPTIONS, FIELD, PART_COUNT };
static const char *const part_names[PART_COUNT] = {"suite", "test", "options", "field"};

static const char *part_of(const struct result *x, enum part p)
{
    const char *const parts[PART_COUNT] = {x->suite, x->test, x->options, x->field};

    return parts[p];
}

static const char *wanted(const struct metric *m, enum part p)
{
    const char *const parts[PART_COUNT] = {m->suite, m->test, m->options, m->field};

    return parts[p];
}

/** The results that are still meant. */
struct chosen {
    size_t n;
    const struct result **items;
};

static void chosen_fini(struct chosen *c)
{
    mem_free(c->items);
}
DEFINE_AUTO_FINI(struct chosen, chosen_fini)

/* ---- names ---- */

/** A * stands for anything, all else for itself. */
static bool matches(const char *pattern, const char *s)
{
    const char *star = NULL, *after = NULL; /* where to go on from if the rest does not fit */

    while (*s) {
        if (*pattern == '*') {
            star = ++pattern;
            after = s;
        } else if (*pattern == *s) {
            pattern++;
            s++;
        } else if (star) {
            pattern = star;
            s = ++after;
        } else {
            return false;
        }
    }
    pattern += strspn(pattern, "*");
    return *pattern == '\0';
}

static bool is_wanted(const char *name, const char *have, bool with_stars)
{
    return with_stars ? matches(name, have) : strcmp(name, have) == 0;
}

/** Keeps what `name` means; false, with nothing changed, if that is nothing. */
static bool keep(struct chosen *c, enum part p, const char *name, bool with_stars)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        n += is_wanted(name, part_of(c->items[i], p), with_stars);
    if (n == 0)
        return false;
    n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (is_wanted(name, part_of(c->items[i], p), with_stars))
            c->items[n++] = c->items[i];
    }
    c->n = n;
    return true;
}

/* ---- what there is, for people ---- */

/** Adds `label` to the list unless it is the last one there; false when the list is full. */
static bool add_name(struct buf *list, const char *label, struct buf *last)
{
    if (list->len && strcmp(buf_str(last), label) == 0)
        return true;
    if (list->len + strlen(label) > LISTED_BYTES)
        return false;
    buf_printf(list, "%s%s", list->len ? ", " : "", label);
    buf_clear(last);
    buf_adds(last, label);
    return true;
}

/** The names of a part among what is left; neighbours that are alike once. */
static void list_part(const struct chosen *c, enum part p, struct buf *list)
{
    AUTO(buf_fini) struct buf last = {0};

    for (size_t i = 0; i < c->n; i++) {
        AUTO(buf_fini) struct buf label = {0};
        const char *name = part_of(c->items[i], p);
        if (!*name)
            continue;
        text_clean(&label, name, strlen(name), NAME_BYTES);
        if (!add_name(list, buf_str(&label), &last)) {
            buf_adds(list, ", \xE2\x80\xA6");
            return;
        }
    }
}

static enum err_code nothing_of(const struct metric *m, const struct chosen *c, enum part p,
                                struct err *e)
{
    AUTO(buf_fini) struct buf list = {0};
    AUTO(buf_fini) struct buf within = {0};

    list_part(c, p, &list);
    if (p == TEST && m->suite)
        buf_printf(&within, " in suite '%.80s'", m->suite);
    else if (p > TEST && m->test)
        buf_printf(&within, " of test '%.80s'", m->test);
    if (!list.len)
        return err_set(e, ERR_INVALID, "no %s '%.80s'%s; there are none there", part_names[p],
                       wanted(m, p), buf_str(&within));
    return err_set(e, ERR_INVALID, "no %s '%.80s'%s; there are: %s", part_names[p], wanted(m, p),
                   buf_str(&within), buf_str(&list));
}

/** Whether what is left differs in a part. */
static bool differs(const struct chosen *c, enum part p)
{
    for (size_t i = 1; i < c->n; i++)
        if (strcmp(part_of(c->items[0], p), part_of(c->items[i], p)) != 0)
            return true;
    return false;
}

static enum err_code too_many(const struct chosen *c, bool may_reduce, struct err *e)
{
    AUTO(buf_fini) struct buf list = {0};
    AUTO(buf_fini) struct buf keys = {0};
    AUTO(buf_fini) struct buf last = {0};
    bool is_whole = true;

    for (enum part p = SUITE; p < PART_COUNT; p++) {
        if (differs(c, p))
            buf_printf(&keys, "%s%s", keys.len ? ", " : "", part_names[p]);
    }
    for (size_t i = 0; is_whole && i < c->n; i++) {
        AUTO(buf_fini) struct buf label = {0};
        result_label(c->items[i], &label);
        is_whole = add_name(&list, buf_str(&label), &last);
    }
    return err_set(e, ERR_INVALID, "%zu results: name one by %s%s; there are: %s%s", c->n,
                   buf_str(&keys), may_reduce ? ", or set reduce" : "", buf_str(&list),
                   is_whole ? "" : ", \xE2\x80\xA6");
}

/* ---- choosing ---- */

static enum err_code choose_part(const struct metric *m, struct chosen *c, enum part p,
                                 struct err *e)
{
    const char *name = wanted(m, p);

    if (!name || keep(c, p, name, false) || keep(c, p, name, true))
        return ERR_OK;
    return nothing_of(m, c, p, e);
}

/** Where the metric does not say: the summaries of suites before their tests. */
static void prefer_summaries(const struct metric *m, struct chosen *c)
{
    if (!m->test)
        (void)!keep(c, TEST, "", false);
}

static void prefer_main(const struct metric *m, struct chosen *c)
{
    size_t n = 0;

    for (size_t i = 0; !m->field && i < c->n; i++)
        n += c->items[i]->is_main;
    if (n == 0)
        return;
    n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->items[i]->is_main)
            c->items[n++] = c->items[i];
    }
    c->n = n;
}

static enum err_code choose(const struct metric *m, const struct results *r, struct chosen *c,
                            struct err *e)
{
    if (r->n == 0)
        return err_set(e, ERR_INVALID, "no number: there are no results in the output");
    c->items = mem_array(r->n, sizeof(*c->items));
    for (size_t i = 0; i < r->n; i++)
        c->items[c->n++] = &r->items[i];
    for (enum part p = SUITE; p < PART_COUNT; p++) {
        enum err_code rc = choose_part(m, c, p, e);
        if (rc)
            return rc;
        if (p == TEST)
            prefer_summaries(m, c);
    }
    prefer_main(m, c);
    if (c->n > 1 && differs(c, FIELD))
        return too_many(c, false, e);
    if (c->n > 1 && m->reduce == REDUCE_UNSET)
        return too_many(c, true, e);
    return ERR_OK;
}

/* ---- values ---- */

static enum err_code check_direction(const struct metric *m, const struct result *x, struct err *e)
{
    bool is_higher = x->better == BETTER_HIGHER;

    if (x->better == BETTER_UNKNOWN || m->worse == (is_higher ? WORSE_DOWN : WORSE_UP) ||
        m->worse == WORSE_EITHER)
        return ERR_OK;
    return err_set(e, ERR_INVALID,
                   "%s is better there, and the metric says worse=%s: set worse=%s or worse=either",
                   is_higher ? "higher" : "lower", worse_name(m->worse), is_higher ? "down" : "up");
}

/** The factor to the metric's unit; `note` takes the unit that the metric has none for. */
static enum err_code check_unit(const struct metric *m, const struct result *x, double *factor,
                                struct err *e)
{
    *factor = 1;
    if (!*x->unit || !m->unit || !*m->unit || unit_factor(x->unit, m->unit, factor))
        return ERR_OK;
    return err_set(e, ERR_INVALID, "it is in %.32s, and the metric's unit is %.32s: set unit=%.32s",
                   x->unit, m->unit, x->unit);
}

static enum err_code take(const struct metric *m, const struct result *x, struct values *out,
                          struct err *e)
{
    double factor = 1;

    if (x->fault)
        return err_set(e, ERR_INVALID, "%s", x->fault);
    if (x->n == 0)
        return err_set(e, ERR_INVALID, "no number");
    enum err_code rc = check_direction(m, x, e);
    if (!rc)
        rc = check_unit(m, x, &factor, e);
    if (rc)
        return rc;
    if (out->n + x->n > VALUES_MOST)
        return err_set(e, ERR_INVALID, "more than %d numbers", VALUES_MOST);
    out->items = mem_resize(out->items, out->n + x->n, sizeof(*out->items));
    for (size_t i = 0; i < x->n; i++)
        out->items[out->n++] = x->values[i] * factor;
    return ERR_OK;
}

/** Whose fault it was. */
static enum err_code wrap_label(const struct result *x, struct err *e)
{
    AUTO(buf_fini) struct buf label = {0};

    result_label(x, &label);
    return label.len ? err_wrap(e, "%s", buf_str(&label)) : ERR_INVALID;
}

static enum err_code check_same_unit(const struct chosen *c, const struct metric *m, struct err *e)
{
    for (size_t i = 1; i < c->n && !*m->unit; i++) {
        if (strcmp(c->items[0]->unit, c->items[i]->unit) != 0)
            return err_set(e, ERR_INVALID, "results in %.32s and in %.32s: set unit",
                           *c->items[0]->unit ? c->items[0]->unit : "no unit",
                           *c->items[i]->unit ? c->items[i]->unit : "no unit");
    }
    return ERR_OK;
}

/** What a person should know: the unit if the metric names none, and what the reader noted. */
static char *note_of(const struct metric *m, const struct results *r, const struct result *x)
{
    struct buf note = {0};

    if (!*m->unit && *x->unit) {
        buf_adds(&note, "in ");
        text_clean(&note, x->unit, strlen(x->unit), NAME_BYTES);
    }
    if (r->notes.len)
        buf_printf(&note, "%s%s", note.len ? "; " : "", buf_str(&r->notes));
    for (size_t i = 0; i < note.len; i++)
        if (note.data[i] == '\n')
            note.data[i] = ' ';
    return note.len ? buf_take(&note) : NULL;
}

enum err_code select_values(const struct metric *m, const struct results *r, struct values *out,
                            struct err *e)
{
    AUTO(chosen_fini) struct chosen c = {0};
    AUTO(values_fini) struct values found = {0};

    enum err_code rc = choose(m, r, &c, e);
    if (!rc)
        rc = check_same_unit(&c, m, e);
    for (size_t i = 0; !rc && i < c.n; i++) {
        rc = take(m, c.items[i], &found, e);
        if (rc)
            rc = wrap_label(c.items[i], e);
    }
    if (rc)
        return rc;
    found.reduced = reduce_values(m->reduce, found.items, found.n);
    if (quantity_check(found.reduced, e))
        return err_wrap(e, "reduced, they are too large");
    found.note = note_of(m, r, c.items[0]);
    *out = found;
    found = (struct values){0};
    return ERR_OK;
}
