/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "cli/rehearsal.h"
#include "unit/run.h"
#include <string.h>

enum { LINE = 128 };

/* good and then LINE candidates, each the child of the one before. */
static struct range *line(void)
{
    struct range *r = mem_alloc(sizeof(*r));

    r->n = LINE + 1;
    r->commits = mem_array(r->n, sizeof(*r->commits));
    for (uint32_t i = 0; i < r->n; i++) {
        struct commit *c = &r->commits[i];
        AUTO(mem_free) char *hex = mem_printf("%08x%032x", i * 2654435761u, i);
        AUTO(mem_free) char *tree = mem_printf("%08x%032x", i * 40503u + 7, i);
        memcpy(c->id.hex, hex, 40);
        memcpy(c->tree.hex, tree, 40);
        c->subject = mem_dup("s");
        c->author = mem_dup("a");
        c->parents = mem_array(1, sizeof(*c->parents));
        c->n_parents = i > 0;
        c->parents[0] = i ? i - 1 : 0;
        c->is_candidate = i > 0;
        c->is_mainline = c->matters = true;
    }
    r->n_candidates = LINE;
    r->bad = LINE;
    r->good_is_ancestor = true;
    return r;
}

static struct request *question(void)
{
    struct project *p = project_new("p", "/r");
    struct metric *m = metric_new("m", METRIC_VALUE);

    m->command = mem_dup("true");
    project_add_metric(p, m);
    struct request *r = request_new(p);
    r->good = mem_dup("a");
    r->bad = mem_dup("b");
    return r;
}

START_TEST(the_first_test_halves_the_line)
{
    AUTO(range_free) struct range *range = line();
    AUTO(request_free) struct request *q = question();
    struct rehearsal r = {.culprit = 10, .n_workers = 1, .only_opening = true};
    struct rehearsed got;
    struct err e = {0};

    ck_assert_msg(rehearse(q, range, &r, &got, &e) == ERR_OK, "%s", e.text);
    ck_assert_uint_ge(got.n_next, 1);
    uint32_t at = range_find(range, &got.next[0]);
    ck_assert_msg(at >= LINE / 2 - 2 && at <= LINE / 2 + 2, "it tests %u first", at);
}
END_TEST

/* 7 halvings of 128; two ends; fresh builds of culprit and parent. */
START_TEST(a_whole_game_costs_what_halving_costs)
{
    AUTO(range_free) struct range *range = line();
    AUTO(request_free) struct request *q = question();
    struct rehearsal r = {.culprit = (uint32_t)_i * 31 + 5, .n_workers = 1};
    struct rehearsed got;
    struct err e = {0};

    ck_assert_msg(rehearse(q, range, &r, &got, &e) == ERR_OK, "%s", e.text);
    ck_assert_msg(got.n_builds >= 9 && got.n_builds <= 7 + 2 + 2 + 1, "%u builds", got.n_builds);
    ck_assert_msg(got.n_runs >= got.n_builds && got.n_runs <= 40, "%u runs", got.n_runs);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {the_first_test_halves_the_line, 1},
        {a_whole_game_costs_what_halving_costs, 4},
    };
    return unit_run("rehearsal", tests, LEN(tests));
}
