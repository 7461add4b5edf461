/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/telemetry.h"
#include "base/mem.h"
#include <math.h>
#include <string.h>

const char *const sql_thread_names[SQL_THREAD_COUNT] = {"main", "other"};

/* clang-format off */
const char *const reject_names[REJECT_COUNT_OF] = {
    [REJECT_NONE] = "none", [REJECT_NOT_JSON] = "not_json", [REJECT_NO_PAYLOAD] = "no_payload",
    [REJECT_BAD_PAYLOAD] = "bad_payload", [REJECT_BAD_SLOW_SQL] = "bad_slow_sql",
    [REJECT_BAD_HOURS] = "bad_hours", [REJECT_TOO_MANY] = "too_many_statements",
    [REJECT_TOO_LONG] = "line_too_long", [REJECT_BAD_BUILD] = "bad_build_id",
    [REJECT_NO_BUILD] = "no_build_id", [REJECT_NO_DATE] = "no_submission_date",
    [REJECT_BAD_COUNTS] = "bad_counts", [REJECT_COUNT] = "count_not_positive",
    [REJECT_NEGATIVE] = "negative_total", [REJECT_ABSURD] = "absurd_number",
    [REJECT_TEXT] = "nul_in_text", [REJECT_OUTLASTS] = "longer_than_session",
    [REJECT_THREAD] = "unknown_thread",
    [REJECT_BELOW_THRESHOLD] = "below_threshold",
};
const char *const reject_words[REJECT_COUNT_OF] = {
    [REJECT_NONE] = "", [REJECT_NOT_JSON] = "not one JSON object",
    [REJECT_NO_PAYLOAD] = "no telemetry document: neither payload nor slowSQL nor info",
    [REJECT_BAD_PAYLOAD] = "payload is neither an object nor a string that holds one",
    [REJECT_BAD_SLOW_SQL] = "slowSQL is not an object of threads",
    [REJECT_BAD_HOURS] = "time of use is negative or over a year",
    [REJECT_TOO_MANY] = "more than 10,000 statements",
    [REJECT_TOO_LONG] = "a line over the limit",
    [REJECT_BAD_BUILD] = "the build ID is no date",
    [REJECT_NO_BUILD] = "no build ID", [REJECT_NO_DATE] = "no submission date",
    [REJECT_BAD_COUNTS] = "statement: not [count, total ms] in whole numbers",
    [REJECT_COUNT] = "statement: a count of none or less",
    [REJECT_NEGATIVE] = "statement: a negative total",
    [REJECT_ABSURD] = "statement: a number over 2^31",
    [REJECT_TEXT] = "statement: a NUL in its text",
    [REJECT_OUTLASTS] = "statement: longer on the main thread than the session",
    [REJECT_THREAD] = "statement: of neither mainThread nor otherThreads",
    [REJECT_BELOW_THRESHOLD] = "statement: faster than any slow statement",
};

