/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/project.h"
#include "unit/run.h"
#include <string.h>

#define METRICS "\"metrics\":{\"m\":{\"kind\":\"exit\",\"command\":\"c\"}}"
#define HEX     "0123456789012345678901234567890123456789"
#define P       "\"name\":\"p\",\"repository\":\"/r\","

/* clang-format off */
static const char full[] =
    "{\"name\":\"demo\",\"repository\":\"https://example.org/demo.git\","
    "\"submodules\":{\"modules/x\":\"https://example.org/x.git\"},\"platforms\":[\"linux-x64\"],"
    "\"paths\":[\"src/\"],\"environment\":{\"CC\":\"gcc\",\"LD\":\"ld\"},"
    "\"build\":{\"steps\":[\"make\"],\"artifacts\":[\"demo\",\"data/**\"],\"timeout\":\"20m\"},"
    "\"metrics\":{\"a\":{\"kind\":\"wall\",\"command\":\"demo\"},\"b\":{\"kind\":\"exit\",\"command\":\"t\"}},"
    "\"sandbox\":{\"kind\":\"plain\",\"network\":true,\"read\":[\"/srv/tools\"],\"memory\":\"4G\",\"processes\":512,\"disk\":10,\"output\":\"16M\"},"
    "\"isolation\":\"exclusive\",\"confirm\":\"revert\",\"budget\":{\"runs\":200,\"time\":7200},"
    "\"fixups\":[{\"range\":\"v1..v2\",\"patch\":\"old-gcc.patch\",\"content\":\"LS0t\",\"environment\":{\"CC\":\"cc\"}},"
    "{\"range\":\"v3\",\"commit\":\"" HEX "\"}]}";

