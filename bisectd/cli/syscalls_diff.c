/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl syscalls diff: what changed between two sets of strace logs. */
#include "base/mem.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/trace_logs.h"
#include "formats/trace_diff.h"
#include "model/strings.h"
#include "report/table.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_SHOWN = 30, ROWS_MOST = 10000, JSON_ROWS = 1000, PATH_SHOWN = 100, NAME_MOST = 64 };

/* clang-format off */
static const struct flag flags[] = {
    {"--path", "GLOB", FLAG_TEXT, offsetof(struct options, path), "only calls on matching files; * and ? match slashes too: '*places.sqlite*'", NULL, 0, 0},
    {"--call", "A,B", FLAG_TEXT, offsetof(struct options, call), "only these system calls: fsync,fdatasync", NULL, 0, 0},
    {"--limit", "N", FLAG_COUNT, offsetof(struct options, limit), "so many differences, the largest first (default: 30, with --json 1000)", NULL, 1, ROWS_MOST},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};

static const char *const heads[] = {"CALL", "FILE", "GROUP", "BEFORE", "AFTER", "CHANGE", "S BEFORE", "S AFTER", "SHARE", NULL};
/* clang-format on */

/* ---- what is asked for ---- */

struct question {
    struct strings names;
    const char **calls; /* the same, NULL-terminated; NULL: all */
    struct trace_filter filter;
};

static void question_fini(struct question *q)
{
    strings_fini(&q->names);
    mem_free((void *)q->calls);
}
DEFINE_AUTO_FINI(struct question, question_fini)

static bool is_name(const char *s)
{
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_#");

    return n > 0 && n <= NAME_MOST && s[n] == '\0';
}

static enum err_code add_names(struct question *q, const char *list, struct err *e)
{
    for (const char *at = list;; at++) {
        AUTO(mem_free) char *name = mem_dup_n(at, strcspn(at, ","));
        if (!is_name(name))
            return err_set(e, ERR_INVALID,
                           "--call: expected names of system calls such as fsync,fdatasync, got "
                           "\"%.80s\"",
                           list);
        strings_add(&q->names, name);
        at += strlen(name);
        if (!*at)
            return ERR_OK;
    }
}

static enum err_code question_read(const struct options *o, struct question *q, struct err *e)
{
    if (o->call && add_names(q, o->call, e))
        return ERR_INVALID;
    if (o->path && !*o->path)
        return err_set(e, ERR_INVALID,
                       "--path: expected a pattern such as '*places.sqlite*', got \"\"");
    if (o->call) {
        q->calls = mem_array(q->names.n + 1, sizeof(*q->calls));
        for (size_t i = 0; i < q->names.n; i++)
            q->calls[i] = q->names.items[i];
    }
    q->filter = (struct trace_filter){.calls = q->calls, .path = o->path};
    return ERR_OK;
}

/* ---- for programs ---- */

static json *rejects_to_json(const struct trace_logs *l)
{
    json *o = json_new_object();

    for (int i = 0; i < STRACE_REJECT_COUNT; i++)
        if (l->tally.rejects[i])
            json_put(o, strace_reject_name(i), json_new_int((int64_t)l->tally.rejects[i]));
    if (l->n_damaged)
        json_put(o, "damaged", json_new_int((int64_t)l->n_damaged));
    return o;
}

static json *side_to_json(const struct trace_logs *l)
{
    const struct trace_row sum = trace_table_sum(l->table);
    json *o = json_new_object();

    json_put(o, "logs", json_new_int((int64_t)l->n_logs));
    json_put(o, "lines", json_new_int((int64_t)l->tally.lines));
    json_put(o, "calls", json_new_int((int64_t)(l->tally.calls + l->tally.summed)));
    json_put(o, "restarted", json_new_int((int64_t)l->tally.restarted));
    json_put(o, "selected", json_new_int((int64_t)sum.count));
    json_put(o, "errors", json_new_int((int64_t)sum.errors));
    json_put(o, "seconds", json_new_real(sum.n_timed ? (double)sum.total_ns / 1e9 : NAN));
    return json_put(o, "rejects", rejects_to_json(l));
}