/* Where we look: a member leads to another node, or is a field. */
enum node { NODE_NONE, NODE_ROOT, NODE_META, NODE_APPLICATION, NODE_ENVIRONMENT, NODE_BUILD, NODE_PAYLOAD, NODE_INFO, NODE_SIMPLE };
enum field {
    FIELD_NONE, FIELD_CLIENT, FIELD_SLUG, FIELD_CREATED, FIELD_SUBMITTED, FIELD_APP_BUILD, FIELD_APP_CHANNEL,
    FIELD_ENV_BUILD,
    /* of the payload, from here on */
    FIELD_PAYLOAD_CLIENT, FIELD_INFO_BUILD, FIELD_INFO_CHANNEL, FIELD_SESSION, FIELD_SESSION_LENGTH,
    FIELD_SUBSESSION_LENGTH, FIELD_UPTIME, FIELD_SLOW_SQL, FIELD_STARTUP, FIELD_COUNT
};
#define KEY(text) text, sizeof(text) - 1
static const struct place {
    enum node node;
    const char *key;
    size_t n_key;
    enum node leads_to;
    enum field field;
} places[] = {
    {NODE_ROOT,        KEY("payload"),              NODE_PAYLOAD, FIELD_NONE},
    {NODE_ROOT,        KEY("application"),          NODE_APPLICATION, FIELD_NONE},
    {NODE_ROOT,        KEY("environment"),          NODE_ENVIRONMENT, FIELD_NONE},
    {NODE_ROOT,        KEY("meta"),                 NODE_META, FIELD_NONE},
    {NODE_ROOT,        KEY("clientId"),             NODE_NONE, FIELD_CLIENT},
    {NODE_ROOT,        KEY("client_id"),            NODE_NONE, FIELD_CLIENT},
    {NODE_ROOT,        KEY("slug"),                 NODE_NONE, FIELD_SLUG},
    {NODE_ROOT,        KEY("creationDate"),         NODE_NONE, FIELD_CREATED},
    {NODE_ROOT,        KEY("submissionDate"),       NODE_NONE, FIELD_SUBMITTED},
    {NODE_ROOT,        KEY("submission_date"),      NODE_NONE, FIELD_SUBMITTED},
    {NODE_ROOT,        KEY("submissionTimestamp"),  NODE_NONE, FIELD_SUBMITTED},
    {NODE_ROOT,        KEY("submission_timestamp"), NODE_NONE, FIELD_SUBMITTED},
    {NODE_META,        KEY("submissionDate"),       NODE_NONE, FIELD_SUBMITTED},
    {NODE_META,        KEY("submission_date"),      NODE_NONE, FIELD_SUBMITTED},
    {NODE_META,        KEY("submissionTimestamp"),  NODE_NONE, FIELD_SUBMITTED},
    {NODE_META,        KEY("submission_timestamp"), NODE_NONE, FIELD_SUBMITTED},
    {NODE_META,        KEY("clientId"),             NODE_NONE, FIELD_CLIENT},
    {NODE_APPLICATION, KEY("buildId"),              NODE_NONE, FIELD_APP_BUILD},
    {NODE_APPLICATION, KEY("channel"),              NODE_NONE, FIELD_APP_CHANNEL},
    {NODE_ENVIRONMENT, KEY("build"),                NODE_BUILD, FIELD_NONE},
    {NODE_BUILD,       KEY("buildId"),              NODE_NONE, FIELD_ENV_BUILD},
    {NODE_PAYLOAD,     KEY("info"),                 NODE_INFO, FIELD_NONE},
    {NODE_PAYLOAD,     KEY("simpleMeasurements"),   NODE_SIMPLE, FIELD_NONE},
    {NODE_PAYLOAD,     KEY("slowSQL"),              NODE_NONE, FIELD_SLOW_SQL},
    {NODE_PAYLOAD,     KEY("slowSQLStartup"),       NODE_NONE, FIELD_STARTUP},
    {NODE_PAYLOAD,     KEY("slowSQLstartup"),       NODE_NONE, FIELD_STARTUP},
    {NODE_PAYLOAD,     KEY("clientId"),             NODE_NONE, FIELD_PAYLOAD_CLIENT},
    {NODE_PAYLOAD,     KEY("clientID"),             NODE_NONE, FIELD_PAYLOAD_CLIENT},
    {NODE_INFO,        KEY("appBuildID"),           NODE_NONE, FIELD_INFO_BUILD},
    {NODE_INFO,        KEY("appUpdateChannel"),     NODE_NONE, FIELD_INFO_CHANNEL},
    {NODE_INFO,        KEY("sessionId"),            NODE_NONE, FIELD_SESSION},
    {NODE_INFO,        KEY("sessionLength"),        NODE_NONE, FIELD_SESSION_LENGTH},
    {NODE_INFO,        KEY("subsessionLength"),     NODE_NONE, FIELD_SUBSESSION_LENGTH},
    {NODE_SIMPLE,      KEY("uptime"),               NODE_NONE, FIELD_UPTIME},
};
/* clang-format on */

static const double hours_most = 366 * 24;
static const double slack = 1.1, slack_ms = 2 * 60000; /* of clocks, and of whole minutes */

struct telemetry_reader {
    struct skim_member fields[FIELD_COUNT]; /* type 'n': null or absent */
    bool has_payload, is_quoted;            /* quoted: as a string */
    bool has_bare;                          /* its members are those of the document */
    enum reject fault;                      /* that a member brought */
    struct buf quoted;                      /* a payload that came as a string */
    struct buf scratch;
    struct slow_statement *statements;
    size_t n, cap;
};

struct telemetry_reader *telemetry_reader_new(void)
{
    return mem_alloc(sizeof(struct telemetry_reader));
}

