/* SPDX-License-Identifier: Apache-2.0 */
/* Go benchmark text: golang.org/design/14313-benchmark-format. */
#include "base/mem.h"
#include "formats/format.h"
#include <ctype.h>
#include <string.h>

enum { MOST_FIELDS = 200, MOST_UNITS = 200 };

/** Reads "BenchmarkName 100 5 ns/op …" into words; false if it is no such line. */
static bool read_line(struct piece line, struct piece *words, size_t *n)
{
    struct piece rest = piece_trimmed(line);
    double ignored;

    *n = 0;
    if (!piece_starts(line, "Benchmark"))
        return false;
    while (rest.n > 0 && *n < MOST_FIELDS)
        words[(*n)++] = piece_word(&rest);
    struct piece name = words[0];
    bool is_name = name.n > 9 && !islower((unsigned char)name.s[9]);
    if (!is_name || rest.n > 0 || *n < 4 || *n % 2 != 0)
        return false;
    for (size_t i = 0; i < words[1].n; i++)
        if (!isdigit((unsigned char)words[1].s[i]))
            return false;
    return piece_number(words[2], &ignored);
}

/** "key: value" sets a key for the lines that follow; no value takes it away. */
static bool is_setting(struct piece line, const char *key, struct piece *value)
{
    size_t n = strlen(key);

    if (!piece_starts(line, key) || line.n <= n || line.s[n] != ':')
        return false;
    *value = piece_trimmed(piece_from(line, line.s + n + 1));
    return true;
}

/** As benchstat assumes where no Unit line says otherwise. */
static enum better usual(const char *unit)
{
    static const struct {
        const char *unit;
        enum better better;
    } known[] = {
        {"ns/op", BETTER_LOWER}, {"sec/op", BETTER_LOWER}, {"MB/s", BETTER_HIGHER},
        {"B/s", BETTER_HIGHER},  {"B/op", BETTER_LOWER},   {"allocs/op", BETTER_LOWER},
    };

    for (size_t i = 0; i < LEN(known); i++)
        if (strcmp(known[i].unit, unit) == 0)
            return known[i].better;
    return BETTER_UNKNOWN;
}

static void list_words(const struct piece *words, size_t n, struct piece pkg, struct results *out)
{
    AUTO(mem_free) char *suite = mem_dup_n(pkg.s, pkg.n);
    AUTO(mem_free) char *test = mem_dup_n(words[0].s, words[0].n);

    for (size_t i = 2; i + 1 < n; i += 2) {
        AUTO(mem_free) char *unit = mem_dup_n(words[i + 1].s, words[i + 1].n);
        struct result *x =
            results_at(out, &(struct result_key){.suite = suite, .test = test, .field = unit});
        result_set_unit(x, unit);
        x->better = usual(unit);
        x->is_main = i == 2;
        result_add_piece(out, x, words[i], unit);
    }
}

/** "Unit ns/op better=lower", wherever it stands. */
static void apply_unit(struct piece line, struct results *out)
{
    struct piece rest = piece_trimmed(line);
    struct piece unit = (piece_word(&rest), piece_word(&rest));
    enum better better = BETTER_UNKNOWN;

    while (rest.n > 0) {
        struct piece word = piece_word(&rest);
        if (piece_is(word, "better=higher"))
            better = BETTER_HIGHER;
        else if (piece_is(word, "better=lower"))
            better = BETTER_LOWER;
    }
    for (size_t i = 0; better != BETTER_UNKNOWN && i < out->n; i++)
        if (piece_is(unit, out->items[i].unit))
            out->items[i].better = better;
}

bool gobench_is(const struct document *d)
{
    struct piece rest = d->text, line, words[MOST_FIELDS];
    size_t n = 0;

    while (piece_line(&rest, &line))
        if (read_line(line, words, &n))
            return true;
    return false;
}

enum err_code gobench_list(const struct document *d, struct results *out, struct err *e)
{
    struct piece rest = d->text, line, pkg = {"", 0}, words[MOST_FIELDS];
    size_t n = 0, n_units = 0;

    while (piece_line(&rest, &line)) {
        if (!is_setting(line, "pkg", &pkg) && read_line(line, words, &n))
            list_words(words, n, pkg, out);
    }
    for (rest = d->text; piece_line(&rest, &line);) {
        if (piece_starts(line, "Unit ") && ++n_units <= MOST_UNITS)
            apply_unit(line, out);
    }
    if (n_units > MOST_UNITS)
        return err_set(e, ERR_INVALID, "more than %d Unit lines", MOST_UNITS);
    if (out->n == 0)
        return err_set(e, ERR_INVALID, "no number: no line of a benchmark in the output");
    return ERR_OK;
}
