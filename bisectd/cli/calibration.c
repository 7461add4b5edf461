/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl calibration: how often the stated confidence was right. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "report/table.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 250, SAY_EVERY_S = 5, LINE_MOST = 160, LIST_SHOWN = 20, CHECKS_MOST = 10000 };

/* clang-format off */
static const struct flag flags[] = {
    {"--check", "N", FLAG_COUNT, offsetof(struct options, checks), "put up to N verdicts that were not checked yet to the test now, and wait", NULL, 1, CHECKS_MOST},
    {"--check-all", NULL, FLAG_SWITCH, offsetof(struct options, check_all), "all of them, up to the newest 10,000", NULL, 0, 0},
    {"--workers", "N", FLAG_COUNT, offsetof(struct options, workers), "with a store that nobody works on: so many workers do the checks (default: 1)", NULL, 1, 64},
    {"--platform", "P", FLAG_TEXT, offsetof(struct options, platform), "what those workers call their platform (default: this machine's)", NULL, 0, 0},
    FLAG_ROWS_WHERE,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};

static const char *const heads[] = {"CONFIDENCE", "STATED", "MEAN", "CHECKED", "RIGHT", "WRONG", "UNDECIDED", "RIGHT OF DECIDED", "DIFFER", NULL};
/* clang-format on */

/* -- asking for checks -- */

struct tally {
    int64_t n_open, n_measuring, n_right, n_wrong, n_undecided;
};

static enum err_code count(struct client *c, struct tally *out, struct err *e)
{
    AUTO(json_free) json *answer = NULL;

    if (client_get(c, "/calibration/checks", &answer, e))
        return e->code;
    *out = (struct tally){
        .n_measuring = json_int(json_at(answer, "measuring"), 0),
        .n_right = json_int(json_at(answer, "right"), 0),
        .n_wrong = json_int(json_at(answer, "wrong"), 0),
        .n_undecided = json_int(json_at(answer, "undecided"), 0),
    };
    out->n_open = json_int(json_at(answer, "waiting"), 0) + out->n_measuring;
    return ERR_OK;
}

struct progress {
    bool is_terminal, is_on_screen;
    int64_t n_open; /* at the beginning */
    struct tally before;
    struct mono start, said;
};

static void say(struct progress *p, const struct tally *now)
{
    AUTO(buf_fini) struct buf line = {0};
    char since[32];
    struct mono at = mono_now();
    bool is_soon = p->said.ns && at.ns - p->said.ns < SAY_EVERY_S * NS_PER_S;

    if (!p->is_terminal && is_soon && now->n_open > 0)
        return;
    duration_format((at.ns - p->start.ns) / NS_PER_S * NS_PER_S, since);
    if (p->is_on_screen)
        buf_adds(&line, "\r\033[A\033[J");
    buf_printf(&line, "%lld of %lld checked: %lld right, %lld wrong, %lld undecided; %s; %s\n",
               (long long)(p->n_open - now->n_open), (long long)p->n_open,
               (long long)(now->n_right - p->before.n_right),
               (long long)(now->n_wrong - p->before.n_wrong),
               (long long)(now->n_undecided - p->before.n_undecided),
               now->n_open == 0   ? "done"
               : now->n_measuring ? "measuring"
                                  : "waiting for idle workers",
               since);
    (void)terminal_write(STDERR_FILENO, &line, NULL);
    p->is_on_screen = p->is_terminal;
    p->said = at;
}

static enum err_code wait_for_checks(struct client *c, struct progress *p, struct err *e)
{
    const struct timespec nap = {.tv_nsec = POLL_MS * NS_PER_MS};
    struct tally now;

    while (!interrupt_seen()) {
        if (count(c, &now, e))
            return e->code;
        if (now.n_open > p->n_open)
            p->n_open = now.n_open; /* somebody asked for more */
        say(p, &now);
        if (now.n_open == 0)
            return ERR_OK;
        nanosleep(&nap, NULL);
    }
    return err_set(e, ERR_TIMEOUT,
                   "interrupted; what was checked is kept, the rest stays asked for");
}