void telemetry_reader_free(struct telemetry_reader *r)
{
    if (!r)
        return;
    buf_fini(&r->quoted);
    buf_fini(&r->scratch);
    mem_free(r->statements);
    mem_free(r);
}

/* The walk */

static const struct place *place_of(enum node node, struct span key)
{
    for (size_t i = 0; i < LEN(places); i++)
        if (places[i].node == node && skim_is(key, places[i].key, places[i].n_key))
            return &places[i];
    return NULL;
}

static void forget(struct telemetry_reader *r, enum field from, enum field to)
{
    for (unsigned i = from; i < (unsigned)to; i++)
        r->fields[i].type = 'n';
}

/** What an earlier member of the same name said does not count any more. */
static void forget_below(struct telemetry_reader *r, enum node node)
{
    for (size_t i = 0; i < LEN(places); i++) {
        if (places[i].node != node)
            continue;
        r->fields[places[i].field].type = 'n';
        if (places[i].leads_to)
            forget_below(r, places[i].leads_to);
    }
}

static bool walk(struct telemetry_reader *r, enum node node, const char **p, const char *end);

/** A payload in quotes; *p at the first of them. */
static bool walk_quoted(struct telemetry_reader *r, const char **p, const char *end)
{
    struct skim_member m = {.type = '"'};

    if (!skim_rest(p, end, &m))
        return false;
    buf_clear(&r->quoted);
    r->fault = REJECT_BAD_PAYLOAD;
    if (!skim_unescape(m.value, &r->quoted))
        return true;
    const char *at = buf_str(&r->quoted), *stop = at + r->quoted.len;
    at = skim_space(at, stop);
    if (at == stop || *at++ != '{' || !walk(r, NODE_PAYLOAD, &at, stop))
        return true;
    if (skim_space(at, stop) == stop && r->fault == REJECT_BAD_PAYLOAD)
        r->fault = REJECT_NONE;
    return true;
}

static bool walk_payload(struct telemetry_reader *r, char type, const char **p, const char *end)
{
    struct skim_member m = {.type = type};

    r->has_payload = true;
    r->is_quoted = type == '"';
    r->fault = REJECT_NONE;
    forget(r, FIELD_PAYLOAD_CLIENT, FIELD_COUNT);
    if (type == '"')
        return walk_quoted(r, p, end);
    if (type == '{') {
        ++*p;
        return walk(r, NODE_PAYLOAD, p, end);
    }
    r->fault = REJECT_BAD_PAYLOAD;
    return skim_rest(p, end, &m);
}

/** A member that leads to a node; *p at its value. */
static bool walk_into(struct telemetry_reader *r, enum node node, struct skim_member *m,
                      const char **p, const char *end)
{
    if (node == NODE_PAYLOAD)
        return walk_payload(r, m->type, p, end);
    forget_below(r, node);
    if (m->type != '{')
        return skim_rest(p, end, m);
    ++*p;
    return walk(r, node, p, end);
}

/** All members of an object; *p after its opening brace. False if it is no JSON. */
static bool walk(struct telemetry_reader *r, enum node node, const char **p, const char *end)
{
    for (;;) {
        struct skim_member m;
        enum skim_step step = skim_key(p, end, &m);
        if (step != SKIM_MEMBER)
            return step == SKIM_END;
        const struct place *place = place_of(node, m.key);
        if (node == NODE_ROOT && !place && !r->has_payload) {
            place = place_of(NODE_PAYLOAD, m.key);
            r->has_bare |= place != NULL && place->field != FIELD_PAYLOAD_CLIENT;
        }
        if (place && place->leads_to) {
            if (!walk_into(r, place->leads_to, &m, p, end))
                return false;
            continue;
        }
        if (!skim_rest(p, end, &m))
            return false;
        if (place)
            r->fields[place->field] = m;
    }
}

/* Fields */

static struct span text_of(const struct telemetry_reader *r, enum field f)
{
    const struct skim_member *m = &r->fields[f];

    return m->type == '"' || m->type == 0 ? m->value : (struct span){0};
}

static struct span first_of(const struct telemetry_reader *r, const enum field *fields, size_t n)
{
    struct span s = {0};

    for (size_t i = 0; i < n && s.n == 0; i++)
        s = text_of(r, fields[i]);
    return s;
}

/** Millionths of an hour, -1 where unknown; false if no session can have lasted so long.
 *  *is_whole: that of the session, not of a part. */