static int print_document(const struct options *o, const struct trace_diff *d,
                          const struct trace_logs sides[2])
{
    AUTO(json_free) json *document = json_new_object();

    json_put(document, "differences",
             trace_diff_to_json(d, o->limit > 0 ? (size_t)o->limit : (size_t)JSON_ROWS));
    json_put(document, "left_out",
             json_new_int((int64_t)d->n - (int64_t)json_len(json_at(document, "differences"))));
    json_put(document, "by_call", json_new_bool(d->is_by_call));
    json_put(document, "before", side_to_json(&sides[0]));
    json_put(document, "after", side_to_json(&sides[1]));
    return print_json(document, EXIT_DONE);
}

/* ---- for people ---- */

static void add_printed(struct table *t, const char *format, ...) PRINTF(2, 3);
static void add_printed(struct table *t, const char *format, ...)
{
    char text[64];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    table_cell(t, text, 0);
}

static void add_seconds(struct table *t, double seconds)
{
    if (isnan(seconds))
        table_cell(t, "-", 0);
    else
        add_printed(t, "%.6f", seconds);
}

static void add_difference(struct table *t, const struct trace_difference *x)
{
    int64_t change = (int64_t)x->count[1] - (int64_t)x->count[0];

    table_cell(t, x->call, NAME_MOST);
    table_cell(t, *x->path ? x->path : "-", PATH_SHOWN);
    table_cell(t, trace_group_name(x->group), 0);
    add_printed(t, "%" PRIu64, x->count[0]);
    add_printed(t, "%" PRIu64, x->count[1]);
    add_printed(t, change ? "%+" PRId64 : "=", change);
    add_seconds(t, x->seconds[0]);
    add_seconds(t, x->seconds[1]);
    if (x->is_wait)
        table_cell(t, "waits", 0);
    else if (isnan(x->share))
        table_cell(t, "-", 0);
    else
        add_printed(t, "%.1f %%", 100 * x->share);
}

static void write_side(const char *name, const struct trace_logs *l, struct buf *out)
{
    const struct trace_row sum = trace_table_sum(l->table);

    buf_printf(out, "%-8s%" PRIu64 " of %" PRIu64 " calls", name, sum.count,
               l->tally.calls + l->tally.summed);
    if (sum.errors)
        buf_printf(out, " (%" PRIu64 " failed)", sum.errors);
    if (sum.n_timed)
        buf_printf(out, ", %.6f s", (double)sum.total_ns / 1e9);
    buf_printf(out, "; %zu log%s, %" PRIu64 " lines\n", l->n_logs, l->n_logs == 1 ? "" : "s",
               l->tally.lines);
}

static void write_reject(const char *words, uint64_t before, uint64_t after, struct buf *out)
{
    if (before || after)
        buf_printf(out, "  %s: %" PRIu64 " before, %" PRIu64 " after\n", words, before, after);
}

static void write_rejects(const struct trace_logs sides[2], struct buf *out)
{
    size_t start = out->len;

    buf_adds(out, "\nOdd lines:\n");
    size_t empty = out->len;
    for (int i = 0; i < STRACE_REJECT_COUNT; i++)
        write_reject(strace_reject_words(i), sides[0].tally.rejects[i], sides[1].tally.rejects[i],
                     out);
    write_reject("compressed files that are damaged or end too early", sides[0].n_damaged,
                 sides[1].n_damaged, out);
    if (out->len == empty)
        out->len = start;
}

/** A log without lines does not say how it was made. */
static bool lacks_files(const struct trace_logs *l)
{
    return l->tally.lines > 0 && !l->tally.has_files;
}

/** What whoever made the logs could do better. */
static void write_advice(const struct options *o, const struct trace_diff *d,
                         const struct trace_logs sides[2], struct buf *out)
{
    bool has_waits = false, has_folded = false;

    for (size_t i = 0; i < d->n; i++)
        has_waits = has_waits || d->items[i].is_wait;
    for (int i = 0; i < 2; i++)
        has_folded = has_folded || trace_table_folded(sides[i].table) > 0;
    if (!d->has_seconds && d->n > 0)
        buf_adds(out, "\nShares are of counts: strace -T would tell times too.\n");
    if (d->is_by_call)
        buf_adds(out, "\nOne side has no files, so both are compared by call alone.\n");
    if (sides[0].tally.summed || sides[1].tally.summed)
        buf_adds(out, "\nA table of strace -c has no files, and its times are those in the "
                      "system unless it was made with -w.\n");
    else if (lacks_files(&sides[0]) || lacks_files(&sides[1]))
        buf_adds(out, "\nFiles are told by the calls that open them, as far as these are in the "
                      "logs; strace -y would tell each one.\n");
    if (has_waits)
        buf_adds(out, "\nCalls that wait for others explain nothing by their time, and stand "
                      "last.\n");
    if (has_folded)
        buf_adds(out, "\nMore files than are kept apart: some stand together under what their "
                      "names have in common; --path looks at fewer.\n");
    if (o->path && d->n == 0 && trace_table_size(sides[0].table) == 0 &&
        trace_table_size(sides[1].table) == 0)
        buf_adds(out, "\nNo call is on a file that matches --path; * and ? match slashes too, and "
                      "the whole path has to match.\n");
}

