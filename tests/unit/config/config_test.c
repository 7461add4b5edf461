/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "unit/run.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/config_test.XXXXXX";

static char *put(const char *name, const char *text)
{
    char *path = path_join(folder, name);

    ck_assert_int_eq(file_write(path, text, strlen(text), 0600, NULL), ERR_OK);
    return path;
}

#define P "name: p\nrepository: /r\n"
#define M "metrics: {m: {kind: exit, command: c}}\n"

/* clang-format off */
static const struct {
    const char *name;
    const char *text;
    const char *want; /* after the file's name; "|" and a word of the text or hint */
} bad_projects[] = {
    {"an unknown key",            P "metric: {}\n",                       ":3:1: metric: unknown key|did you mean metrics?"},
    {"an unknown key inside",     P M "build:\n  step: [a]\n",            ":5:3: build.step: unknown key|did you mean steps?"},
    {"an unknown key of a metric", P "metrics:\n  m:\n    kind: exit\n    comand: c\n", ":6:5: metrics.m.comand: unknown key|command"},
    {"an unknown key far from all", P M "zzzzzzzz: 1\n",                  ":4:1: zzzzzzzz: unknown key|Known here: name, repository"},
    {"a dotted key",              P M "build.steps: [a]\n",               ":4:1: build.steps: unknown key|"},
    {"a merge key",               P M "<<: {a: b}\n",                     ":4:1: <<: unknown key|"},
    {"a list for a text",         "name: [p]\n",                          ":1:7: name: expected a name, got a list|"},
    {"nothing for a text",        P M "repository:\n",                    ":4:1: repository: given twice|line 2"},
    {"no value",                  "name: p\nrepository:\n" M,             ":2:12: repository: expected text, got nothing|"},
    {"a text for a list",         P M "platforms: linux-x64\n",           ":4:12: platforms: expected a list|linux-x64"},
    {"a map for a list",          P M "paths: {a: b}\n",                  ":4:8: paths: expected a list|got a map"},
    {"a list in a list",          P M "paths: [[a]]\n",                   ":4:9: paths[0]: expected text, got a list|"},
    {"a text for a map",          P M "environment: CC=gcc\n",            ":4:14: environment: expected a map|CC=gcc"},
    {"a list in a map",           P M "environment: {CC: [gcc]}\n",       ":4:19: environment.CC: expected text, got a list|"},
    {"a text for a section",      P M "build: make\n",                    ":4:8: build: expected a map of keys, got \"make\"|"},
    {"a list of metrics",         P "metrics: [a]\n",                     ":3:10: metrics: expected a map of names, got a list|"},
    {"no metrics",                P "metrics: {}\n",                      ":3:1: metrics: missing|"},
    {"metrics left out",          P,                                      ":1:1: metrics: missing|"},
    {"no name",                   "repository: /r\n" M,                   ":1:1: name: missing|"},
    {"no repository",             "name: p\n" M,                          ":1:1: repository: missing|"},
    {"a name with a space",       "name: a b\n",                          ":1:7: name: expected a name|"},
    {"a metric name with a space", P "metrics: {a b: {kind: exit}}\n",    ":3:11: metrics: expected a name|a b"},
    {"no kind",                   P "metrics:\n  m: {command: c}\n",      ":4:3: metrics.m.kind: expected|"},
    {"no command",                P "metrics:\n  m: {kind: exit}\n",      ":4:3: metrics.m.command: missing|"},
    {"an unknown kind",           P "metrics: {m: {kind: walls, command: c}}\n", ":3:21: metrics.m.kind: expected one of|Did you mean wall?"},
    {"no kind",                   P "metrics: {m: {kind: speed, command: c}}\n", ":3:21: metrics.m.kind: expected one of value, |"},
    {"a key of another kind's",   P "metrics: {m: {kind: wall, command: c, ready: exit}}\n", ":3:39: metrics.m.ready: is a key of kind ts, not of wall|"},
    {"a key of another kind",     P "metrics: {m: {kind: wall, command: c, regex: (x)}}\n", ":3:39: metrics.m.regex: is a key of kind value|"},
    {"a regex that is none",      P "metrics: {m: {kind: value, command: c, regex: '(x'}}\n", ":3:40: metrics.m.regex: not an extended|"},
    {"a regex without a group",   P "metrics: {m: {kind: value, command: c, regex: x}}\n", ":3:40: metrics.m.regex: has no group|parentheses"},
    {"regex and json",            P "metrics: {m: {kind: value, command: c, regex: (x), json: /a}}\n", ":3:40: metrics.m.regex: either|"},
    {"a pointer that is none",    P "metrics: {m: {kind: value, command: c, json: a}}\n", ":3:40: metrics.m.json: expected a JSON pointer|"},
    {"bad for a kind not exit",   P "metrics: {m: {kind: wall, command: c, on_timeout: bad}}\n", ":3:39: metrics.m.on_timeout:|exit alone"},
    {"a file that leads out",     P "metrics: {m: {kind: wall, command: c, file: ../x}}\n", ":3:39: metrics.m.file: ../x leads out|"},
    {"a number of warm-ups",      P "metrics: {m: {kind: wall, command: c, warmup: 1001}}\n", ":3:47: metrics.m.warmup: expected a whole number from 0 to 1000|1001"},
    {"half a warm-up",            P "metrics: {m: {kind: wall, command: c, warmup: 1.5}}\n", ":3:47: metrics.m.warmup: expected a whole number|1.5"},
    {"a duration that is none",   P M "build: {timeout: 20x}\n",          ":4:18: build.timeout: expected a duration such as|20x"},
    {"a duration of zero",        P M "build: {timeout: 0}\n",            ":4:18: build.timeout: expected a duration|"},
    {"a size that is none",       P M "sandbox: {memory: 4Q}\n",          ":4:19: sandbox.memory: expected a size such as|4Q"},
    {"a percentage that is none", P "metrics: {m: {kind: wall, command: c, min_effect: few}}\n", ":3:51: metrics.m.min_effect: expected a percentage|few"},
    {"a negative percentage",     P "metrics: {m: {kind: wall, command: c, min_effect: -2%}}\n", ":3:51: metrics.m.min_effect: expected a percentage|-2%"},
    {"a quoted truth",            P M "sandbox: {network: \"no\"}\n",     ":4:20: sandbox.network: expected yes or no|"},
    {"a number for a truth",      P M "sandbox: {network: 1}\n",          ":4:20: sandbox.network: expected yes or no|"},
    {"an unknown sandbox",        P M "sandbox: {kind: cardboard}\n",     ":4:17: sandbox.kind: expected one of|bubblewrap"},
    {"pinned CPUs misspelt",       P M "isolation: cpu\n",                 ":4:12: isolation: expected one of exclusive, cpus, none, got \"cpu\"|"},
    {"fixups as a map",           P M "fixups: {range: a..b}\n",          ":4:9: fixups: expected a list of maps, got a map|"},
    {"a fixup as a text",         P M "fixups: [a..b]\n",                 ":4:10: fixups[0]: expected a map of keys, got \"a..b\"|"},
    {"an unknown key of a fixup", P M "fixups: [{range: a..b, pacth: x}]\n", ":4:24: fixups[0].pacth: unknown key; did you mean patch?|range, patch, commit, environment"},
    {"a fixup that fixes nothing", P M "fixups: [{range: a..b}]\n",       ":4:10: fixups[0].patch: missing|at least one of patch, commit and environment"},
    {"a fixup without a range",   P M "fixups: [{environment: {A: 1}}]\n", ":4:10: fixups[0].range: missing|"},
    {"a range that is none",      P M "fixups: [{range: a...b, environment: {A: 1}}]\n", ":4:11: fixups[0].range: expected A..B, got \"a...b\"|git rev-list"},
    {"a patch that is not there", P M "fixups: [{range: a..b, patch: nosuch.patch}]\n", ":4:24: fixups[0].patch: open |nosuch.patch: No such file"},
    {"an empty patch",            P M "fixups: [{range: a..b, patch: empty.yml}]\n", ":4:24: fixups[0].patch: |empty.yml is empty"},
    {"a patch of 300 KiB",        P M "fixups: [{range: a..b, patch: huge.patch}]\n", ":4:24: fixups[0].patch: |larger than 256 KiB"},
    {"a commit by its name",      P M "fixups: [{range: a..b, commit: v1}]\n", ":4:24: fixups[0].commit: expected a commit's 40 hex digits, got \"v1\"|git rev-parse"},
    {"a patch's bytes in the file", P M "fixups: [{range: a..b, content: eA==}]\n", ":4:24: fixups[0].content: unknown key|"},
    {"confirm",                   P M "confirm: reverse\n",               ":4:10: confirm: expected one of none, revert, got \"reverse\"|Did you mean revert"},
    {"download",                  P M "download: https://x/{revision}\n", ":4:1: download: is not available|"},
    {"revision_map",              P M "revision_map: [pairs.tsv]\n",      ":4:15: revision_map: expected text|"},
    {"notify",                    P M "notify: {auto: yes}\n",            ":4:1: notify: is not available|"},
    {"dependencies",              P M "dependencies: [{path: a}]\n",      ":4:1: dependencies: is not available|"},
    {"submodules as a list",      P M "submodules: [a]\n",                ":4:13: submodules: expected one of recursive, none|"},
    {"a word for submodules",     P M "submodules: all\n",                ":4:13: submodules: expected one of recursive, none, got \"all\"|"},
    {"a repository like a flag",  "name: p\nrepository: --upload-pack=x://y\n" M, ":2:1: repository: expected a URL or|"},
    {"an empty step",             P M "build: {steps: [make, ' ']}\n",    ":4:23: build.steps[1]: expected a command|"},
    {"an absolute artifact",      P M "build: {artifacts: [/etc/passwd]}\n", ":4:21: build.artifacts[0]: expected a relative path|"},
    {"an artifact that leads out", P M "build: {artifacts: [a/../../b]}\n", ":4:21: build.artifacts[0]: a/../../b leads out|"},
    {"a variable of ours",        P M "environment: {BISECTD_JOBS: 1}\n", ":4:15: environment.BISECTD_JOBS: names with|"},
    {"a variable with a dash",    P M "environment: {A-B: 1}\n",          ":4:15: environment.A-B: expected a name|"},
    {"a list as a file",          "[a]\n",                                ":1:1: expected a map of keys, got a list|"},
    {"a text as a file",          "hello\n",                              ":1:1: expected a map of keys, got \"hello\"|"},
};

