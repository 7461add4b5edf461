/* SPDX-License-Identifier: Apache-2.0 */
/** Events as rows and back; rows that nobody wrote. */
#include "app/record.h"
#include "base/mem.h"
#include "unit/run.h"
#include <stdlib.h>
#include <string.h>

#define R1 "1111111111111111111111111111111111111111"
#define R2 "2222222222222222222222222222222222222222"
#define R3 "3333333333333333333333333333333333333333"
#define A1 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static struct record *there_and_back(const struct record *r)
{
    AUTO(json_free) json *payload = record_payload(r);
    AUTO(buf_fini) struct buf text = {0};
    AUTO(json_free) json *again = NULL;
    struct record *out = NULL;
    struct err e = {0};

    json_dump(payload, JSON_COMPACT, &text);
    ck_assert_msg(!json_parse(buf_str(&text), text.len, &again, &e), "%s", e.text);
    ck_assert_msg(!record_from_payload(event_names[r->event.kind], again, &out, &e), "%s", e.text);
    ck_assert_int_eq(out->event.kind, r->event.kind);
    return out;
}

static struct revision rev(const char *hex)
{
    struct revision r;

    memcpy(r.hex, hex, sizeof(r.hex));
    return r;
}

START_TEST(evidence_of_the_range_is_kept_to_the_last_bit)
{
    struct commit commits[2] = {{.id = rev(R2)}, {.id = rev(R1)}};
    struct range range = {.commits = commits, .n = 2};
    struct environment here = {.host = (char[]){"host-a"}};
    struct sample_row rows[3] = {
        {.bisection = {"b1"},
         .revision = rev(R1),
         .number = 7,
         .run = {.value = 0.1 + 0.2, .seconds = .125, .at = {INT64_C(1796040000123456789)}},
         .environment = here},
        {.bisection = {"b1"}, .revision = rev(R3), .run = {.value = 1}, .environment = here},
        {.bisection = {"b2"}, .revision = rev(R2), .run = {.value = -3e300}, .environment = {0}},
    };
    struct build_row built = {.build = {.revision = rev(R2), .artifact = A1}};
    struct earlier from = {.samples = {.n = 3, .items = rows}, .builds = {.n = 1, .items = &built}};

    AUTO(range_index_free) struct range_index *known = range_index_new(&range);
    AUTO(record_free)
    struct record *r = record_started(known, &from);
    AUTO(record_free) struct record *back = there_and_back(r);
    ck_assert_uint_eq(back->event.n_samples, 2);
    ck_assert_uint_eq(back->event.n_builds, 1);
    const struct stored_sample *s = back->event.samples;
    ck_assert_str_eq(s[0].revision.hex, R1);
    ck_assert(s[0].value == 0.1 + 0.2 && s[1].value == -3e300);
    ck_assert_int_eq(s[0].at.ns, INT64_C(1796040000123456789));
    ck_assert_uint_eq(s[0].number, 7);
    ck_assert(s[0].seconds == .125 && s[1].seconds == 0);
    ck_assert_str_eq(s[0].host, "host-a");
    ck_assert_str_eq(s[1].host, "");
    ck_assert_str_eq(back->event.builds[0].artifact, A1);
    ck_assert_uint_eq(back->sources.n, 2);
}
END_TEST

