/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/bisection.h"
#include "model/fields.h"
#include <math.h>

/* clang-format off */
static const struct choice kinds[] = {
    {"culprit", VERDICT_CULPRIT, false}, {"range", VERDICT_RANGE, false},
    {"not_reproduced", VERDICT_NOT_REPRODUCED, false}, {"inconclusive", VERDICT_INCONCLUSIVE, false},
    {"failed", VERDICT_FAILED, false}, {"regressed", VERDICT_REGRESSED, false},
    {"improved", VERDICT_IMPROVED, false}, {"same", VERDICT_SAME, false}, {0}};
static const struct choice findings[] = {
    {"reversed", FINDING_REVERSED, false}, {"hump", FINDING_HUMP, false},
    {"bad_merge_base", FINDING_BAD_MERGE_BASE, false}, {"drift", FINDING_DRIFT, false},
    {"culprit_not_built", FINDING_CULPRIT_NOT_BUILT, false}, {0}};

#define CULPRIT(member) offsetof(struct culprit, member)
static const struct field culprit_fields[] = {
    {"revision",    FIELD_REVISION, CULPRIT(revision),    FIELD_NEEDED, 0, 0, NULL},
    {"subject",     FIELD_STRING,   CULPRIT(subject),     0, 0, 0, NULL},
    {"author",      FIELD_STRING,   CULPRIT(author),      0, 0, 0, NULL},
    {"probability", FIELD_NUM,      CULPRIT(probability), 0, 0, 1, NULL},
};
static const struct field step_fields[] = {
    {"delta", FIELD_NUM, CULPRIT(delta), 0, 0, 0, NULL},
    {"ratio", FIELD_NUM, CULPRIT(ratio), 0, 0, 0, NULL},
};
static const struct field share_fields[] = {
    {"share", FIELD_NUM, CULPRIT(share), 0, 0, 0, NULL},
};
static const struct field level_fields[] = {
    {"mean", FIELD_NUM, offsetof(struct level, mean),   0, 0, 0, NULL},
    {"runs", FIELD_U32, offsetof(struct level, n_runs), 0, 0, 0, NULL},
};
static const struct field candidate_fields[] = {
    {"revision",    FIELD_REVISION, offsetof(struct candidate, revision),    FIELD_NEEDED, 0, 0, NULL},
    {"probability", FIELD_NUM,      offsetof(struct candidate, probability), 0, 0, 1, NULL},
};
static const struct field cost_fields[] = {
    {"builds",        FIELD_U32, offsetof(struct cost, n_builds),        0, 0, 0, NULL},
    {"builds_reused", FIELD_U32, offsetof(struct cost, n_builds_reused), 0, 0, 0, NULL},
    {"runs",          FIELD_U32, offsetof(struct cost, n_runs),          0, 0, 0, NULL},
    {"runs_reused",   FIELD_U32, offsetof(struct cost, n_runs_reused),   0, 0, 0, NULL},
    {"seconds",       FIELD_NUM, offsetof(struct cost, seconds),         0, 0, 0, NULL},
};
static const struct field excluded_fields[] = {
    {"untouched",  FIELD_U32, offsetof(struct excluded, n_untouched),  0, 0, 0, NULL},
    {"same_bytes", FIELD_U32, offsetof(struct excluded, n_same_bytes), 0, 0, 0, NULL},
    {"prose",      FIELD_U32, offsetof(struct excluded, n_prose),      0, 0, 0, NULL},
};
static const struct field fixed_fields[] = {
    {"revision", FIELD_REVISION, offsetof(struct fixed, revision), FIELD_NEEDED, 0, 0, NULL},
    {"applied",  FIELD_STRINGS,  offsetof(struct fixed, applied),  0, 0, 0, NULL},
};
static const struct choice outcomes[] = {
    {"open", CONFIRMATION_OPEN, false}, {"confirmed", CONFIRMATION_CONFIRMED, false},
    {"refuted", CONFIRMATION_REFUTED, false}, {"undecided", CONFIRMATION_UNDECIDED, false}, {0}};
