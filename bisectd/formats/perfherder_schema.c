/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/perfherder_schema.h"
#include "base/text.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { LONG_OPTION = 45, TAG_BYTES = 24, UNKNOWN_BYTES = 120, GOT_BYTES = 40 };

enum type { TEXT, NUMBER, WHOLE, BOOL, NUMBERS, TEXTS, TAGS, OBJECT, LIST, TYPE_COUNT };
enum { NEEDED = 1, UNIQUE = 2 };

struct rule {
    const char *key;
    enum type type;
    unsigned flags;
    double low, high;         /* of a number, the characters of a text, the items of a list */
    const char *const *words; /* a text is one of these; NULL: any */
    size_t item_most;         /* characters of each text of a list */
};

static const char *const applications[] = {
    "firefox", "chrome", "chrome-m",  "fennec",     "geckoview",  "refbrow", "fenix",
    "focus",   "safari", "safari-tp", "custom-car", "cstm-car-m", NULL};
static const char *const severities[] = {"critical", "subcritical", "normal", NULL};
static const char *const changes[] = {"absolute", "percentage", NULL};

/* clang-format off */
static const struct rule document_rules[] = {
    {"framework",     OBJECT, NEEDED, 0, 0, NULL, 0},
    {"suites",        LIST,   NEEDED, 0, INFINITY, NULL, 0},
    {"application",   OBJECT, 0, 0, 0, NULL, 0},
    {"os",            OBJECT, 0, 0, 0, NULL, 0},
    {"pushTimestamp", NUMBER, 0, -INFINITY, INFINITY, NULL, 0}, /* not in the schema; ingestion reads it */
};
static const struct rule framework_rules[] = {
    {"name", TEXT, NEEDED, 0, INFINITY, NULL, 0}, /* the schema lets it be absent, ingestion fails then */
};
static const struct rule application_rules[] = {
    {"name",    TEXT, NEEDED, 0, 10, applications, 0},
    {"version", TEXT, 0, 0, 40, NULL, 0},
};
static const struct rule os_rules[] = {
    {"name",             TEXT, 0, 1, 100, NULL, 0},
    {"platform_version", TEXT, 0, 1, 100, NULL, 0},
};
static const struct rule suite_rules[] = {
    {"name",              TEXT,    NEEDED, 0, 80, NULL, 0},
    {"subtests",          LIST,    NEEDED, 0, INFINITY, NULL, 0},
    {"publicName",        TEXT,    0, 0, 30, NULL, 0},
    {"tags",              TAGS,    UNIQUE, 0, 14, NULL, TAG_BYTES},
    {"extraOptions",      TEXTS,   UNIQUE, 0, 8, NULL, 100},
    {"value",             NUMBER,  0, -1e12, 1e12, NULL, 0},
    {"unit",              TEXT,    0, 1, 20, NULL, 0},
    {"replicates",        NUMBERS, 0, 0, INFINITY, NULL, 0},
    {"lowerIsBetter",     BOOL,    0, 0, 0, NULL, 0},
    {"shouldAlert",       BOOL,    0, 0, 0, NULL, 0},
    {"alertThreshold",    NUMBER,  0, 0, INFINITY, NULL, 0},
    {"alertSeverity",     TEXT,    0, 0, INFINITY, severities, 0},
    {"alertChangeType",   TEXT,    0, 0, INFINITY, changes, 0},
    {"minBackWindow",     WHOLE,   0, 1, 255, NULL, 0},
    {"maxBackWindow",     WHOLE,   0, 1, 255, NULL, 0},
    {"foreWindow",        WHOLE,   0, 1, 255, NULL, 0},
    {"monitor",           BOOL,    0, 0, 0, NULL, 0},
    {"alertNotifyEmails", TEXTS,   0, 0, 8, NULL, 100},
};
static const struct rule subtest_rules[] = {
    {"name",            TEXT,    NEEDED, 0, INFINITY, NULL, 0},
    {"value",           NUMBER,  NEEDED, -1e12, 1e12, NULL, 0},
    {"publicName",      TEXT,    0, 0, 30, NULL, 0},
    {"unit",            TEXT,    0, 1, 20, NULL, 0},
    {"lowerIsBetter",   BOOL,    0, 0, 0, NULL, 0},
    {"shouldAlert",     BOOL,    0, 0, 0, NULL, 0},
    {"alertChangeType", TEXT,    0, 0, INFINITY, changes, 0},
    {"alertThreshold",  NUMBER,  0, 0, INFINITY, NULL, 0},
    {"alertSeverity",   TEXT,    0, 0, INFINITY, severities, 0},
    {"minBackWindow",   NUMBER,  0, 1, 255, NULL, 0}, /* here 12.5 passes */
    {"maxBackWindow",   NUMBER,  0, 1, 255, NULL, 0},
    {"foreWindow",      NUMBER,  0, 1, 255, NULL, 0},
};
/* Talos writes these, ingestion reads them, the schema knows nothing of them and so allows anything. */
static const char *const known_beside[] = {"replicates", "base_replicates", "ref_replicates", NULL};
/* clang-format on */