static const struct {
    const char *json;
    const char *want;
} bad[] = {
    {"[]",                                                "expected a project object"},
    {"{" P METRICS ",\"repo\":\"/r\"}",                   "repo: unknown key"},
    {"{" P METRICS ",\"build\":{\"step\":[]}}",           "build.step: unknown key; did you mean steps?"},
    {"{" P METRICS ",\"build\":{\"timeout\":\"x\"}}",     "build.timeout: "},
    {"{" P METRICS ",\"build\":\"make\"}",                "build: expected an object, got \"make\""},
    {"{" P METRICS ",\"build\":{\"steps\":\"make\"}}",    "build.steps: expected a list of strings, got \"make\""},
    {"{" P METRICS ",\"build\":{\"steps\":[1]}}",         "build.steps[0]: expected a string, got 1"},
    {"{" P METRICS ",\"sandbox\":{\"memory\":-1}}",       "sandbox.memory: expected a size"},
    {"{" P METRICS ",\"sandbox\":{\"read\":[\"tools\"]}}",  "sandbox.read[0]: expected an absolute path, got tools"},
    {"{" P METRICS ",\"sandbox\":{\"read\":[\"/x\",\"/tmp/\"]}}", "sandbox.read[1]: /tmp/ cannot be shown: a job has its own /tmp"},
    {"{" P METRICS ",\"sandbox\":{\"read\":[\"/proc/1\"]}}", "sandbox.read[0]: /proc/1 cannot be shown"},
    {"{" P METRICS ",\"sandbox\":{\"read\":[\"/\"]}}",      "sandbox.read[0]: / cannot be shown"},
    {"{" P METRICS ",\"sandbox\":{\"read\":[\"/opt/../etc\"]}}", "sandbox.read[0]: opt/../etc leads out"},
    {"{" P METRICS ",\"sandbox\":{\"kind\":\"cardboard\"}}", "sandbox.kind: expected one of plain, bubblewrap, got cardboard"},
    {"{" P METRICS ",\"sandbox\":{\"network\":\"no\"}}",  "sandbox.network: expected true or false, got \"no\""},
    {"{" P METRICS ",\"environment\":{\"A\":1}}",         "environment.A: expected a string, got 1"},
    {"{" P METRICS ",\"environment\":{\"A=B\":\"1\"}}",   "environment.A=B: expected a name"},
    {"{" P METRICS ",\"environment\":{\"1A\":\"1\"}}",    "environment.1A: expected a name"},
    {"{" P METRICS ",\"environment\":{\"BISECTD_X\":\"1\"}}", "environment.BISECTD_X: names with BISECTD_"},
    {"{" P METRICS ",\"submodules\":\"all\"}",            "submodules: expected one of recursive, none, got all"},
    {"{" P METRICS ",\"submodules\":{\"../x\":\"u\"}}",   "submodules: ../x leads out"},
    {"{" P METRICS ",\"platforms\":[\"a b\"]}",           "platforms[0]: expected a name"},
    {"{" P METRICS ",\"paths\":[\"/src\"]}",              "paths[0]: expected a relative path"},
    {"{" P METRICS ",\"isolation\":\"cpu\"}",             "isolation: expected one of exclusive, cpus, none, got cpu"},
    {"{" P METRICS ",\"confirm\":\"reverse\"}",           "confirm: expected one of none, revert, got reverse"},
    {"{" P METRICS ",\"fixups\":{}}",                     "fixups: expected a list"},
    {"{" P METRICS ",\"fixups\":[1]}",                    "fixups[0]: expected an object"},
    {"{" P METRICS ",\"fixups\":[{}]}",                   "fixups[0].range: missing"},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"a..b\",\"pach\":\"x\"}]}", "fixups[0].pach: unknown key; did you mean patch?"},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"a..b\"}]}", "fixups[0].patch: missing"},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"a...b\",\"environment\":{\"A\":\"1\"}}]}", "fixups[0].range: expected A..B, got \"a...b\""},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"..b\",\"environment\":{\"A\":\"1\"}}]}", "fixups[0].range: expected A..B, got \"..b\""},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"a..\",\"environment\":{\"A\":\"1\"}}]}", "fixups[0].range: expected A..B, got \"a..\""},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"b\",\"environment\":{\"1A\":\"1\"}}]}", "fixups[0].environment.1A: expected a name"},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"b\",\"patch\":\"x\"}]}", "fixups[0].content: missing"},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"b\",\"patch\":\"x\",\"content\":\"!\"}]}", "fixups[0].content: expected base64"},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"b\",\"content\":\"eA==\"}]}", "fixups[0].content: without the patch"},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"b\",\"commit\":\"v1\"}]}", "fixups[0].commit: expected a commit's 40 hex digits, got \"v1\""},
    {"{" P METRICS ",\"fixups\":[{\"range\":\"b\",\"patch\":\"x\",\"content\":\"eA==\",\"commit\":\"" HEX "\"}]}", "fixups[0].commit: a fixup has a patch or a commit"},
    {"{" P METRICS ",\"budget\":{\"runs\":-1}}",          "budget.runs: expected a whole number from 0"},
    {"{\"repository\":\"/r\"," METRICS "}",               "name: missing"},
    {"{\"name\":\"p\"," METRICS "}",                      "repository: missing"},
    {"{\"name\":\"\",\"repository\":\"/r\"," METRICS "}", "name: expected some text"},
    {"{\"name\":\"-p\",\"repository\":\"/r\"," METRICS "}", "name: expected a name"},
    {"{\"name\":\"p\",\"repository\":\"r\"," METRICS "}", "repository: expected a URL or an absolute path, got r"},
    {"{\"name\":\"p\",\"repository\":\"--x://y\"," METRICS "}", "repository: expected a URL"},
    {"{\"name\":\"p\",\"repository\":\"/r\"}",            "metrics: missing"},
    {"{" P "\"metrics\":[]}",                             "metrics: expected an object"},
    {"{" P "\"metrics\":{\"m\":1}}",                      "metrics.m: expected an object, got 1"},
    {"{" P "\"metrics\":{\"m\":{\"kind\":\"exit\",\"name\":\"m\"}}}", "metrics.m.name: unknown key"},
    {"{" P "\"metrics\":{\"m\":{\"kind\":\"exit\"}}}",    "metrics.m.command: missing"},
    {"{" P "\"metrics\":{\"m\":{\"kind\":\"speed\"}}}",   "metrics.m.kind: expected one of value, "},
    {"{" P "\"metrics\":{\"m\":{\"kind\":\"wall\",\"command\":\"c\",\"unti\":\"s\"}}}", "metrics.m.unti: unknown key; did you mean unit?"},
    {"{" P "\"metrics\":{\"m m\":{\"kind\":\"exit\",\"command\":\"c\"}}}", "metrics.m m.name: expected a name"},
};
/* clang-format on */

static struct project *parse(const char *text)
{
    AUTO(json_free) json *v = NULL;
    struct project *p = NULL;
    struct err e = {0};

    ck_assert_msg(json_parse(text, strlen(text), &v, &e) == ERR_OK, "%s", e.text);
    ck_assert_msg(project_from_json(v, &p, &e) == ERR_OK, "%s: %s", text, e.text);
    return p;
}

static void dump(const struct project *p, struct buf *out)
{
    AUTO(json_free) json *v = project_to_json(p);

    json_dump(v, JSON_COMPACT, out);
}

