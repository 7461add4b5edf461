/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/bisection.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"

/* The document that run, show and watch print, key by key and in that order. */
static const char done[] =
    "{\"id\":\"b1\",\"state\":\"done\",\"verdict\":\"culprit\","
    "\"culprits\":[{\"revision\":\"" A "\",\"subject\":\"s\",\"author\":\"a\","
    "\"probability\":0.993,\"good\":{\"mean\":1550.25,\"runs\":12},"
    "\"bad\":{\"mean\":2498.0,\"runs\":14},\"delta\":947.75,\"ratio\":null,"
    "\"interval\":[921.0,974.5],\"share\":1.0}],"
    "\"candidates\":[{\"revision\":\"" B "\",\"probability\":0.004}],\"untestable\":[\"" C "\"],"
    "\"fixups\":[{\"revision\":\"" A "\",\"applied\":[\"old.patch\",\"A=1\"]},{\"revision\":\"" B
    "\",\"applied\":[]}],"
    "\"confirmations\":[{\"revision\":\"" A "\",\"outcome\":\"confirmed\",\"message\":\"m\","
    "\"head\":{\"mean\":2498.0,\"runs\":4},\"reverted\":{\"mean\":null,\"runs\":0}}],"
    "\"p_no_change\":0.001,\"finding\":null,\"min_effect\":{\"percent\":1.0,\"value\":15.5},"
    "\"metric\":{\"name\":\"ts\",\"unit\":\"ms\",\"lower_is_better\":true},"
    "\"platform\":\"linux-x64\",\"good\":\"" B "\",\"bad\":\"" C "\",\"merge_base\":null,"
    "\"range_size\":214,\"excluded\":{\"untouched\":3,\"same_bytes\":9,\"prose\":1},\"cost\":{"
    "\"builds\":9,\"builds_reused\":1,\"runs\":47,\"runs_reused\":2,"
    "\"seconds\":312.5},\"confidence\":0.99,\"seed\":1,\"message\":\"one sentence\"}";

static const char queued[] =
    "{\"id\":\"b2\",\"state\":\"queued\",\"verdict\":null,\"culprits\":[],\"candidates\":[],"
    "\"untestable\":[],\"p_no_change\":null,\"finding\":null,"
    "\"min_effect\":{\"percent\":null,\"value\":null},"
    "\"metric\":{\"name\":\"m\",\"unit\":\"\",\"lower_is_better\":null},\"platform\":\"mac\","
    "\"good\":null,\"bad\":null,\"merge_base\":null,\"range_size\":0,"
    "\"excluded\":{\"untouched\":0,\"same_bytes\":0,\"prose\":0},"
    "\"cost\":{\"builds\":0,\"builds_reused\":0,\"runs\":0,\"runs_reused\":0,\"seconds\":0.0},"
    "\"confidence\":0.99,\"seed\":9007199254740991,\"message\":null,\"expected_runs\":null,"
    "\"activity\":\"building\"}";

static const char compared[] =
    "{\"id\":\"b3\",\"state\":\"done\",\"verdict\":\"regressed\",\"comparison\":true,"
    "\"change\":{\"revision\":\"" B "\",\"subject\":\"s\",\"author\":\"a\","
    "\"probability\":0.75,\"good\":{\"mean\":8.0,\"runs\":4},"
    "\"bad\":{\"mean\":10.0,\"runs\":5},\"delta\":2.0,\"ratio\":1.25,"
    "\"interval\":[1.5,2.5],\"share\":1.0},\"culprits\":[],\"candidates\":[],"
    "\"untestable\":[],\"p_no_change\":0.25,\"finding\":null,"
    "\"min_effect\":{\"percent\":1.0,\"value\":0.5},"
    "\"metric\":{\"name\":\"m\",\"unit\":\"s\",\"lower_is_better\":true},\"platform\":\"mac\","
    "\"good\":\"" A "\",\"bad\":\"" B "\",\"merge_base\":null,\"range_size\":1,"
    "\"excluded\":{\"untouched\":0,\"same_bytes\":0,\"prose\":0},"
    "\"cost\":{\"builds\":2,\"builds_reused\":0,\"runs\":9,\"runs_reused\":0,\"seconds\":0.5},"
    "\"confidence\":0.75,\"seed\":1,\"message\":\"worse\"}";