static void write_text(const struct options *o, const struct trace_diff *d,
                       const struct trace_logs sides[2], struct buf *out)
{
    AUTO(table_free) struct table *t = table_new(heads);
    struct style style = terminal_style(STDOUT_FILENO);
    size_t most = o->limit > 0 ? (size_t)o->limit : (size_t)ROWS_SHOWN;

    write_side("before", &sides[0], out);
    write_side("after", &sides[1], out);
    buf_addc(out, '\n');
    for (size_t i = 3; i < LEN(heads) - 1; i++)
        table_align(t, i, ALIGN_RIGHT);
    for (size_t i = 0; i < d->n && i < most; i++)
        add_difference(t, &d->items[i]);
    if (d->n > 0)
        table_write(t, &style, out);
    else
        buf_adds(out, "No difference.\n");
    if (d->n > most)
        buf_printf(out, "and %zu smaller ones (--limit)\n", d->n - most);
    write_rejects(sides, out);
    write_advice(o, d, sides, out);
}

/* ---- what is to be said of the logs, on stderr ---- */

static bool has_call(const struct trace_table *t, const char *call)
{
    for (size_t i = 0; i < trace_table_size(t); i++)
        if (strcmp(trace_table_at(t, i)->call, call) == 0)
            return true;
    return false;
}

static void warn(const struct options *o, const struct question *q,
                 const struct trace_logs sides[2])
{
    for (int i = 0; i < 2; i++)
        if (sides[i].damage)
            fprintf(stderr, "warning: %s; read up to there\n", sides[i].damage);
    for (size_t i = 0; i < q->names.n; i++) {
        const char *call = q->names.items[i];
        bool is_there = has_call(sides[0].table, call) || has_call(sides[1].table, call);
        if (!is_there)
            fprintf(stderr, "warning: no call %s in either%s\n", call,
                    o->path ? " on a file that matches --path" : "");
    }
}

static int run(const struct options *o)
{
    AUTO(question_fini) struct question q = {0};
    AUTO(trace_logs_fini) struct trace_logs before = {0};
    AUTO(trace_logs_fini) struct trace_logs after = {0};
    AUTO(trace_diff_free) struct trace_diff *d = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    if (question_read(o, &q, &e))
        return fail_usage(o, &e);
    if (trace_logs_read(o->words[0], &q.filter, &before, &e) ||
        trace_logs_read(o->words[1], &q.filter, &after, &e))
        return fail(o, &e);
    d = trace_diff_new(before.table, after.table, NAN);
    const struct trace_logs sides[2] = {before, after}; /* borrowed */
    warn(o, &q, sides);
    if (o->json)
        return print_document(o, d, sides);
    write_text(o, d, sides, &text);
    return print_text(&text, EXIT_DONE);
}

const struct command command_syscalls_diff = {
    .name = "syscalls diff",
    .words = "BEFORE AFTER",
    .least_words = 2,
    .most_words = 2,
    .summary = "compare two sets of strace logs: which calls, on which files",
    .about =
        "Each set is a log of `strace` or `strace -f`, a folder of the logs of `strace -ff` (or "
        "their common name), or a table of `strace -c`; plain, gzip or zstd, of any size. Best are "
        "logs of `strace -f -T -y -o FILE`. Differences are ranked by time, where the logs have "
        "it, else by count; SHARE is of all that changed, up and down alike. Files are matched by "
        "path, and those on one side alone by what of their names does not look random (digits, "
        "hashes, temporary names); a relative path is the other side's one path that ends in it. "
        "Where one side has no files at all, calls are compared without them. A call that was "
        "interrupted and begun again counts once.",
    .example = "strace -f -T -y -o before.log ./old && strace -f -T -y -o after.log ./new\n"
               "bisectctl syscalls diff before.log after.log --path '*places.sqlite*'\n"
               "bisectctl syscalls diff before/ after/ --call fsync,fdatasync --json\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
