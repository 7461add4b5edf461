/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/bisection.h"
#include "unit/run.h"
#include <string.h>

#define PROJECT(more)                                                                              \
    "\"project\":{\"name\":\"p\",\"repository\":\"/r\"," more                                      \
    "\"metrics\":{\"m\":{\"kind\":\"exit\",\"command\":\"c\"}}}"
#define TWO                                                                                        \
    "\"project\":{\"name\":\"p\",\"repository\":\"/r\",\"metrics\":{"                              \
    "\"start\":{\"kind\":\"exit\",\"command\":\"c\"},\"stop\":{\"kind\":\"wall\",\"command\":"     \
    "\"c\"}}}"
#define ENDS "\"good\":\"v1\",\"bad\":\"v2\""
#define PAIR "\"comparison\":true,\"base\":\"v1\",\"head\":\"v2\""

/* clang-format off */
static const struct {
    const char *json;
    const char *want; /* of the text or of the hint */
} bad[] = {
    {"[]",                                          "expected a request object"},
    {"{" ENDS "}",                                  "project: expected a project object, got nothing"},
    {"{\"project\":\"demo\"," ENDS "}",             "project: expected a project object, got \"demo\""},
    {"{\"project\":{}," ENDS "}",                   "project.name: missing"},
    {"{" PROJECT("\"bulid\":{},") "," ENDS "}",     "project.bulid: unknown key; did you mean build?"},
    {"{" PROJECT("") ",\"good\":\"v1\"}",           "bad: missing"},
    {"{" PROJECT("") ",\"bad\":\"v1\"}",            "good: missing"},
    {"{" PROJECT("") ",\"good\":\"\",\"bad\":\"v\"}", "good: expected some text"},
    {"{" PROJECT("") ",\"good\":\"a\\nb\",\"bad\":\"v\"}", "good: holds a control character"},
    {"{" PROJECT("") "," ENDS ",\"god\":1}",        "god: unknown key; did you mean good?"},
    {"{" PROJECT("") "," ENDS ",\"metric\":\"n\"}", "metric: the project p has no metric n"},
    {"{" TWO "," ENDS "}",                          "metric: missing: the project has start, stop"},
    {"{" TWO "," ENDS ",\"metric\":\"stat\"}",      "did you mean start?"},
    {"{" TWO "," ENDS ",\"metric\":\"x\"}",         "Metrics there: start, stop."},
    {"{" PROJECT("") "," ENDS ",\"confidence\":0.5}", "confidence: expected a probability above 0.5 and below 1, got 0.5"},
    {"{" PROJECT("") "," ENDS ",\"confidence\":1}", "confidence: expected a probability"},
    {"{" PROJECT("") "," ENDS ",\"confidence\":99}", "confidence: expected a number from 0 to 1, got 99"},
    {"{" PROJECT("") "," ENDS ",\"confidence\":\"high\"}", "confidence: expected a number"},
    {"{" PROJECT("") "," ENDS ",\"min_effect\":-1}", "min_effect: expected a number"},
    {"{" PROJECT("") "," ENDS ",\"seed\":-1}",      "seed: expected a whole number"},
    {"{" PROJECT("") "," ENDS ",\"seed\":1.5}",     "seed: expected a whole number"},
    {"{" PROJECT("") "," ENDS ",\"seed\":9007199254740992}", "seed: expected a whole number"},
    {"{" PROJECT("") "," ENDS ",\"seed\":\"18446744073709551616\"}", "seed: 18446744073709551616 is more than 64 bits"},
    {"{" PROJECT("") "," ENDS ",\"budget_runs\":0}", "budget_runs: expected a whole number from 1"},
    {"{" PROJECT("") "," ENDS ",\"budget_time\":\"never\"}", "budget_time: "},
    {"{" PROJECT("") "," ENDS ",\"first_parent\":1}", "first_parent: expected true or false, got 1"},
    {"{" PROJECT("") "," ENDS ",\"no_inside\":true}", "no_inside: only together with first_parent"},
    {"{" PROJECT("") "," ENDS ",\"platform\":\"a b\"}", "platform: expected a name"},
    {"{" PROJECT("") ",\"base\":\"a\",\"head\":\"b\"}", "base: unknown key"},
    {"{" PROJECT("") "," PAIR ",\"good\":\"a\"}",   "good: unknown key"},
    {"{" PROJECT("") "," PAIR ",\"first_parent\":true}", "first_parent: a comparison searches nothing"},
    {"{" PROJECT("") ",\"comparison\":true,\"base\":\"a\"}", "head: missing"},
    {"{" PROJECT("") ",\"comparison\":true,\"base\":\"a\\nb\",\"head\":\"c\"}", "base: holds a control character"},
    {"{" PROJECT("") "," ENDS ",\"comparison\":1}", "comparison: expected true or false"},
    {"{" PROJECT("\"platforms\":[\"linux-x64\",\"mac\"],") "," ENDS ",\"platform\":\"win\"}", "platform: expected one of the project's (linux-x64, mac), got win"},
};
/* clang-format on */