static const struct {
    const char *name;
    const char *text;
    const char *want;
} bad_configs[] = {
    {"an unknown key",            "lissen: none\n",                       ":1:1: lissen: unknown key|did you mean listen?"},
    {"an unknown limit",          "limits: {logs: 1M}\n",                 ":1:10: limits.logs: unknown key|did you mean log?"},
    {"a port out of range",       "listen: 127.0.0.1:70000\n",            ":1:1: listen: expected HOST:PORT|70000"},
    {"a port without a host",     "listen: :8641\n",                      ":1:1: listen: expected HOST:PORT|"},
    {"a host without a port",     "listen: localhost\n",                  ":1:1: listen: expected HOST:PORT|"},
    {"IPv6 without brackets",     "listen: ::1:8641\n",                   ":1:1: listen: expected HOST:PORT|"},
    {"a sandbox of none",         "sandbox: cardboard\n",                 ":1:10: sandbox: expected one of|bubblewrap"},
    {"an engine of later",        "engine: slurm\n",                      ":1:9: engine: slurm is not available|"},
    {"too many workers",          "workers: 1000\n",                      ":1:10: workers: expected a whole number from 0 to 256|1000"},
    {"renewal too late",          "limits: {lease: 10s, renew: 6s}\n",    ":1:22: limits.renew: expected at most half|"},
    {"an empty folder",           "data_dir: ''\n",                       ":1:1: data_dir: expected a folder|"},
    {"projects not a list",       "projects: demo.yml\n",                 ":1:11: projects: expected a list|demo.yml"},
    {"a project that is not there", "projects: [nosuch.yml]\n",           ":1:12: projects[0]: |nosuch.yml"},
    {"a project with an error",   "projects: [bad.yml]\n",                ":1:12: projects[0]: |bad.yml:1:7: name:"},
    {"an inline project's key",   "projects:\n  - {name: p, repo: /r}\n", ":2:15: projects[0].repo: unknown key|"},
    {"an inline project's value", "projects:\n  - {name: p, repository: /r}\n", ":2:5: projects[0].metrics: missing|"},
    {"two projects of one name",  "projects: [good.yml, good.yml]\n",     ":1:22: projects[1]: a second project named good|"},
    {"a project's key",           "limits: {}\nrepository: /r\n",         ":2:1: repository: unknown key|"},
};