static enum err_code check(struct client *c, const struct options *o, struct err *e)
{
    AUTO(json_free) json *body = json_new_object();
    AUTO(json_free) json *answer = NULL;
    struct progress p = {.is_terminal = terminal_is(STDERR_FILENO), .start = mono_now()};

    if (o->check_all)
        json_put(body, "all", json_new_bool(true));
    else
        json_put(body, "count", json_new_int(o->checks));
    if (client_post(c, "/calibration/checks", body, &answer, e) || count(c, &p.before, e))
        return e->code;
    int64_t n = json_int(json_at(answer, "opened"), 0);
    terminal_note("%lld statement%s to check", (long long)n, n == 1 ? "" : "s");
    p.n_open = p.before.n_open;
    return p.n_open > 0 ? wait_for_checks(c, &p, e) : ERR_OK;
}

/* -- the report -- */

static void add_number(struct table *t, const json *bin, const char *key)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", (long long)json_int(json_at(bin, key), 0));
    table_cell(t, text, 0);
}

static void add_percent(struct buf *out, const json *v)
{
    if (json_is_number(v))
        buf_printf(out, "%.4g %%", 100 * json_num(v, 0));
    else
        buf_addc(out, '-');
}

static void add_row(struct table *t, const json *bin)
{
    static const char *const counts[] = {"checked", "right", "wrong", "undecided"};
    const json *interval = json_at(bin, "interval");
    AUTO(buf_fini) struct buf mean = {0};
    AUTO(buf_fini) struct buf rate = {0};

    table_cell(t, json_str(json_at(bin, "name"), "?"), 0);
    add_number(t, bin, "stated");
    add_percent(&mean, json_at(bin, "mean"));
    table_cell(t, buf_str(&mean), 0);
    for (size_t i = 0; i < LEN(counts); i++)
        add_number(t, bin, counts[i]);
    add_percent(&rate, json_at(bin, "fraction"));
    if (json_len(interval) == 2)
        buf_printf(&rate, " (%.3g to %.3g)", 100 * json_num(json_item(interval, 0), 0),
                   100 * json_num(json_item(interval, 1), 0));
    table_cell(t, buf_str(&rate), 0);
    add_number(t, bin, "differ");
}

static void add_place(const struct place *p, struct buf *out)
{
    place_add(p, out);
    buf_addc(out, '\n');
}

static void add_sure(const json *probability, struct buf *out)
{
    double p = json_num(probability, 0);

    if (p > .9999)
        buf_adds(out, ", over 99.99 % sure");
    else if (json_is_number(probability))
        buf_printf(out, ", %.4g %% sure", 100 * p);
}

static void add_wrong(const json *w, const struct place *p, struct buf *out)
{
    const char *culprit = json_str(json_at(w, "culprit"), NULL);
    const char *id = json_str(json_at(w, "id"), "?");
    const char *comparison = json_str(json_at(w, "comparison"), NULL);

    buf_printf(out, "  %s stated ", id);
    if (culprit) {
        buf_printf(out, "culprit %.10s \"", culprit);
        style_hostile(out, json_str(json_at(w, "subject"), ""), LINE_MOST);
        buf_addc(out, '"');
    } else {
        buf_adds(out, "not reproduced");
    }
    add_sure(json_at(w, "probability"), out);
    buf_adds(out, "\n    the check: ");
    style_hostile(out, json_str(json_at(w, "reason"), "found otherwise"), 2 * LINE_MOST);
    if (json_bool(json_at(w, "differs"), false))
        buf_adds(out, "\n    and it does not follow from its own samples");
    buf_printf(out, "\n    bisectctl show %s", id);
    add_place(p, out);
    if (comparison) {
        buf_printf(out, "    bisectctl show %s", comparison);
        add_place(p, out);
    }
}

static void add_differ(const json *d, const struct place *p, struct buf *out)
{
    const char *id = json_str(json_at(d, "id"), "?");

    buf_printf(out, "  %s states ", id);
    style_hostile(out, json_str(json_at(d, "stated"), "?"), LINE_MOST);
    buf_adds(out, "\n    its samples say ");
    style_hostile(out, json_str(json_at(d, "says"), "?"), LINE_MOST);
    buf_printf(out, "\n    bisectctl replay %s", id);
    add_place(p, out);
}