/** A verification of R1 (suspect) and R2 as a worker reported it; R1 and R2 are in the range. */
enum { RUN_NONE = -1 }; /* no run of it */
/* clang-format off */
static const struct {
    const char *name;
    const char *suspect, *partner;
    bool is_fresh;
    enum build_status build[2];
    int run[2]; /* enum run_status, or RUN_NONE */
    bool is_kept;
} verified[] = {
    {"both built afresh and measured",       R1, R2, true,  {BUILD_OK, BUILD_OK},     {RUN_OK, RUN_OK}, true},
    {"the partner is outside the range",     R1, R3, true,  {BUILD_OK, BUILD_OK},     {RUN_OK, RUN_OK}, true},
    {"the suspect is outside the range",     R3, R1, true,  {BUILD_OK, BUILD_OK},     {RUN_OK, RUN_OK}, false},
    {"the suspect's build failed",           R1, R2, true,  {BUILD_FAILED, BUILD_OK}, {RUN_SKIPPED, RUN_OK}, false},
    {"the partner's build failed",           R1, R2, true,  {BUILD_OK, BUILD_FAILED}, {RUN_OK, RUN_SKIPPED}, false},
    {"an old build was taken for a new one", R1, R2, true,  {BUILD_OK, BUILD_REUSED}, {RUN_OK, RUN_OK}, false},
    {"the partner could not be measured",    R1, R2, true,  {BUILD_OK, BUILD_OK},     {RUN_OK, RUN_CANNOT}, false},
    {"the suspect was not measured",         R1, R2, true,  {BUILD_OK, BUILD_OK},     {RUN_NONE, RUN_OK}, false},
    {"the ends once more, with old builds",  R1, R2, false, {BUILD_REUSED, BUILD_OK}, {RUN_OK, RUN_OK}, true},
};
/* clang-format on */

START_TEST(verifications_that_measured_are_kept)
{
    struct commit commits[2] = {{.id = rev(R2)}, {.id = rev(R1)}};
    struct range range = {.commits = commits, .n = 2};
    AUTO(range_index_free) struct range_index *known = range_index_new(&range);
    struct verification v = {{"b7"}, mem_alloc(sizeof(*v.spec)), mem_alloc(sizeof(*v.result))};
    AUTO(earlier_fini)
    struct earlier from = {.verifications = {1, mem_alloc(sizeof(v))}};

    v.spec->n_builds = v.spec->n_runs = 2;
    v.spec->builds = mem_array(2, sizeof(*v.spec->builds));
    v.spec->runs = mem_array(2, sizeof(*v.spec->runs));
    for (uint32_t i = 0; i < 2; i++) {
        struct build_result *b = task_result_add_build(v.result);
        b->revision = rev(i ? verified[_i].partner : verified[_i].suspect);
        b->status = verified[_i].build[i];
        if (i == 0)
            memcpy(b->artifact, A1, sizeof(A1));
        v.spec->builds[i] =
            (struct task_build){.revision = b->revision, .fresh = verified[_i].is_fresh};
        v.spec->runs[i].build = i;
        if (verified[_i].run[i] == RUN_NONE)
            continue;
        struct run_result *run = task_result_add_run(v.result);
        run->run = i;
        run->status = (enum run_status)verified[_i].run[i];
    }
    from.verifications.items[0] = v;
    AUTO(record_free)
    struct record *r = record_started(known, &from);
    AUTO(record_free) struct record *back = there_and_back(r);
    ck_assert_msg(back->event.n_verifications == verified[_i].is_kept, "%s", verified[_i].name);
    if (!verified[_i].is_kept)
        return;
    const struct stored_verification *kept = back->event.verifications;
    ck_assert_str_eq(kept->bisection, "b7");
    ck_assert_int_eq(kept->is_fresh, verified[_i].is_fresh);
    ck_assert_uint_eq(kept->n_builds, 2);
    ck_assert_str_eq(kept->builds[0].revision.hex, verified[_i].suspect);
    ck_assert_str_eq(kept->builds[1].revision.hex, verified[_i].partner);
    ck_assert_str_eq(kept->builds[0].artifact, A1);
    ck_assert_str_eq(kept->builds[1].artifact, "");
    ck_assert_uint_eq(back->sources.n, 1); /* replay checks its chain too */
}
END_TEST