static const struct {
    const char *name;
    const char *text;
    const char *host; /* NULL: none */
    uint16_t port;
} addresses[] = {
    {"IPv4",      "127.0.0.1:8641", "127.0.0.1", 8641},
    {"a name",    "localhost:0",    "localhost", 0},
    {"IPv6",      "[::1]:1",        "::1",       1},
    {"nowhere",   "none",           NULL,        0},
};
/* clang-format on */

static void check_error(const char *name, const char *want, const char *path, const struct err *e)
{
    const size_t n_path = strlen(path);
    const char *bar = strchr(want, '|');

    ck_assert_msg(strncmp(e->text, path, n_path) == 0, "%s: %s", name, e->text);
    ck_assert_msg(strncmp(e->text + n_path, want, (size_t)(bar - want)) == 0, "%s: %s", name,
                  e->text);
    ck_assert_msg(strstr(e->text, bar + 1) || strstr(e->hint, bar + 1), "%s: %s (%s)", name,
                  e->text, e->hint);
}

START_TEST(wrong_project_files_are_told_where)
{
    AUTO(mem_free) char *path = put("project.yml", bad_projects[_i].text);
    AUTO(mem_free) char *large = mem_array(300 * KIB + 1, 1);

    memset(large, 'x', 300 * KIB);
    mem_free(put("huge.patch", large));
    mem_free(put("empty.yml", ""));
    AUTO(project_free) struct project *p = NULL;
    struct err e = {0};

    ck_assert_msg(project_load(path, &p, &e) == ERR_INVALID, "%s", bad_projects[_i].name);
    check_error(bad_projects[_i].name, bad_projects[_i].want, path, &e);
}
END_TEST