/* ---- one value ---- */

static bool is_one_of(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(*words, s) == 0)
            return true;
    return false;
}

static size_t characters(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static bool is_tag(const char *s)
{
    for (const char *p = s; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '-')
            return false;
    return *s != '\0';
}

static bool has_twice(const json *list)
{
    for (size_t i = 1; i < json_len(list); i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(json_str(json_item(list, i), ""), json_str(json_item(list, k), "")) == 0)
                return true;
    return false;
}

static bool fits_text(const struct rule *r, const json *v)
{
    const char *s = json_str(v, NULL);

    if (!s)
        return false;
    if (r->words)
        return is_one_of(s, r->words);
    return characters(s) >= r->low && characters(s) <= r->high;
}

static bool fits_number(const struct rule *r, const json *v)
{
    double d = json_num(v, NAN);

    return d >= r->low && d <= r->high && (r->type != WHOLE || d == floor(d));
}

static bool fits_list(const struct rule *r, const json *v)
{
    if (!json_is_array(v) || json_len(v) > r->high)
        return false;
    for (size_t i = 0; i < json_len(v); i++) {
        const json *item = json_item(v, i);
        const char *s = json_str(item, NULL);
        if (r->type == NUMBERS && !json_is_number(item))
            return false;
        if ((r->type == TEXTS || r->type == TAGS) && (!s || characters(s) > r->item_most))
            return false;
        if (r->type == TAGS && !is_tag(s))
            return false;
    }
    return !(r->flags & UNIQUE) || !has_twice(v);
}

static bool fits_bool(const struct rule *r, const json *v)
{
    (void)r;
    return json_bool(v, true) == json_bool(v, false);
}

static bool fits_object(const struct rule *r, const json *v)
{
    (void)r;
    return json_is_object(v);
}

/* ---- words for it ---- */

/** "a number from 0", "at most 8 different texts of at most 100 characters". */
static void expect(const struct rule *r, struct buf *out)
{
    static const char *const names[TYPE_COUNT] = {
        [TEXT] = "text",           [NUMBER] = "a number",           [WHOLE] = "a whole number",
        [BOOL] = "true or false",  [NUMBERS] = "a list of numbers", [TEXTS] = "a list of texts",
        [TAGS] = "a list of tags", [OBJECT] = "an object",          [LIST] = "a list"};

    buf_adds(out, names[r->type]);
    for (const char *const *w = r->words; w && *w; w++)
        buf_printf(out, "%s%s", w == r->words ? " that is one of " : ", ", *w);
    if (r->type == TEXT && !r->words && isfinite(r->high))
        buf_printf(out, " of %.0f to %.0f characters", r->low, r->high);
    else if ((r->type == NUMBER || r->type == WHOLE) && isfinite(r->high))
        buf_printf(out, " from %g to %g", r->low, r->high);
    else if (r->type == NUMBER && isfinite(r->low))
        buf_printf(out, " from %g", r->low);
    if (r->item_most)
        buf_printf(out, ", at most %.0f, all different, of at most %zu characters", r->high,
                   r->item_most);
}

static enum err_code misfit(const struct rule *r, const json *v, struct err *e)
{
    AUTO(buf_fini) struct buf what = {0};
    AUTO(buf_fini) struct buf got = {0};
    AUTO(buf_fini) struct buf clean = {0};

    expect(r, &what);
    if (v)
        json_dump(v, JSON_COMPACT, &got);
    text_clean(&clean, buf_str(&got), got.len, GOT_BYTES);
    return err_set(e, ERR_INVALID, "%s: expected %s, got %s", r->key, buf_str(&what),
                   v ? buf_str(&clean) : "nothing");
}

static void note_unknown(const json *o, const struct rule *rules, size_t n, struct buf *unknown)
{
    for (const char *k = json_first_key(o); k; k = json_next_key(o, k)) {
        bool is_known = is_one_of(k, known_beside);
        for (size_t i = 0; i < n; i++)
            is_known = is_known || strcmp(rules[i].key, k) == 0;
        if (is_known || unknown->len > UNKNOWN_BYTES)
            continue;
        buf_adds(unknown, unknown->len ? ", " : "");
        text_clean(unknown, k, strlen(k), GOT_BYTES);
    }
}

/* ---- objects ---- */

static enum err_code check_object(const json *o, const struct rule *rules, size_t n,
                                  struct buf *unknown, struct err *e)
{
    static bool (*const fits[TYPE_COUNT])(const struct rule *, const json *) = {
        [TEXT] = fits_text, [NUMBER] = fits_number, [WHOLE] = fits_number,
        [BOOL] = fits_bool, [NUMBERS] = fits_list,  [TEXTS] = fits_list,
        [TAGS] = fits_list, [OBJECT] = fits_object, [LIST] = fits_list};

    if (!json_is_object(o))
        return err_set(e, ERR_INVALID, "expected an object");
    for (size_t i = 0; i < n; i++) {
        const json *v = json_at(o, rules[i].key);
        if (!v && !(rules[i].flags & NEEDED))
            continue;
        if (!v || !fits[rules[i].type](&rules[i], v))
            return misfit(&rules[i], v, e);
    }
    note_unknown(o, rules, n, unknown);
    return ERR_OK;
}

static enum err_code check_subtests(const json *list, struct buf *unknown, struct err *e)
{
    for (size_t i = 0; i < json_len(list); i++) {
        const json *o = json_item(list, i);
        if (check_object(o, subtest_rules, LEN(subtest_rules), unknown, e))
            return err_wrap(e, "subtest '%.80s'", json_str(json_at(o, "name"), "?"));
    }
    return ERR_OK;
}

/** A rule of ingestion: of the options one alone may be long. */
static enum err_code check_options(const json *options, struct err *e)
{
    size_t n_long = 0;

    for (size_t i = 0; i < json_len(options); i++)
        n_long += characters(json_str(json_item(options, i), "")) > LONG_OPTION;
    if (n_long > 1)
        return err_set(e, ERR_INVALID, "extraOptions: more than one is longer than %d characters",
                       LONG_OPTION);
    return ERR_OK;
}

static enum err_code check_suite(const json *o, struct buf *unknown, struct err *e)
{
    if (check_object(o, suite_rules, LEN(suite_rules), unknown, e) ||
        check_options(json_at(o, "extraOptions"), e) ||
        check_subtests(json_at(o, "subtests"), unknown, e))
        return err_wrap(e, "suite '%.80s'", json_str(json_at(o, "name"), "?"));
    return ERR_OK;
}

enum err_code perfherder_check(const json *o, struct buf *unknown, struct err *e)
{
    const struct {
        const char *key;
        const struct rule *rules;
        size_t n;
    } parts[] = {
        {"framework", framework_rules, LEN(framework_rules)},
        {"application", application_rules, LEN(application_rules)},
        {"os", os_rules, LEN(os_rules)},
    };

    if (json_is_object(o) && json_len(o) == 0)
        return err_set(e, ERR_INVALID, "the object is empty");
    if (check_object(o, document_rules, LEN(document_rules), unknown, e))
        return ERR_INVALID;
    for (size_t i = 0; i < LEN(parts); i++) {
        const json *part = json_at(o, parts[i].key);
        if (part && check_object(part, parts[i].rules, parts[i].n, unknown, e))
            return err_wrap(e, "%s", parts[i].key);
    }
    const json *suites = json_at(o, "suites");
    for (size_t i = 0; i < json_len(suites); i++) {
        if (check_suite(json_item(suites, i), unknown, e))
            return ERR_INVALID;
    }
    return ERR_OK;
}
