/* SPDX-License-Identifier: Apache-2.0 */
/* Talos before Perfherder: the browser's log with __start_report and its like, and the three shapes
 * in which logs of 2013 tell results: TALOSDATA, RETURN and TalosResult. */
#include "base/mem.h"
#include "formats/format.h"
#include "model/metric.h"
#include <string.h>

/* Talos drops the first values of a series, which warm up, unless there are no more, and takes the
 * median of the rest: one of start-up tests, five of page loads. */
enum { DROP_START = 1, DROP_PAGES = 5 };

static const char fail_mark[] = "__FAIL";

/* ---- series ---- */

/** A series as it was measured; `drop` of its values are left out of what Talos makes of it. */
static struct result *raw_at(struct results *out, const char *suite, const char *test, size_t drop)
{
    struct result *x =
        results_at(out, &(struct result_key){.suite = suite, .test = test, .field = "replicates"});

    result_set_unit(x, "ms");
    x->part = drop;
    return x;
}

/** Adds "value" to each series of "replicates". Values of -1 and below are failures. */
static void finish(struct results *out)
{
    for (size_t i = 0, n = out->n; i < n; i++) {
        const struct result *raw = &out->items[i];
        if (strcmp(raw->field, "replicates") != 0)
            continue;
        size_t skip = raw->n > raw->part ? raw->part : 0;
        double value = raw->n ? reduce_values(REDUCE_MEDIAN, raw->values + skip, raw->n - skip) : 0;
        AUTO(mem_free) char *fault = raw->fault ? mem_dup(raw->fault) : NULL;
        struct result *x =
            results_at(out, &(struct result_key){raw->suite, raw->test, "", "value"});
        result_set_unit(x, "ms");
        x->is_main = true;
        if (fault)
            result_fault(x, "%s", fault);
        else if (value <= -1)
            result_fault(x, "value is %g, which is how Talos writes a failure", value);
        else
            result_add(out, x, value);
    }
}

/** Numbers between separators; empty ones are passed over, as Talos does. */
static void add_parts(struct results *out, struct result *x, struct piece rest, char separator)
{
    struct piece part;
    size_t n = 0;

    while (piece_part(&rest, separator, &part)) {
        if (piece_trimmed(part).n == 0)
            continue;
        result_add_piece(out, x, part, "a value");
        n++;
    }
    if (n == 0)
        result_fault(x, "the report is empty");
}

/* ---- marks ---- */

struct mark {
    const char *begin, *end;
};
static const struct mark start_report = {"__start_report", "__end_report"};
static const struct mark pages_report = {"__start_tp_report", "__end_tp_report"};
static const struct mark times[] = {
    {"__startTimestamp", "__endTimestamp"},
    {"__startBeforeLaunchTimestamp", "__endBeforeLaunchTimestamp"},
    {"__startAfterTerminationTimestamp", "__endAfterTerminationTimestamp"},
};

/** What stands between the marks, which may occur once; nothing (s NULL) where they do not occur.
 *  `last` is where the pair before it ended, and moves on. */
static enum err_code between(struct piece text, const struct mark *m, struct piece *out,
                             const char **last, struct err *e)
{
    const char *begin = piece_find(text, m->begin);
    const char *end = piece_find(text, m->end);

    *out = (struct piece){NULL, 0};
    if (!begin && !end)
        return ERR_OK;
    if (!begin || !end || end < begin)
        return err_set(e, ERR_INVALID, "%s without %s%s", begin ? m->begin : m->end,
                       begin ? m->end : m->begin, begin && end ? " behind it" : "");
    const char *inner = begin + strlen(m->begin);
    const char *after = end + strlen(m->end);
    if (piece_find(piece_from(text, inner), m->begin) ||
        piece_find(piece_from(text, after), m->end))
        return err_set(e, ERR_INVALID, "%s occurs twice", m->begin);
    if (*last && begin < *last)
        return err_set(e, ERR_INVALID, "%s is out of order", m->begin);
    *out = (struct piece){inner, (size_t)(end - inner)};
    *last = after;
    return ERR_OK;
}

