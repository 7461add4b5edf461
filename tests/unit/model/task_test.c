/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/task.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

#define A   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B   "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

#define ONE  "{\"revision\":\"" A "\",\"artifact\":\"" SHA "\"}"
#define FIVE ONE "," ONE "," ONE "," ONE "," ONE
#define TEN  FIVE "," FIVE

static const char spec[] =
    "{\"ordinal\":3,\"verification\":true,"
    "\"builds\":[{\"revision\":\"" A "\",\"fresh\":true,\"revert\":\"" B
    "\",\"fixups\":[0,63]},{\"revision\":\"" B "\",\"artifact\":\"" SHA "\"}],"
    "\"runs\":[{\"build\":0,\"number\":0,\"seed\":7},"
    "{\"build\":1,\"number\":4,\"seed\":\"18446744073709551615\"}],"
    "\"known\":[{\"revision\":\"" B "\",\"artifact\":\"" SHA "\"}]}";

#define PROJECT                                                                                    \
    "\"project\":{\"name\":\"p\",\"repository\":\"/r\","                                           \
    "\"metrics\":{\"m\":{\"kind\":\"exit\",\"command\":\"c\"}}}"
#define LEASE                                                                                      \
    "\"id\":\"l1\",\"fence\":5,\"task\":\"t1\",\"bisection\":\"b1\",\"platform\":\"linux-x64\","   \
    "\"expires_s\":60.0,\"renew_s\":15.5,"
#define SPEC "\"spec\":{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}],\"runs\":[]}"

#define ENV "\"environment\":{\"host\":\"h\",\"worker\":\"w\",\"platform\":\"linux-x64\"}"
static const char result[] =
    "{\"fence\":5,"
    "\"environment\":{\"host\":\"h\",\"worker\":\"w\",\"platform\":\"linux-x64\",\"kernel\":\"6\","
    "\"cpu\":\"x\",\"cpus\":2,\"load\":0.5,\"sandbox\":\"plain\",\"isolation\":\"none\"},"
    "\"builds\":[{\"revision\":\"" A "\",\"revert\":\"" B "\",\"status\":\"ok\",\"artifact\":\"" SHA
    "\",\"seconds\":1.5},"
    "{\"revision\":\"" B "\",\"status\":\"failed\",\"reason\":\"step 1\",\"seconds\":2.0}],"
    "\"runs\":[{\"run\":0,\"attempt\":0,\"status\":\"ok\",\"value\":2.0,"
    "\"at_ns\":\"1790000000000000001\",\"seconds\":0.25,\"values\":[1.0,2.0,3.0]},"
    "{\"run\":1,\"attempt\":0,\"status\":\"skipped\",\"reason\":\"no build\",\"value\":null,"
    "\"at_ns\":0,\"seconds\":0.0,\"values\":[]}]}";

