/* SPDX-License-Identifier: Apache-2.0 */
/** Workers of our own: scripts that tell what they were started with, and then live or die. */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/local.h"
#include "unit/run.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct place {
    char dir[64];
    char *program;
    struct local *local;
};

/* `body` runs after the arguments are written to told-<name>. */
static struct place place_new(const char *body, uint32_t n)
{
    struct place p = {.dir = "/tmp/local-test-XXXXXX"};
    struct err e = {0};

    ck_assert_ptr_nonnull(mkdtemp(p.dir));
    AUTO(mem_free)
    char *script = mem_printf("#!/bin/sh\nfor last; do :; done\necho $$ \"$@\" >%s/new-$last\n"
                              "mv %s/new-$last %s/told-$last\n%s\n",
                              p.dir, p.dir, p.dir, body);
    p.program = path_join(p.dir, "worker");
    ck_assert_msg(!file_write(p.program, script, strlen(script), 0700, &e), "%s", e.text);
    struct local_options o = {
        .program = p.program, .socket = "/s", .data_dir = p.dir, .n_workers = n};
    p.local = local_new(&o);
    return p;
}

static void place_fini(struct place *p)
{
    local_free(p->local);
    (void)!file_remove_tree(p->dir, NULL);
    mem_free(p->program);
}
DEFINE_AUTO_FINI(struct place, place_fini)

static void nap(void)
{
    const struct timespec t = {.tv_nsec = 2 * NS_PER_MS};

    (void)nanosleep(&t, NULL);
}

/* What a worker was started with; waits for it to say so. */
static char *told(const struct place *p, const char *name)
{
    AUTO(mem_free) char *path = mem_printf("%s/told-%s", p->dir, name);
    struct buf text = {0};

    for (int i = 0; i < 5000 && !file_exists(path); i++)
        nap();
    ck_assert(!file_read(path, 10000, &text, NULL));
    return buf_take(&text);
}

static int reap(struct local *l, struct mono now)
{
    int i = -1;

    for (int n = 0; n < 5000 && i < 0; n++, nap())
        i = local_reap(l, now);
    return i;
}

START_TEST(each_is_told_who_it_is)
{
    AUTO(place_fini) struct place p = place_new("exec sleep 1000", 2);
    struct mono due;

    ck_assert(local_deadline(p.local, &due));
    local_start_due(p.local, (struct mono){NS_PER_S});
    ck_assert(!local_deadline(p.local, &due));
    AUTO(mem_free) char *one = told(&p, "local-1");
    AUTO(mem_free)
    char *want = mem_printf(
        " --coordinator unix:/s --work-dir %s/work/1 --artifacts %s/artifacts --name local-1\n",
        p.dir, p.dir);
    ck_assert_msg(strstr(one, want), "%s", one);
    ck_assert(local_has(p.local, "local-0") && !local_has(p.local, "local-2"));
}
END_TEST

START_TEST(one_that_dies_starts_again_after_a_pause_that_grows)
{
    AUTO(place_fini) struct place p = place_new("exit 3", 1);
    struct mono now = {NS_PER_S};
    int64_t pause_ns = 0;

    for (int i = 0; i < 12; i++) {
        struct mono due = {0};
        local_start_due(p.local, now);
        ck_assert_int_eq(reap(p.local, now), 0);
        ck_assert(local_deadline(p.local, &due));
        ck_assert_int_ge(due.ns - now.ns, pause_ns);
        ck_assert_int_le(due.ns - now.ns, 30 * NS_PER_S);
        pause_ns = due.ns - now.ns;
        local_start_due(p.local, now); /* too early */
        ck_assert(local_deadline(p.local, &due));
        now = due;
    }
    ck_assert_int_eq(pause_ns, 30 * NS_PER_S);
}
END_TEST

START_TEST(one_that_lived_long_starts_again_soon)
{
    AUTO(place_fini) struct place p = place_new("exit 3", 1);
    struct mono now = {NS_PER_S};
    struct mono due = {0};

    for (int i = 0; i < 6; i++) {
        local_start_due(p.local, now);
        ck_assert_int_eq(reap(p.local, now), 0);
        ck_assert(local_deadline(p.local, &due));
        now = due;
    }
    local_start_due(p.local, now);
    now.ns += 60 * NS_PER_S;
    ck_assert_int_eq(reap(p.local, now), 0);
    ck_assert(local_deadline(p.local, &due));
    ck_assert_int_lt(due.ns - now.ns, NS_PER_S);
}
END_TEST

START_TEST(a_program_that_is_not_there_is_tried_again)
{
    struct local_options o = {.program = "/nowhere/worker",
                              .socket = "/s",
                              .data_dir = "/tmp/local-test-none",
                              .n_workers = 1};
    AUTO(local_free) struct local *l = local_new(&o);
    struct mono due = {0};

    local_start_due(l, (struct mono){NS_PER_S});
    ck_assert(local_deadline(l, &due));
    ck_assert_int_gt(due.ns, NS_PER_S);
    ck_assert_int_eq(local_reap(l, due), -1);
    (void)!file_remove_tree("/tmp/local-test-none", NULL);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *body;
} stubborn[] = {
    {"one that obeys",     "exec sleep 1000"},
    {"one that will not",  "trap '' TERM\nwhile :; do :; done"},
};
/* clang-format on */

START_TEST(stopping_ends_them_all)
{
    AUTO(place_fini) struct place p = place_new(stubborn[_i].body, 1);
    struct mono due;

    local_start_due(p.local, (struct mono){NS_PER_S});
    AUTO(mem_free) char *text = told(&p, "local-0");
    local_stop(p.local, 100 * NS_PER_MS);
    ck_assert_msg(kill((pid_t)atoi(text), 0) < 0, "%s", stubborn[_i].name);
    local_start_due(p.local, (struct mono){INT64_MAX});
    ck_assert(!local_deadline(p.local, &due));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {each_is_told_who_it_is, 1},
        {one_that_dies_starts_again_after_a_pause_that_grows, 1},
        {one_that_lived_long_starts_again_soon, 1},
        {a_program_that_is_not_there_is_tried_again, 1},
        {stopping_ends_them_all, LEN(stubborn)},
    };

    log_setup("local_test", LOG_ERROR, false);
    return unit_run("engine/local", tests, LEN(tests));
}