static bool time_of_use(const struct telemetry_reader *r, int64_t *used, bool *is_whole)
{
    static const struct {
        enum field field;
        double an_hour;
    } ways[] = {{FIELD_SESSION_LENGTH, 3600}, {FIELD_SUBSESSION_LENGTH, 3600}, {FIELD_UPTIME, 60}};

    *used = -1;
    *is_whole = false;
    for (size_t i = 0; i < LEN(ways); i++) {
        double length = 0;
        if (!skim_num(text_of(r, ways[i].field), &length))
            continue;
        if (length < 0 || length > hours_most * ways[i].an_hour)
            return false;
        *used = llround(length * 1e6 / ways[i].an_hour);
        *is_whole = ways[i].field != FIELD_SUBSESSION_LENGTH;
        return true;
    }
    return true;
}

/* Statements */

static enum reject fault_of(const struct slow_statement *s)
{
    static const int64_t threshold_ms[SQL_THREAD_COUNT] = {50, 100};

    if (s->count <= 0)
        return REJECT_COUNT;
    if (s->total_ms < 0)
        return REJECT_NEGATIVE;
    if (s->count > INT32_MAX || s->total_ms > INT32_MAX)
        return REJECT_ABSURD;
    return s->total_ms < s->count * threshold_ms[s->thread] ? REJECT_BELOW_THRESHOLD : REJECT_NONE;
}

/** "[count, total]". */
static bool read_counts(const struct skim_member *m, int64_t *count, int64_t *total_ms)
{
    const char *p = m->value.s, *end = p + m->value.n;
    struct span items[2];

    if (m->type != '[')
        return false;
    for (size_t i = 0; i < LEN(items); i++) {
        const char *at = skim_space(p + 1, end);
        const char *after = skim_value(at, end);
        if (!after)
            return false;
        items[i] = (struct span){at, (size_t)(after - at)};
        p = skim_space(after, end);
        if (p == end || *p != (i ? ']' : ','))
            return false;
    }
    return skim_int(items[0], count) && skim_int(items[1], total_ms);
}

/** What the raw text of a statement is. */
static enum reject read_text(struct telemetry_reader *r, struct span raw)
{
    buf_clear(&r->scratch);
    if (memchr(raw.s, '\0', raw.n))
        return REJECT_TEXT;
    if (!memchr(raw.s, '\\', raw.n))
        return REJECT_NONE;
    if (!skim_unescape(raw, &r->scratch))
        return REJECT_NOT_JSON;
    return memchr(buf_str(&r->scratch), '\0', r->scratch.len) ? REJECT_TEXT : REJECT_NONE;
}

/** Marks statements that took longer than the session lasted. */
static void check_lengths(struct telemetry_reader *r, int64_t used)
{
    const double most_ms = (double)used * 3.6 * slack + slack_ms;

    for (size_t i = 0; i < r->n; i++) {
        struct slow_statement *s = &r->statements[i];
        if (!s->fault && s->thread == SQL_MAIN && (double)s->total_ms > most_ms)
            s->fault = REJECT_OUTLASTS;
    }
}

static void add_statement(struct telemetry_reader *r, size_t first, const struct slow_statement *s)
{
    for (size_t i = first; i < r->n; i++) {
        struct slow_statement *known = &r->statements[i];
        if (known->sql.n == s->sql.n && memcmp(known->sql.s, s->sql.s, s->sql.n) == 0) {
            *known = *s;
            return;
        }
    }
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 16;
        r->statements = mem_resize(r->statements, r->cap, sizeof(*r->statements));
    }
    r->statements[r->n++] = *s;
}

static enum reject read_thread(struct telemetry_reader *r, enum sql_thread thread,
                               const struct skim_member *section)
{
    const size_t first = r->n;

    if (section->type != '{')
        return section->type == 'n' ? REJECT_NONE : REJECT_BAD_SLOW_SQL;
    const char *p = section->value.s + 1, *end = section->value.s + section->value.n;
    for (;;) {
        struct skim_member m;
        struct slow_statement s = {.thread = thread, .fault = REJECT_BAD_COUNTS};
        enum skim_step step = skim_member(&p, end, &m);
        if (step != SKIM_MEMBER)
            return step == SKIM_END ? REJECT_NONE : REJECT_NOT_JSON;
        s.sql = m.key;
        enum reject text = read_text(r, m.key);
        if (text == REJECT_NOT_JSON)
            return text;
        if (thread == SQL_THREAD_COUNT)
            s.fault = REJECT_THREAD;
        else if (read_counts(&m, &s.count, &s.total_ms))
            s.fault = fault_of(&s);
        if (text)
            s.fault = text;
        add_statement(r, first, &s);
        if (r->n > TELEMETRY_STATEMENTS)
            return REJECT_TOO_MANY;
    }
}