/* clang-format off */
static const struct {
    const char *json;
    const char *want;
} bad_specs[] = {
    {"1",                                       "expected an object"},
    {"{}",                                      "ordinal: missing"},
    {"{\"ordinal\":-1}",                        "ordinal: expected a whole number from 0"},
    {"{\"ordinal\":4294967296}",                "ordinal: expected a whole number from 0"},
    {"{\"ordinal\":0}",                         "builds: expected a list of 1 to"},
    {"{\"ordinal\":0,\"builds\":[]}",           "builds: expected a list of 1 to"},
    {"{\"ordinal\":0,\"builds\":[{}]}",         "builds[0].revision: missing"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"AAAA\"}]}", "builds[0].revision: expected a commit's"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\",\"artifact\":\"..\"}]}", "builds[0].artifact: expected a SHA-256"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\",\"revert\":\"x\"}]}", "builds[0].revert: expected a commit's"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\",\"fixups\":[64]}]}", "builds[0].fixups: expected the number of a fixup, got 64"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}]}", "runs: expected a list"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}],\"runs\":[{\"build\":1,\"number\":0,\"seed\":0}]}", "runs[0].build: expected the index of one of the builds"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}],\"runs\":[{\"build\":0,\"number\":0}]}", "runs[0].seed: missing"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}],\"runs\":[{\"build\":0,\"number\":0,\"seed\":\"-1\"}]}", "runs[0].seed: expected a whole number"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}],\"runs\":[],\"known\":{}}", "known: expected a list of at most 64 artifacts"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}],\"runs\":[],\"known\":[{\"revision\":\"" A "\"}]}", "known[0].artifact: missing"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}],\"runs\":[],\"known\":[{\"artifact\":\"" SHA "\"}]}", "known[0].revision: missing"},
    {"{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}],\"runs\":[],\"known\":[" TEN "," TEN "," TEN "," TEN "," TEN "," TEN "," FIVE "]}", "known: expected a list of at most 64 artifacts"},
}, bad_leases[] = {
    {"null",                                     "expected an object"},
    {"{}",                                       "id: missing"},
    {"{" LEASE PROJECT "," SPEC "}",             "metric: missing"},
    {"{" LEASE "\"metric\":\"x\"," PROJECT "," SPEC "}", "metric: the project has none of the name x"},
    {"{" LEASE "\"metric\":\"m\"," SPEC "}",     "project: expected an object, got nothing"},
    {"{" LEASE "\"metric\":\"m\",\"project\":{}," SPEC "}", "project.name: missing"},
    {"{" LEASE "\"metric\":\"m\"," PROJECT "}",  "spec: expected an object, got nothing"},
    {"{" LEASE "\"metric\":\"m\"," PROJECT ",\"spec\":{}}", "spec.ordinal: missing"},
    {"{\"id\":\"l\",\"fence\":1,\"task\":\"t\",\"bisection\":\"b\",\"metric\":\"m\",\"platform\":\"p\",\"expires_s\":0}", "expires_s: expected a number of seconds above 0, got 0"},
    {"{\"id\":\"l\",\"fence\":1,\"task\":\"t\",\"bisection\":\"b\",\"metric\":\"m\",\"platform\":\"p\",\"expires_s\":60}", "renew_s: expected a number of seconds above 0, got nothing"},
}, bad_results[] = {
    {"[]",                                       "expected an object"},
    {"{}",                                       "fence: missing"},
    {"{\"fence\":\"1\"}",                        "fence: expected a whole number"},
    {"{\"fence\":1}",                            "environment"},
    {"{\"fence\":1,\"environment\":{\"host\":\"h\"}}", "environment.worker: missing"},
    {"{\"fence\":1,\"environment\":{\"host\":\"\"}}", "environment.host: expected some text"},
    {"{\"fence\":1," ENV "}",                    "builds: expected a list"},
    {"{\"fence\":1," ENV ",\"builds\":[]}",      "runs: expected a list"},
    {"{\"fence\":1," ENV ",\"builds\":[{\"revision\":\"" A "\",\"status\":\"good\"}],\"runs\":[]}", "builds[0].status: expected one of ok, reused"},
    {"{\"fence\":1," ENV ",\"builds\":[{\"revision\":\"" A "\",\"status\":\"ok\"}],\"runs\":[]}", "builds[0].artifact: missing where the status is ok"},
    {"{\"fence\":1," ENV ",\"builds\":[{\"revision\":\"" A "\",\"status\":\"failed\",\"artifact\":\"" SHA "\"}],\"runs\":[]}", "builds[0].artifact: not expected where the status is failed"},
    {"{\"fence\":1," ENV ",\"builds\":[{\"revision\":\"" A "\",\"status\":\"failed\",\"seconds\":-1}],\"runs\":[]}", "builds[0].seconds: expected a number from 0"},
    {"{\"fence\":1," ENV ",\"builds\":[],\"runs\":[{}]}", "runs[0].run: missing"},
    {"{\"fence\":1," ENV ",\"builds\":[],\"runs\":[{\"run\":0,\"status\":\"ok\"}]}", "runs[0].value: expected a finite number where the status is ok, got nothing"},
    {"{\"fence\":1," ENV ",\"builds\":[],\"runs\":[{\"run\":0,\"status\":\"ok\",\"value\":\"nan\"}]}", "runs[0].value: expected a number"},
    {"{\"fence\":1," ENV ",\"builds\":[],\"runs\":[{\"run\":0,\"status\":\"cannot\",\"value\":1}]}", "runs[0].value: expected null where the status is not ok, got 1"},
    {"{\"fence\":1," ENV ",\"builds\":[],\"runs\":[{\"run\":0,\"status\":\"ok\",\"value\":1,\"values\":[null]}]}", "runs[0].values: expected finite numbers"},
    {"{\"fence\":1," ENV ",\"builds\":[],\"runs\":[{\"run\":0,\"status\":\"ok\",\"value\":1,\"values\":[1,-1e101]}]}", "runs[0].values: -1e101 is over the limit of 1e100"},
    {"{\"fence\":1," ENV ",\"builds\":[],\"runs\":[{\"run\":0,\"status\":\"ok\",\"value\":1e200}]}", "runs[0].value: 1e200 is over the limit of 1e100"},
    {"{\"fence\":1," ENV ",\"builds\":[],\"runs\":[{\"run\":0,\"status\":\"ok\",\"value\":1,\"values\":1}]}", "runs[0].values: expected a list of numbers"},
};
/* clang-format on */

