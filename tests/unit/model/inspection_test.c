/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/explanation.h"
#include "model/inspection.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

static json *parsed(const char *text)
{
    json *v = NULL;
    struct err e = {0};

    ck_assert_msg(json_parse(text, strlen(text), &v, &e) == ERR_OK, "%s", e.text);
    return v;
}

START_TEST(inspections_go_round)
{
    AUTO(inspection_free) struct inspection *v = mem_alloc(sizeof(*v));
    AUTO(inspection_free) struct inspection *got = NULL;
    AUTO(buf_fini) struct buf once = {0};
    AUTO(buf_fini) struct buf twice = {0};
    struct err e = {0};

    v->timed = mem_dup("fsync");
    v->is_pinned = true;
    v->cost_us = 6.25;
    struct inspected_run *r = inspection_add_run(v);
    *r = (struct inspected_run){.build = 1,
                                .how = INSPECTED_PLAIN,
                                .seconds = .125,
                                .has_usage = true,
                                .usage = {.1, .02, 300, 1, 20, 3, 4096, 8192}};
    r = inspection_add_run(v);
    r->how = INSPECTED_TIMES;
    r->seconds = .5;
    struct inspected_call *c = inspected_run_add_call(r, "fsync", "/a b.db");
    c->n = UINT64_MAX;
    c->n_errors = 2;
    c->seconds = .25;
    c->is_directory = true;
    r = inspection_add_run(v);
    r->how = INSPECTED_INSTRUCTIONS;
    r->count = 123456789012;
    r->by = mem_dup("perf version 6.1");
    AUTO(json_free) json *first = inspection_to_json(v);
    ck_assert_msg(inspection_from_json(first, &got, &e) == ERR_OK, "%s", e.text);
    AUTO(json_free) json *second = inspection_to_json(got);
    json_dump(first, JSON_COMPACT, &once);
    json_dump(second, JSON_COMPACT, &twice);
    ck_assert_str_eq(buf_str(&once), buf_str(&twice));
    ck_assert(got->runs[1].calls[0].n == UINT64_MAX && got->runs[1].calls[0].is_directory);
    ck_assert(got->runs[0].has_usage && !got->runs[1].has_usage);
    ck_assert_int_eq(got->runs[0].usage.written_bytes, 8192);
    ck_assert(got->runs[2].count == 123456789012 && !got->runs[0].by);
    ck_assert_str_eq(got->runs[2].by, "perf version 6.1");
}
END_TEST

static const struct {
    const char *json, *says;
} wrong[] = {
    {"{}", "runs: expected a list"},
    {"{\"runs\":[{}]}", "runs[0].build"},
    {"{\"runs\":[{\"build\":2,\"how\":\"plain\",\"seconds\":1}]}", "runs[0].build"},
    {"{\"runs\":[{\"build\":0,\"how\":\"guessed\",\"seconds\":1}]}", "runs[0].how"},
    {"{\"runs\":[{\"build\":0,\"how\":\"plain\",\"seconds\":null}]}", "runs[0].seconds"},
    {"{\"runs\":[{\"build\":0,\"how\":\"plain\",\"seconds\":1,\"calls\":7}]}", "runs[0].calls"},
    {"{\"runs\":[{\"build\":0,\"how\":\"times\",\"seconds\":1,\"calls\":[{\"call\":\"\",\"path\":"
     "\"\",\"count\":1,\"seconds\":0}]}]}",
     "runs[0].calls[0].call"},
    {"{\"runs\":[{\"build\":0,\"how\":\"times\",\"seconds\":1,\"calls\":[{\"call\":\"fsync\","
     "\"path\":\"\",\"count\":-1,\"seconds\":0}]}]}",
     "runs[0].calls[0].count"},
};

START_TEST(wrong_ones_are_explained)
{
    AUTO(json_free) json *v = parsed(wrong[_i].json);
    struct inspection *got = NULL;
    struct err e = {0};

    ck_assert_int_ne(inspection_from_json(v, &got, &e), ERR_OK);
    ck_assert_msg(strncmp(e.text, wrong[_i].says, strlen(wrong[_i].says)) == 0, "%s: %s",
                  wrong[_i].json, e.text);
}
END_TEST

START_TEST(runs_and_calls_have_limits)
{
    AUTO(inspection_free) struct inspection *v = mem_alloc(sizeof(*v));
    struct inspection *got = NULL;
    struct err e = {0};

    for (int i = 0; i <= INSPECTION_RUNS; i++)
        inspection_add_run(v);
    AUTO(json_free) json *many = inspection_to_json(v);
    ck_assert_int_ne(inspection_from_json(many, &got, &e), ERR_OK);
    while (v->n_runs > 1)
        inspection_drop_run(v);
    for (int i = 0; i <= INSPECTION_CALLS; i++)
        inspected_run_add_call(&v->runs[0], "read", "/x");
    AUTO(json_free) json *long_one = inspection_to_json(v);
    ck_assert_int_eq(inspection_from_json(long_one, &got, &e), ERR_LIMIT);
}
END_TEST

/* The contract: names, and two numbers each for before and after. */
START_TEST(explanations_go_round)
{
    AUTO(explanation_free) struct explanation *v = mem_alloc(sizeof(*v));
    AUTO(explanation_free) struct explanation *got = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    memset(v->culprit.hex, 'a', 40);
    memset(v->parent.hex, 'b', 40);
    v->metric_delta = 117.5;
    v->basis = SHARE_OF_TIME;
    v->explained = .75;
    v->change_s = v->explained_error = NAN;
    struct difference *d = explanation_add_difference(v);
    *d = (struct difference){.call = mem_dup("fsync"),
                             .path = mem_dup("/x.db"),
                             .group = mem_dup("database"),
                             .count = {2, 404.5},
                             .seconds = {.25, NAN},
                             .share = .5};
    struct symbol *s = explanation_add_symbol(v);
    *s = (struct symbol){
        .name = mem_dup("main"), .object = mem_dup("app"), .seconds = {.5, 1}, .share = .25};
    AUTO(json_free) json *o = explanation_to_json(v);
    json_dump(json_at(o, "differences"), JSON_COMPACT, &text);
    ck_assert_str_eq(buf_str(&text),
                     "[{\"call\":\"fsync\",\"path\":\"/x.db\",\"group\":\"database\","
                     "\"share\":0.5,\"count\":[2,404.5],\"seconds\":[0.25,null]}]");
    ck_assert_double_eq(json_num(json_at(o, "metric_delta"), 0), 117.5);
    ck_assert_double_eq(json_num(json_at(o, "explained"), 0), .75);
    ck_assert_msg(explanation_from_json(o, &got, &e) == ERR_OK, "%s", e.text);
    ck_assert(got->n_symbols == 1 && got->symbols[0].seconds[AFTER] == 1);
    ck_assert(got->n_differences == 1 && isnan(got->differences[0].seconds[AFTER]) &&
              isnan(got->change_s));
    json_remove(json_item(json_at(o, "differences"), 0), "count");
    explanation_free(TAKE(got));
    ck_assert_int_ne(explanation_from_json(o, &got, &e), ERR_OK);
    ck_assert_msg(strncmp(e.text, "differences[0].count", 20) == 0, "%s", e.text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {inspections_go_round, 1},
        {wrong_ones_are_explained, LEN(wrong)},
        {runs_and_calls_have_limits, 1},
        {explanations_go_round, 1},
    };

    return unit_run("inspection", tests, LEN(tests));
}
