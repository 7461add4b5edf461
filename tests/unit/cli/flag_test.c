/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/flag.h"
#include "unit/run.h"
#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct options, member)
static const char *const directions[] = {"up", "down", NULL};

/* clang-format off */
static const struct flag flags[] = {
    {"--good",        "REV", FLAG_TEXT,        AT(good),        "a revision",  NULL, 0, 0},
    {"--build",       "CMD", FLAG_LIST,        AT(build),       "a step",      NULL, 0, 0},
    {"--worse",       "DIR", FLAG_CHOICE,      AT(worse),       "direction",   directions, 0, 0},
    {"--workers",     "N",   FLAG_COUNT,       AT(workers),     "workers",     NULL, 1, 64},
    {"--seed",        "S",   FLAG_SEED,        AT(seed),        "seed",        NULL, 0, 0},
    {"--confidence",  "P",   FLAG_PROBABILITY, AT(confidence),  "how sure",    NULL, 0, 0},
    {"--min-effect",  "PCT", FLAG_PERCENT,     AT(min_effect),  "effect",      NULL, 0, 0},
    {"--budget-time", "DUR", FLAG_DURATION,    AT(budget_ns),   "time",        NULL, 0, 0},
    {"--json",        NULL,  FLAG_SWITCH,      AT(json),        "json",        NULL, 0, 0},
    {"--help",        NULL,  FLAG_SWITCH,      AT(help),        "help",        NULL, 0, 0},
};

/* One argument or two that are refused, and what the message must name. */
static const struct {
    const char *name;
    const char *argv[2];
    const char *text;
    const char *hint;
} refused[] = {
    {"a misspelt flag",               {"--god", "x"},              "unknown flag --god",   "Did you mean --good?"},
    {"a flag nothing is near to",     {"--quux"},                  "unknown flag --quux",  "--help"},
    {"a short flag",                  {"-x"},                      "unknown flag -x",      ""},
    {"no value",                      {"--good"},                  "--good needs a value", ""},
    {"a flag in place of a value",    {"--good", "--json"},        "--json is a flag",     "--good=--json"},
    {"a value for a switch",          {"--json=yes"},              "takes no value",       ""},
    {"no such choice",                {"--worse", "sideways"},     "one of up, down",      ""},
    {"too few",                       {"--workers", "0"},          "from 1 to 64",         ""},
    {"too many",                      {"--workers", "65"},         "from 1 to 64",         ""},
    {"not a number",                  {"--workers", "many"},       "from 1 to 64",         ""},
    {"trailing text",                 {"--workers", "2x"},         "from 1 to 64",         ""},
    {"a negative seed",               {"--seed", "-1"},            "whole number",         ""},
    {"a seed past 2^53",              {"--seed", "9007199254740992"}, "2^53",              ""},
    {"a seed past 2^64",              {"--seed", "99999999999999999999"}, "2^53",          ""},
    {"an empty seed",                 {"--seed", ""},              "whole number",         ""},
    {"certainty",                     {"--confidence", "1"},       "such as .99",          ""},
    {"percent without a sign",        {"--confidence", "99"},      "such as .99",          ""},
    {"a coin toss",                   {"--confidence", ".5"},      "such as .99",          ""},
    {"no number",                     {"--confidence", "nan"},     "such as .99",          ""},
    {"an empty probability",          {"--confidence", ""},        "such as .99",          ""},
    {"a negative effect",             {"--min-effect", "-2"},      "percentage",           ""},
    {"two percent signs",             {"--min-effect", "2%%"},     "percentage",           ""},
    {"no unit of time we know",       {"--budget-time", "5 parsecs"}, "duration",          ""},
    {"no time at all",                {"--budget-time", "0"},      "duration",             ""},
    {"a negative time",               {"--budget-time", "-5m"},    "duration",             ""},
};
/* clang-format on */