/** What the store has of R1 besides; R1 and R2 are in the range. */
/* clang-format off */
static const struct {
    const char *name;
    const char *of;
    bool has_failed_build, has_build;
    int runs[2]; /* enum run_status, or RUN_NONE */
    const char *reason; /* NULL: it is no failure */
} failing[] = {
    {"nothing",                               R1, false, false, {RUN_NONE, RUN_NONE}, NULL},
    {"its steps failed",                      R1, true,  false, {RUN_NONE, RUN_NONE}, "make"},
    {"its steps failed, its runs not begun",  R1, true,  false, {RUN_SKIPPED, RUN_SKIPPED}, "make"},
    {"its steps failed once and not later",   R1, true,  true,  {RUN_NONE, RUN_NONE}, NULL},
    {"its steps failed, and it has a value",  R1, true,  false, {RUN_OK, RUN_NONE}, NULL},
    {"its runs gave no value",                R1, false, true,  {RUN_CANNOT, RUN_CANNOT}, "crash"},
    {"one of its runs gave a value",          R1, false, true,  {RUN_CANNOT, RUN_OK}, NULL},
    {"its runs took too long",                R1, false, true,  {RUN_TIMEOUT, RUN_TIMEOUT}, NULL},
    {"its steps and its runs failed",         R1, true,  false, {RUN_CANNOT, RUN_NONE}, "make"},
    {"all of it in another range",            R3, true,  false, {RUN_CANNOT, RUN_NONE}, NULL},
};
/* clang-format on */

START_TEST(failures_are_of_what_never_worked)
{
    struct commit commits[2] = {{.id = rev(R2)}, {.id = rev(R1)}};
    struct range range = {.commits = commits, .n = 2};
    AUTO(range_index_free) struct range_index *known = range_index_new(&range);
    struct revision of = rev(failing[_i].of);
    struct build_row failed = {.bisection = {"b1"},
                               .build = {.revision = of, .reason = (char[]){"make"}}};
    struct build_row built = {.build = {.revision = of, .artifact = A1}};
    struct sample_row rows[2];
    char crash[] = "crash";
    struct earlier from = {.samples = {.items = rows},
                           .builds = {.n = failing[_i].has_build, .items = &built},
                           .failed = {.n = failing[_i].has_failed_build, .items = &failed}};

    for (size_t i = 0; i < 2; i++)
        if (failing[_i].runs[i] != RUN_NONE)
            rows[from.samples.n++] = (struct sample_row){
                .bisection = {"b2"},
                .revision = of,
                .run = {.status = (enum run_status)failing[_i].runs[i], .reason = crash}};
    AUTO(record_free) struct record *r = record_started(known, &from);
    AUTO(record_free) struct record *back = there_and_back(r);
    const char *reason = failing[_i].reason;
    ck_assert_msg(back->event.n_failures == (reason != NULL), "%s", failing[_i].name);
    if (!reason)
        return;
    const struct stored_failure *f = back->event.failures;
    ck_assert_str_eq(f->revision.hex, R1);
    ck_assert_str_eq(f->reason, reason);
    ck_assert_str_eq(f->bisection, strcmp(reason, "make") == 0 ? "b1" : "b2");
    ck_assert_str_eq(back->sources.items[back->sources.n - 1], f->bisection);
}
END_TEST

START_TEST(an_event_of_an_older_version_has_fewer_lists)
{
    const char *text = "{\"samples\":[],\"builds\":[],\"sources\":[\"b1\"]}";
    AUTO(json_free) json *payload = NULL;
    AUTO(record_free) struct record *r = NULL;
    struct err e = {0};

    ck_assert(!json_parse(text, strlen(text), &payload, &e));
    ck_assert_msg(!record_from_payload("started", payload, &r, &e), "%s", e.text);
    ck_assert_uint_eq(r->event.n_verifications, 0);
    ck_assert_uint_eq(r->event.n_failures, 0);
    ck_assert_uint_eq(r->sources.n, 1);
}
END_TEST

