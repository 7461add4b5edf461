/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace_table.h"
#include "base/buf.h"
#include "base/mem.h"
#include <ctype.h>
#include <string.h>

enum { FIRST_SLOTS = 64, BLOCK_BYTES = 64 * KIB, HEX_WORD = 8, RANDOM_END = 6 };

/* ---- strings that live as long as the table ---- */

struct block {
    struct block *next;
    size_t used;
    char bytes[];
};

struct trace_table {
    struct trace_row *rows;
    size_t n, cap;
    uint32_t *slots; /* hash table of row numbers + 1; 0: free */
    size_t n_slots;  /* a power of two */
    struct block *blocks;
    size_t text_bytes;
    uint64_t n_folded;
};

struct trace_table *trace_table_new(void)
{
    struct trace_table *t = mem_alloc(sizeof(*t));

    t->n_slots = FIRST_SLOTS;
    t->slots = mem_array(t->n_slots, sizeof(*t->slots));
    return t;
}

void trace_table_free(struct trace_table *t)
{
    if (!t)
        return;
    while (t->blocks) {
        struct block *b = t->blocks;
        t->blocks = b->next;
        mem_free(b);
    }
    mem_free(t->slots);
    mem_free(t->rows);
    mem_free(t);
}

static const char *keep_text(struct trace_table *t, const char *s)
{
    size_t n = strlen(s) + 1;
    struct block *b = t->blocks;

    if (!b || b->used + n > BLOCK_BYTES) {
        b = mem_alloc(sizeof(*b) + (n > BLOCK_BYTES ? n : BLOCK_BYTES));
        b->next = t->blocks;
        t->blocks = b;
    }
    char *to = b->bytes + b->used;
    memcpy(to, s, n);
    b->used += n;
    t->text_bytes += n;
    return to;
}

/* ---- rows ---- */

/* FNV-1a, 64 bits: https://datatracker.ietf.org/doc/html/draft-eastlake-fnv */
static uint64_t hash_text(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

static size_t hash_key(const char *call, const char *path)
{
    uint64_t h = hash_text(hash_text(UINT64_C(0xcbf29ce484222325), call), path);

    return (size_t)(h ^ h >> 32);
}

/** Where the row's number stands, or is to be put. */
static uint32_t *slot_of(const struct trace_table *t, const char *call, const char *path)
{
    for (size_t at = hash_key(call, path);; at++) {
        uint32_t *slot = &t->slots[at & (t->n_slots - 1)];
        const struct trace_row *row = *slot ? &t->rows[*slot - 1] : NULL;
        if (!row || (strcmp(row->call, call) == 0 && strcmp(row->path, path) == 0))
            return slot;
    }
}

static void grow_slots(struct trace_table *t)
{
    mem_free(t->slots);
    t->n_slots *= 2;
    t->slots = mem_array(t->n_slots, sizeof(*t->slots));
    for (size_t i = 0; i < t->n; i++)
        *slot_of(t, t->rows[i].call, t->rows[i].path) = (uint32_t)i + 1;
}

static struct trace_row *add_row(struct trace_table *t, const char *call, const char *path)
{
    if (2 * (t->n + 1) > t->n_slots)
        grow_slots(t);
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 16;
        t->rows = mem_resize(t->rows, t->cap, sizeof(*t->rows));
    }
    *slot_of(t, call, path) = (uint32_t)t->n + 1;
    struct trace_row *row = &t->rows[t->n++];
    *row = (struct trace_row){.call = keep_text(t, call), .path = keep_text(t, path)};
    return row;
}

static struct trace_row *find_row(const struct trace_table *t, const char *call, const char *path)
{
    uint32_t number = *slot_of(t, call, path);

    return number ? &t->rows[number - 1] : NULL;
}

static bool is_full(const struct trace_table *t, size_t factor)
{
    return t->n >= TRACE_ROWS_MOST + factor * (size_t)TRACE_FOLDED_ROWS ||
           t->text_bytes >= TRACE_TEXT_BYTES + factor * (size_t)TRACE_TEXT_BYTES / 2;
}

static struct trace_row *row_for(struct trace_table *t, const struct trace_row *like)
{
    char normal[TRACE_PATH_BYTES];
    struct trace_row *row = find_row(t, like->call, like->path);

    if (row || !is_full(t, 0))
        return row ? row : add_row(t, like->call, like->path);
    t->n_folded += like->count;
    trace_path_normal(like->path, normal, sizeof(normal));
    row = find_row(t, like->call, normal);
    if (row || !is_full(t, 1))
        return row ? row : add_row(t, like->call, normal);
    row = find_row(t, like->call, TRACE_PATH_REST);
    return row ? row : add_row(t, like->call, TRACE_PATH_REST);
}

static void add_numbers(struct trace_row *to, const struct trace_row *from)
{
    to->count += from->count;
    to->errors += from->errors;
    to->n_timed += from->n_timed;
    if (__builtin_add_overflow(to->total_ns, from->total_ns, &to->total_ns))
        to->total_ns = INT64_MAX;
    to->is_directory = to->is_directory || from->is_directory;
}

void trace_table_add(struct trace_table *t, const struct trace_row *row)
{
    add_numbers(row_for(t, row), row);
}