START_TEST(json_goes_round)
{
    AUTO(project_free) struct project *p = parse(full);
    AUTO(project_free) struct project *copy = project_copy(p);
    AUTO(project_free) struct project *again = NULL;
    AUTO(buf_fini) struct buf first = {0};
    AUTO(buf_fini) struct buf second = {0};

    ck_assert_str_eq(p->name, "demo");
    ck_assert_str_eq(pairs_get(&p->submodule_urls, "modules/x"), "https://example.org/x.git");
    ck_assert_uint_eq(p->n_metrics, 2);
    ck_assert_str_eq(p->metrics[1]->name, "b");
    ck_assert(p->sandbox.is_kind_set && p->sandbox.has_network);
    ck_assert(p->sandbox.read.n == 1 && strcmp(p->sandbox.read.items[0], "/srv/tools") == 0);
    ck_assert_int_eq(p->sandbox.memory_bytes, INT64_C(4) << 30);
    ck_assert_int_eq(p->sandbox.disk_bytes, 10);
    ck_assert_int_eq(p->budget_ns, INT64_C(7200000000000));
    dump(copy, &first);
    again = parse(buf_str(&first));
    dump(again, &second);
    ck_assert_str_eq(buf_str(&first), buf_str(&second));
}
END_TEST

START_TEST(defaults_are_filled_in)
{
    AUTO(project_free) struct project *p = parse("{" P METRICS "}");

    ck_assert_int_eq(p->submodules, SUBMODULES_RECURSIVE);
    ck_assert_int_eq(p->build_timeout_ns, PROJECT_BUILD_TIMEOUT_NS);
    ck_assert(!p->sandbox.is_kind_set && !p->sandbox.has_network);
    ck_assert_int_eq(p->sandbox.memory_bytes, 0);
    ck_assert_int_eq(p->sandbox.n_processes, 4096);
    ck_assert_int_eq(p->sandbox.output_bytes, 16 * MIB);
    ck_assert_int_eq(p->isolation, ISOLATION_DEFAULT);
    ck_assert_int_eq(p->budget_runs, 0);
    ck_assert_int_eq(p->budget_ns, 0);
}
END_TEST

START_TEST(wrong_json_is_explained)
{
    AUTO(json_free) json *v = NULL;
    AUTO(project_free) struct project *p = NULL;
    struct err e = {0};

    ck_assert_msg(json_parse(bad[_i].json, strlen(bad[_i].json), &v, &e) == ERR_OK, "%s", e.text);
    ck_assert_msg(project_from_json(v, &p, &e) == ERR_INVALID, "%s", bad[_i].json);
    ck_assert_ptr_null(p);
    ck_assert_msg(strncmp(e.text, bad[_i].want, strlen(bad[_i].want)) == 0, "%s: %s", bad[_i].json,
                  e.text);
}
END_TEST

START_TEST(values_that_ask_for_nothing_are_taken)
{
    AUTO(project_free)
    struct project *p =
        parse("{" P METRICS ",\"confirm\":\"none\",\"fixups\":[],\"dependencies\":[],"
              "\"notify\":{\"auto\":false},\"download\":null,\"revision_map\":null}");

    ck_assert_str_eq(p->name, "p");
}
END_TEST

START_TEST(isolation_is_settled_by_the_nearest)
{
    AUTO(project_free) struct project *p = parse(full);
    struct metric *wall = p->metrics[0], *rate = p->metrics[1];

    p->isolation = ISOLATION_DEFAULT;
    ck_assert_int_eq(project_isolation(p, wall), ISOLATION_EXCLUSIVE);
    ck_assert_int_eq(project_isolation(p, rate), ISOLATION_NONE);
    p->isolation = ISOLATION_NONE;
    ck_assert_int_eq(project_isolation(p, wall), ISOLATION_NONE);
    wall->isolation = ISOLATION_EXCLUSIVE;
    ck_assert_int_eq(project_isolation(p, wall), ISOLATION_EXCLUSIVE);
}
END_TEST

