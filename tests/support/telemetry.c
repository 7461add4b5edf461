/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telemetry documents whose sums are known by construction, a line each, on stdout.
 *
 *     telemetry story [SEED] 3>ANSWER    the story of a fix in the field; what a right tool finds
 * is written to descriptor 3, if that is open, as JSON telemetry bulk BYTES [SEED]        documents
 * as large as real ones, mostly histograms telemetry step BUILDS AT [SEED]    a series of builds;
 * from number AT (0 is the first) on, jank takes three times as long
 */
#include "base/buf.h"
#include "base/hash.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state += UINT64_C(0x9E3779B97F4A7C15);
    return mix64(state) % below;
}

/* Histograms: what most of a document is made of. */

static void add_histogram(struct buf *out, unsigned number)
{
    static const char *const names[] = {
        "GC_MS",          "CYCLE_COLLECTOR", "MOZ_SQLITE_OTHER_READ_MS", "FX_TAB_SWITCH_TOTAL_MS",
        "HTTP_PAGE_TTFB", "TELEMETRY_PING",  "PLACES_\\\"QUOTED\\\"_KEY"};
    unsigned n = 2 + (unsigned)draw(24);

    buf_printf(out,
               "\"%s_%u\":{\"range\":[1,%u],\"bucket_count\":%u,\"histogram_type\":%u,\"values\":{",
               names[draw(sizeof(names) / sizeof(names[0]))], number,
               1000 * (1 + (unsigned)draw(30)), 10 + n, (unsigned)draw(3));
    for (unsigned i = 0; i < n; i++)
        buf_printf(out, "%s\"%u\":%u", i ? "," : "", i * i * 3 + 1, (unsigned)draw(900));
    buf_printf(out, "},\"sum\":%u,\"sum_squares_lo\":%u,\"sum_squares_hi\":0}",
               (unsigned)draw(100000), (unsigned)draw(1000000000));
}

static void add_histograms(struct buf *out, unsigned n)
{
    buf_adds(out, "\"histograms\":{");
    for (unsigned i = 0; i < n; i++) {
        buf_adds(out, i ? "," : "");
        add_histogram(out, i);
    }
    buf_adds(out, "}");
}

/* One document */

struct statement {
    const char *sql; /* as JSON has it, without quotes */
    int64_t count, total;
};

enum shape { SHAPE_MODERN, SHAPE_LEGACY, SHAPE_QUOTED, SHAPE_COUNT };

struct document {
    enum shape shape;
    unsigned client, session;
    unsigned minutes;                        /* of use */
    const char *build, *channel, *submitted; /* channel NULL: none */
    struct statement main[4], other[4];
    unsigned n_main, n_other;
    unsigned n_histograms;
};

static void add_statements(struct buf *out, const struct statement *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf_printf(out, "%s\"%s\":[%" PRId64 ",%" PRId64 "]", i ? "," : "", s[i].sql, s[i].count,
                   s[i].total);
}

static void add_slow_sql(struct buf *out, const struct document *d)
{
    /* What looks like a section and is none; a part of it all that happened at start-up. */
    buf_adds(out,
             ",\"note\":\"\\\"slowSQL\\\":{\\\"mainThread\\\":{\\\"x\\\":[1,99]}}\",\"slowSQL\":");
    if (d->n_main + d->n_other == 0) {
        buf_adds(out, draw(2) ? "null" : "{\"mainThread\":{},\"otherThreads\":null}");
        return;
    }
    buf_adds(out, "{\"mainThread\":{");
    add_statements(out, d->main, d->n_main);
    buf_adds(out, "},\"otherThreads\":{");
    add_statements(out, d->other, d->n_other);
    buf_adds(out, "}},\"slowSQLStartup\":{\"mainThread\":{");
    add_statements(out, d->main, d->n_main ? 1 : 0);
    buf_adds(out, "},\"otherThreads\":{}}");
}