/* What compare prints, key by key and in that order. */
static const char comparison[] =
    "{\"verdict\":\"regressed\",\"base\":{\"revision\":\"" A "\",\"mean\":8.0,\"runs\":4},"
    "\"head\":{\"revision\":\"" B "\",\"mean\":10.0,\"runs\":5},\"delta\":2.0,\"ratio\":1.25,"
    "\"interval\":[1.5,2.5],\"p_changed\":0.75,"
    "\"metric\":{\"name\":\"m\",\"unit\":\"s\",\"lower_is_better\":true},\"platform\":\"mac\","
    "\"cost\":{\"builds\":2,\"builds_reused\":0,\"runs\":9,\"runs_reused\":0,\"seconds\":0.5},"
    "\"message\":\"worse\"}";

static const char uncompared[] =
    "{\"verdict\":null,\"base\":{\"revision\":null,\"mean\":null,\"runs\":0},"
    "\"head\":{\"revision\":null,\"mean\":null,\"runs\":0},\"delta\":null,\"ratio\":null,"
    "\"interval\":[null,null],\"p_changed\":null,"
    "\"metric\":{\"name\":\"m\",\"unit\":\"\",\"lower_is_better\":null},\"platform\":\"mac\","
    "\"cost\":{\"builds\":0,\"builds_reused\":0,\"runs\":0,\"runs_reused\":0,\"seconds\":0.0},"
    "\"message\":null}";

/* clang-format off */
static const struct {
    const char *json;
    const char *want;
} bad[] = {
    {"[]", "expected a verdict object"},
    {"{}", "state: expected one of"},
    {"{\"state\":\"done\",\"verdict\":\"guilty\"}", "verdict: expected one of culprit"},
    {"{\"state\":\"done\"}", "culprits: expected a list, got nothing"},
    {"{\"state\":\"done\",\"finding\":\"x\"}", "finding: expected one of reversed"},
    {"{\"state\":\"done\",\"comparison\":true,\"change\":1}", "change: expected an object"},
    {"{\"state\":\"done\",\"comparison\":true,\"change\":{}}", "change.revision: missing"},
    {"{\"state\":\"done\",\"culprits\":[{}]}", "culprits[0].revision: missing"},
    {"{\"state\":\"done\",\"culprits\":[1]}", "culprits[0]."},
    {"{\"state\":\"done\",\"culprits\":[{\"revision\":\"" A "\"}]}", "culprits[0].good: expected an object"},
    {"{\"state\":\"done\",\"culprits\":[],\"candidates\":[{\"revision\":\"x\"}]}", "candidates[0].revision: expected a commit's 40 hex digits"},
    {"{\"state\":\"done\",\"culprits\":[],\"candidates\":[{\"revision\":\"" A "\",\"probability\":2}]}", "candidates[0].probability: expected a number from 0 to 1"},
    {"{\"state\":\"done\",\"culprits\":[],\"candidates\":[],\"untestable\":[1]}", "untestable: expected commits"},
    {"{\"state\":\"done\",\"culprits\":[],\"candidates\":[],\"untestable\":[],\"cost\":{\"runs\":-1}}", "cost.runs: expected a whole number"},
};
/* clang-format on */

static struct verdict *parse(const char *text)
{
    AUTO(json_free) json *v = NULL;
    struct verdict *r = NULL;
    struct err e = {0};

    ck_assert_msg(json_parse(text, strlen(text), &v, &e) == ERR_OK, "%s", e.text);
    ck_assert_msg(verdict_from_json(v, &r, &e) == ERR_OK, "%s", e.text);
    return r;
}

START_TEST(documents_go_round_to_the_byte)
{
    static const char *const documents[] = {done, queued, compared};

    for (size_t i = 0; i < LEN(documents); i++) {
        AUTO(verdict_free) struct verdict *v = parse(documents[i]);
        AUTO(json_free) json *o = verdict_to_json(v);
        AUTO(buf_fini) struct buf text = {0};

        json_dump(o, JSON_COMPACT, &text);
        ck_assert_str_eq(buf_str(&text), documents[i]);
    }
}
END_TEST