static json *parse(const char *text)
{
    json *v = NULL;
    struct err e = {0};

    ck_assert_msg(json_parse(text, strlen(text), &v, &e) == ERR_OK, "%s: %s", text, e.text);
    return v;
}

static void same(const json *v, const char *want)
{
    AUTO(buf_fini) struct buf text = {0};

    json_dump(v, JSON_COMPACT, &text);
    ck_assert_str_eq(buf_str(&text), want);
}

static struct task_spec *spec_of(const char *text)
{
    AUTO(json_free) json *v = parse(text);
    struct task_spec *t = NULL;
    struct err e = {0};

    ck_assert_msg(task_spec_from_json(v, &t, &e) == ERR_OK, "%s", e.text);
    return t;
}

static struct task_result *result_of(const char *text)
{
    AUTO(json_free) json *v = parse(text);
    struct task_result *r = NULL;
    struct err e = {0};

    ck_assert_msg(task_result_from_json(v, &r, &e) == ERR_OK, "%s", e.text);
    return r;
}

START_TEST(specs_go_round)
{
    AUTO(task_spec_free) struct task_spec *t = spec_of(spec);
    AUTO(task_spec_free) struct task_spec *copy = task_spec_copy(t);
    AUTO(json_free) json *v = task_spec_to_json(copy);

    ck_assert(t->is_verification && t->builds[0].fresh && !t->builds[1].fresh);
    ck_assert_uint_eq(t->runs[1].seed, UINT64_MAX);
    same(v, spec);
}
END_TEST

START_TEST(an_older_coordinator_knows_no_artifacts)
{
    AUTO(task_spec_free)
    struct task_spec *t =
        spec_of("{\"ordinal\":0,\"builds\":[{\"revision\":\"" A "\"}],\"runs\":[]}");
    AUTO(json_free) json *v = task_spec_to_json(t);

    ck_assert_uint_eq(t->n_known, 0);
    ck_assert(json_is_null(json_at(v, "known")));
}
END_TEST

START_TEST(leases_go_round)
{
    AUTO(json_free) json *v = parse("{" LEASE "\"metric\":\"m\"," PROJECT "," SPEC "}");
    AUTO(lease_free) struct lease *l = NULL, *again = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    ck_assert_msg(lease_from_json(v, &l, &e) == ERR_OK, "%s", e.text);
    AUTO(json_free) json *out = lease_to_json(l);
    ck_assert_msg(lease_from_json(out, &again, &e) == ERR_OK, "%s", e.text);
    AUTO(json_free) json *twice = lease_to_json(again);
    json_dump(out, JSON_COMPACT, &text);
    same(twice, buf_str(&text));
    ck_assert_int_eq(l->fence, 5);
    ck_assert_int_eq(l->renew_ns, INT64_C(15500000000));
    ck_assert_str_eq(again->project->metrics[0]->command, "c");
}
END_TEST

START_TEST(results_go_round)
{
    AUTO(task_result_free) struct task_result *r = result_of(result);
    AUTO(json_free) json *v = task_result_to_json(r);

    ck_assert_uint_eq(r->environment.n_cpus, 2);
    ck_assert_int_eq(r->builds[1].status, BUILD_FAILED);
    ck_assert_int_eq(r->runs[0].at.ns, INT64_C(1790000000000000001));
    ck_assert_uint_eq(r->runs[0].n_values, 3);
    ck_assert(isnan(r->runs[1].value));
    AUTO(buf_fini) struct buf text = {0};
    json_dump(v, JSON_COMPACT, &text);
    AUTO(task_result_free) struct task_result *again = result_of(buf_str(&text));
    AUTO(json_free) json *w = task_result_to_json(again);
    same(w, buf_str(&text));
}
END_TEST

START_TEST(keys_of_a_newer_worker_are_passed_over)
{
    AUTO(task_result_free)
    struct task_result *r =
        result_of("{\"fence\":1,\"new\":1," ENV ",\"builds\":[],\"runs\":[{\"run\":0,"
                  "\"status\":\"timeout\",\"swap\":3}]}");

    ck_assert_int_eq(r->runs[0].status, RUN_TIMEOUT);
}
END_TEST

