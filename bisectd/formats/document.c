/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/document.h"
#include "base/mem.h"
#include "base/text.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { QUOTE_BYTES = 60 };

static bool begins_like_json(struct piece text)
{
    struct piece p = piece_trimmed(text);

    return p.n > 0 && (*p.s == '{' || *p.s == '[');
}

void document_init(struct document *d, struct piece text)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";

    if (piece_starts(text, byte_order_mark)) {
        text.s += strlen(byte_order_mark);
        text.n -= strlen(byte_order_mark);
    }
    *d = (struct document){.text = text};
    if (begins_like_json(text))
        (void)!foreign_json(text, &d->json, &d->error);
}

void document_fini(struct document *d)
{
    json_free(d->json);
}

/* ---- JSON as others write it ---- */

/** The length of a bare word such as -Infinity at `s`; 0 if there is none. */
static size_t bare_word(struct piece p)
{
    static const char *const words[] = {"NaN", "nan", "Infinity", "inf", "INF", "Inf"};
    size_t sign = p.n > 0 && (*p.s == '-' || *p.s == '+');
    struct piece rest = {p.s + sign, p.n - sign};

    for (size_t i = 0; i < LEN(words); i++) {
        size_t n = strlen(words[i]);
        if (piece_starts(rest, words[i]) && (rest.n == n || !isalnum((unsigned char)rest.s[n])))
            return sign + n;
    }
    return 0;
}

/** Takes one string, or one other byte, or one bare word from `rest`. */
static void copy_token(struct piece *rest, struct buf *out)
{
    size_t n = 1;

    if (*rest->s == '"') {
        while (n < rest->n && rest->s[n] != '"')
            n += 1 + (rest->s[n] == '\\');
        n = n < rest->n ? n + 1 : rest->n;
        buf_add(out, rest->s, n);
    } else if ((n = bare_word(*rest)) > 0) {
        buf_addc(out, '"');
        buf_add(out, rest->s, n);
        buf_addc(out, '"');
    } else {
        n = 1;
        buf_addc(out, *rest->s);
    }
    *rest = (struct piece){rest->s + n, rest->n - n};
}

enum err_code foreign_json(struct piece text, json **out, struct err *e)
{
    AUTO(buf_fini) struct buf utf8 = {0};
    AUTO(buf_fini) struct buf plain = {0};

    text_repair(&utf8, text.s, text.n);
    for (struct piece rest = {buf_str(&utf8), utf8.len}; rest.n > 0;)
        copy_token(&rest, &plain);
    return json_parse_foreign(buf_str(&plain), plain.len, out, e);
}

enum err_code document_need_json(const struct document *d, const char *what, struct err *e)
{
    AUTO(buf_fini) struct buf quote = {0};

    if (d->json)
        return ERR_OK;
    if (d->error.code)
        return err_set(e, ERR_INVALID, "%s", d->error.text);
    struct piece p = piece_trimmed(d->text);
    if (p.n == 0)
        return err_set(e, ERR_INVALID, "the output is empty");
    text_clean(&quote, p.s, p.n < QUOTE_BYTES ? p.n : QUOTE_BYTES, QUOTE_BYTES);
    return err_set(e, ERR_INVALID, "expected %s, got \"%s\"", what, buf_str(&quote));
}

bool document_next_object(struct piece *rest, size_t *n_line, json **out, struct err *e)
{
    struct piece line;

    while (piece_line(rest, &line)) {
        ++*n_line;
        line = piece_trimmed(line);
        if (line.n == 0 || *line.s != '{')
            continue;
        if (foreign_json(line, out, e)) {
            err_wrap(e, "line %zu", *n_line);
            return false;
        }
        return true;
    }
    return false;
}

/* ---- values ---- */

static void fault_text(struct result *x, const char *what, struct piece p)
{
    AUTO(buf_fini) struct buf quote = {0};

    text_clean(&quote, p.s, p.n, QUOTE_BYTES);
    result_fault(x, "%s is \"%s\", which is not a number", what, buf_str(&quote));
}

void result_add_json(struct results *r, struct result *x, const json *v, const char *what)
{
    double number = json_num(v, NAN);
    const char *s = json_str(v, NULL);

    if (json_is_number(v))
        result_add(r, x, number);
    else if (!v)
        result_fault(x, "%s is missing", what);
    else if (json_is_null(v))
        result_fault(x, "%s is null, not a number", what);
    else if (s && piece_number((struct piece){s, strlen(s)}, &number) && !isfinite(number))
        result_fault(x, "%s is %s", what, s);
    else if (s)
        fault_text(x, what, (struct piece){s, strlen(s)});
    else
        result_fault(x, "%s is not a number", what);
}

void result_add_array(struct results *r, struct result *x, const json *v, const char *what)
{
    if (!json_is_array(v))
        result_fault(x, "%s is not a list of numbers", what);
    else if (json_len(v) == 0)
        result_fault(x, "%s is an empty list", what);
    for (size_t i = 0; json_is_array(v) && i < json_len(v); i++)
        result_add_json(r, x, json_item(v, i), what);
}

void result_add_piece(struct results *r, struct result *x, struct piece p, const char *what)
{
    double number = NAN;

    p = piece_trimmed(p);
    if (p.n == 0)
        result_fault(x, "%s is missing", what);
    else if (!piece_number(p, &number))
        fault_text(x, what, p);
    else
        result_add(r, x, number);
}
