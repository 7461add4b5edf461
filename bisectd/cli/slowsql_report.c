/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl slowsql report and compare. */
#include "base/file.h"
#include "base/mem.h"
#include "cli/slowsql.h"
#include "cli/slowsql_lines.h"
#include "cli/submit.h"
#include "cli/terminal.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_SHOWN = 20, BUILDS_BYTES = 64 * MIB, STATUS_INCONCLUSIVE = 4 };

/* clang-format off */
#define FLAG_ROW_LIMIT {"--limit", "N", FLAG_COUNT, offsetof(struct options, limit), "at most so many rows (default: 20; with --json all)", NULL, 1, 10000000}
#define FLAG_ROW_SEED {"--seed", "S", FLAG_SEED, offsetof(struct options, seed), "of the bootstrap (default: 1)", NULL, 0, 0}
static const char *const fail_choices[] = {"regressed", "changed", NULL};
static const struct flag report_flags[] = {
    FLAG_ROWS_SLOWSQL,
    FLAG_ROW_BY,
    FLAG_ROW_LIMIT,
    {"--lines", NULL, FLAG_SWITCH, offsetof(struct options, lines), "print what map, sort and reduce would", NULL, 0, 0},
    {"--claim", "TEXT", FLAG_LIST, offsetof(struct options, claims), "check a sentence such as '174,993 x 143 ms = 417 s'; may be repeated; without FILE nothing else is read", NULL, 0, 0},
    {"--builds", "FILE", FLAG_TEXT, offsetof(struct options, builds), "with --by build: which revision each build is of, as lines BUILD,REVISION or JSON {\"builds\":[{\"buildid\",\"revision\"}]}; others are left out of the search for changes", NULL, 0, 0},
    {"--builds-platform", "P", FLAG_TEXT, offsetof(struct options, builds_platform), "only the builds of FILE that are of this platform", NULL, 0, 0},
    {"--min-effect", "PCT", FLAG_PERCENT, offsetof(struct options, min_effect), "with --by build: a smaller change is none (default: 5)", NULL, 0, 0},
    FLAG_ROW_SEED,
    {"--bisect", NULL, FLAG_SWITCH, offsetof(struct options, bisect), "submit the revisions between which jank changed most, as `submit` does", NULL, 0, 0},
    {"--project", "NAME", FLAG_TEXT, offsetof(struct options, project), "with --bisect: the project, known to the service or a file", NULL, 0, 0},
    {"--metric", "NAME", FLAG_TEXT, offsetof(struct options, metric), "with --bisect: the project's metric", NULL, 0, 0},
    {"--coordinator", "URL", FLAG_TEXT, offsetof(struct options, coordinator), "with --bisect: the service (default: $BISECTD_URL)", NULL, 0, 0},
    {"--token-file", "FILE", FLAG_TEXT, offsetof(struct options, token_file), "file with the access token (default: $BISECTD_TOKEN_FILE)", NULL, 0, 0},
    {"--config", "FILE", FLAG_TEXT, offsetof(struct options, config), "bisectd's configuration, to find the service by", NULL, 0, 0},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
static const struct flag compare_flags[] = {
    FLAG_ROWS_PAIR,
    FLAG_ROWS_SLOWSQL,
    FLAG_ROW_BY,
    FLAG_ROW_LIMIT,
    {"--min-effect", "PCT", FLAG_PERCENT, offsetof(struct options, min_effect), "less apart than this is the same (default: 5)", NULL, 0, 0},
    FLAG_ROW_SEED,
    {"--fail-on", "regressed|changed", FLAG_CHOICE, offsetof(struct options, fail_on), "exit with status 6 when that is so, as CI wants it", fail_choices, 0, 0},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

static size_t limit_of(const struct options *o)
{
    return o->limit > 0 ? (size_t)o->limit : o->json ? 0 : ROWS_SHOWN;
}

static int show(const struct options *o, const struct slowsql_findings *f, const struct buf *more,
                const json *bisection, int status)
{
    AUTO(buf_fini) struct buf text = {0};
    struct style style = terminal_style(STDOUT_FILENO);

    if (o->json) {
        AUTO(json_free) json *v = slowsql_to_json(f, limit_of(o));
        if (bisection)
            json_put(v, "bisection", json_keep((json *)bisection));
        return print_json(v, status);
    }
    slowsql_to_text(f, limit_of(o), &style, &text);
    buf_adds(&text, buf_str(more));
    return print_text(&text, status);
}

/* Report */

static enum err_code read_claims(const struct options *o, struct slowsql_findings *f, struct err *e)
{
    f->claim_texts = &o->claims;
    f->claims = mem_array(o->claims.n + 1, sizeof(*f->claims));
    for (size_t i = 0; i < o->claims.n; i++) {
        if (total_claim_read(o->claims.items[i], &f->claims[i], e)) {
            err_wrap(e, "--claim");
            return ERR_INVALID;
        }
        f->n_claims++;
    }
    return ERR_OK;
}

static enum err_code read_builds(const struct options *o, struct build_map *map, struct err *e)
{
    AUTO(buf_fini) struct buf text = {0};

    if (!o->builds)
        return ERR_OK;
    enum err_code rc = file_read(o->builds, BUILDS_BYTES, &text, e);
    if (!rc) {
        rc = build_map_read(buf_str(&text), text.len, o->builds_platform, map, e);
        if (rc)
            err_wrap(e, "%.300s", o->builds);
    }
    if (rc)
        err_wrap(e, "--builds");
    return rc;
}

static enum err_code check_flags(const struct options *o, const struct slowsql_question *q,
                                 struct err *e)
{
    const char *lone = o->bisect ? "--bisect" : o->builds ? "--builds" : NULL;

    if (lone && !(q->by & BY_BUILD)) {
        err_set(e, ERR_INVALID, "%s needs --by build", lone);
        return err_hint(e, "Add --by build, and --db or --statement for what is to be followed.");
    }
    if (o->bisect && (!o->builds || !o->project)) {
        err_set(e, ERR_INVALID, "--bisect needs %s", o->builds ? "--project" : "--builds");
        return err_hint(e, "The list of builds says which revisions to search between, the project "
                           "how to build and measure them.");
    }
    if (o->lines && o->json)
        return err_set(e, ERR_INVALID, "--lines and --json exclude each other");
    return ERR_OK;
}

/** The change that moved most; regressions first. NULL if there is none. */
static const struct slowsql_told_change *worst_change(const struct slowsql_findings *f)
{
    const struct slowsql_told_change *worst = NULL;

    for (size_t i = 0; i < f->n_changes; i++) {
        const struct slowsql_told_change *c = &f->changes[i];
        bool is_worse = c->change.rate.verdict == RATE_REGRESSED;
        bool was_worse = worst && worst->change.rate.verdict == RATE_REGRESSED;
        bool moves_more =
            worst && fabs(log(c->change.rate.ratio)) > fabs(log(worst->change.rate.ratio));
        if (!worst || (is_worse && !was_worse) || (is_worse == was_worse && moves_more))
            worst = c;
    }
    return worst;
}

static enum err_code bisect(const struct options *o, const struct slowsql_findings *f,
                            json **answer, struct buf *said, struct err *e)
{
    const struct slowsql_told_change *c = worst_change(f);
    struct options own = *o;

    if (!c)
        return err_set(e, ERR_NOT_FOUND, "--bisect: no change by build was found");
    if (!c->good || !c->bad)
        return err_set(e, ERR_INVALID, "--bisect: %s names two revisions for build %s", o->builds,
                       c->good ? c->builds[3] : c->builds[2]);
    if (strcmp(c->good, c->bad) == 0)
        return err_set(e, ERR_INVALID, "--bisect: builds %s and %s are of the same revision %.60s",
                       c->builds[2], c->builds[3], c->good);
    own.good = c->good;
    own.bad = c->bad;
    own.min_effect = -1;
    own.has_seed = false;
    return submit_question(&own, answer, said, e);
}

static enum err_code report(const struct options *o, const struct slowsql_question *q,
                            const struct build_map *map, struct slowsql_findings *f,
                            struct buf *lines, struct err *e)
{
    AUTO(gathered_free) struct gathered *g = NULL;
    struct gather_input in = slowsql_input_of(o, q);

    in.wants_clients = (q->by & BY_BUILD) && !o->lines;
    if (gather(&in, &g, e) || sheet_of(g->tally, SHEET_AS_FOUND, &f->sheet, e))
        return e->code;
    if (o->lines) {
        slowsql_write_tally(g->tally, lines);
        return ERR_OK;
    }
    return slowsql_find_changes(g, o->builds ? map : NULL, o, f, e);
}

static int run_report(const struct options *o)
{
    AUTO(slowsql_findings_fini) struct slowsql_findings f = {0};
    AUTO(build_map_fini) struct build_map map = {0};
    AUTO(json_free) json *bisection = NULL;
    AUTO(buf_fini) struct buf more = {0};
    struct slowsql_question q;
    struct err e = {0};

    if (slowsql_question_of(o, &q, &e) || check_flags(o, &q, &e) || read_claims(o, &f, &e) ||
        read_builds(o, &map, &e))
        return fail(o, &e);
    bool is_claim_alone = f.n_claims > 0 && o->n_words == 0;
    if (!is_claim_alone && report(o, &q, &map, &f, &more, &e))
        return fail(o, &e);
    if (o->lines)
        return print_text(&more, EXIT_DONE);
    if (o->bisect && bisect(o, &f, &bisection, &more, &e))
        return fail(o, &e);
    return show(o, &f, &more, bisection, EXIT_DONE);
}

/* Compare */

static int status_of(const struct options *o, enum rate_verdict v)
{
    bool is_changed = v == RATE_REGRESSED || v == RATE_IMPROVED;

    if (o->fail_on && (v == RATE_REGRESSED || (is_changed && strcmp(o->fail_on, "changed") == 0)))
        return EXIT_CHANGED;
    return v == RATE_INCONCLUSIVE ? STATUS_INCONCLUSIVE : EXIT_DONE;
}

static int run_compare(const struct options *o)
{
    AUTO(slowsql_findings_fini) struct slowsql_findings f = {0};
    AUTO(gathered_free) struct gathered *g = NULL;
    AUTO(buf_fini) struct buf more = {0};
    struct slowsql_question q;
    struct err e = {0};

    if (slowsql_question_of(o, &q, &e))
        return fail(o, &e);
    q.is_pair = true;
    struct gather_input in = slowsql_input_of(o, &q);
    in.wants_clients = true;
    if (gather(&in, &g, &e) || sheet_of(g->tally, SHEET_PAIR, &f.sheet, &e))
        return fail(o, &e);
    slowsql_rate(g, o, f.sheet);
    return show(o, &f, &more, NULL, status_of(o, f.sheet->rate.verdict));
}

const struct command command_slowsql_report = {
    .name = "slowsql report",
    .words = "[FILE]...",
    .most_words = OPTIONS_WORDS,
    .summary = "which SQL statements were slow in the field, and when that changed",
    .about = "Reads telemetry documents (the modern ping and the legacy one, a line each; plain, "
             "gzip or zstd), or what `slowsql reduce` wrote, from files or stdin. Only slow runs "
             "of a statement are in there (over 50 ms on the main thread, over 100 ms on others), "
             "so the mean is that of slow runs alone; what tells is slow time a report, or in "
             "1,000 hours of use. With --by build also at which build that changed, for the 20 "
             "largest rows. In the JSON a report is a comparison with one group, \"before\".",
    .example =
        "bisectctl slowsql report --channel nightly --db formhistory.sqlite --thread main "
        "--submitted 20130621..20130624 pings-*.gz\n"
        "bisectctl slowsql report --db places.sqlite --by build --builds builds.csv --bisect "
        "--project demo --metric startup pings.zst\n"
        "bisectctl slowsql report --claim '174,993 x 143 ms = 417 s'\n",
    .flags = report_flags,
    .n_flags = LEN(report_flags),
    .run = run_report,
};

const struct command command_slowsql_compare = {
    .name = "slowsql compare",
    .words = "[FILE]...",
    .most_words = OPTIONS_WORDS,
    .summary = "did slow SQL in the field change between two groups of reports",
    .about =
        "Slow time in 1,000 hours of use (a report, where reports do not say how long they "
        "lasted), before and after, with a 95 % interval of their ratio by a bootstrap over "
        "clients, and a verdict: regressed, improved, same, inconclusive. What `slowsql reduce` "
        "wrote has its groups from `slowsql map`, and only sums. Exit status: 0 decided, 4 "
        "inconclusive, 6 as --fail-on says, 1 failed, 2 usage; all rows together decide.",
    .example =
        "bisectctl slowsql compare --before-build ..20130622 --after-build 20130623.. "
        "--submitted 20130621..20130624 --channel nightly --db formhistory.sqlite pings.gz\n",
    .flags = compare_flags,
    .n_flags = LEN(compare_flags),
    .run = run_compare,
};
