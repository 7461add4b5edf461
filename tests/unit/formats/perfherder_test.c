/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "formats/perfherder_schema.h"
#include "unit/formats/rows.h"
#include <string.h>

/* The example of Treeherder's own kind: the first replicate is dropped, and the median of the rest
 * taken. */
#define PREFIX "10:26:49     INFO -  INFO : PERFHERDER_DATA: "
#define EXAMPLE                                                                                    \
    "{\"framework\":{\"name\":\"talos\"},\"application\":{\"name\":\"firefox\",\"version\":\"141." \
    "0a1\"},"                                                                                      \
    "\"os\":{\"name\":\"linux\",\"platform_version\":\"24.04\"},\"suites\":[{\"name\":\"ts_"       \
    "paint\","                                                                                     \
    "\"extraOptions\":[\"e10s\",\"fission\"],\"tags\":[\"startup\"],\"unit\":\"ms\","              \
    "\"lowerIsBetter\":true,"                                                                      \
    "\"shouldAlert\":true,\"alertThreshold\":2.0,\"alertChangeType\":\"percentage\","              \
    "\"alertSeverity\":\"normal\","                                                                \
    "\"minBackWindow\":12,\"maxBackWindow\":24,\"foreWindow\":12,\"subtests\":[{\"name\":\"ts_"    \
    "paint\","                                                                                     \
    "\"value\":411.5,\"unit\":\"ms\",\"lowerIsBetter\":true,\"shouldAlert\":true,"                 \
    "\"alertThreshold\":2.0,"                                                                      \
    "\"replicates\":[455.0,410.0,412.0,411.0,414.0]}]}]}"

#define DOCUMENT(suites)  "{\"framework\":{\"name\":\"f\"},\"suites\":[" suites "]}"
#define SUITE(name, rest) "{\"name\":\"" name "\",\"subtests\":[]," rest "}"
#define LINE(suites)      "PERFHERDER_DATA: " DOCUMENT(suites) "\n"
#define TWO                                                                                        \
    "{\"name\":\"tp5\",\"value\":10,\"subtests\":[{\"name\":\"a\",\"value\":4},{\"name\":\"b\","   \
    "\"value\":6}]}"