static const struct field confirmation_fields[] = {
    {"revision", FIELD_REVISION, offsetof(struct confirmation, revision), FIELD_NEEDED, 0, 0, NULL},
    {"outcome",  FIELD_CHOICE,   offsetof(struct confirmation, outcome),  FIELD_NEEDED, 0, 0, outcomes},
    {"message",  FIELD_STRING,   offsetof(struct confirmation, message),  0, 0, 0, NULL},
};
#define AT(member) offsetof(struct verdict, member)
static const struct field min_effect_fields[] = {
    {"percent", FIELD_NUM, AT(min_effect_percent), 0, 0, 0, NULL},
    {"value",   FIELD_NUM, AT(min_effect_value),   0, 0, 0, NULL},
};
static const struct field end_fields[] = {
    {"good",       FIELD_REVISION, AT(good),       0, 0, 0, NULL},
    {"bad",        FIELD_REVISION, AT(bad),        0, 0, 0, NULL},
    {"merge_base", FIELD_REVISION, AT(merge_base), 0, 0, 0, NULL},
    {"range_size", FIELD_U32,      AT(range_size), 0, 0, 0, NULL},
};
static const struct field tail_fields[] = {
    {"confidence", FIELD_NUM,    AT(confidence), 0, 0, 1, NULL},
    {"seed",       FIELD_SEED,   AT(seed),       0, 0, 0, NULL},
};
/* clang-format on */

const char *verdict_name(enum verdict_kind v)
{
    return choice_name(kinds, v);
}

const char *finding_name(enum finding f)
{
    return choice_name(findings, f);
}

enum err_code verdict_parse(const char *s, enum verdict_kind *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(kinds, s, &value, e))
        return err_wrap(e, "verdict");
    *out = (enum verdict_kind)value;
    return ERR_OK;
}

static void culprit_fini(struct culprit *c)
{
    mem_free(c->subject);
    mem_free(c->author);
}

void verdict_fini(struct verdict *v)
{
    for (size_t i = 0; i < v->n_culprits; i++)
        culprit_fini(&v->culprits[i]);
    if (v->change)
        culprit_fini(v->change);
    mem_free(v->change);
    for (size_t i = 0; i < v->n_fixed; i++)
        strings_fini(&v->fixed[i].applied);
    mem_free(v->fixed);
    for (size_t i = 0; i < v->n_confirmations; i++)
        mem_free(v->confirmations[i].message);
    mem_free(v->confirmations);
    mem_free(v->culprits);
    mem_free(v->candidates);
    mem_free(v->untestable);
    mem_free(v->id);
    mem_free(v->metric_name);
    mem_free(v->metric_unit);
    mem_free(v->platform);
    mem_free(v->message);
    mem_free(v->activity);
    *v = (struct verdict){0};
}

void verdict_free(struct verdict *v)
{
    if (!v)
        return;
    verdict_fini(v);
    mem_free(v);
}

/* ---- to JSON ---- */

static json *level_to_json(const struct level *l)
{
    json *o = json_new_object();

    fields_write(level_fields, LEN(level_fields), l, o);
    return o;
}

static json *interval_to_json(const struct culprit *c)
{
    json *interval = json_new_array();

    return json_push(json_push(interval, json_new_real(c->interval[0])),
                     json_new_real(c->interval[1]));
}

static json *culprit_to_json(const struct culprit *c)
{
    json *o = json_new_object();

    json_put(o, "revision", json_new_string(c->revision.hex));
    json_put(o, "subject", json_new_string(c->subject));
    json_put(o, "author", json_new_string(c->author));
    json_put(o, "probability", json_new_real(c->probability));
    json_put(o, "good", level_to_json(&c->good));
    json_put(o, "bad", level_to_json(&c->bad));
    fields_write(step_fields, LEN(step_fields), c, o);
    json_put(o, "interval", interval_to_json(c));
    fields_write(share_fields, LEN(share_fields), c, o);
    return o;
}

static json *lists_to_json(const struct verdict *v, json *o)
{
    json *culprits = json_new_array();
    json *candidates = json_new_array();
    json *untestable = json_new_array();

    for (size_t i = 0; i < v->n_culprits; i++)
        json_push(culprits, culprit_to_json(&v->culprits[i]));
    for (size_t i = 0; i < v->n_candidates; i++) {
        json *row = json_new_object();

        fields_write(candidate_fields, LEN(candidate_fields), &v->candidates[i], row);
        json_push(candidates, row);
    }
    for (size_t i = 0; i < v->n_untestable; i++)
        json_push(untestable, json_new_string(v->untestable[i].hex));
    json_put(o, "culprits", culprits);
    json_put(o, "candidates", candidates);
    return json_put(o, "untestable", untestable);
}

