/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "report/explanation.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

static const struct style plain = {.is_utf8 = true, .width = 80};

static void add(struct explanation *v, const char *call, const char *path, double after)
{
    struct difference *d = explanation_add_difference(v);

    d->call = mem_dup(call);
    d->path = mem_dup(path);
    d->group = mem_dup("database");
    d->count[BEFORE] = 2;
    d->count[AFTER] = after;
    d->seconds[BEFORE] = .0005;
    d->seconds[AFTER] = .00015 * after;
    d->share = .0015 * after;
}

static struct explanation *explanation_of_story(void)
{
    struct explanation *v = mem_alloc(sizeof(*v));

    memset(v->culprit.hex, 'a', 40);
    memset(v->parent.hex, 'b', 40);
    v->basis = SHARE_OF_TIME;
    v->explained = .934;
    v->explained_error = .011;
    v->change_s = .117;
    v->is_change_traced = true;
    v->n_plain = 3;
    v->n_counted = 1;
    v->n_timed = 6;
    v->timed = mem_dup("fsync,write");
    add(v, "fsync", "/p/places.sqlite-journal", 404);
    struct resource *r = explanation_add_resource(v);
    r->name = mem_dup("user CPU");
    r->unit = mem_dup("s");
    r->amount[BEFORE] = .010;
    r->amount[AFTER] = .018;
    r->share = .068;
    return v;
}

static void written(const struct explanation *v, enum explanation_length length, struct buf *out)
{
    buf_clear(out);
    explanation_write(v, length, &plain, out);
}

static void has(const struct buf *out, const char *text)
{
    ck_assert_msg(strstr(buf_str(out), text) != NULL, "no \"%s\" in:\n%s", text, buf_str(out));
}

START_TEST(a_short_one_says_how_much_and_what)
{
    AUTO(explanation_free) struct explanation *v = explanation_of_story();
    AUTO(buf_fini) struct buf out = {0};

    written(v, EXPLANATION_SHORT, &out);
    ck_assert_str_eq(
        buf_str(&out),
        "explanation: system calls explain 93 % (± 3) of the change\n"
        "\n"
        "  share  call   calls    time               kind      file\n"
        "   61 %  fsync  2 → 404  0.5000 → 60.60 ms  database  /p/places.sqlite-journal\n"
        "  also        user CPU 10 → 18 ms (7 %)\n");
}
END_TEST

/* Of so many culprits, in these words. */
static const struct {
    size_t n_culprits;
    const char *want;
} culprits[] = {
    {1, ""},
    {2, "explained is aaaaaaaaaa, which changed most; the other culprit is not explained\n"},
    {3, "explained is aaaaaaaaaa, which changed most; the other 2 culprits are not explained\n"},
};

START_TEST(of_several_culprits_one_is_explained)
{
    AUTO(explanation_free) struct explanation *v = explanation_of_story();
    AUTO(buf_fini) struct buf out = {0};

    explanation_write_which(v, culprits[_i].n_culprits, &plain, &out);
    ck_assert_str_eq(buf_str(&out), culprits[_i].want);
}
END_TEST

START_TEST(a_long_one_says_how_it_came_about)
{
    AUTO(explanation_free) struct explanation *v = explanation_of_story();
    AUTO(buf_fini) struct buf out = {0};

    written(v, EXPLANATION_LONG, &out);
    has(&out, "aaaaaaaaaa against its parent bbbbbbbbbb");
    has(&out, "3 untraced, 1 with all calls counted, 6 with calls timed");
    has(&out, "fsync,write");
    has(&out, "+117 ms, the change of the traced runs less what tracing adds");
    v->is_change_traced = false;
    written(v, EXPLANATION_LONG, &out);
    has(&out, "+117 ms, as untraced runs, the books of the kernel and the verdict have it");
}
END_TEST

START_TEST(functions_are_named)
{
    AUTO(explanation_free) struct explanation *v = explanation_of_story();
    AUTO(buf_fini) struct buf out = {0};
    struct symbol *s = explanation_add_symbol(v);

    s->name = mem_dup("words_index");
    s->object = mem_dup("no\x1btes");
    s->seconds[BEFORE] = .01;
    s->seconds[AFTER] = .061;
    s->share = .36;
    written(v, EXPLANATION_SHORT, &out);
    has(&out, "busy in     words_index of no\xEF\xBF\xBDtes 10 → 61 ms (36 %)\n");
}
END_TEST

START_TEST(what_is_left_out_is_counted)
{
    AUTO(explanation_free) struct explanation *v = explanation_of_story();
    AUTO(buf_fini) struct buf out = {0};

    for (int i = 0; i < 6; i++)
        add(v, "write", "/x", 10 - i);
    v->n_left_out = 3;
    written(v, EXPLANATION_SHORT, &out);
    has(&out, "and 5 smaller differences (bisectctl explain shows more)");
    written(v, EXPLANATION_LONG, &out);
    has(&out, "and 3 smaller differences\n");
}
END_TEST

START_TEST(what_is_not_known_is_left_blank)
{
    AUTO(explanation_free) struct explanation *v = explanation_of_story();
    AUTO(buf_fini) struct buf out = {0};

    v->explained = v->explained_error = v->change_s = NAN;
    v->differences[0].share = NAN;
    v->differences[0].seconds[BEFORE] = v->differences[0].seconds[AFTER] = NAN;
    v->resources[0].share = NAN;
    written(v, EXPLANATION_LONG, &out);
    has(&out, "explanation: what differs from the parent\n");
    has(&out, "fsync  2 → 404");
    ck_assert_ptr_null(strstr(buf_str(&out), "nan"));
    ck_assert_ptr_null(strstr(buf_str(&out), "unknown"));
}
END_TEST

START_TEST(no_explanation_says_why)
{
    AUTO(explanation_free) struct explanation *v = explanation_of_story();
    AUTO(buf_fini) struct buf out = {0};

    v->error = mem_dup("the worker has no strace");
    written(v, EXPLANATION_SHORT, &out);
    ck_assert_str_eq(buf_str(&out), "explanation: none, the worker has no strace\n");
}
END_TEST

/* File names come out of a job, hence from anybody. */
START_TEST(names_cannot_break_out)
{
    AUTO(explanation_free) struct explanation *v = explanation_of_story();
    AUTO(buf_fini) struct buf out = {0};

    add(v, "fsync", "/tmp/\x1b[31mred\nnext\xff", 200);
    add(v, "fsync", "/tmp/a/very/long/path/that/takes/more/room/than/there/is/é.sqlite", 100);
    written(v, EXPLANATION_SHORT, &out);
    ck_assert_ptr_null(strchr(buf_str(&out), '\x1b'));
    ck_assert_ptr_null(strstr(buf_str(&out), "\nnext"));
    has(&out, "...");
    has(&out, "/é.sqlite");
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_short_one_says_how_much_and_what, 1},
        {of_several_culprits_one_is_explained, LEN(culprits)},
        {a_long_one_says_how_it_came_about, 1},
        {functions_are_named, 1},
        {what_is_left_out_is_counted, 1},
        {what_is_not_known_is_left_blank, 1},
        {no_explanation_says_why, 1},
        {names_cannot_break_out, 1},
    };

    return unit_run("explanation", tests, LEN(tests));
}
