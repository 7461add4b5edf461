/* SPDX-License-Identifier: Apache-2.0 */
/* perf stat -j and -x. Counter values are text, and may be "<not supported>". */
#include "base/mem.h"
#include "base/text.h"
#include "formats/format.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- both ---- */

static char *text_of(struct piece p)
{
    return mem_dup_n(p.s, p.n);
}

static void add_count(struct results *out, const struct result_key *key, struct piece value,
                      const char *unit)
{
    struct result *x = results_at(out, key);

    x->is_main = true;
    if (*x->unit && strcmp(x->unit, unit) != 0)
        result_fault(x, "counted in %s and in %.16s", x->unit, unit);
    result_set_unit(x, unit);
    if (value.n > 0 && *value.s == '<')
        result_fault(x, "the counter is %.*s", (int)value.n, value.s);
    else
        result_add_piece(out, x, value, "the counter");
}

static void add_metric(struct results *out, struct result_key key, struct piece value,
                       const char *unit)
{
    key.field = "metric";
    struct result *x = results_at(out, &key);
    result_set_unit(x, unit);
    result_add_piece(out, x, value, "the metric");
}

/* ---- JSON lines ---- */

/** What -A, --per-core and the like count apart. */
static const char *aggregate_of(const json *o)
{
    static const char *const keys[] = {"cpu", "core", "die", "socket", "node", "thread", "cgroup"};

    for (size_t i = 0; i < LEN(keys); i++) {
        const char *s = json_str(json_at(o, keys[i]), NULL);
        if (s)
            return s;
    }
    return "";
}

static struct piece piece_of(const char *s)
{
    return (struct piece){s, strlen(s)};
}

static void list_object(const json *o, struct results *out)
{
    const char *event = json_str(json_at(o, "event"), NULL);
    const char *value = json_str(json_at(o, "counter-value"), NULL);
    const char *metric = json_str(json_at(o, "metric-value"), NULL);
    struct result_key key = {.suite = aggregate_of(o), .test = event, .field = "value"};

    if (!event || !*event) /* a further metric of the event before */
        return;
    if (value)
        add_count(out, &key, piece_of(value), json_str(json_at(o, "unit"), ""));
    else
        result_fault(results_at(out, &key), "counter-value is no text");
    if (metric && *metric)
        add_metric(out, key, piece_of(metric), json_str(json_at(o, "metric-unit"), ""));
}

static enum err_code list_objects(struct piece text, struct results *out, struct err *e)
{
    struct err why = {0};
    json *o = NULL;
    size_t n_line = 0;

    while (document_next_object(&text, &n_line, &o, &why)) {
        list_object(o, out);
        json_free(o);
    }
    return why.code ? err_set(e, ERR_INVALID, "%s", why.text) : ERR_OK;
}

/* ---- separated values ---- */

enum { MOST_CELLS = 16 };

struct cells {
    size_t n;
    struct piece at[MOST_CELLS];
    bool has_comma; /* the separator is one, so that none is in a number */
};

static void split(struct piece line, char separator, struct cells *c)
{
    struct piece part;

    *c = (struct cells){.has_comma = separator == ','};
    while (c->n < MOST_CELLS && piece_part(&line, separator, &part))
        c->at[c->n++] = piece_trimmed(part);
}

/** A number, which a locale may write with a comma. */
static bool number_of(const struct cells *c, size_t i, char text[64], double *out)
{
    struct piece p = c->at[i];

    if (p.n == 0 || p.n >= 64)
        return false;
    memcpy(text, p.s, p.n);
    text[p.n] = '\0';
    char *comma = c->has_comma ? NULL : strchr(text, ',');
    if (comma && !strchr(text, '.'))
        *comma = '.';
    return piece_number(piece_of(text), out) && isfinite(*out);
}

static bool is_number(const struct cells *c, size_t i)
{
    char text[64];
    double ignored;

    return i < c->n && number_of(c, i, text, &ignored);
}

static bool is_missing(const struct cells *c, size_t i)
{
    return i < c->n && piece_starts(c->at[i], "<not ");
}

/** Whether value, unit and event stand from cell `i` on. */
static bool is_count(const struct cells *c, size_t i)
{
    return (is_number(c, i) || is_missing(c, i)) && i + 2 < c->n && !is_number(c, i + 1) &&
           !is_missing(c, i + 1) && c->at[i + 2].n > 0 && !is_number(c, i + 2);
}

static bool is_whole(struct piece p)
{
    for (size_t i = 0; i < p.n; i++)
        if (!isdigit((unsigned char)p.s[i]))
            return false;
    return p.n > 0;
}