static struct request *parse(const char *text)
{
    AUTO(json_free) json *v = NULL;
    struct request *r = NULL;
    struct err e = {0};

    ck_assert_msg(json_parse(text, strlen(text), &v, &e) == ERR_OK, "%s", e.text);
    ck_assert_msg(request_from_json(v, &r, &e) == ERR_OK, "%s: %s", text, e.text);
    return r;
}

START_TEST(defaults_are_filled_in)
{
    AUTO(request_free) struct request *r = parse("{" PROJECT("") "," ENDS "}");

    ck_assert_str_eq(r->metric, "m");
    ck_assert_str_eq(r->platform, "linux-x64");
    ck_assert_double_eq(r->confidence, 0.99);
    ck_assert(r->min_effect_percent < 0);
    ck_assert(!r->first_parent && !r->no_inside && !r->fresh && !r->is_seed_set);
    ck_assert_int_eq(r->budget_runs, 2000);
    ck_assert_int_eq(r->budget_ns, 0);
    ck_assert_ptr_eq(request_metric(r), r->project->metrics[0]);
}
END_TEST

START_TEST(the_project_gives_defaults)
{
    AUTO(request_free)
    struct request *r = parse("{" PROJECT(
        "\"platforms\":[\"mac\"],\"budget\":{\"runs\":50,\"time\":\"1h\"},") "," ENDS "}");

    ck_assert_str_eq(r->platform, "mac");
    ck_assert_int_eq(r->budget_runs, 50);
    ck_assert_int_eq(r->budget_ns, INT64_C(3600000000000));
}
END_TEST

START_TEST(json_goes_round)
{
    AUTO(request_free)
    struct request *r =
        parse("{" TWO "," ENDS ",\"metric\":\"stop\",\"platform\":\"mac\",\"confidence\":0.9,"
              "\"min_effect\":\"3%\",\"first_parent\":true,\"no_inside\":true,\"fresh\":true,"
              "\"seed\":0,\"budget_runs\":7,\"budget_time\":\"90s\"}");
    AUTO(json_free) json *v = request_to_json(r);
    AUTO(buf_fini) struct buf first = {0};
    AUTO(buf_fini) struct buf second = {0};

    ck_assert(r->is_seed_set && r->seed == 0);
    ck_assert_double_eq(r->min_effect_percent, 3);
    json_dump(v, JSON_COMPACT, &first);
    AUTO(request_free) struct request *again = parse(buf_str(&first));
    AUTO(json_free) json *w = request_to_json(again);
    json_dump(w, JSON_COMPACT, &second);
    ck_assert_str_eq(buf_str(&first), buf_str(&second));
    ck_assert_int_eq(json_int(json_at(v, "seed"), -1), 0);
    ck_assert_str_eq(json_str(json_at(v, "budget_time"), ""), "90s");
}
END_TEST

