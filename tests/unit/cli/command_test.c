/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "model/metric.h"
#include "unit/run.h"
#include <string.h>

static const struct flag *find(const struct command *c, const char *name)
{
    for (size_t i = 0; i < c->n_flags; i++)
        if (strcmp(c->flags[i].name, name) == 0)
            return &c->flags[i];
    return NULL;
}

START_TEST(every_command_helps_with_an_example)
{
    const struct command *c = commands[_i];
    AUTO(buf_fini) struct buf help = {0};

    command_help(c, &help);
    ck_assert_msg(c->summary && c->summary[0], "%s has no summary", c->name);
    ck_assert_msg(strstr(c->example, "bisectctl ") != NULL, "%s has no example", c->name);
    ck_assert_msg(strstr(c->example, c->name) != NULL, "%s is not in its example", c->name);
    ck_assert_msg(c->example[strlen(c->example) - 1] == '\n', "%s: example ends mid-line", c->name);
    ck_assert_msg(find(c, "--json") && find(c, "--help"), "%s lacks --json or --help", c->name);
    ck_assert_ptr_nonnull(strstr(buf_str(&help), "Example:\n"));
    ck_assert_ptr_nonnull(c->run);
    ck_assert(c->least_words <= c->most_words && c->most_words <= OPTIONS_WORDS);
}
END_TEST

START_TEST(every_flag_is_complete_and_unique)
{
    const struct command *c = commands[_i];

    for (size_t i = 0; i < c->n_flags; i++) {
        const struct flag *f = &c->flags[i];
        ck_assert_msg(strncmp(f->name, "--", 2) == 0, "%s %s", c->name, f->name);
        ck_assert_msg(f->help && f->help[0], "%s %s has no help", c->name, f->name);
        ck_assert_msg((f->value == NULL) == (f->type == FLAG_SWITCH), "%s %s", c->name, f->name);
        ck_assert_msg((f->choices != NULL) == (f->type == FLAG_CHOICE), "%s %s", c->name, f->name);
        ck_assert_msg(f->type != FLAG_COUNT || f->low < f->high, "%s %s", c->name, f->name);
        ck_assert_msg(f->offset < sizeof(struct options), "%s %s", c->name, f->name);
        ck_assert_msg(find(c, f->name) == f, "%s has %s twice", c->name, f->name);
    }
}
END_TEST

/* What every program around us relies on. */
/* clang-format off */
static const char *const run_flags[] = {
    "--repo", "--good", "--bad", "--build", "--measure", "--metric", "--project", "--confidence",
    "--min-effect", "--worse", "--first-parent", "--no-inside", "--platform", "--workers",
    "--artifact", "--sandbox", "--budget-runs", "--budget-time", "--timeout", "--seed",
    "--no-explain", "--store", "--fresh", "--json", "--help",
};
/* clang-format on */

START_TEST(run_takes_its_flags)
{
    ck_assert_msg(find(&command_run, run_flags[_i]) != NULL, "%s", run_flags[_i]);
}
END_TEST

START_TEST(help_offers_what_there_is)
{
    AUTO(buf_fini) struct buf help = {0};

    command_help(&command_run, &help);
    ck_assert_ptr_nonnull(strstr(buf_str(&help), "bubblewrap"));
    ck_assert_ptr_nonnull(strstr(buf_str(&help), "plain"));
    for (size_t i = 0; i < command_run.n_flags; i++)
        if (command_run.flags[i].type == FLAG_DURATION)
            ck_assert_msg(strstr(command_run.flags[i].help, "plain digits are seconds") != NULL,
                          "%s", command_run.flags[i].name);
}
END_TEST

START_TEST(every_kind_of_metric_is_offered)
{
    static const struct command *const asking[] = {&command_run, &command_compare, &command_submit};

    for (size_t i = 0; i < LEN(asking) * METRIC_KIND_COUNT; i++) {
        const struct command *c = asking[i / METRIC_KIND_COUNT];
        const char *kind = metric_kinds[i % METRIC_KIND_COUNT].name;
        ck_assert_msg(strstr(find(c, "--metric")->help, kind) != NULL, "%s: %s", c->name, kind);
    }
}
END_TEST

START_TEST(commands_are_found_by_one_word_or_two)
{
    static const char *const run[] = {"run", "--good"};
    static const char *const check[] = {"config", "check"};
    static const char *const half[] = {"config", "chek"};
    static const char *const part[] = {"ru"};
    int n = 0;

    ck_assert(command_find(2, run, &n) == &command_run && n == 1);
    ck_assert(command_find(2, check, &n) == &command_config_check && n == 2);
    ck_assert_ptr_null(command_find(2, half, &n));
    ck_assert_ptr_null(command_find(1, check, &n));
    ck_assert_ptr_null(command_find(1, part, &n));
}
END_TEST

/* clang-format off */
static const struct {
    const char *argv[4];
    int want;
} lines[] = {
    {{"--version"}, EXIT_DONE},
    {{"--help"}, EXIT_DONE},
    {{"help", "run"}, EXIT_DONE},
    {{"run", "--help"}, EXIT_DONE},
    {{"show", "--help"}, EXIT_DONE},
    {{"config", "check", "--help"}, EXIT_DONE},
    {{"completion", "bash"}, EXIT_DONE},
    {{"completion", "tcsh"}, EXIT_USAGE},
    {{NULL}, EXIT_USAGE},
    {{"slowsql", "--help"}, EXIT_DONE},
    {{"help", "slowsql"}, EXIT_DONE},
    {{"syscalls", "-h"}, EXIT_DONE},
    {{"slowsql"}, EXIT_USAGE},
    {{"syscalls", "dif"}, EXIT_USAGE},
    {{"import", "/tmp", "--project", "p"}, EXIT_USAGE},
    {{"doctor", "--folder", "/etc/passwd"}, EXIT_USAGE},
    {{"rnu"}, EXIT_USAGE},
    {{"--bogus"}, EXIT_USAGE},
    {{""}, EXIT_USAGE},
    {{"show"}, EXIT_USAGE},
    {{"show", "a", "b"}, EXIT_USAGE},
    {{"run", "--bogus"}, EXIT_USAGE},
    {{"run", "--bad", "HEAD"}, EXIT_USAGE},
    {{"run", "word"}, EXIT_USAGE},
    {{"config", "check"}, EXIT_USAGE},
    {{"export", "x"}, EXIT_USAGE},
    {{"history", "--csv", "--json"}, EXIT_USAGE},
    {{"list", "--store", ""}, EXIT_USAGE},
    {{"list", "--store", "/"}, EXIT_USAGE},
    {{"show", "x", "--store=//"}, EXIT_USAGE},
};
/* clang-format on */

START_TEST(usage_has_its_exit_status)
{
    int argc = 0;

    while (argc < 4 && lines[_i].argv[argc])
        argc++;
    ck_assert_int_eq(cli_main(argc, lines[_i].argv), lines[_i].want);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {every_command_helps_with_an_example, (int)n_commands},
        {every_flag_is_complete_and_unique, (int)n_commands},
        {run_takes_its_flags, LEN(run_flags)},
        {help_offers_what_there_is, 1},
        {every_kind_of_metric_is_offered, 1},
        {commands_are_found_by_one_word_or_two, 1},
        {usage_has_its_exit_status, LEN(lines)},
    };
    return unit_run("command", tests, LEN(tests));
}