/** A thread that nobody knows is passed over, and so many statements of it. */
static enum reject pass_over_thread(struct telemetry_reader *r, const struct skim_member *section)
{
    return section->type == '{' ? read_thread(r, SQL_THREAD_COUNT, section) : REJECT_NONE;
}

static enum reject read_sections(struct telemetry_reader *r, const struct skim_member *slow_sql)
{
    struct skim_member threads[SQL_THREAD_COUNT] = {{.type = 'n'}, {.type = 'n'}};
    const char *p = slow_sql->value.s + 1, *end = slow_sql->value.s + slow_sql->value.n;
    enum reject fault = REJECT_NONE;

    if (slow_sql->type != '{')
        return REJECT_BAD_SLOW_SQL;
    for (;;) {
        struct skim_member m;
        enum skim_step step = skim_member(&p, end, &m);
        if (step == SKIM_BROKEN)
            return REJECT_NOT_JSON;
        if (step == SKIM_END)
            break;
        if (skim_is(m.key, KEY("mainThread")))
            threads[SQL_MAIN] = m;
        else if (skim_is(m.key, KEY("otherThreads")))
            threads[SQL_OTHER] = m;
        else if ((fault = pass_over_thread(r, &m)) != REJECT_NONE)
            return fault;
    }
    for (unsigned i = 0; i < SQL_THREAD_COUNT; i++) {
        fault = read_thread(r, (enum sql_thread)i, &threads[i]);
        if (fault)
            return fault;
    }
    return REJECT_NONE;
}

static enum reject read_statements(struct telemetry_reader *r)
{
    const struct skim_member *all = &r->fields[FIELD_SLOW_SQL];

    if (all->type == 'n')
        all = &r->fields[FIELD_STARTUP];
    return all->type == 'n' ? REJECT_NONE : read_sections(r, all);
}

/* All of it */

static enum reject read_document(struct telemetry_reader *r, const char *p, const char *end)
{
    p = skim_space(p, end);
    if (p == end || *p++ != '{' || !walk(r, NODE_ROOT, &p, end) || skim_space(p, end) != end)
        return REJECT_NOT_JSON;
    if (!r->has_payload && !r->has_bare)
        return REJECT_NO_PAYLOAD;
    if (r->fault)
        return r->fault;
    enum reject fault = read_statements(r);
    return fault == REJECT_NOT_JSON && r->is_quoted ? REJECT_BAD_PAYLOAD : fault;
}

void telemetry_read(struct telemetry_reader *r, const char *bytes, size_t n, struct telemetry *out)
{
    static const enum field builds[] = {FIELD_INFO_BUILD, FIELD_APP_BUILD, FIELD_ENV_BUILD};
    static const enum field channels[] = {FIELD_INFO_CHANNEL, FIELD_APP_CHANNEL};
    static const enum field clients[] = {FIELD_CLIENT, FIELD_PAYLOAD_CLIENT};
    static const enum field sessions[] = {FIELD_SESSION, FIELD_SLUG};
    static const enum field dates[] = {FIELD_SUBMITTED, FIELD_CREATED};

    r->has_payload = r->has_bare = r->is_quoted = false;
    r->fault = REJECT_NONE;
    r->n = 0;
    forget(r, FIELD_NONE, FIELD_COUNT);
    *out = (struct telemetry){.used = -1};
    out->fault = read_document(r, bytes, bytes + n);
    if (out->fault)
        return;
    out->client = first_of(r, clients, LEN(clients));
    out->session = first_of(r, sessions, LEN(sessions));
    out->submitted = first_of(r, dates, LEN(dates));
    out->build = first_of(r, builds, LEN(builds));
    out->channel = first_of(r, channels, LEN(channels));
    bool is_whole = false;
    if (!time_of_use(r, &out->used, &is_whole))
        out->fault = REJECT_BAD_HOURS;
    if (is_whole)
        check_lengths(r, out->used);
    out->n = r->n;
    out->statements = r->statements;
}