/* clang-format off */
static const struct format_row rows[] = {
    {"the example, by suite and test",    "perfherder:suite=ts_paint,test=ts_paint", PREFIX EXAMPLE "\n", 411.5, "in ms"},
    {"a suite without a value is its one test", "perfherder:suite=ts_paint", PREFIX EXAMPLE, 411.5, "in ms"},
    {"one of all there is",               "perfherder", PREFIX EXAMPLE, 411.5, "in ms"},
    {"in the metric's unit",              "perfherder:unit=s", PREFIX EXAMPLE, .4115, NULL},
    {"the replicates",                    "perfherder:field=replicates", PREFIX EXAMPLE, 412, "in ms"},
    {"the replicates by mean",            "perfherder:field=replicates,reduce=mean", PREFIX EXAMPLE, 420.4, "in ms"},
    {"by options, which are sorted",      "perfherder:options=e10s fission", PREFIX EXAMPLE, 411.5, "in ms"},
    {"the artifact is an object",         "perfherder", EXAMPLE, 411.5, "in ms"},
    {"or a list",                         "perfherder", " [" EXAMPLE "]", 411.5, "in ms"},
    {"or Treeherder's wrapper",           "perfherder", "{\"logurl\":\"x\",\"performance_data\":[" EXAMPLE "]}", 411.5, "in ms"},
    {"the prefix is arbitrary",           "perfherder", "[task 2026-08-19T09:14:02Z] PERFHERDER_DATA:\t " EXAMPLE, 411.5, "in ms"},
    {"what follows the last brace does not count", "perfherder", PREFIX EXAMPLE "  trailing\r\n", 411.5, "in ms"},
    {"CR ends a line",                    "perfherder:suite=b", LINE(SUITE("a", "\"value\":1")) "\r" LINE(SUITE("b", "\"value\":2")), 2, NULL},
    {"U+0085 and U+2028 do not",          "perfherder:suite=a\xC2\x85 \xE2\x80\xA8", LINE(SUITE("a\xC2\x85 \xE2\x80\xA8", "\"value\":1")), 1, NULL},
    {"what is not UTF-8 becomes U+FFFD",  "perfherder:suite=a\xEF\xBF\xBD", LINE(SUITE("a\xff", "\"value\":1")), 1, NULL},
    {"several lines are several objects", "perfherder:suite=b", "x\n" LINE(SUITE("a", "\"value\":1")) LINE(SUITE("b", "\"value\":2")), 2, NULL},
    {"one suite in several lines is several values", "perfherder:suite=a", LINE(SUITE("a", "\"value\":1")) LINE(SUITE("a", "\"value\":3")), 2, NULL},
    {"the summary goes before the tests", "perfherder:suite=tp5", LINE(TWO), 10, NULL},
    {"a test by name",                    "perfherder:suite=tp5,test=b", LINE(TWO), 6, NULL},
    {"all tests by a star",               "perfherder:test=*,reduce=sum,suite=tp5", LINE("{\"name\":\"tp5\",\"subtests\":[{\"name\":\"a\",\"value\":4},{\"name\":\"b\",\"value\":6}]}"), 10, NULL},
    {"of duplicate tests the first counts", "perfherder:test=a", LINE("{\"name\":\"s\",\"subtests\":[{\"name\":\"a\",\"value\":4},{\"name\":\"a\",\"value\":6}]}"), 4, NULL},
    {"options tell suites apart",         "perfherder:suite=s,options=*fission*", LINE(SUITE("s", "\"value\":1") "," SUITE("s", "\"value\":2,\"extraOptions\":[\"fission\",\"e10s\"]")), 2, NULL},
    {"a bad line is passed over",         "perfherder", "PERFHERDER_DATA: {\"suites\":[]}\n" LINE(SUITE("a", "\"value\":1")), 1, "passed over: line 1: framework: expected an object, got nothing"},
    {"unknown keys are told",             "perfherder", LINE(SUITE("a", "\"value\":1,\"alertThresold\":2")), 1, "line 1: unknown keys: alertThresold"},
    {"a pushTimestamp is known",          "perfherder", "PERFHERDER_DATA: {\"framework\":{\"name\":\"f\"},\"pushTimestamp\":1787130842,\"suites\":[" SUITE("a", "\"value\":1") "]}", 1, NULL},
    {"higher is better where it says so", "perfherder:worse=down", LINE(SUITE("a", "\"value\":1,\"lowerIsBetter\":false")), 1, NULL},
    {"1e12 is a value",                   "perfherder", LINE(SUITE("a", "\"value\":1e12")), 1e12, NULL},
    {"more than 64 bits elsewhere",       "perfherder", LINE(SUITE("a", "\"value\":1,\"x\":18446744073709551616")), 1, "line 1: unknown keys: x"},

    {"no such test",      "perfherder:suite=tp5,test=x", LINE(TWO), NAN, "no test 'x' in suite 'tp5'; there are: a, b"},
    {"no such suite",     "perfherder:suite=x", LINE(TWO), NAN, "no suite 'x'; there are: tp5"},
    {"no such options",   "perfherder:options=x", PREFIX EXAMPLE, NAN, "no options 'x'; there are: e10s fission"},
    {"no such field",     "perfherder:suite=tp5,test=a,field=x", LINE(TWO), NAN, "no field 'x' of test 'a'; there are: value"},
    {"several suites",    "perfherder", LINE(SUITE("a", "\"value\":1") "," SUITE("b", "\"value\":2")), NAN, "2 results: name one by suite, or set reduce; there are: a: value, b: value"},
    {"several tests",     "perfherder:suite=s", LINE("{\"name\":\"s\",\"subtests\":[{\"name\":\"a\",\"value\":4},{\"name\":\"b\",\"value\":6}]}"), NAN, "2 results: name one by test, or set reduce; there are: s a: value, s b: value"},
    {"several units",     "perfherder:test=*,reduce=sum", LINE("{\"name\":\"s\",\"subtests\":[{\"name\":\"a\",\"value\":4,\"unit\":\"ms\"},{\"name\":\"b\",\"value\":6}]}"), NAN, "results in ms and in no unit: set unit"},
    {"a unit of another kind", "perfherder:unit=KiB", PREFIX EXAMPLE, NAN, "ts_paint ts_paint [e10s fission]: value: it is in ms, and the metric's unit is KiB: set unit=ms"},
    {"a direction that is contradicted", "perfherder", LINE(SUITE("a", "\"value\":1,\"lowerIsBetter\":false")), NAN, "a: value: higher is better there, and the metric says worse=up: set worse=down or worse=either"},
    {"an empty object",   "perfherder", "PERFHERDER_DATA: {}", NAN, "line 1: the object is empty"},
    {"no line",           "perfherder", "hello\nPERFHERDER_DATA:{}\nPERFHERDER_DATA: nothing", NAN, "no line with PERFHERDER_DATA: {\xE2\x80\xA6} in the output"},
    {"no output",         "perfherder", "", NAN, "no line with PERFHERDER_DATA: {\xE2\x80\xA6} in the output"},
    {"NaN",               "perfherder", LINE(SUITE("a", "\"value\":NaN")), NAN, "line 1: suite 'a': value: expected a number from -1e+12 to 1e+12, got \"NaN\""},
    {"null, as Talos writes NaN", "perfherder", LINE("{\"name\":\"s\",\"subtests\":[{\"name\":\"a\",\"value\":null}]}"), NAN, "line 1: suite 's': subtest 'a': value: expected a number from -1e+12 to 1e+12, got null"},
    {"a truth",           "perfherder", LINE(SUITE("a", "\"value\":true")), NAN, "line 1: suite 'a': value: expected a number from -1e+12 to 1e+12, got true"},
    {"more than 1e12",    "perfherder", LINE(SUITE("a", "\"value\":1.1e12")), NAN, "line 1: suite 'a': value: expected a number from -1e+12 to 1e+12, got 1100000000000.0"},
    {"a null among replicates", "perfherder:field=replicates", LINE("{\"name\":\"s\",\"subtests\":[{\"name\":\"a\",\"value\":1,\"replicates\":[1,null]}]}"), NAN, "s a: replicates: replicates is null, not a number"},
    {"no replicates",     "perfherder:field=replicates", LINE("{\"name\":\"s\",\"subtests\":[{\"name\":\"a\",\"value\":1,\"replicates\":[]}]}"), NAN, "s a: replicates: replicates is an empty list"},
    {"a cut line",        "perfherder", "PERFHERDER_DATA: {\"framework\":{}", NAN, "line 1: JSON line 1, column 15: '}' expected near end of file"},
    {"suites without values", "perfherder", LINE("{\"name\":\"s\",\"subtests\":[]}"), NAN, "no number: Perfherder data without a value"},
    {"an artifact cut off",   "perfherder", "{\"framework\":", NAN, "JSON line 1, column 13: unexpected token near end of file"},
};