/* A project without fixups has no word on them. */
static void fixed_to_json(const struct verdict *v, json *o)
{
    json *list = v->n_fixed ? json_new_array() : NULL;

    for (size_t i = 0; i < v->n_fixed; i++) {
        json *row = json_new_object();

        fields_write(fixed_fields, LEN(fixed_fields), &v->fixed[i], row);
        json_push(list, row);
    }
    if (list)
        json_put(o, "fixups", list);
}

/* Nor has one that asks for no confirmation. */
static void confirmations_to_json(const struct verdict *v, json *o)
{
    json *list = v->n_confirmations ? json_new_array() : NULL;

    for (size_t i = 0; i < v->n_confirmations; i++) {
        const struct confirmation *c = &v->confirmations[i];
        json *row = json_new_object();

        fields_write(confirmation_fields, LEN(confirmation_fields), c, row);
        json_put(row, "head", level_to_json(&c->head));
        json_push(list, json_put(row, "reverted", level_to_json(&c->reverted)));
    }
    if (list)
        json_put(o, "confirmations", list);
}

static json *metric_part(const struct verdict *v)
{
    json *o = json_new_object();

    json_put(o, "name", json_new_string(v->metric_name));
    json_put(o, "unit", json_new_string(v->metric_unit));
    return json_put(o, "lower_is_better",
                    v->worse == WORSE_EITHER ? json_new_null()
                                             : json_new_bool(v->worse == WORSE_UP));
}

static bool is_over(const struct verdict *v)
{
    return v->state == BISECTION_DONE || v->state == BISECTION_CANCELED;
}

static json *cost_part(const struct verdict *v)
{
    json *cost = json_new_object();

    fields_write(cost_fields, LEN(cost_fields), &v->cost, cost);
    return cost;
}

json *verdict_to_json(const struct verdict *v)
{
    json *o = json_new_object();
    json *min_effect = json_new_object();
    json *excluded = json_new_object();

    json_put(o, "id", json_new_string(v->id));
    json_put(o, "state", json_new_string(bisection_state_name(v->state)));
    json_put(o, "verdict", json_new_string(verdict_name(v->kind)));
    if (v->is_comparison) {
        json_put(o, "comparison", json_new_bool(true));
        json_put(o, "change", v->change ? culprit_to_json(v->change) : json_new_null());
    }
    lists_to_json(v, o);
    fixed_to_json(v, o);
    confirmations_to_json(v, o);
    json_put(o, "p_no_change", json_new_real(v->p_no_change));
    json_put(o, "finding", json_new_string(finding_name(v->finding)));
    fields_write(min_effect_fields, LEN(min_effect_fields), v, min_effect);
    json_put(o, "min_effect", min_effect);
    json_put(o, "metric", metric_part(v));
    json_put(o, "platform", json_new_string(v->platform));
    fields_write(end_fields, LEN(end_fields), v, o);
    fields_write(excluded_fields, LEN(excluded_fields), &v->excluded, excluded);
    json_put(o, "excluded", excluded);
    json_put(o, "cost", cost_part(v));
    fields_write(tail_fields, LEN(tail_fields), v, o);
    json_put(o, "message", json_new_string(v->message));
    if (!is_over(v)) {
        json_put(o, "expected_runs", json_new_real(v->expected_runs));
        json_put(o, "activity", json_new_string(v->activity));
    }
    return o;
}

static json *side_to_json(const struct revision *revision, const struct level *l)
{
    json *o =
        json_put(json_new_object(), "revision",
                 revision_is_set(revision) ? json_new_string(revision->hex) : json_new_null());

    fields_write(level_fields, LEN(level_fields), l, o);
    return o;
}

json *comparison_to_json(const struct verdict *v)
{
    static const struct culprit unknown = {
        .good = {NAN, 0}, .bad = {NAN, 0}, .delta = NAN, .ratio = NAN, .interval = {NAN, NAN}};
    const struct culprit *c = v->change ? v->change : &unknown;
    json *o = json_new_object();

    json_put(o, "verdict", json_new_string(verdict_name(v->kind)));
    json_put(o, "base", side_to_json(&v->good, &c->good));
    json_put(o, "head", side_to_json(&v->bad, &c->bad));
    fields_write(step_fields, LEN(step_fields), c, o);
    json_put(o, "interval", interval_to_json(c));
    json_put(o, "p_changed", json_new_real(v->change ? 1 - v->p_no_change : NAN));
    json_put(o, "metric", metric_part(v));
    json_put(o, "platform", json_new_string(v->platform));
    json_put(o, "cost", cost_part(v));
    return json_put(o, "message", json_new_string(v->message));
}