/* What each change does to the two keys. */
static const struct {
    const char *what;
    const char *from, *to;
    bool new_build, new_measure;
} changes[] = {
    {"the name", "\"demo\",\"repository\"", "\"other\",\"repository\"", false, false},
    {"the repository", "demo.git", "fork.git", true, true},
    {"a build step", "[\"make\"]", "[\"make all\"]", true, true},
    {"the artifacts", "data/**", "data/*", true, true},
    {"the environment", "\"gcc\"", "\"clang\"", true, true},
    {"what is done about culprits", "\"revert\"", "\"none\"", false, false},
    {"the order of the environment", "\"CC\":\"gcc\",\"LD\":\"ld\"", "\"LD\":\"ld\",\"CC\":\"gcc\"",
     false, false},
    {"a submodule's source", "x.git", "y.git", true, true},
    {"the build's time limit", "20m", "30m", false, false},
    {"the platforms", "linux-x64", "linux-arm64", false, false},
    {"the paths", "src/", "lib/", false, false},
    {"the budget", "200", "300", false, false},
    {"a memory limit", "4G", "5G", false, false},
    {"network or none", "true", "false", true, true},
    {"the command", "\"command\":\"demo\"", "\"command\":\"demo -x\"", false, true},
    {"the kind", "\"wall\"", "\"cpu\"", false, true},
    {"the other metric", "\"command\":\"t\"", "\"command\":\"u\"", false, false},
    {"the metric's name", "\"a\":{", "\"c\":{", false, false},
    {"the warm-ups", "\"command\":\"demo\"", "\"command\":\"demo\",\"warmup\":1", false, true},
    {"the reduction", "\"command\":\"demo\"", "\"command\":\"demo\",\"reduce\":\"min\"", false,
     true},
    {"a unit that times are turned into", "\"command\":\"demo\"",
     "\"command\":\"demo\",\"unit\":\"s\"", false, true},
    {"the kind's own unit", "\"command\":\"demo\"", "\"command\":\"demo\",\"unit\":\"ms\"", false,
     false},
    {"the direction", "\"command\":\"demo\"", "\"command\":\"demo\",\"worse\":\"down\"", false,
     false},
    {"the time limit", "\"command\":\"demo\"", "\"command\":\"demo\",\"timeout\":9", false, false},
};

START_TEST(keys_cover_what_matters)
{
    AUTO(project_free) struct project *before = parse(full);
    AUTO(buf_fini) struct buf text = {0};
    const char *at = strstr(full, changes[_i].from);

    ck_assert_msg(at != NULL, "%s", changes[_i].what);
    buf_add(&text, full, (size_t)(at - full));
    buf_adds(&text, changes[_i].to);
    buf_adds(&text, at + strlen(changes[_i].from));
    AUTO(project_free) struct project *after = parse(buf_str(&text));
    const struct digest build[] = {project_build_key(before), project_build_key(after)};
    const struct digest measure[] = {project_measure_key(before, before->metrics[0]),
                                     project_measure_key(after, after->metrics[0])};
    ck_assert_msg((strcmp(build[0].hex, build[1].hex) != 0) == changes[_i].new_build, "%s: build",
                  changes[_i].what);
    ck_assert_msg((strcmp(measure[0].hex, measure[1].hex) != 0) == changes[_i].new_measure,
                  "%s: measure", changes[_i].what);
}
END_TEST

/* Of which kind a unit or a direction is no more than a word for people. */
static const struct {
    const char *spec, *other;
    bool is_new;
} words[] = {
    {"value", "value:unit=ms", false},
    {"value", "value:worse=up", false},
    {"exit", "exit:unit=x", false},
    {"rss", "rss:unit=MiB", true},
    {"hyperfine", "hyperfine:unit=ms", true},
    {"hyperfine", "hyperfine:unit=s,worse=up", false},
    {"hyperfine", "hyperfine:worse=either", true}, /* what a format says may contradict it */
    {"hyperfine", "hyperfine:test=x", true},
};

START_TEST(keys_tell_words_from_numbers)
{
    AUTO(project_free) struct project *p = parse(full);
    AUTO(metric_free) struct metric *one = NULL, *other = NULL;

    ck_assert_int_eq(metric_from_spec(words[_i].spec, &one, NULL), ERR_OK);
    ck_assert_int_eq(metric_from_spec(words[_i].other, &other, NULL), ERR_OK);
    const struct digest keys[] = {project_measure_key(p, one), project_measure_key(p, other)};
    ck_assert_msg((strcmp(keys[0].hex, keys[1].hex) != 0) == words[_i].is_new, "%s",
                  words[_i].other);
}
END_TEST

/* What each change of the first fixup does to the key of a revision that has both. */
static const struct {
    const char *what;
    const char *from, *to;
    bool is_new;
} variants[] = {
    {"where it applies", "v1..v2", "v1..v3", false},
    {"what its file is called", "old-gcc.patch", "new.patch", false},
    {"the patch itself", "LS0t", "LS0x", true},
    {"a variable", "\"CC\":\"cc\"", "\"CC\":\"c99\"", true},
    {"the commit that is picked", HEX, "0000000000000000000000000000000000000000", true},
};