/* What jsonschema 4.26 and ingestion make of these; NULL is "taken in". */
#define OPTION50A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OPTION50B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
static const struct {
    const char *name, *json, *want;
} schema_rows[] = {
    {"an unknown key is fine",          DOCUMENT(SUITE("a", "\"x\":1")), NULL},
    {"no suites are fine",              DOCUMENT(""), NULL},
    {"no subtests are fine",            DOCUMENT(SUITE("a", "\"value\":1")), NULL},
    {"half a window of a suite is not", DOCUMENT(SUITE("a", "\"minBackWindow\":12.5")), "suite 'a': minBackWindow: expected a whole number from 1 to 255, got 12.5"},
    {"12.0 is whole",                   DOCUMENT(SUITE("a", "\"minBackWindow\":12.0")), NULL},
    {"256 is too wide",                 DOCUMENT(SUITE("a", "\"foreWindow\":256")), "suite 'a': foreWindow: expected a whole number from 1 to 255, got 256.0"},
    {"half a window of a subtest is",   DOCUMENT("{\"name\":\"s\",\"subtests\":[{\"name\":\"a\",\"value\":1,\"minBackWindow\":12.5}]}"), NULL},
    {"a subtest wants a value",         DOCUMENT("{\"name\":\"s\",\"subtests\":[{\"name\":\"a\"}]}"), "suite 's': subtest 'a': value: expected a number from -1e+12 to 1e+12, got nothing"},
    {"a suite wants subtests",          DOCUMENT("{\"name\":\"s\"}"), "suite 's': subtests: expected a list, got nothing"},
    {"a framework is wanted",           "{\"suites\":[]}", "framework: expected an object, got nothing"},
    {"with a name, or ingestion fails", "{\"framework\":{},\"suites\":[]}", "framework: name: expected text, got nothing"},
    {"an application that is not known", "{\"framework\":{\"name\":\"f\"},\"suites\":[],\"application\":{\"name\":\"custom\"}}", "application: name: expected text that is one of firefox, chrome, chrome-m, fennec, geckoview, refbrow, fenix, focus, safari, safari-tp, custom-car, cstm-car-m, got \"custom\""},
    {"one that is",                     "{\"framework\":{\"name\":\"f\"},\"suites\":[],\"application\":{\"name\":\"fenix\"}}", NULL},
    {"one long option",                 DOCUMENT(SUITE("a", "\"extraOptions\":[\"" OPTION50A "\",\"x\"]")), NULL},
    {"two long options",                DOCUMENT(SUITE("a", "\"extraOptions\":[\"" OPTION50A "\",\"" OPTION50B "\"]")), "suite 'a': extraOptions: more than one is longer than 45 characters"},
    {"the same option twice",           DOCUMENT(SUITE("a", "\"extraOptions\":[\"x\",\"x\"]")), "suite 'a': extraOptions: expected a list of texts, at most 8, all different, of at most 100 characters, got [\"x\",\"x\"]"},
    {"a tag with a space",              DOCUMENT(SUITE("a", "\"tags\":[\"a b\"]")), "suite 'a': tags: expected a list of tags, at most 14, all different, of at most 24 characters, got [\"a b\"]"},
    {"a unit of no characters",         DOCUMENT(SUITE("a", "\"unit\":\"\"")), "suite 'a': unit: expected text of 1 to 20 characters, got \"\""},
    {"characters are not bytes",        DOCUMENT(SUITE("a", "\"unit\":\"\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\xC2\xB5\"")), NULL},
    {"a severity that is not known",    DOCUMENT(SUITE("a", "\"alertSeverity\":\"high\"")), "suite 'a': alertSeverity: expected text that is one of critical, subcritical, normal, got \"high\""},
    {"a threshold below 0",             DOCUMENT(SUITE("a", "\"alertThreshold\":-1")), "suite 'a': alertThreshold: expected a number from 0, got -1.0"},
    {"replicates of a suite are checked", DOCUMENT(SUITE("a", "\"replicates\":[1,\"2\"]")), "suite 'a': replicates: expected a list of numbers, got [1.0,\"2\"]"},
    {"those of a subtest are not",      DOCUMENT("{\"name\":\"s\",\"subtests\":[{\"name\":\"a\",\"value\":1,\"replicates\":\"x\"}]}"), NULL},
    {"an alert that is no truth",       DOCUMENT(SUITE("a", "\"shouldAlert\":1")), "suite 'a': shouldAlert: expected true or false, got 1.0"},
    {"a list for an object",            "[]", "expected an object"},
};
/* clang-format on */