void trace_table_merge(struct trace_table *t, const struct trace_table *from)
{
    for (size_t i = 0; i < from->n; i++)
        trace_table_add(t, &from->rows[i]);
    t->n_folded += from->n_folded;
}

size_t trace_table_size(const struct trace_table *t)
{
    return t->n;
}

const struct trace_row *trace_table_at(const struct trace_table *t, size_t i)
{
    return &t->rows[i];
}

const struct trace_row *trace_table_find(const struct trace_table *t, const char *call,
                                         const char *path)
{
    return find_row(t, call, path);
}

uint64_t trace_table_folded(const struct trace_table *t)
{
    return t->n_folded;
}

struct trace_row trace_table_sum(const struct trace_table *t)
{
    struct trace_row sum = {.call = "", .path = ""};

    for (size_t i = 0; i < t->n; i++)
        add_numbers(&sum, &t->rows[i]);
    sum.is_directory = false;
    return sum;
}

/* ---- filters ---- */

bool trace_filter_wants_call(const struct trace_filter *f, const char *call, size_t n)
{
    if (!f || !f->calls)
        return true;
    for (const char *const *c = f->calls; *c; c++)
        if (strncmp(*c, call, n) == 0 && (*c)[n] == '\0')
            return true;
    return false;
}

bool trace_filter_wants_path(const struct trace_filter *f, const char *path)
{
    return !f || !f->path || trace_glob(f->path, path);
}

/** What follows one character of a pattern that is not a star, or NULL if `c` does not match it. */
static const char *match_one(const char *p, char c)
{
    if (*p == '?')
        return p + 1;
    if (*p == '[') {
        const char *end = p[1] ? strchr(p + 2 + (p[1] == '!' || p[1] == '^'), ']') : NULL;
        bool is_not = p[1] == '!' || p[1] == '^';
        bool is_in = false;
        for (const char *s = p + 1 + is_not; end && s < end; s++) {
            if (s + 2 < end && s[1] == '-') {
                is_in = is_in || ((unsigned char)s[0] <= (unsigned char)c &&
                                  (unsigned char)c <= (unsigned char)s[2]);
                s += 2;
            } else {
                is_in = is_in || *s == c;
            }
        }
        if (end)
            return is_in != is_not ? end + 1 : NULL;
    }
    if (*p == '\\' && p[1])
        p++;
    return *p == c ? p + 1 : NULL;
}

bool trace_glob(const char *pattern, const char *path)
{
    const char *p = pattern, *s = path;
    const char *star_p = NULL, *star_s = NULL; /* after the last star, and where it was tried */

    while (*s || *p) {
        if (*p == '*') {
            star_p = ++p;
            star_s = s;
            continue;
        }
        const char *next = *p && *s ? match_one(p, *s) : NULL;
        if (next) {
            p = next;
            s++;
        } else if (star_p && *star_s) {
            p = star_p;
            s = ++star_s;
        } else {
            return false;
        }
    }
    return true;
}

/* ---- the normal form of a path ---- */

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/** 8-4-4-4-12 hex digits: its length, else 0. */
static size_t uuid_at(const char *s)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    for (size_t i = 0; i < sizeof(form) - 1; i++)
        if (form[i] == 'x' ? !is_hex(s[i]) : s[i] != '-')
            return 0;
    return sizeof(form) - 1;
}

/** A word, letters and digits, of hex alone, and with a digit among them: its length, else 0. */
static size_t hex_word_at(const char *s)
{
    size_t n = 0, n_digits = 0;

    for (; is_hex(s[n]); n++)
        n_digits += is_digit(s[n]);
    return n >= HEX_WORD && n_digits > 0 && !is_alnum(s[n]) ? n : 0;
}

/** A random end of a name, seen from its first character on: its length, else 0. */
static size_t random_end_at(const char *s)
{
    size_t n = 0, n_digits = 0, n_upper = 0, n_lower = 0;

    for (; is_alnum(s[n]); n++) {
        n_digits += is_digit(s[n]);
        n_upper += s[n] >= 'A' && s[n] <= 'Z';
        n_lower += s[n] >= 'a' && s[n] <= 'z';
    }
    bool is_mixed = (n_upper > 0 && n_lower > 0) || (n_digits > 0 && n_digits < n);
    return n >= RANDOM_END && is_mixed && (s[n] == '\0' || s[n] == '/') ? n : 0;
}

/** What of the path at `s` stands for something that varies; `before`: the character in front. */
static size_t varying_at(const char *s, char before)
{
    size_t n = 0;

    if (!is_alnum(before)) {
        n = uuid_at(s);
        n = n ? n : hex_word_at(s);
        if (!n && (before == '.' || before == '-' || before == '_'))
            n = random_end_at(s);
    }
    return n ? n : strspn(s, "0123456789");
}

void trace_path_normal(const char *path, char *out, size_t room)
{
    size_t len = 0;

    for (size_t i = 0; path[i] && len + 1 < room;) {
        size_t n = varying_at(path + i, i ? path[i - 1] : '/');
        out[len++] = n ? '#' : path[i];
        i += n ? n : 1;
    }
    if (room > 0)
        out[len] = '\0';
}