static void add_payload(struct buf *out, const struct document *d)
{
    buf_adds(out, "{\"ver\":1,");
    add_histograms(out, d->n_histograms);
    buf_printf(out, ",\"simpleMeasurements\":{\"main\":%u,\"uptime\":%u,\"firstPaint\":812.5}",
               (unsigned)draw(100), d->minutes);
    add_slow_sql(out, d);
    buf_printf(out, ",\"info\":{\"reason\":\"%s\"", draw(2) ? "idle-daily" : "saved-session");
    if (d->shape == SHAPE_MODERN) {
        buf_printf(out, ",\"sessionId\":\"s-%u\",\"sessionLength\":%u}}", d->session,
                   60 * d->minutes);
        return;
    }
    buf_printf(out, ",\"OS\":\"WINNT\",\"appBuildID\":\"%s\"", d->build);
    if (d->channel)
        buf_printf(out, ",\"appUpdateChannel\":\"%s\"", d->channel);
    buf_adds(out, "}}");
}

static void add_quoted(struct buf *out, const char *text)
{
    buf_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_addc(out, '\\');
        buf_addc(out, *text);
    }
    buf_addc(out, '"');
}

static int64_t n_written;

static void write_document(const struct document *d)
{
    static struct buf line, payload;

    buf_clear(&line);
    buf_clear(&payload);
    add_payload(&payload, d);
    if (d->shape == SHAPE_MODERN) {
        buf_printf(
            &line,
            "{\"type\":\"main\",\"version\":4,\"creationDate\":\"%.4s-%.2s-%.2sT10:00:00.000Z\","
            "\"application\":{\"name\":\"Firefox\",\"buildId\":\"%s\"",
            d->submitted, d->submitted + 4, d->submitted + 6, d->build);
        if (d->channel)
            buf_printf(&line, ",\"channel\":\"%s\"", d->channel);
        buf_printf(&line, "},\"clientId\":\"c-%u\",\"payload\":", d->client);
    } else {
        buf_printf(
            &line,
            "{\"slug\":\"s-%u\",\"submissionDate\":\"%s\",\"clientId\":\"c-%u\",\"payload\":",
            d->session, d->submitted, d->client);
    }
    if (d->shape == SHAPE_QUOTED)
        add_quoted(&line, buf_str(&payload));
    else
        buf_adds(&line, buf_str(&payload));
    buf_adds(&line, "}\n");
    n_written += (int64_t)fwrite(line.data, 1, line.len, stdout);
}

/* The story */

#define COMMIT "COMMIT TRANSACTION /* formhistory.sqlite */"
#define INSERT                                                                                     \
    "INSERT INTO moz_formhistory (fieldname, value) VALUES (:private) /* formhistory.sqlite */"
#define PLACES                                                                                     \
    "SELECT id FROM moz_places WHERE url = :private\\tAND x = \\u0022y\\u0022 /* places.sqlite */"
#define UNKNOWN "Untracked SQL for third.sqlite"

enum { COMMITS = 174993, COMMIT_MEAN_MS = 143, CLIENTS = 400, SESSIONS = 3 };

struct sum {
    int64_t count, total, reports;
};
static struct {
    struct sum commit, insert[2], places[2], unknown[2];
    int64_t reports[2], minutes[2], n_read, n_superseded, n_channel, n_submitted;
} answer;

static void add_to(struct sum *s, int64_t count, int64_t total)
{
    s->count += count;
    s->total += total;
    s->reports++;
}

static struct statement slow(const char *sql, int64_t least_mean)
{
    int64_t count = 1 + (int64_t)draw(9);

    return (struct statement){sql, count, count * (least_mean + (int64_t)draw(200))};
}

/** A report that a later one of its session counts again: part of what that one says. */
static void write_earlier(const struct document *d)
{
    struct document part = *d;

    part.minutes = d->minutes / 2;
    part.n_other = 0;
    for (unsigned i = 0; i < part.n_main; i++) {
        part.main[i].count = (part.main[i].count + 1) / 2;
        part.main[i].total = part.main[i].count * 60;
    }
    write_document(&part);
    answer.n_read++;
    answer.n_superseded++;
}