START_TEST(mistakes_are_named)
{
    AUTO(options_fini) struct options o;
    struct err e = {0};
    int argc = refused[_i].argv[1] ? 2 : 1;

    options_init(&o);
    ck_assert_msg(flags_parse(flags, LEN(flags), argc, refused[_i].argv, &o, &e) == ERR_INVALID,
                  "%s", refused[_i].name);
    ck_assert_msg(strstr(e.text, refused[_i].text) != NULL, "%s: %s", refused[_i].name, e.text);
    ck_assert_msg(strstr(e.hint, refused[_i].hint) != NULL, "%s: %s", refused[_i].name, e.hint);
}
END_TEST

START_TEST(all_types_are_read)
{
    static const char *const argv[] = {
        "--good=v1.0=rc", "--build", "./configure",  "--build", "make",          "--worse",
        "down",           "word",    "--workers",    "4",       "--seed",        "9007199254740991",
        "--confidence",   "99.9%",   "--min-effect", "2%",      "--budget-time", "1h30m",
        "--json",         "--",      "--good"};
    AUTO(options_fini) struct options o;
    struct err e = {0};

    options_init(&o);
    ck_assert_msg(flags_parse(flags, LEN(flags), LEN(argv), argv, &o, &e) == ERR_OK, "%s", e.text);
    ck_assert_str_eq(o.good, "v1.0=rc");
    ck_assert_uint_eq(o.build.n, 2);
    ck_assert_str_eq(o.build.items[1], "make");
    ck_assert_str_eq(o.worse, "down");
    ck_assert_int_eq(o.workers, 4);
    ck_assert(o.has_seed && o.seed == UINT64_C(9007199254740991));
    ck_assert_double_eq_tol(o.confidence, .999, 1e-12);
    ck_assert_double_eq_tol(o.min_effect, 2, 1e-12);
    ck_assert_int_eq(o.budget_ns, INT64_C(5400) * 1000000000);
    ck_assert(o.json);
    ck_assert_uint_eq(o.n_words, 2);
    ck_assert_str_eq(o.words[0], "word");
    ck_assert_str_eq(o.words[1], "--good");
}
END_TEST

START_TEST(the_last_of_a_repeated_flag_counts)
{
    static const char *const argv[] = {"--good",       "a", "--good",       "b",
                                       "--min-effect", "3", "--confidence", ".9"};
    AUTO(options_fini) struct options o;
    struct err e = {0};

    options_init(&o);
    ck_assert(flags_parse(flags, LEN(flags), LEN(argv), argv, &o, &e) == ERR_OK);
    ck_assert_str_eq(o.good, "b");
    ck_assert_double_eq_tol(o.min_effect, 3, 1e-12);
    ck_assert_double_eq_tol(o.confidence, .9, 1e-12);
}
END_TEST

START_TEST(too_many_words_are_refused)
{
    static const char *argv[OPTIONS_WORDS + 1];
    AUTO(options_fini) struct options o;
    struct err e = {0};

    for (size_t i = 0; i < OPTIONS_WORDS; i++)
        argv[i] = "a";
    argv[OPTIONS_WORDS] = "e";
    options_init(&o);
    ck_assert(flags_parse(flags, LEN(flags), OPTIONS_WORDS, argv, &o, &e) == ERR_OK);
    options_init(&o);
    ck_assert(flags_parse(flags, LEN(flags), OPTIONS_WORDS + 1, argv, &o, &e) == ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(e.text, "\"e\""));
}
END_TEST

START_TEST(help_has_a_line_for_each_flag)
{
    AUTO(buf_fini) struct buf out = {0};

    flags_help(flags, LEN(flags), &out);
    for (size_t i = 0; i < LEN(flags); i++)
        ck_assert_msg(strstr(buf_str(&out), flags[i].name) != NULL, "%s", flags[i].name);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "  --good REV            a revision\n"));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {mistakes_are_named, LEN(refused)},      {all_types_are_read, 1},
        {the_last_of_a_repeated_flag_counts, 1}, {too_many_words_are_refused, 1},
        {help_has_a_line_for_each_flag, 1},
    };
    return unit_run("flag", tests, LEN(tests));
}