START_TEST(wrong_configurations_are_told_where)
{
    mem_free(put("good.yml", "name: good\nrepository: .\n" M));
    mem_free(put("bad.yml", "name: [x]\n"));
    AUTO(mem_free) char *path = put("bisectd.yml", bad_configs[_i].text);
    AUTO(config_free) struct config *c = NULL;
    struct err e = {0};

    ck_assert_msg(config_load(path, &c, &e) != ERR_OK, "%s", bad_configs[_i].name);
    check_error(bad_configs[_i].name, bad_configs[_i].want, path, &e);
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
    AUTO(project_free) struct project *p = NULL;
    AUTO(buf_fini) struct buf large = {0};
    struct err e = {0};

    ck_assert_int_eq(project_load("/nosuch/file.yml", &p, &e), ERR_NOT_FOUND);
    ck_assert_msg(strstr(e.text, "/nosuch/file.yml") != NULL, "%s", e.text);
    for (size_t i = 0; i < MIB; i++)
        buf_addc(&large, '#');
    buf_adds(&large, "\n");
    AUTO(mem_free) char *path = put("large.yml", buf_str(&large));
    ck_assert_int_eq(project_load(path, &p, &e), ERR_LIMIT);
    ck_assert_msg(strstr(e.text, path) != NULL, "%s", e.text);
    ck_assert_msg(project_load("/tmp", &p, &e) != ERR_OK, "a folder is a file");
}
END_TEST

START_TEST(values_that_ask_for_nothing_are_taken)
{
    AUTO(mem_free)
    char *path = put("later.yml", P M "confirm: none\nnotify: {auto: no}\nfixups: []\n"
                                      "dependencies: []\ndownload:\n");
    AUTO(project_free) struct project *p = NULL;
    struct err e = {0};

    ck_assert_msg(project_load(path, &p, &e) == ERR_OK, "%s", e.text);
}
END_TEST

START_TEST(relative_repositories_stand_beside_the_file)
{
    static const struct {
        const char *given, *want; /* "%": the folder */
    } rows[] = {{"sub/repo", "%/sub/repo"},
                {".", "%"},
                {"/abs/repo", "/abs/repo"},
                {"https://example.org/x.git", "https://example.org/x.git"},
                {"git@example.org:x.git", "git@example.org:x.git"},
                {"file:///srv/x", "file:///srv/x"}};

    for (size_t i = 0; i < LEN(rows); i++) {
        AUTO(mem_free) char *text = mem_printf("name: p\nrepository: %s\n" M, rows[i].given);
        AUTO(mem_free) char *path = put("relative.yml", text);
        AUTO(mem_free)
        char *want = *rows[i].want == '%' ? mem_printf("%s%s", folder, rows[i].want + 1)
                                          : mem_dup(rows[i].want);
        AUTO(project_free) struct project *p = NULL;
        struct err e = {0};

        ck_assert_msg(project_load(path, &p, &e) == ERR_OK, "%s", e.text);
        ck_assert_str_eq(p->repository, want);
    }
}
END_TEST

