/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/value.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/piece.h"
#include "model/quantity.h"
#include <math.h>
#include <regex.h>
#include <stdint.h>
#include <string.h>

enum { QUOTE_BYTES = 60, LONGEST_LINE = 64 * KIB };

/* A search may cost the square of a line's length, and the output may be made to do so. One line of
 * the longest kind, or 16 MiB in lines of 256 bytes, takes some 10 s at the very worst. */
static const uint64_t most_effort = (uint64_t)LONGEST_LINE * LONGEST_LINE;

void values_fini(struct values *v)
{
    mem_free(v->items);
    mem_free(v->note);
    *v = (struct values){0};
}

/** What is being read, and what was found so far. */
struct reader {
    const struct metric *m;
    struct values found; /* with reduce unset only the first is kept: a second is an error */
    size_t n_seen;
    size_t cap;
};

static enum err_code take(struct reader *r, double v, struct err *e)
{
    if (quantity_check(v, e))
        return err_wrap(e, "cannot measure");
    r->n_seen++;
    if (r->m->reduce == REDUCE_UNSET && r->n_seen > 1)
        return ERR_OK;
    if (r->n_seen > VALUES_MOST)
        return err_set(e, ERR_INVALID, "cannot measure: more than %d numbers", VALUES_MOST);
    if (r->found.n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 16;
        r->found.items = mem_resize(r->found.items, r->cap, sizeof(double));
    }
    r->found.items[r->found.n++] = v;
    return ERR_OK;
}

/* One number */

static enum err_code not_a_number(struct piece quote, struct err *e)
{
    AUTO(buf_fini) struct buf clean = {0};

    text_clean(&clean, quote.s, quote.n, QUOTE_BYTES);
    err_set(e, ERR_INVALID, "cannot measure: \"%s\" is not a number", buf_str(&clean));
    err_hint(e, "Print the number alone, or say where it is with regex or json.");
    return ERR_INVALID;
}

/** Reads `word` as one number; `quote` is what a person is shown if it is none. */
static enum err_code take_text(struct reader *r, struct piece word, struct piece quote,
                               struct err *e)
{
    double v;

    if (!piece_number(word, &v))
        return not_a_number(quote, e);
    return take(r, v, e);
}

/* The three ways */

static enum err_code read_plain(struct reader *r, struct piece output, struct err *e)
{
    struct piece line;

    while (piece_line(&output, &line)) {
        line = piece_trimmed(line);
        /* With reduce a line is one number. Without, words are counted, to say how many there are.
         */
        for (struct piece rest = line; rest.n > 0;) {
            struct piece word = rest;
            if (r->m->reduce == REDUCE_UNSET)
                word = piece_word(&rest);
            else
                rest.n = 0;
            enum err_code rc = take_text(r, word, line, e);
            if (rc)
                return rc;
        }
    }
    return ERR_OK;
}

static void pattern_free(regex_t *re)
{
    regfree(re);
    mem_free(re);
}
DEFINE_AUTO(regex_t, pattern_free)

/** All matches in one line, which is a string. */
static enum err_code read_matches(struct reader *r, const regex_t *re, const char *line,
                                  struct err *e)
{
    for (int flags = 0;; flags = REG_NOTBOL) {
        regmatch_t at[2];
        if (regexec(re, line, LEN(at), at, flags) != 0)
            return ERR_OK;
        const regmatch_t *group = re->re_nsub ? &at[1] : &at[0];
        if (group->rm_so >= group->rm_eo)
            return err_set(e, ERR_INVALID, "cannot measure: regex %.80s matches without a number",
                           r->m->regex);
        struct piece word = {line + group->rm_so, (size_t)(group->rm_eo - group->rm_so)};
        enum err_code rc = take_text(r, piece_trimmed(word), word, e);
        if (rc)
            return rc;

        line += at[0].rm_eo; /* > 0, since its group is not empty */
    }
}

/** regexec wants strings. A NUL within becomes another byte that is no part of a number. */
static void string_of(struct piece line, struct buf *out)
{
    buf_clear(out);
    buf_add(out, line.s, line.n);
    for (size_t i = 0; i < out->len; i++)
        if (out->data[i] == '\0')
            out->data[i] = '\x01';
}