START_TEST(a_comparison_has_base_and_head)
{
    AUTO(request_free) struct request *r = parse("{" PROJECT("") "," PAIR "}");
    AUTO(json_free) json *v = request_to_json(r);

    ck_assert(r->is_comparison);
    ck_assert_str_eq(r->good, "v1");
    ck_assert_str_eq(r->bad, "v2");
    ck_assert_str_eq(json_str(json_at(v, "base"), ""), "v1");
    ck_assert_str_eq(json_str(json_at(v, "head"), ""), "v2");
    ck_assert(json_bool(json_at(v, "comparison"), false) && !json_at(v, "good"));
}
END_TEST

START_TEST(wrong_requests_are_explained)
{
    AUTO(json_free) json *v = NULL;
    AUTO(request_free) struct request *r = NULL;
    struct err e = {0};

    ck_assert_msg(json_parse(bad[_i].json, strlen(bad[_i].json), &v, &e) == ERR_OK, "%s", e.text);
    ck_assert_msg(request_from_json(v, &r, &e) == ERR_INVALID, "%s", bad[_i].json);
    ck_assert_ptr_null(r);
    ck_assert_msg(strstr(e.text, bad[_i].want) || strstr(e.hint, bad[_i].want), "%s: %s (%s)",
                  bad[_i].json, e.text, e.hint);
}
END_TEST

START_TEST(the_same_question_has_the_same_key)
{
    static const struct {
        const char *json;
        bool is_same;
    } rows[] = {
        {"{" PROJECT("") "," ENDS "}", true},
        {"{" PROJECT("") "," ENDS ",\"seed\":7,\"budget_runs\":9,\"budget_time\":\"9s\"}", true},
        {"{" PROJECT("\"budget\":{\"runs\":9},") "," ENDS "}", true},
        {"{" PROJECT("") "," ENDS ",\"confidence\":0.99,\"metric\":\"m\"}", true},
        {"{" PROJECT("") ",\"good\":\"v0\",\"bad\":\"v2\"}", false},
        {"{" PROJECT("") "," ENDS ",\"confidence\":0.9}", false},
        {"{" PROJECT("") "," ENDS ",\"min_effect\":1}", false},
        {"{" PROJECT("") "," ENDS ",\"platform\":\"mac\"}", false},
        {"{" PROJECT("") "," ENDS ",\"first_parent\":true}", false},
        {"{" PROJECT("") "," ENDS ",\"fresh\":true}", false},
        {"{" PROJECT("") "," ENDS ",\"comparison\":false}", true},
        {"{" PROJECT("") "," PAIR "}", false},
        {"{" PROJECT("\"build\":{\"steps\":[\"make\"]},") "," ENDS "}", false},
    };
    AUTO(request_free) struct request *base = parse(rows[0].json);
    const struct digest want = request_key(base);

    for (size_t i = 0; i < LEN(rows); i++) {
        AUTO(request_free) struct request *r = parse(rows[i].json);
        const struct digest got = request_key(r);

        ck_assert_msg((strcmp(got.hex, want.hex) == 0) == rows[i].is_same, "%s", rows[i].json);
    }
}
END_TEST

START_TEST(states_have_names)
{
    for (enum bisection_state s = BISECTION_QUEUED; s <= BISECTION_CANCELED; s++) {
        enum bisection_state got = BISECTION_QUEUED;

        ck_assert_int_eq(bisection_state_parse(bisection_state_name(s), &got, NULL), ERR_OK);
        ck_assert_int_eq(got, s);
    }
    ck_assert_int_eq(bisection_state_parse("finished", &(enum bisection_state){0}, NULL),
                     ERR_INVALID);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {defaults_are_filled_in, 1},
        {the_project_gives_defaults, 1},
        {json_goes_round, 1},
        {a_comparison_has_base_and_head, 1},
        {wrong_requests_are_explained, LEN(bad)},
        {the_same_question_has_the_same_key, 1},
        {states_have_names, 1},
    };

    return unit_run("request", tests, LEN(tests));
}
