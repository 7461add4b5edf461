/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/results.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/quantity.h"
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_SLOTS = 64, NAME_BYTES = 120, NOTES_BYTES = 2 * KIB };

/* ---- lifetime ---- */

static void stamp_fini(struct stamp *s)
{
    mem_free(s->time);
    mem_free(s->revision);
}

static void result_fini(struct result *x)
{
    for (size_t i = 0; x->stamps && i < x->n; i++)
        stamp_fini(&x->stamps[i]);
    mem_free(x->stamps);
    mem_free(x->suite);
    mem_free(x->test);
    mem_free(x->options);
    mem_free(x->field);
    mem_free(x->unit);
    mem_free(x->values);
    mem_free(x->fault);
}

void results_fini(struct results *r)
{
    for (size_t i = 0; i < r->n; i++)
        result_fini(&r->items[i]);
    mem_free(r->items);
    mem_free(r->slots);
    stamp_fini(&r->stamp);
    buf_fini(&r->notes);
    *r = (struct results){0};
}

static char *repaired(const char *s)
{
    struct buf out = {0};

    text_repair(&out, s ? s : "", s ? strlen(s) : 0);
    return buf_take(&out);
}

/* ---- by key ---- */

static uint64_t hash_text(uint64_t h, const char *s) /* FNV-1a */
{
    for (; s && *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t hash_key(const struct result_key *k)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    return hash_text(hash_text(hash_text(hash_text(h, k->suite), k->test), k->options), k->field);
}

static bool is_same(const char *have, const char *want)
{
    return strcmp(have, want ? want : "") == 0;
}

static bool has_key(const struct result *x, const struct result_key *k)
{
    return is_same(x->suite, k->suite) && is_same(x->test, k->test) &&
           is_same(x->options, k->options) && is_same(x->field, k->field);
}

/** The slot that holds the key, or the free one where it goes. Pre: one is free. */
static size_t *slot_of(const struct results *r, const struct result_key *k)
{
    size_t at = hash_key(k) & (r->n_slots - 1);

    while (r->slots[at] && !has_key(&r->items[r->slots[at] - 1], k))
        at = (at + 1) & (r->n_slots - 1);
    return &r->slots[at];
}

static void grow(struct results *r)
{
    r->n_slots = r->n_slots ? 2 * r->n_slots : FIRST_SLOTS;
    mem_free(r->slots);
    r->slots = mem_array(r->n_slots, sizeof(*r->slots));
    r->items = mem_resize(r->items, r->n_slots / 2, sizeof(*r->items));
    for (size_t i = 0; i < r->n; i++) {
        const struct result *x = &r->items[i];
        *slot_of(r, &(struct result_key){x->suite, x->test, x->options, x->field}) = i + 1;
    }
}

/** The key with its text repaired, as results hold it. */
struct clean_key {
    struct result_key key;
    char *suite, *test, *options, *field;
};

static struct clean_key clean_key_of(const struct result_key *k)
{
    struct clean_key c = {.suite = repaired(k->suite),
                          .test = repaired(k->test),
                          .options = repaired(k->options),
                          .field = repaired(k->field)};

    c.key = (struct result_key){c.suite, c.test, c.options, c.field};
    return c;
}

static void clean_key_fini(struct clean_key *c)
{
    mem_free(c->suite);
    mem_free(c->test);
    mem_free(c->options);
    mem_free(c->field);
}
DEFINE_AUTO_FINI(struct clean_key, clean_key_fini)

struct result *results_find(const struct results *r, const struct result_key *key)
{
    AUTO(clean_key_fini) struct clean_key c = clean_key_of(key);
    size_t at = r->n_slots ? *slot_of(r, &c.key) : 0;

    return at ? &r->items[at - 1] : NULL;
}

struct result *results_at(struct results *r, const struct result_key *key)
{
    AUTO(clean_key_fini) struct clean_key c = clean_key_of(key);

    if (2 * (r->n + 1) > r->n_slots)
        grow(r);
    size_t *slot = slot_of(r, &c.key);
    if (*slot)
        return &r->items[*slot - 1];
    if (r->n == RESULTS_MOST) {
        r->is_full = true;
        return &r->items[r->n - 1];
    }
    r->items[r->n] = (struct result){.suite = TAKE(c.suite),
                                     .test = TAKE(c.test),
                                     .options = TAKE(c.options),
                                     .field = TAKE(c.field),
                                     .unit = mem_dup("")};
    *slot = ++r->n;
    return &r->items[r->n - 1];
}

/* ---- what a result holds ---- */

void result_set_unit(struct result *x, const char *unit)
{
    if (*x->unit || !unit)
        return;
    mem_free(x->unit);
    x->unit = repaired(unit);
}

void result_add(struct results *r, struct result *x, double value)
{
    struct err bad = {0};

    if (quantity_check(value, &bad)) {
        result_fault(x, isfinite(value) ? "%s: %s" : "%s is %s", *x->field ? x->field : "the value",
                     bad.text);
        return;
    }
    if (r->n_values == RESULT_VALUES_MOST) {
        r->is_full = true;
        return;
    }
    r->n_values++;
    if (x->n == x->cap) {
        x->cap = x->cap ? 2 * x->cap : 4;
        x->values = mem_resize(x->values, x->cap, sizeof(*x->values));
        if (x->stamps)
            x->stamps = mem_resize(x->stamps, x->cap, sizeof(*x->stamps));
    }
    if (x->stamps)
        x->stamps[x->n] = (struct stamp){0};
    x->values[x->n++] = value;
}

void result_fault(struct result *x, const char *format, ...)
{
    char text[300];
    va_list args;

    if (x->fault)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    AUTO(buf_fini) struct buf clean = {0};
    text_clean(&clean, text, strlen(text), sizeof(text));
    x->fault = buf_take(&clean);
}

void result_stamp(struct result *x, const char *time, const char *revision)
{
    if (x->n == 0)
        return;
    if (!x->stamps)
        x->stamps = mem_array(x->cap, sizeof(*x->stamps));
    struct stamp *s = &x->stamps[x->n - 1];
    stamp_fini(s);
    *s = (struct stamp){.time = time ? repaired(time) : NULL,
                        .revision = revision ? repaired(revision) : NULL};
}

void results_note(struct results *r, const char *format, ...)
{
    char text[300];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (r->notes.len >= NOTES_BYTES)
        return;
    if (r->notes.len)
        buf_addc(&r->notes, '\n');
    text_clean(&r->notes, text, strlen(text), sizeof(text));
}

void result_label(const struct result *x, struct buf *out)
{
    const struct {
        const char *before, *text, *after;
    } parts[] = {
        {" ", x->suite, ""}, {" ", x->test, ""}, {" [", x->options, "]"}, {": ", x->field, ""}};
    size_t start = out->len;

    for (size_t i = 0; i < LEN(parts); i++) {
        if (!*parts[i].text)
            continue;
        buf_adds(out, out->len > start ? parts[i].before : *parts[i].after ? "[" : "");
        text_clean(out, parts[i].text, strlen(parts[i].text), NAME_BYTES);
        buf_adds(out, parts[i].after);
    }
}
