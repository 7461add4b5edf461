/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "queue/pick.h"
#include "unit/run.h"
#include <stdio.h>
#include <string.h>

/** "a b c" as a list. */
static struct strings words(const char *text)
{
    struct strings list = {0};
    AUTO(mem_free) char *copy = mem_dup(text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        strings_add(&list, word);
    return list;
}

enum { MAX_TASKS = 4, MAX_OTHERS = 3 };
#define NONE SIZE_MAX
#define LONG (60 * NS_PER_S)

struct task {
    const char *bisection;
    const char *platform, *tags, *failed_by;
    uint32_t n_leased;
    int64_t waited_ns;
};

/* The worker that asks is "w" on linux-x64 with tags "big ssd". Tasks are in order of age. */
/* clang-format off */
static const struct {
    const char *name;
    struct task tasks[MAX_TASKS];
    const char *others[MAX_OTHERS]; /* live workers, on linux-x64 without tags */
    size_t want;
} rows[] = {
    {"nothing queued, nothing given", {{0}}, {0}, NONE},
    {"the oldest comes first",
        {{"a", "linux-x64", "", "", 0, 0}, {"a", "linux-x64", "", "", 0, 0}}, {0}, 0},
    {"another platform is left alone",
        {{"a", "windows", "", "", 0, 0}, {"a", "linux-x64", "", "", 0, 0}}, {0}, 1},
    {"no task of its platform", {{"a", "macos", "", "", 0, 0}}, {0}, NONE},
    {"all tags asked for must be there",
        {{"a", "linux-x64", "big gpu", "", 0, 0}, {"a", "linux-x64", "big", "", 0, 0}}, {0}, 1},
    {"tags not asked for do no harm", {{"a", "linux-x64", "ssd", "", 0, 0}}, {0}, 0},
    {"fewest leased first, then age",
        {{"a", "linux-x64", "", "", 2, 0}, {"b", "linux-x64", "", "", 1, 0}, {"c", "linux-x64", "", "", 1, 0}},
        {0}, 1},
    {"a task it failed comes after one it did not",
        {{"a", "linux-x64", "", "w", 0, LONG}, {"b", "linux-x64", "", "", 5, 0}}, {0}, 1},
    {"a task it failed waits for another worker",
        {{"a", "linux-x64", "", "w", 0, 0}}, {"v"}, NONE},
    {"not for ever", {{"a", "linux-x64", "", "w", 0, PICK_GRACE_NS}}, {"v"}, 0},
    {"nobody else is there", {{"a", "linux-x64", "", "w", 0, 0}}, {0}, 0},
    {"itself is nobody else", {{"a", "linux-x64", "", "w", 0, 0}}, {"w"}, 0},
    {"the others failed it too", {{"a", "linux-x64", "", "w v", 0, 0}}, {"w", "v"}, 0},
    {"one of the others has not",  {{"a", "linux-x64", "", "w v", 0, 0}}, {"w", "v", "u"}, NONE},
    {"the others lack the tag", {{"a", "linux-x64", "big", "w", 0, 0}}, {"v"}, 0},
    {"failed by another is nothing to it", {{"a", "linux-x64", "", "v", 0, 0}}, {"v", "u"}, 0},
};
/* clang-format on */

START_TEST(picks)
{
    struct waiting tasks[MAX_TASKS];
    struct strings tags[MAX_TASKS] = {0}, failed_by[MAX_TASKS] = {0};
    struct hand others[MAX_OTHERS];
    AUTO(strings_fini) struct strings own_tags = words("big ssd");
    const struct hand self = {.name = "w", .platform = "linux-x64", .tags = &own_tags};
    size_t n_tasks = 0, n_others = 0;

    for (; n_tasks < MAX_TASKS && rows[_i].tasks[n_tasks].bisection; n_tasks++) {
        const struct task *t = &rows[_i].tasks[n_tasks];
        tags[n_tasks] = words(t->tags);
        failed_by[n_tasks] = words(t->failed_by);
        tasks[n_tasks] = (struct waiting){.order = (int64_t)n_tasks + 10,
                                          .bisection = t->bisection,
                                          .platform = t->platform,
                                          .tags = &tags[n_tasks],
                                          .failed_by = &failed_by[n_tasks],
                                          .n_leased = t->n_leased,
                                          .waited_ns = t->waited_ns};
    }
    for (; n_others < MAX_OTHERS && rows[_i].others[n_others]; n_others++)
        others[n_others] =
            (struct hand){.name = rows[_i].others[n_others], .platform = "linux-x64"};

    ck_assert_msg(pick_task(tasks, n_tasks, &self, others, n_others) == rows[_i].want, "%s",
                  rows[_i].name);
    for (size_t i = 0; i < n_tasks; i++) {
        strings_fini(&tags[i]);
        strings_fini(&failed_by[i]);
    }
}
END_TEST

/* Three bisections with many tasks each and six workers: two each, whatever the order of arrival.
 */
START_TEST(shares_workers_between_bisections)
{
    enum { N = 60, WORKERS = 6 };
    static const char *const names[] = {"a", "b", "c"};
    struct waiting tasks[N];
    uint32_t n_leased[3] = {0};
    bool is_taken[N] = {false};
    const struct hand self = {.name = "w", .platform = "p"};

    for (int given = 0; given < WORKERS; given++) {
        size_t n = 0, index[N];
        for (size_t i = 0; i < N; i++) {
            if (is_taken[i])
                continue;
            index[n] = i;
            tasks[n++] = (struct waiting){.order = (int64_t)i,
                                          .bisection = names[i / 20],
                                          .platform = "p",
                                          .n_leased = n_leased[i / 20]};
        }
        size_t got = pick_task(tasks, n, &self, NULL, 0);
        ck_assert_uint_lt(got, n);
        is_taken[index[got]] = true;
        n_leased[index[got] / 20]++;
    }
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(n_leased[i], 2);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {picks, LEN(rows)},
        {shares_workers_between_bisections, 1},
    };
    return unit_run("pick", tests, LEN(tests));
}