static void add_list(const json *list, const char *title, const struct place *p,
                     void (*add)(const json *, const struct place *, struct buf *), struct buf *out)
{
    size_t n = json_len(list);

    if (n == 0)
        return;
    buf_printf(out, "\n%zu %s%s:\n", n, n == 1 ? "verdict " : "verdicts ", title);
    for (size_t i = 0; i < n && i < LIST_SHOWN; i++)
        add(json_item(list, i), p, out);
    if (n > LIST_SHOWN)
        buf_printf(out, "  and %zu more (--json has them)\n", n - LIST_SHOWN);
}

static void write_report(const json *report, const struct place *p, struct buf *out)
{
    AUTO(table_free) struct table *t = table_new(heads);
    struct style style = terminal_style(STDOUT_FILENO);
    const json *bins = json_at(report, "bins");
    int64_t n_open = json_int(json_pointer(report, "/checks/waiting"), 0) +
                     json_int(json_pointer(report, "/checks/measuring"), 0);

    for (size_t i = 1; i < LEN(heads) - 1; i++)
        table_align(t, i, ALIGN_RIGHT);
    for (size_t i = 0; i < json_len(bins); i++)
        if (json_int(json_at(json_item(bins, i), "stated"), 0) > 0)
            add_row(t, json_item(bins, i));
    add_row(t, json_at(report, "total"));
    table_write(t, &style, out);
    if (n_open)
        buf_printf(out, "%lld more %s asked for and not checked yet.\n", (long long)n_open,
                   n_open == 1 ? "is" : "are");
    if (json_int(json_at(report, "unreadable"), 0))
        buf_printf(out, "%lld stored verdicts cannot be read.\n",
                   (long long)json_int(json_at(report, "unreadable"), 0));
    add_list(json_at(report, "wrong"), "found wrong", p, add_wrong, out);
    add_list(json_at(report, "differ"), "that do not follow from their own samples", p, add_differ,
             out);
    if (json_int(json_pointer(report, "/total/checked"), 0) == 0 &&
        json_int(json_pointer(report, "/total/stated"), 0) > 0) {
        buf_adds(out, "\nNone was checked yet: `bisectctl calibration --check 20");
        place_add(p, out);
        buf_adds(out, "` does it now.\n");
    }
}

static int print_report(const struct options *o, struct client *c)
{
    AUTO(json_free) json *report = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct place place = {0};
    struct err e = {0};

    if (client_get(c, "/calibration", &report, &e))
        return fail(o, &e);
    if (o->json)
        return print_json(report, EXIT_DONE);
    client_place(c, o, &place);
    write_report(report, &place, &text);
    return print_text(&text, EXIT_DONE);
}

static int run(const struct options *o)
{
    AUTO(client_free) struct client *c = NULL;
    bool checks = o->checks > 0 || o->check_all;
    struct err e = {0};

    if (o->checks > 0 && o->check_all) {
        err_set(&e, ERR_INVALID, "--check and --check-all do not go together");
        return fail_usage(o, &e);
    }
    interrupt_watch();
    if (client_open(o, checks ? CLIENT_WORKS : CLIENT_READS, &c, &e))
        return fail(o, &e);
    if (checks && check(c, o, &e)) {
        int status = fail(o, &e);
        return interrupt_seen() ? EXIT_INTERRUPTED : status;
    }
    return print_report(o, c);
}

const struct command command_calibration = {
    .name = "calibration",
    .words = "",
    .summary = "how often the stated confidence was right",
    .about = "Finished verdicts are put to the test again: a culprit is built afresh and measured "
             "against each of its parents, and where nothing was reproduced, bad against good. "
             "The report counts by stated confidence how many were right, wrong or undecided, with "
             "a 95 % interval, and how many do not follow from their own samples (DIFFER), and "
             "lists both. A service checks a share of its verdicts by itself when idle "
             "(calibration in its configuration); --check does more of it now, still after all "
             "other work. Exit status: 0 the report is printed, whatever it says, 1 failed, 2 "
             "usage, 130 interrupted.",
    .example = "bisectctl calibration\n"
               "bisectctl calibration --check 20\n"
               "bisectctl calibration --json | jq '.wrong[].id'\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