/* ---- from JSON ---- */

static enum err_code read_level(const json *v, const char *key, struct level *out, struct err *e)
{
    out->mean = NAN;
    if (!json_is_object(json_at(v, key)))
        return err_expected(e, key, "an object", json_at(v, key));
    if (fields_read(level_fields, LEN(level_fields), json_at(v, key), UNKNOWN_IGNORED, out, e))
        return err_under(e, "%s", key);
    return ERR_OK;
}

static enum err_code read_culprit(const json *v, struct culprit *c, struct err *e)
{
    const json *interval = json_at(v, "interval");

    c->probability = c->delta = c->ratio = c->share = NAN;
    if (fields_read(culprit_fields, LEN(culprit_fields), v, UNKNOWN_IGNORED, c, e) ||
        fields_read(step_fields, LEN(step_fields), v, UNKNOWN_IGNORED, c, e) ||
        fields_read(share_fields, LEN(share_fields), v, UNKNOWN_IGNORED, c, e) ||
        read_level(v, "good", &c->good, e) || read_level(v, "bad", &c->bad, e))
        return ERR_INVALID;
    for (size_t i = 0; i < 2; i++)
        c->interval[i] = json_num(json_item(interval, i), NAN);
    return ERR_OK;
}

static enum err_code read_list(const json *v, const char *key, size_t each, void **out, size_t *n,
                               struct err *e)
{
    const json *list = json_at(v, key);

    if (!json_is_array(list))
        return err_expected(e, key, "a list", list);
    *out = mem_array(json_len(list), each);
    *n = json_len(list);
    return ERR_OK;
}

static enum err_code read_culprits(const json *v, struct verdict *out, struct err *e)
{
    const json *list = json_at(v, "culprits");
    void *items = NULL;

    if (read_list(v, "culprits", sizeof(*out->culprits), &items, &out->n_culprits, e))
        return ERR_INVALID;
    out->culprits = items;
    for (size_t i = 0; i < out->n_culprits; i++) {
        if (read_culprit(json_item(list, i), &out->culprits[i], e))
            return err_under(e, "culprits[%zu]", i);
    }
    return ERR_OK;
}

static enum err_code read_change(const json *v, struct verdict *out, struct err *e)
{
    const json *change = json_at(v, "change");

    out->is_comparison = json_bool(json_at(v, "comparison"), false);
    if (json_is_null(change))
        return ERR_OK;
    if (!json_is_object(change))
        return err_expected(e, "change", "an object", change);
    out->change = mem_alloc(sizeof(*out->change));
    return read_culprit(change, out->change, e) ? err_under(e, "change") : ERR_OK;
}

static enum err_code read_candidates(const json *v, struct verdict *out, struct err *e)
{
    const json *list = json_at(v, "candidates");
    void *items = NULL;

    if (read_list(v, "candidates", sizeof(*out->candidates), &items, &out->n_candidates, e))
        return ERR_INVALID;
    out->candidates = items;
    for (size_t i = 0; i < out->n_candidates; i++) {
        out->candidates[i].probability = NAN;
        if (fields_read(candidate_fields, LEN(candidate_fields), json_item(list, i),
                        UNKNOWN_IGNORED, &out->candidates[i], e))
            return err_under(e, "candidates[%zu]", i);
    }
    return ERR_OK;
}

static enum err_code read_untestable(const json *v, struct verdict *out, struct err *e)
{
    const json *list = json_at(v, "untestable");
    void *items = NULL;

    if (read_list(v, "untestable", sizeof(*out->untestable), &items, &out->n_untestable, e))
        return ERR_INVALID;
    out->untestable = items;
    for (size_t i = 0; i < out->n_untestable; i++) {
        const json *item = json_item(list, i);

        if (revision_parse(json_str(item, ""), &out->untestable[i], NULL))
            return err_expected(e, "untestable", "commits of 40 hex digits", item);
    }
    return ERR_OK;
}

/* Absent is none: stored documents may be older than the key. */
static enum err_code read_fixed(const json *v, struct verdict *out, struct err *e)
{
    void *items = NULL;

    if (json_is_null(json_at(v, "fixups")))
        return ERR_OK;
    if (read_list(v, "fixups", sizeof(*out->fixed), &items, &out->n_fixed, e))
        return ERR_INVALID;
    out->fixed = items;
    for (size_t i = 0; i < out->n_fixed; i++) {
        if (fields_read(fixed_fields, LEN(fixed_fields), json_item(json_at(v, "fixups"), i),
                        UNKNOWN_IGNORED, &out->fixed[i], e))
            return err_under(e, "fixups[%zu]", i);
    }
    return ERR_OK;
}

