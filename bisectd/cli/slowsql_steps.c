/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl slowsql map, combine and reduce: the steps that sort, a job array or a map/reduce
 * engine puts together. */
#include "base/file.h"
#include "base/mem.h"
#include "cli/slowsql.h"
#include "cli/slowsql_lines.h"
#include "cli/terminal.h"
#include "formats/slowsql_line.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COMBINE_ROWS = 200000, COMBINE_BYTES = 64 * MIB };

/* clang-format off */
static const struct flag map_flags[] = {
    FLAG_ROWS_SLOWSQL,
    FLAG_ROW_BY,
    FLAG_ROWS_PAIR,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
static const struct flag step_flags[] = {
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

/* Where lines go: to stdout as they come, or for --json to a file in memory until all are there. */

static int lines_fd(const struct options *o)
{
    return o->json ? memfd_create("lines", MFD_CLOEXEC) : STDOUT_FILENO;
}

static enum err_code line_to_json(void *list, const char *text, size_t n, struct err *e)
{
    AUTO(json_free) json *key = NULL;
    struct slowsql_line line;

    if (slowsql_line_parse(text, n, &line, e) ||
        json_parse_foreign(line.key.s, line.key.n, &key, e))
        return e->code;
    json *o = json_put(json_new_object(), "key", TAKE(key));
    json_put(o, "count", json_new_int(line.sums.count));
    json_put(o, "total_ms", json_new_int(line.sums.total_ms));
    json_put(o, "reports", json_new_int(line.sums.reports));
    json_push(list, json_put(o, "used", json_new_int(line.sums.used)));
    return ERR_OK;
}

/** Ends a step that wrote its lines to `fd`. */
static int end_lines(const struct options *o, int fd, enum err_code rc, struct err *e)
{
    AUTO(json_free) json *document = NULL;
    AUTO(buf_fini) struct buf path = {0};
    struct options in_memory = {.words = {NULL}, .n_words = 1};

    if (!o->json)
        return rc ? fail(o, e) : EXIT_DONE;
    json *list = json_new_array();
    document = json_put(json_new_object(), "lines", list);
    buf_printf(&path, "/proc/self/fd/%d", fd);
    in_memory.words[0] = buf_str(&path);
    if (!rc)
        rc = slowsql_each_line(&in_memory, line_to_json, list, e);
    fd_close(fd);
    return rc ? fail(o, e) : print_json(document, EXIT_DONE);
}

static int run_map(const struct options *o)
{
    struct slowsql_question q;
    struct err e = {0};

    if (slowsql_question_of(o, &q, &e))
        return fail(o, &e);
    const struct gather_input in = slowsql_input_of(o, &q);
    int fd = lines_fd(o);
    return end_lines(o, fd, gather_map(&in, fd, &e), &e);
}

/* Combining */

/* Flushed in the order of keys: what came in sorted goes out sorted, as engines want it. */
struct combine {
    struct tally *tally;
    size_t n_bytes; /* of lines since the last flush */
    int fd;
    struct buf out;
};

static enum err_code flush(struct combine *c, struct err *e)
{
    slowsql_write_tally(c->tally, &c->out);
    if (tally_is_over(c->tally))
        return err_set(e, ERR_LIMIT, "a sum is over 2^63");
    tally_clear(c->tally);
    c->n_bytes = 0;
    enum err_code rc = terminal_write(c->fd, &c->out, e);
    buf_clear(&c->out);
    return rc;
}

static enum err_code combine_line(void *context, const char *text, size_t n, struct err *e)
{
    struct combine *c = context;
    struct slowsql_line line;
    enum err_code rc = slowsql_line_parse(text, n, &line, e);

    if (rc)
        return rc;
    tally_add(c->tally, tally_at(c->tally, line.key.s, line.key.n), &line.sums);
    c->n_bytes += n;
    bool is_full = tally_n(c->tally) >= COMBINE_ROWS || c->n_bytes >= COMBINE_BYTES;
    return is_full ? flush(c, e) : ERR_OK;
}

static int run_combine(const struct options *o)
{
    AUTO(tally_free) struct tally *t = tally_new();
    struct combine c = {.tally = t, .fd = lines_fd(o)};
    struct err e = {0};

    enum err_code rc = slowsql_each_line(o, combine_line, &c, &e);
    if (!rc)
        rc = flush(&c, &e);
    buf_fini(&c.out);
    return end_lines(o, c.fd, rc, &e);
}

/* Reducing */

static enum err_code reduce_line(void *context, const char *text, size_t n, struct err *e)
{
    return slowsql_reduce_line(context, text, n, e);
}

static int run_reduce(const struct options *o)
{
    AUTO(tally_free) struct tally *t = tally_new();
    AUTO(slowsql_reduce_fini) struct slowsql_reduce r = {.tally = t};
    AUTO(sheet_free) struct sheet *sheet = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    enum sheet_kind kind = o->json ? SHEET_AS_FOUND : SHEET_PART;
    if (slowsql_each_line(o, reduce_line, &r, &e) || sheet_of(t, kind, &sheet, &e))
        return fail(o, &e);
    if (o->json) {
        AUTO(json_free) json *v = sheet_to_json(sheet, 0);
        return print_json(v, EXIT_DONE);
    }
    slowsql_write_tally(t, &text);
    return print_text(&text, EXIT_DONE);
}

const struct command command_slowsql_map = {
    .name = "slowsql map",
    .words = "[FILE]...",
    .most_words = OPTIONS_WORDS,
    .summary = "what each telemetry document adds, as lines to sort and reduce",
    .about = "Reads telemetry documents, one a line, plain, gzip or zstd, from files or stdin, and "
             "writes lines KEY<TAB>COUNT<TAB>TOTAL_MS<TAB>REPORTS<TAB>USED: the key is the JSON "
             "array [group,database,thread,statement], all numbers are whole, and USED is in "
             "millionths of an hour. Keys that begin with null are the book-keeping of what was "
             "read, left out and counted again.",
    .example =
        "bisectctl slowsql map --channel nightly pings.gz | LC_ALL=C sort | bisectctl slowsql "
        "reduce\n"
        "hadoop jar hadoop-streaming.jar -mapper 'bisectctl slowsql map' -combiner "
        "'bisectctl slowsql combine' -reducer 'bisectctl slowsql reduce' -numReduceTasks 1 "
        "-input pings -output sums\n",
    .flags = map_flags,
    .n_flags = LEN(map_flags),
    .run = run_map,
};

const struct command command_slowsql_combine = {
    .name = "slowsql combine",
    .words = "[FILE]...",
    .most_words = OPTIONS_WORDS,
    .summary = "adds up mapped lines, in any order, before they are sorted",
    .about = "Makes the shuffle smaller; what reduce makes of it stays the same.",
    .example = "bisectctl slowsql map pings.zst | bisectctl slowsql combine | LC_ALL=C sort | "
               "bisectctl slowsql reduce\n",
    .flags = step_flags,
    .n_flags = LEN(step_flags),
    .run = run_combine,
};

const struct command command_slowsql_reduce = {
    .name = "slowsql reduce",
    .words = "[FILE]...",
    .most_words = OPTIONS_WORDS,
    .summary = "adds up sorted mapped lines",
    .about = "Wants the lines in the order of LC_ALL=C sort. Of the reports of one session only "
             "the last counts, wherever they were mapped. With --json what `slowsql report` "
             "prints of the sums, byte for byte; `slowsql report` and `compare` also read what "
             "this writes.",
    .example = "LC_ALL=C sort -m part-*.sorted | bisectctl slowsql reduce --json\n",
    .flags = step_flags,
    .n_flags = LEN(step_flags),
    .run = run_reduce,
};