/** Time stamps are not measured, but a log in which they are broken is not to be trusted. */
static enum err_code check_times(struct piece text, const char *last, struct err *e)
{
    for (size_t i = 0; i < LEN(times); i++) {
        struct piece stamp;
        double ignored;
        if (between(text, &times[i], &stamp, &last, e))
            return ERR_INVALID;
        if (stamp.s && !piece_number(piece_trimmed(stamp), &ignored))
            return err_set(e, ERR_INVALID, "%s is followed by no number", times[i].begin);
    }
    return ERR_OK;
}

/** "123|130", lines of "page,123,130", or {"event": 123}. */
static enum err_code list_start(struct piece report, struct results *out, struct err *e)
{
    AUTO(json_free) json *events = NULL;
    struct piece rest = piece_trimmed(report), line;
    bool has_pages = false;

    if (rest.n > 0 && *rest.s == '{') {
        if (foreign_json(rest, &events, e))
            return err_wrap(e, "report");
        for (const char *k = json_first_key(events); k; k = json_next_key(events, k)) {
            result_add_json(out, raw_at(out, "", k, DROP_START), json_at(events, k), k);
        }
        return ERR_OK;
    }
    while (piece_line(&rest, &line)) {
        struct piece page = {0};
        line = piece_trimmed(line);
        if (!memchr(line.s, ',', line.n) || !piece_part(&line, ',', &page))
            continue;
        AUTO(mem_free) char *name = mem_dup_n(page.s, page.n);
        add_parts(out, raw_at(out, "", name, DROP_START), line, ',');
        has_pages = true;
    }
    if (has_pages)
        return ERR_OK;
    add_parts(out, raw_at(out, "", "", DROP_START), piece_trimmed(report), '|');
    return ERR_OK;
}

/** As Talos names a page: "example.org/index.html" is "example.org". */
static char *page_name(struct piece p)
{
    const char *slash = NULL;

    while (p.n > 0 && p.s[p.n - 1] == '/')
        p.n--;
    slash = p.n ? memchr(p.s, '/', p.n) : NULL;
    return mem_dup_n(p.s, slash ? (size_t)(slash - p.s) : p.n);
}

/** "|index;page;run;run" a line; others are headings. */
static void list_pages(struct piece rest, struct results *out)
{
    struct piece line, index, page;

    while (piece_line(&rest, &line)) {
        const char *bar = line.n ? memchr(line.s, '|', line.n) : NULL;
        if (!bar)
            continue;
        line = piece_from(line, bar + 1);
        if (!piece_part(&line, ';', &index) || !piece_part(&line, ';', &page) || !line.s)
            continue;
        AUTO(mem_free) char *name = page_name(piece_trimmed(page));
        while (line.n > 0 && line.s[line.n - 1] == '|')
            line.n--;
        add_parts(out, raw_at(out, "", name, DROP_PAGES), line, ';');
    }
}

static enum err_code list_browser_log(struct piece text, struct results *out, struct err *e)
{
    const char *fail = piece_find(text, fail_mark);
    const char *last = NULL;
    struct piece start, pages;

    if (fail) {
        struct piece why = piece_from(text, fail + sizeof(fail_mark) - 1);
        const char *end = piece_find(why, fail_mark);
        if (end)
            return err_set(e, ERR_INVALID, "the test failed: %.*s",
                           end - why.s < 200 ? (int)(end - why.s) : 200, why.s);
    }
    if (between(text, &start_report, &start, &last, e) ||
        between(text, &pages_report, &pages, &last, e) || check_times(text, last, e))
        return ERR_INVALID;
    if (start.s && list_start(start, out, e))
        return ERR_INVALID;
    if (pages.s)
        list_pages(pages, out);
    return ERR_OK;
}

/* ---- logs of 2013 ---- */

/** {"page": [numbers]} of TALOSDATA. */
static void list_datazilla(const char *suite, const json *pages, struct results *out)
{
    for (const char *k = json_first_key(pages); k; k = json_next_key(pages, k)) {
        bool is_start = strcmp(k, suite) == 0; /* a test with no pages has its own name there */
        result_add_array(out, raw_at(out, suite, k, is_start ? DROP_START : DROP_PAGES),
                         json_at(pages, k), k);
    }
}