START_TEST(keys_of_variants_cover_what_was_done)
{
    static const struct revision none = {0};
    AUTO(project_free) struct project *before = parse(full);
    AUTO(buf_fini) struct buf text = {0};
    const char *at = strstr(full, variants[_i].from);

    ck_assert_msg(at != NULL, "%s", variants[_i].what);
    buf_add(&text, full, (size_t)(at - full));
    buf_adds(&text, variants[_i].to);
    buf_adds(&text, at + strlen(variants[_i].from));
    AUTO(project_free) struct project *after = parse(buf_str(&text));
    const struct digest plain[] = {project_build_key(before), project_build_key(after)};
    const struct digest both[] = {project_variant_key(before, &plain[0], 3, &none),
                                  project_variant_key(after, &plain[1], 3, &none)};
    ck_assert_msg(strcmp(plain[0].hex, plain[1].hex) == 0, "%s", variants[_i].what);
    ck_assert_msg((strcmp(both[0].hex, both[1].hex) != 0) == variants[_i].is_new, "%s",
                  variants[_i].what);
}
END_TEST

START_TEST(each_variant_has_a_key_of_its_own)
{
    static const struct revision none = {0}, some = {HEX};
    AUTO(project_free) struct project *p = parse(full);
    const struct digest plain = project_build_key(p);
    const struct digest keys[] = {
        plain,
        project_variant_key(p, &plain, 1, &none),
        project_variant_key(p, &plain, 2, &none),
        project_variant_key(p, &plain, 3, &none),
        project_variant_key(p, &plain, 0, &some),
        project_variant_key(p, &plain, 1, &some),
    };

    ck_assert_str_eq(project_variant_key(p, &plain, 0, &none).hex, plain.hex);
    for (size_t i = 0; i < LEN(keys); i++)
        for (size_t k = 0; k < i; k++)
            ck_assert_msg(strcmp(keys[i].hex, keys[k].hex) != 0, "%zu and %zu", k, i);
}
END_TEST

START_TEST(a_fixup_changes_variables_and_has_a_name)
{
    AUTO(project_free) struct project *p = parse(full);
    AUTO(pairs_fini) struct pairs none = {0}, both = {0};
    AUTO(buf_fini) struct buf names = {0};

    project_environment(p, 2, &none);
    project_environment(p, 3, &both);
    project_fixup_names(p, 3, &names);
    ck_assert_str_eq(pairs_get(&none, "CC"), "gcc");
    ck_assert_str_eq(pairs_get(&both, "CC"), "cc");
    ck_assert_str_eq(pairs_get(&both, "LD"), "ld");
    ck_assert_str_eq(buf_str(&names), "old-gcc.patch CC=cc, commit 0123456789");
}
END_TEST

START_TEST(patches_have_limits)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(json_free) json *v = NULL;
    AUTO(project_free) struct project *p = NULL;
    struct err e = {0};
    const size_t n = (_i == 0 ? FIXUP_MAX_PATCH + 3 : FIXUP_MAX_PATCH) / 3 * 4 + 4;

    buf_adds(&text, "{" P METRICS ",\"fixups\":[");
    for (int k = 0; k < (_i == 0 ? 1 : 3); k++) {
        buf_printf(&text, "%s{\"range\":\"b\",\"patch\":\"x\",\"content\":\"", k ? "," : "");
        for (size_t i = 0; i < n; i++)
            buf_addc(&text, i + 2 < n ? 'A' : '=');
        buf_adds(&text, "\"}");
    }
    buf_adds(&text, "]}");
    ck_assert(json_parse(buf_str(&text), text.len, &v, &e) == ERR_OK);
    ck_assert(project_from_json(v, &p, &e) == ERR_INVALID);
    ck_assert_msg(strstr(e.text, _i == 0 ? "fixups[0].patch: larger than 256 KiB"
                                         : "larger than 512 KiB together"),
                  "%s", e.text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {json_goes_round, 1},
        {defaults_are_filled_in, 1},
        {wrong_json_is_explained, LEN(bad)},
        {values_that_ask_for_nothing_are_taken, 1},
        {isolation_is_settled_by_the_nearest, 1},
        {keys_cover_what_matters, LEN(changes)},
        {keys_tell_words_from_numbers, LEN(words)},
        {keys_of_variants_cover_what_was_done, LEN(variants)},
        {each_variant_has_a_key_of_its_own, 1},
        {a_fixup_changes_variables_and_has_a_name, 1},
        {patches_have_limits, 2},
    };

    return unit_run("project", tests, LEN(tests));
}