/**
 * Where the value stands: behind the time stamp of -I, and what is counted apart, and of how many
 * CPUs that is. A time stamp has nine decimals, so that the two halves of a number with a decimal
 * comma are not taken for one and a value.
 */
static bool find_value(const struct cells *c, size_t *value, size_t *aggregate)
{
    size_t i = 0;

    *aggregate = MOST_CELLS;
    if (c->n > 0 && is_number(c, 0) && memchr(c->at[0].s, '.', c->at[0].n) && !is_count(c, 0))
        i++;
    if (!is_count(c, i) && i < c->n && c->at[i].n > 0 && !is_number(c, i) && !is_missing(c, i)) {
        *aggregate = i++;
        if (!is_count(c, i) && i < c->n && is_whole(c->at[i]))
            i++;
    }
    *value = i;
    return is_count(c, i);
}

/** A line that tells only a further metric of the event before it. */
static bool is_metric_alone(const struct cells *c)
{
    for (size_t i = 0; i < 4 && i < c->n; i++)
        if (c->at[i].n > 0 && !memchr(c->at[i].s, '.', c->at[i].n))
            return false;
    return c->n >= 5;
}

static bool read_cells(struct piece line, struct cells *c, size_t *value, size_t *aggregate)
{
    static const char separators[] = {'\t', ';', '|', '!', '~', ','}; /* the rarest first */

    for (size_t i = 0; i < sizeof(separators); i++) {
        split(line, separators[i], c);
        if (find_value(c, value, aggregate))
            return true;
    }
    return false;
}

/**
 * value, unit, event, [variance%,] run time, share of it, [metric, unit of metric]. perf 6.1 puts
 * the variance of -r in the fourth place, its manual behind the share: it ends with a percent sign.
 */
static void list_cells(const struct cells *c, size_t value, size_t aggregate, struct results *out)
{
    AUTO(mem_free) char *event = text_of(c->at[value + 2]);
    AUTO(mem_free) char *unit = text_of(c->at[value + 1]);
    AUTO(mem_free) char *suite = aggregate < c->n ? text_of(c->at[aggregate]) : mem_dup("");
    struct result_key key = {.suite = suite, .test = event, .field = "value"};
    struct piece rest[MOST_CELLS];
    char text[64];
    double ignored;
    size_t n = 0;

    if (is_missing(c, value))
        add_count(out, &key, c->at[value], unit);
    else if (number_of(c, value, text, &ignored))
        add_count(out, &key, piece_of(text), unit);
    for (size_t i = value + 3; i < c->n; i++) {
        if (c->at[i].n == 0 || c->at[i].s[c->at[i].n - 1] != '%')
            rest[n++] = c->at[i];
    }
    if (n < 4 || rest[2].n == 0)
        return;
    AUTO(mem_free) char *metric_unit = text_of(rest[3]);
    add_metric(out, key, rest[2], metric_unit);
}

static enum err_code list_lines(struct piece text, struct results *out, struct err *e)
{
    struct piece line;
    size_t n_line = 0;

    while (piece_line(&text, &line)) {
        struct cells c;
        size_t value = 0, aggregate = 0;
        n_line++;
        struct piece p = piece_trimmed(line);
        if (p.n == 0 || *p.s == '#')
            continue;
        if (read_cells(line, &c, &value, &aggregate)) {
            list_cells(&c, value, aggregate, out);
            continue;
        }
        split(line, ',', &c);
        if (is_metric_alone(&c))
            continue;
        AUTO(buf_fini) struct buf quote = {0};
        text_clean(&quote, p.s, p.n, 60);
        err_set(e, ERR_INVALID, "line %zu: \"%s\" is not value,unit,event", n_line,
                buf_str(&quote));
        return err_hint(e, "Use -j, or -x\\; where numbers have a decimal comma.");
    }
    return ERR_OK;
}

/* ---- the format ---- */

bool perfstat_is(const struct document *d)
{
    struct piece rest = d->text, line;

    if (piece_find(d->text, "\"counter-value\""))
        return true;
    while (piece_line(&rest, &line)) {
        struct cells c;
        size_t value = 0, aggregate = 0;
        struct piece p = piece_trimmed(line);
        if (p.n == 0 || *p.s == '#')
            continue;
        return read_cells(line, &c, &value, &aggregate) && c.n >= value + 5;
    }
    return false;
}

enum err_code perfstat_list(const struct document *d, struct results *out, struct err *e)
{
    bool is_json = piece_find(d->text, "\"counter-value\"") != NULL;

    if (is_json ? list_objects(d->text, out, e) : list_lines(d->text, out, e))
        return ERR_INVALID;
    if (out->n == 0)
        return err_set(e, ERR_INVALID, "no number: no counter in the output");
    return ERR_OK;
}