/** What one session of a client says; `commits` more of the worst statement. */
static void write_session(unsigned client, unsigned session, bool is_after, int64_t commits)
{
    static const char *const builds[2][3] = {{"20130619030204", "20130621031051", "20130622031029"},
                                             {"20130623031030", "20130624031033", "2013062503"}};
    static const char *const days[] = {"20130621", "20130622", "20130623", "20130624"};
    struct document d = {.shape = (enum shape)draw(SHAPE_COUNT),
                         .client = client,
                         .session = session,
                         .minutes = 30 + (unsigned)draw(600),
                         .build = builds[is_after][draw(3)],
                         .channel = "nightly",
                         .submitted = days[draw(4)],
                         .n_histograms = 3};

    if (commits) {
        d.main[d.n_main++] = (struct statement){COMMIT, commits, commits * COMMIT_MEAN_MS};
        add_to(&answer.commit, commits, commits * COMMIT_MEAN_MS);
    }
    if (draw(3) == 0) {
        struct statement s = d.main[d.n_main++] = slow(INSERT, 50);
        add_to(&answer.insert[is_after], s.count, s.total);
    }
    if (draw(2) == 0) {
        struct statement s = d.other[d.n_other++] = slow(PLACES, 100);
        add_to(&answer.places[is_after], s.count, s.total);
    }
    if (draw(4) == 0) {
        struct statement s = d.other[d.n_other++] = slow(UNKNOWN, 100);
        add_to(&answer.unknown[is_after], s.count, s.total);
    }
    answer.reports[is_after]++;
    answer.minutes[is_after] += d.minutes;
    answer.n_read++;
    if (session % 5 == 0 && d.n_main)
        write_earlier(&d);
    write_document(&d);
}

/** Reports that the question of the story is not about. */
static void write_others(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct document d = {.shape = (enum shape)draw(SHAPE_COUNT),
                             .client = 900000 + i,
                             .session = 900000 + i,
                             .minutes = 60,
                             .build = "20130620030201",
                             .channel = i % 2 ? "release" : NULL,
                             .submitted = "20130622",
                             .main = {slow(COMMIT, 50)},
                             .n_main = 1,
                             .n_histograms = 1};
        if (i % 3 == 0) {
            d.channel = "nightly";
            d.submitted = i % 2 ? "20130620" : "20130625";
            answer.n_submitted++;
        } else {
            answer.n_channel++;
        }
        write_document(&d);
        answer.n_read++;
    }
}

/** Lines that are of no use, each for the reason in front of it. */
static const char *const broken[][2] = {
    {"not_json", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"COMMIT\":[1,90]"},
    {"not_json", "not a document"},
    {"not_json", "{\"payload\":{\"histograms\":{\"a\":[1,2}]}}"},
    {"no_payload", "{\"type\":\"main\",\"clientId\":\"c\"}"},
    {"bad_payload", "{\"payload\":17}"},
    {"bad_payload", "{\"slug\":\"x\",\"payload\":\"{\\\"ver\\\":1\"}"},
    {"bad_slow_sql", "{\"payload\":{\"slowSQL\":[1,2]}}"},
    {"bad_hours", "{\"payload\":{\"info\":{\"appBuildID\":\"20130620030201\"},"
                  "\"simpleMeasurements\":{\"uptime\":-3}}}"},
    {"bad_build_id", "{\"submissionDate\":\"20130622\",\"payload\":{\"info\":{\"appBuildID\":"
                     "\"k0130512000000\"}}}"},
    {"bad_build_id", "{\"submissionDate\":\"20130622\",\"payload\":{\"info\":{\"appBuildID\":"
                     "\"20130231030201\"}}}"},
    {"no_build_id",
     "{\"submissionDate\":\"20130622\",\"payload\":{\"info\":{\"appUpdateChannel\":\"nightly\"}}}"},
    {"no_submission_date", "{\"payload\":{\"info\":{\"appBuildID\":\"20130620030201\","
                           "\"appUpdateChannel\":\"nightly\"}}}"},
};