static enum err_code read_confirmations(const json *v, struct verdict *out, struct err *e)
{
    void *items = NULL;

    if (json_is_null(json_at(v, "confirmations")))
        return ERR_OK;
    if (read_list(v, "confirmations", sizeof(*out->confirmations), &items, &out->n_confirmations,
                  e))
        return ERR_INVALID;
    out->confirmations = items;
    for (size_t i = 0; i < out->n_confirmations; i++) {
        const json *row = json_item(json_at(v, "confirmations"), i);
        struct confirmation *c = &out->confirmations[i];

        if (fields_read(confirmation_fields, LEN(confirmation_fields), row, UNKNOWN_IGNORED, c,
                        e) ||
            read_level(row, "head", &c->head, e) || read_level(row, "reverted", &c->reverted, e))
            return err_under(e, "confirmations[%zu]", i);
    }
    return ERR_OK;
}

static enum err_code read_words(const json *v, struct verdict *out, struct err *e)
{
    const char *state = json_str(json_at(v, "state"), "");
    const char *kind = json_str(json_at(v, "verdict"), NULL);
    const char *finding = json_str(json_at(v, "finding"), NULL);
    unsigned value = FINDING_NONE;

    if (bisection_state_parse(state, &out->state, e) ||
        (kind && verdict_parse(kind, &out->kind, e)))
        return ERR_INVALID;
    if (finding && choice_parse(findings, finding, &value, e))
        return err_wrap(e, "finding");
    out->finding = (enum finding)value;
    return ERR_OK;
}

static char *dup_str(const json *v)
{
    return json_is_string(v) ? mem_dup(json_str(v, "")) : NULL;
}

static void read_metric_part(const json *v, struct verdict *out)
{
    const json *metric = json_at(v, "metric");
    const json *lower = json_at(metric, "lower_is_better");

    out->metric_name = dup_str(json_at(metric, "name"));
    out->metric_unit = dup_str(json_at(metric, "unit"));
    out->worse = WORSE_EITHER;
    if (!json_is_null(lower))
        out->worse = json_bool(lower, true) ? WORSE_UP : WORSE_DOWN;
}

/* A part that is an object of plain fields; absent is fine. */
static enum err_code read_part(const json *v, const char *key, const struct field *fields, size_t n,
                               void *out, struct err *e)
{
    const json *part = json_at(v, key);

    if (json_is_null(part))
        return ERR_OK;
    if (!json_is_object(part))
        return err_expected(e, key, "an object", part);
    if (fields_read(fields, n, part, UNKNOWN_IGNORED, out, e))
        return err_under(e, "%s", key);
    return ERR_OK;
}

enum err_code verdict_from_json(const json *v, struct verdict **out, struct err *e)
{
    AUTO(verdict_free) struct verdict *r = mem_alloc(sizeof(*r));

    if (!json_is_object(v))
        return err_set(e, ERR_INVALID, "expected a verdict object");
    r->min_effect_percent = r->min_effect_value = r->confidence = NAN;
    if (read_words(v, r, e) || read_change(v, r, e) || read_culprits(v, r, e) ||
        read_candidates(v, r, e) || read_untestable(v, r, e) || read_fixed(v, r, e) ||
        read_confirmations(v, r, e) ||
        read_part(v, "min_effect", min_effect_fields, LEN(min_effect_fields), r, e) ||
        read_part(v, "excluded", excluded_fields, LEN(excluded_fields), &r->excluded, e) ||
        read_part(v, "cost", cost_fields, LEN(cost_fields), &r->cost, e) ||
        fields_read(end_fields, LEN(end_fields), v, UNKNOWN_IGNORED, r, e) ||
        fields_read(tail_fields, LEN(tail_fields), v, UNKNOWN_IGNORED, r, e))
        return ERR_INVALID;
    read_metric_part(v, r);
    r->id = dup_str(json_at(v, "id"));
    r->platform = dup_str(json_at(v, "platform"));
    r->message = dup_str(json_at(v, "message"));
    r->activity = dup_str(json_at(v, "activity"));
    r->p_no_change = json_num(json_at(v, "p_no_change"), NAN);
    r->expected_runs = json_num(json_at(v, "expected_runs"), NAN);
    *out = TAKE(r);
    return ERR_OK;
}