/** Counters beside the results: their units are not told. */
static void list_counters(const char *suite, const json *counters, struct results *out)
{
    for (const char *k = json_first_key(counters); k; k = json_next_key(counters, k)) {
        struct result *x =
            results_at(out, &(struct result_key){.suite = suite, .test = k, .field = "value"});
        x->is_main = true;
        result_add_array(out, x, json_at(counters, k), k);
    }
}

static enum err_code list_talosdata(struct piece rest, struct results *out, struct err *e)
{
    AUTO(json_free) json *v = NULL;

    if (foreign_json(rest, &v, e))
        return err_wrap(e, "TALOSDATA");
    for (size_t i = 0; i < json_len(v); i++) {
        const json *o = json_item(v, i);
        const char *suite = json_str(json_at(json_at(o, "testrun"), "suite"), "");
        list_datazilla(suite, json_at(o, "results"), out);
        list_counters(suite, json_at(o, "talos_aux"), out);
    }
    return ERR_OK;
}

/** One that TALOSDATA or an earlier line has told is told again. */
static void add_summary(struct results *out, const char *name, struct piece value)
{
    struct result_key key = {.suite = name, .field = "value"};

    if (results_find(out, &key))
        return;
    struct result *x = results_at(out, &key);
    x->is_main = true;
    result_add_piece(out, x, value, name);
}

/** {"graphserver": {name: {"url", "result"}}}. */
static enum err_code list_talosresult(struct piece rest, struct results *out, struct err *e)
{
    AUTO(json_free) json *v = NULL;

    if (foreign_json(rest, &v, e))
        return err_wrap(e, "TalosResult");
    const json *names = json_at(v, "graphserver");
    for (const char *k = json_first_key(names); k; k = json_next_key(names, k)) {
        const char *text = json_str(json_at(json_at(names, k), "result"), "");
        add_summary(out, k, (struct piece){text, strlen(text)});
    }
    return ERR_OK;
}

/** "<a href='…'>tp5o_paint: 327.74</a>", or without the link. */
static enum err_code list_return(struct piece rest, struct results *out, struct err *e)
{
    const char *open = piece_starts(rest, "<a ") ? piece_find(rest, ">") : NULL;
    struct piece name;

    (void)e;
    if (open)
        rest = piece_from(rest, open + 1);
    const char *close = piece_find(rest, "</a>");
    if (close)
        rest.n = (size_t)(close - rest.s);
    if (!memchr(rest.s, ':', rest.n) || !piece_part(&rest, ':', &name) || name.n == 0)
        return ERR_OK;
    AUTO(mem_free) char *suite = mem_dup_n(name.s, name.n);
    add_summary(out, suite, rest);
    return ERR_OK;
}

static const struct {
    const char *mark;
    enum err_code (*list)(struct piece rest, struct results *out, struct err *e);
} shapes[] = {
    {"TALOSDATA:", list_talosdata},
    {"TalosResult:", list_talosresult},
    {"RETURN:", list_return},
};

/** A shape at a time, so that the fullest goes first wherever it stands. */
static enum err_code list_log(struct piece text, struct results *out, struct err *e)
{
    for (size_t i = 0; i < LEN(shapes); i++) {
        struct piece rest = text, line;
        while (piece_line(&rest, &line)) {
            const char *at = piece_find(line, shapes[i].mark);
            if (!at)
                continue;
            struct piece payload = piece_trimmed(piece_from(line, at + strlen(shapes[i].mark)));
            if (payload.n > 0 && shapes[i].list(payload, out, e))
                return ERR_INVALID;
        }
    }
    return ERR_OK;
}

/* ---- the format ---- */

bool talos_is(const struct document *d)
{
    static const char *const marks[] = {"__start_report", "__start_tp_report",
                                        "TALOSDATA:", "TalosResult:"};

    for (size_t i = 0; !d->json && i < LEN(marks); i++)
        if (piece_find(d->text, marks[i]))
            return true;
    return false;
}

enum err_code talos_list(const struct document *d, struct results *out, struct err *e)
{
    if (list_browser_log(d->text, out, e) || list_log(d->text, out, e))
        return ERR_INVALID;
    finish(out);
    if (out->n == 0)
        return err_set(e, ERR_INVALID, "no number: no report of Talos in the output");
    return ERR_OK;
}