static void write_answer(int fd)
{
    static const char *const names[] = {"before", "after"};

    dprintf(fd,
            "{\"read\":%" PRId64 ",\"superseded\":%" PRId64 ",\"channel\":%" PRId64
            ",\"submitted\":%" PRId64 ",\"rejected\":%zu",
            answer.n_read, answer.n_superseded, answer.n_channel, answer.n_submitted,
            sizeof(broken) / sizeof(broken[0]));
    for (int g = 0; g < 2; g++) {
        struct sum none = {0};
        const struct sum *sums[] = {g ? &none : &answer.commit, &answer.insert[g],
                                    &answer.places[g], &answer.unknown[g]};
        static const char *const keys[] = {"commit", "insert", "places", "unknown"};
        dprintf(fd, ",\"%s\":{\"reports\":%" PRId64 ",\"minutes\":%" PRId64, names[g],
                answer.reports[g], answer.minutes[g]);
        for (int i = 0; i < 4; i++)
            dprintf(fd, ",\"%s\":[%" PRId64 ",%" PRId64 ",%" PRId64 "]", keys[i], sums[i]->count,
                    sums[i]->total, sums[i]->reports);
        dprintf(fd, "}");
    }
    dprintf(fd, "}\n");
}

static void story(void)
{
    int64_t left = COMMITS;

    for (unsigned client = 0; client < CLIENTS; client++)
        for (unsigned s = 0; s < SESSIONS; s++) {
            unsigned session = client * SESSIONS + s;
            bool is_after = client % 2 == 1;
            bool is_last = client + 2 >= CLIENTS && s == SESSIONS - 1;
            int64_t commits = is_after ? 0 : is_last ? left : 1 + (int64_t)draw(500);
            commits = commits < left ? commits : left;
            left -= commits;
            write_session(client, session, is_after, commits);
        }
    write_others(60);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        puts(broken[i][1]);
        answer.n_read++;
    }
    if (dprintf(3, "%s", "") >= 0)
        write_answer(3);
}

/* A series of builds */

static void step(unsigned n_builds, unsigned at)
{
    for (unsigned b = 0; b < n_builds; b++)
        for (unsigned i = 0; i < 60; i++) {
            char build[32], day[32];
            snprintf(day, sizeof(day), "2013%02u%02u", 1 + b / 28 % 12, 1 + b % 28);
            snprintf(build, sizeof(build), "%.8s030000", day);
            int64_t factor = b >= at ? 3 : 1;
            struct document d = {.shape = SHAPE_LEGACY,
                                 .client = i,
                                 .session = b * 1000 + i,
                                 .minutes = 300 + (unsigned)draw(300),
                                 .build = build,
                                 .channel = "nightly",
                                 .submitted = day,
                                 .n_histograms = 1,
                                 .main = {slow(COMMIT, 100)},
                                 .n_main = 1,
                                 .other = {slow(PLACES, 100)},
                                 .n_other = 1};
            d.main[0].total *= factor;
            write_document(&d);
        }
}

/* Much of it */

static void bulk(int64_t n_bytes)
{
    static const char *const builds[] = {"20130619030204", "20130621031051", "20130623031030"};
    static const char *const sqls[] = {COMMIT, INSERT, PLACES, UNKNOWN};

    for (unsigned i = 0; n_written < n_bytes; i++) {
        struct document d = {.shape = draw(10) ? SHAPE_MODERN : SHAPE_QUOTED,
                             .client = i / 3,
                             .session = i,
                             .minutes = 10 + (unsigned)draw(900),
                             .build = builds[draw(3)],
                             .channel = "nightly",
                             .submitted = "20130624",
                             .n_histograms = 30 + (unsigned)draw(120)};
        while (d.n_main < draw(4))
            d.main[d.n_main] = slow(sqls[d.n_main], 50), d.n_main++;
        while (d.n_other < draw(3))
            d.other[d.n_other] = slow(sqls[2 + d.n_other], 100), d.n_other++;
        write_document(&d);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (strcmp(mode, "story") == 0 && argc <= 3) {
        state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
        story();
    } else if (strcmp(mode, "bulk") == 0 && argc >= 3 && argc <= 4) {
        state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
        bulk(strtoll(argv[2], NULL, 10));
    } else if (strcmp(mode, "step") == 0 && argc >= 4 && argc <= 5) {
        state = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
        step((unsigned)strtoul(argv[2], NULL, 10), (unsigned)strtoul(argv[3], NULL, 10));
    } else {
        fputs("usage: telemetry story [SEED] | bulk BYTES [SEED] | step BUILDS AT [SEED]\n",
              stderr);
        return 2;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