START_TEST(reads)
{
    format_row_check(&rows[_i]);
}
END_TEST

START_TEST(the_schema_holds)
{
    AUTO(json_free) json *o = NULL;
    AUTO(buf_fini) struct buf unknown = {0};
    struct err e = {0};
    const char *text = schema_rows[_i].json;

    ck_assert_int_eq(json_parse_foreign(text, strlen(text), &o, &e), ERR_OK);
    enum err_code rc = perfherder_check(o, &unknown, &e);
    ck_assert_msg((rc == ERR_OK) == (schema_rows[_i].want == NULL), "%s: %s", schema_rows[_i].name,
                  e.text);
    if (rc)
        ck_assert_msg(strcmp(e.text, schema_rows[_i].want) == 0, "%s: %s", schema_rows[_i].name,
                      e.text);
}
END_TEST

START_TEST(looks)
{
    format_looks_check(PREFIX EXAMPLE, METRIC_PERFHERDER);
    format_looks_check(EXAMPLE, METRIC_PERFHERDER);
    format_looks_check("[" EXAMPLE "]", METRIC_PERFHERDER);
    format_looks_check("{\"logurl\":\"x\",\"performance_data\":[]}", METRIC_PERFHERDER);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads, LEN(rows)},
        {the_schema_holds, LEN(schema_rows)},
        {looks, 1},
    };

    return unit_run("perfherder", tests, LEN(tests));
}