START_TEST(other_kinds_are_kept)
{
    AUTO(record_free) struct record *capacity = record_capacity(3);
    AUTO(record_free) struct record *given_up = record_given_up(9, "no \"disk\"\nleft");
    AUTO(record_free) struct record *budget = record_plain(EVENT_BUDGET);
    AUTO(record_free)
    struct record *result = record_result(4, "t1", mem_alloc(sizeof(struct task_result)));

    AUTO(record_free) struct record *a = there_and_back(capacity);
    AUTO(record_free) struct record *b = there_and_back(given_up);
    AUTO(record_free) struct record *c = there_and_back(budget);
    AUTO(record_free) struct record *d = there_and_back(result);
    ck_assert_uint_eq(a->event.n_workers, 3);
    ck_assert_uint_eq(b->event.ordinal, 9);
    ck_assert_str_eq(b->event.reason, "no \"disk\"\nleft");
    ck_assert_int_eq(c->event.kind, EVENT_BUDGET);
    ck_assert_uint_eq(d->event.ordinal, 4);
    ck_assert_str_eq(d->task, "t1");
    ck_assert_ptr_null(d->event.result); /* read back from the task */
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *kind, *payload, *says;
} bad[] = {
    {"a kind of later",        "later",    "{}", "later"},
    {"no payload",             "result",   "null", "ordinal"},
    {"a list",                 "capacity", "[]", "n_workers"},
    {"an ordinal below zero",  "result",   "{\"ordinal\":-1,\"task\":\"t\"}", "out of range"},
    {"an ordinal too large",   "result",   "{\"ordinal\":4294967296,\"task\":\"t\"}", "out of range"},
    {"no task",                "result",   "{\"ordinal\":1}", "task"},
    {"no reason",              "given_up", "{\"ordinal\":1}", "reason"},
    {"workers as words",       "capacity", "{\"n_workers\":\"two\"}", "n_workers"},
    {"no lists",               "started",  "{}", "samples"},
    {"a sample of nothing",    "started",  "{\"samples\":[{}],\"builds\":[],\"sources\":[]}", "sample 0"},
    {"a revision that is none","started",  "{\"samples\":[{\"revision\":\"x\",\"value\":1,\"host\":\"\",\"at_ns\":1,\"number\":1}],\"builds\":[],\"sources\":[]}", "sample 0"},
    {"a build without a name", "started",  "{\"samples\":[],\"builds\":[{\"revision\":\"" R1 "\"}],\"sources\":[]}", "build 0"},
    {"a long artifact",        "started",  "{\"samples\":[],\"builds\":[{\"revision\":\"" R1 "\",\"artifact\":\"" A1 A1 "\"}],\"sources\":[]}", "build 0"},
    {"verifications as a word", "started", "{\"samples\":[],\"builds\":[],\"sources\":[],\"verifications\":\"x\"}", "verifications"},
    {"a failure of nothing",    "started", "{\"samples\":[],\"builds\":[],\"sources\":[],\"failures\":[{}]}", "failure 0"},
    {"a verification of none",  "started", "{\"samples\":[],\"builds\":[],\"sources\":[],\"verifications\":[{\"builds\":[]}]}", "verification 0"},
    {"a build of no revision",  "started", "{\"samples\":[],\"builds\":[],\"sources\":[],\"verifications\":[{\"bisection\":\"b\",\"builds\":[{}]}]}", "verification 0"},
};
/* clang-format on */

START_TEST(a_bad_row_is_told)
{
    AUTO(json_free) json *payload = NULL;
    struct record *r = NULL;
    struct err e = {0};

    ck_assert(!json_parse(bad[_i].payload, strlen(bad[_i].payload), &payload, &e));
    ck_assert_msg(record_from_payload(bad[_i].kind, payload, &r, &e) == ERR_INVALID, "%s",
                  bad[_i].name);
    ck_assert_msg(strstr(e.text, bad[_i].says), "%s: %s", bad[_i].name, e.text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {evidence_of_the_range_is_kept_to_the_last_bit, 1},
        {verifications_that_measured_are_kept, LEN(verified)},
        {failures_are_of_what_never_worked, LEN(failing)},
        {an_event_of_an_older_version_has_fewer_lists, 1},
        {other_kinds_are_kept, 1},
        {a_bad_row_is_told, LEN(bad)},
    };
    return unit_run("app/record", tests, LEN(tests));
}