static enum err_code read_regex(struct reader *r, struct piece output, struct err *e)
{
    regex_t *re = mem_alloc(sizeof(*re));
    int rc = regcomp(re, r->m->regex, REG_EXTENDED);
    AUTO(buf_fini) struct buf text = {0};
    struct piece line;
    uint64_t effort = 0;

    if (rc != 0) {
        char why[128];
        regerror(rc, re, why, sizeof(why));
        mem_free(re);
        return err_set(e, ERR_INVALID, "cannot measure: regex %.80s: %s", r->m->regex, why);
    }
    AUTO(pattern_free) regex_t *owned = re;
    while (piece_line(&output, &line)) {
        effort += (uint64_t)line.n * line.n;
        if (effort > most_effort)
            return err_set(
                e, ERR_INVALID,
                "cannot measure: lines too long for regex; at most %d bytes, fewer if many",
                LONGEST_LINE);
        string_of(line, &text);
        enum err_code code = read_matches(r, owned, buf_str(&text), e);
        if (code)
            return code;
    }
    return ERR_OK;
}

static enum err_code take_json(struct reader *r, const json *v, struct err *e)
{
    if (json_is_number(v))
        return take(r, json_num(v, NAN), e);

    AUTO(buf_fini) struct buf text = {0};
    AUTO(buf_fini) struct buf clean = {0};
    json_dump(v, JSON_COMPACT, &text);
    text_clean(&clean, buf_str(&text), text.len, QUOTE_BYTES);
    return err_set(e, ERR_INVALID, "cannot measure: %.80s holds %s, which is not a number",
                   r->m->pointer, buf_str(&clean));
}

static enum err_code read_json(struct reader *r, struct piece output, struct err *e)
{
    AUTO(json_free) json *v = NULL;

    if (piece_trimmed(output).n == 0)
        return ERR_OK; /* "no number" says it best */
    if (json_parse_foreign(output.s, output.n, &v, e))
        return err_wrap(e, "cannot measure");
    const json *at = json_pointer(v, r->m->pointer);
    if (!at)
        return err_set(e, ERR_INVALID, "cannot measure: no number: the output has nothing at %.80s",
                       r->m->pointer);
    if (!json_is_array(at))
        return take_json(r, at, e);
    for (size_t i = 0; i < json_len(at); i++) {
        enum err_code rc = take_json(r, json_item(at, i), e);
        if (rc)
            return rc;
    }
    return ERR_OK;
}

/* The one number of the run */

static enum err_code no_number(const struct metric *m, struct piece output, struct err *e)
{
    if (piece_trimmed(output).n == 0)
        return err_set(e, ERR_INVALID, "cannot measure: no number: the output is empty");
    if (m->regex)
        return err_set(e, ERR_INVALID, "cannot measure: no number: regex %.80s matches nothing",
                       m->regex);
    return err_set(e, ERR_INVALID, "cannot measure: no number: %.80s is an empty array",
                   m->pointer);
}

enum err_code value_read(const struct metric *m, const char *bytes, size_t n, struct values *out,
                         struct err *e)
{
    struct reader r = {.m = m};
    struct piece output = {bytes, n};

    enum err_code rc = m->regex     ? read_regex(&r, output, e)
                       : m->pointer ? read_json(&r, output, e)
                                    : read_plain(&r, output, e);
    AUTO(values_fini) struct values found = r.found;
    if (rc)
        return rc;
    if (r.n_seen == 0)
        return no_number(m, output, e);
    if (r.n_seen > found.n)
        return err_set(e, ERR_INVALID, "cannot measure: %zu numbers, set reduce", r.n_seen);
    found.reduced = found.n == 1 ? found.items[0] : reduce_values(m->reduce, found.items, found.n);
    if (quantity_check(found.reduced, e))
        return err_wrap(e, "cannot measure: reduced, they are too large");
    *out = found;
    found = (struct values){0};
    return ERR_OK;
}