START_TEST(a_run_has_a_limit_of_values)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(task_result_free) struct task_result *r = NULL;
    struct err e = {0};

    buf_adds(&text, "{\"fence\":1," ENV ",\"builds\":[],\"runs\":[{\"run\":0,\"status\":\"ok\","
                    "\"value\":1,\"values\":[0");
    for (size_t i = 0; i < RUN_MAX_VALUES; i++)
        buf_adds(&text, ",0");
    buf_adds(&text, "]}]}");
    AUTO(json_free) json *v = parse(buf_str(&text));
    ck_assert_int_eq(task_result_from_json(v, &r, &e), ERR_LIMIT);
    ck_assert_msg(strstr(e.text, "runs[0].values: more than the limit of 10000") != NULL, "%s",
                  e.text);
}
END_TEST

START_TEST(wrong_specs_are_explained)
{
    AUTO(json_free) json *v = parse(bad_specs[_i].json);
    AUTO(task_spec_free) struct task_spec *t = NULL;
    struct err e = {0};

    ck_assert_msg(task_spec_from_json(v, &t, &e) == ERR_INVALID, "%s", bad_specs[_i].json);
    ck_assert_msg(strncmp(e.text, bad_specs[_i].want, strlen(bad_specs[_i].want)) == 0, "%s: %s",
                  bad_specs[_i].json, e.text);
}
END_TEST

START_TEST(wrong_leases_are_explained)
{
    AUTO(json_free) json *v = parse(bad_leases[_i].json);
    AUTO(lease_free) struct lease *l = NULL;
    struct err e = {0};

    ck_assert_msg(lease_from_json(v, &l, &e) == ERR_INVALID, "%s", bad_leases[_i].json);
    ck_assert_msg(strncmp(e.text, bad_leases[_i].want, strlen(bad_leases[_i].want)) == 0, "%s: %s",
                  bad_leases[_i].json, e.text);
}
END_TEST

START_TEST(wrong_results_are_explained)
{
    AUTO(json_free) json *v = parse(bad_results[_i].json);
    AUTO(task_result_free) struct task_result *r = NULL;
    struct err e = {0};

    ck_assert_msg(task_result_from_json(v, &r, &e) == ERR_INVALID, "%s", bad_results[_i].json);
    ck_assert_msg(strncmp(e.text, bad_results[_i].want, strlen(bad_results[_i].want)) == 0,
                  "%s: %s", bad_results[_i].json, e.text);
}
END_TEST

START_TEST(a_result_answers_its_spec)
{
    AUTO(task_spec_free) struct task_spec *t = spec_of(spec);
    AUTO(task_result_free) struct task_result *r = result_of(result);
    struct err e = {0};

    ck_assert_msg(task_result_check(r, t, &e) == ERR_OK, "%s", e.text);
    r->runs[1].run = 2;
    ck_assert_int_eq(task_result_check(r, t, &e), ERR_INVALID);
    ck_assert_str_eq(e.text, "runs[1]: the task has no run 2");
    r->runs[1].run = 0; /* the same attempt of the same run twice */
    ck_assert_int_eq(task_result_check(r, t, &e), ERR_INVALID);
    r->runs[1].attempt = 1;
    ck_assert_msg(task_result_check(r, t, &e) == ERR_OK, "%s", e.text);
    r->builds[0].revision.hex[0] = 'c';
    ck_assert_int_eq(task_result_check(r, t, &e), ERR_INVALID);
}
END_TEST

START_TEST(statuses_have_names)
{
    for (enum build_status s = BUILD_OK; s <= BUILD_FAULT; s++) {
        enum build_status got = BUILD_OK;

        ck_assert_int_eq(build_status_parse(build_status_name(s), &got, NULL), ERR_OK);
        ck_assert_int_eq(got, s);
    }
    for (enum run_status s = RUN_OK; s <= RUN_FAULT; s++) {
        enum run_status got = RUN_OK;

        ck_assert_int_eq(run_status_parse(run_status_name(s), &got, NULL), ERR_OK);
        ck_assert_int_eq(got, s);
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {specs_go_round, 1},
        {an_older_coordinator_knows_no_artifacts, 1},
        {leases_go_round, 1},
        {results_go_round, 1},
        {keys_of_a_newer_worker_are_passed_over, 1},
        {a_run_has_a_limit_of_values, 1},
        {wrong_specs_are_explained, LEN(bad_specs)},
        {wrong_leases_are_explained, LEN(bad_leases)},
        {wrong_results_are_explained, LEN(bad_results)},
        {a_result_answers_its_spec, 1},
        {statuses_have_names, 1},
    };

    return unit_run("task", tests, LEN(tests));
}