START_TEST(revision_maps_stand_beside_the_file)
{
    AUTO(mem_free) char *path = put("mapped.yml", P M "revision_map: maps/hg.tsv\n");
    AUTO(mem_free) char *want = mem_printf("%s/maps/hg.tsv", folder);
    AUTO(project_free) struct project *p = NULL;
    struct err e = {0};

    ck_assert_msg(project_load(path, &p, &e) == ERR_OK, "%s", e.text);
    ck_assert_str_eq(p->revision_map, want);
    AUTO(project_free) struct project *copy = project_copy(p);
    ck_assert_str_eq(copy->revision_map, want);
}
END_TEST

START_TEST(patches_stand_beside_the_file)
{
    AUTO(mem_free) char *patch = put("a.patch", "--- a\n");
    AUTO(mem_free)
    char *text =
        mem_printf(P M "fixups:\n  - {range: v1..v2, patch: a.patch, environment: {A: 1}}\n"
                       "  - {range: v2, patch: %s}\n",
                   patch);
    AUTO(mem_free) char *path = put("patched.yml", text);
    AUTO(project_free) struct project *p = NULL;
    struct err e = {0};

    ck_assert_msg(project_load(path, &p, &e) == ERR_OK, "%s", e.text);
    ck_assert_uint_eq(p->n_fixups, 2);
    ck_assert_str_eq(p->fixups[0]->range, "v1..v2");
    ck_assert_str_eq(p->fixups[0]->patch, "a.patch");
    ck_assert_str_eq(p->fixups[0]->content, "LS0tIGEK");
    ck_assert_str_eq(p->fixups[1]->content, "LS0tIGEK");
    ck_assert_str_eq(pairs_get(&p->fixups[0]->environment, "A"), "1");
}
END_TEST

START_TEST(the_examples_load)
{
    AUTO(config_free) struct config *c = NULL;
    struct err e = {0};

    ck_assert_msg(config_load("config/examples/bisectd.yml", &c, &e) == ERR_OK, "%s", e.text);
    ck_assert_str_eq(c->listen.host, "127.0.0.1");
    ck_assert_uint_eq(c->listen.port, 8641);
    ck_assert(*c->data_dir == '/' && strstr(c->data_dir, "config/examples/data"));
    ck_assert(*c->path == '/' && strstr(c->path, "config/examples/bisectd.yml"));
    ck_assert_uint_eq(c->n_projects, 2);

    const struct project *demo = config_project(c, "demo");
    ck_assert_ptr_nonnull(demo);
    ck_assert_int_eq(demo->submodules, SUBMODULES_NONE);
    ck_assert_str_eq(demo->platforms.items[0], "linux-x64");
    ck_assert_str_eq(pairs_get(&demo->environment, "CC"), "gcc");
    ck_assert_str_eq(demo->build_steps.items[0], "make -j$BISECTD_JOBS");
    ck_assert_int_eq(demo->build_timeout_ns, 20 * 60 * NS_PER_S);
    ck_assert_int_eq(demo->budget_ns, 6 * 3600 * NS_PER_S);
    ck_assert_int_eq(demo->sandbox.n_processes, 512);
    ck_assert_uint_eq(demo->n_metrics, 7);

    const struct metric *startup = project_metric(demo, "startup");
    ck_assert_int_eq(startup->kind, METRIC_WALL);
    ck_assert_int_eq(startup->timeout_ns, 60 * NS_PER_S);
    ck_assert_double_eq(startup->min_effect_percent, 2);
    ck_assert_uint_eq(startup->n_warmup, 1);
    ck_assert_str_eq(project_metric(demo, "median")->regex, "p50: ([0-9.]+) ms");
    ck_assert_int_eq(project_metric(demo, "selftest")->on_timeout, TIMEOUT_BAD);
    ck_assert_str_eq(project_metric(config_project(c, "hello"), "size")->unit, "bytes");
    ck_assert_ptr_null(config_project(c, "nosuch"));
}
END_TEST