START_TEST(a_comparison_is_printed_as_compare_does)
{
    AUTO(verdict_free) struct verdict *v = parse(_i == 0 ? compared : queued);
    AUTO(json_free) json *o = comparison_to_json(v);
    AUTO(buf_fini) struct buf text = {0};

    json_dump(o, JSON_COMPACT, &text);
    ck_assert_str_eq(buf_str(&text), _i == 0 ? comparison : uncompared);
}
END_TEST

START_TEST(values_arrive)
{
    AUTO(verdict_free) struct verdict *v = parse(done);
    AUTO(verdict_free) struct verdict *q = parse(queued);

    ck_assert_int_eq(v->kind, VERDICT_CULPRIT);
    ck_assert_int_eq(v->worse, WORSE_UP);
    ck_assert(isnan(v->culprits[0].ratio));
    ck_assert_uint_eq(v->culprits[0].bad.n_runs, 14);
    ck_assert_double_eq(v->culprits[0].interval[1], 974.5);
    ck_assert_uint_eq(v->cost.n_runs_reused, 2);
    ck_assert(!revision_is_set(&v->merge_base));
    ck_assert_int_eq(q->kind, VERDICT_NONE);
    ck_assert_int_eq(q->worse, WORSE_EITHER);
    ck_assert(isnan(q->p_no_change) && isnan(q->expected_runs) && isnan(q->min_effect_value));
    ck_assert_str_eq(q->activity, "building");
}
END_TEST

/* A search that ended before its first run believes nothing. */
START_TEST(what_rests_on_nothing_is_null)
{
    AUTO(verdict_free) struct verdict *v = parse(done);
    AUTO(verdict_free) struct verdict *back = NULL;
    struct err e = {0};

    v->kind = VERDICT_FAILED;
    v->p_no_change = v->min_effect_percent = v->min_effect_value = NAN;
    AUTO(json_free) json *o = verdict_to_json(v);
    ck_assert(json_at(o, "p_no_change") && json_is_null(json_at(o, "p_no_change")));
    ck_assert(json_is_null(json_pointer(o, "/min_effect/percent")));
    ck_assert(json_is_null(json_pointer(o, "/min_effect/value")));
    ck_assert_msg(verdict_from_json(o, &back, &e) == ERR_OK, "%s", e.text);
    ck_assert(isnan(back->p_no_change) && isnan(back->min_effect_percent) &&
              isnan(back->min_effect_value));
}
END_TEST

START_TEST(every_kind_and_finding_is_printed)
{
    static const char *const kinds[] = {NULL,           "culprit", "range",     "not_reproduced",
                                        "inconclusive", "failed",  "regressed", "improved",
                                        "same"};
    static const char *const findings[] = {
        NULL, "reversed", "hump", "bad_merge_base", "drift", "culprit_not_built", NULL, NULL, NULL};

    for (unsigned i = 0; i < LEN(kinds); i++) {
        AUTO(verdict_free) struct verdict *v = parse(done);
        v->kind = (enum verdict_kind)i;
        v->finding = i <= FINDING_CULPRIT_NOT_BUILT ? (enum finding)i : FINDING_NONE;
        AUTO(json_free) json *o = verdict_to_json(v);

        ck_assert_pstr_eq(json_str(json_at(o, "verdict"), NULL), kinds[i]);
        ck_assert_pstr_eq(json_str(json_at(o, "finding"), NULL), findings[i]);
    }
}
END_TEST

START_TEST(wrong_documents_are_explained)
{
    AUTO(json_free) json *v = NULL;
    AUTO(verdict_free) struct verdict *r = NULL;
    struct err e = {0};

    ck_assert_int_eq(json_parse(bad[_i].json, strlen(bad[_i].json), &v, &e), ERR_OK);
    ck_assert_msg(verdict_from_json(v, &r, &e) == ERR_INVALID, "%s", bad[_i].json);
    ck_assert_msg(strncmp(e.text, bad[_i].want, strlen(bad[_i].want)) == 0, "%s: %s", bad[_i].json,
                  e.text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {documents_go_round_to_the_byte, 1},
        {a_comparison_is_printed_as_compare_does, 2},
        {values_arrive, 1},
        {what_rests_on_nothing_is_null, 1},
        {every_kind_and_finding_is_printed, 1},
        {wrong_documents_are_explained, LEN(bad)},
    };

    return unit_run("verdict", tests, LEN(tests));
}