START_TEST(check_tells_the_two_kinds_of_file_apart)
{
    const char *what = NULL;
    struct err e = {0};

    ck_assert_msg(config_check_file("config/examples/bisectd.yml", &what, &e) == ERR_OK, "%s",
                  e.text);
    ck_assert_str_eq(what, "configuration");
    ck_assert_msg(config_check_file("config/examples/demo.yml", &what, &e) == ERR_OK, "%s", e.text);
    ck_assert_str_eq(what, "project");
}
END_TEST

START_TEST(each_kind_of_metric_loads)
{
    for (size_t i = 0; i < METRIC_KIND_COUNT; i++) {
        AUTO(mem_free)
        char *text = mem_printf(P "metrics: {m: {kind: %s, command: c}}\n", metric_kinds[i].name);
        AUTO(mem_free) char *path = put("kind.yml", text);
        AUTO(project_free) struct project *p = NULL;
        struct err e = {0};

        ck_assert_msg(project_load(path, &p, &e) == ERR_OK, "%s", e.text);
        ck_assert_uint_eq(p->metrics[0]->kind, i);
    }
}
END_TEST

START_TEST(addresses_to_listen_at)
{
    AUTO(listen_fini) struct listen_at at = {.host = mem_dup("old"), .port = 9};
    struct err e = {0};

    ck_assert_msg(listen_parse(addresses[_i].text, &at, &e) == ERR_OK, "%s", e.text);
    ck_assert_uint_eq(at.port, addresses[_i].port);
    if (addresses[_i].host)
        ck_assert_str_eq(at.host, addresses[_i].host);
    else
        ck_assert_ptr_null(at.host);
}
END_TEST

START_TEST(calibration_is_a_share_and_two_limits)
{
    AUTO(mem_free)
    char *path = put("bisectd.yml", "calibration: {share: 12.5%, runs: 50, idle: 2m}\n");
    AUTO(config_free) struct config *c = NULL;
    AUTO(config_free) struct config *standard = config_default();

    ck_assert_int_eq(config_load(path, &c, NULL), ERR_OK);
    ck_assert_double_eq(c->calibration.share, .125);
    ck_assert_int_eq(c->calibration.n_runs, 50);
    ck_assert_int_eq(c->calibration.idle_ns, 120 * NS_PER_S);
    ck_assert_double_eq(standard->calibration.share, .05);
    ck_assert_int_eq(standard->calibration.n_runs, 200);
    ck_assert_int_eq(standard->calibration.idle_ns, 60 * NS_PER_S);
}
END_TEST

START_TEST(defaults_follow_the_environment)
{
    setenv("XDG_STATE_HOME", "/state", 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    AUTO(config_free) struct config *c = config_default();
    ck_assert_str_eq(c->data_dir, "/state/bisectd");
    ck_assert_uint_eq(c->listen.port, 8641);
    ck_assert_int_eq(c->engine, ENGINE_LOCAL);
    ck_assert_uint_eq(c->n_workers, 1);
    ck_assert_int_eq(c->sandbox, SANDBOX_BUBBLEWRAP);

    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "/home/x", 1);
    AUTO(config_free) struct config *other = config_default();
    ck_assert_str_eq(other->data_dir, "/home/x/.local/state/bisectd");

    AUTO(mem_free) char *dir = path_join(folder, "bisectd");
    ck_assert_int_eq(file_mkdirs(dir, 0700, NULL), ERR_OK);
    AUTO(mem_free) char *written = put("bisectd/bisectd.yml", "workers: 2\n");
    AUTO(mem_free) char *found = config_find();
    ck_assert_str_eq(found, written);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {wrong_project_files_are_told_where, LEN(bad_projects)},
        {wrong_configurations_are_told_where, LEN(bad_configs)},
        {files_that_cannot_be_read, 1},
        {values_that_ask_for_nothing_are_taken, 1},
        {relative_repositories_stand_beside_the_file, 1},
        {revision_maps_stand_beside_the_file, 1},
        {patches_stand_beside_the_file, 1},
        {the_examples_load, 1},
        {check_tells_the_two_kinds_of_file_apart, 1},
        {each_kind_of_metric_loads, 1},
        {addresses_to_listen_at, LEN(addresses)},
        {calibration_is_a_share_and_two_limits, 1},
        {defaults_follow_the_environment, 1},
    };

    if (!mkdtemp(folder))
        return 1;
    const int failed = unit_run("config", tests, LEN(tests));
    if (file_remove_tree(folder, NULL))
        return 1;
    return failed;
}
