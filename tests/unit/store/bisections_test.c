/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

START_TEST(what_was_asked_is_read_back)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(request_free) struct request *r = request_of("demo");
    AUTO(bisection_row_free) struct bisection_row *b = NULL;
    struct id id;
    r->seed = (UINT64_C(1) << 53) - 1;
    OK(store_bisection_create(p.store, r, noon, &id, e));
    ck_assert(id_is_valid(id.text));
    OK(store_bisection_load(p.store, id.text, &b, e));

    AUTO(json_free) json *want = request_to_json(r);
    AUTO(json_free) json *have = request_to_json(b->request);
    AUTO(mem_free) char *want_text = column_of_json(want);
    AUTO(mem_free) char *have_text = column_of_json(have);
    ck_assert_str_eq(have_text, want_text);
    ck_assert_int_eq(b->state, BISECTION_QUEUED);
    ck_assert_str_eq(b->request_key.hex, request_key(r).hex);
    ck_assert_str_eq(b->build_key.hex, project_build_key(r->project).hex);
    ck_assert_str_eq(b->measure_key.hex, project_measure_key(r->project, request_metric(r)).hex);
    ck_assert_int_eq(b->created.ns, noon.ns);
    ck_assert_int_eq(b->finished.ns, 0);
    ck_assert_ptr_null(b->verdict);
}
END_TEST

START_TEST(the_same_question_is_found_until_it_is_finished)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(request_free) struct request *r = request_of("demo");
    struct digest key = request_key(r);
    struct id id, found;
    FAILS(store_bisection_find(p.store, &key, &found, e), ERR_NOT_FOUND, "");
    OK(store_bisection_create(p.store, r, noon, &id, e));
    OK(store_bisection_find(p.store, &key, &found, e));
    ck_assert_str_eq(found.text, id.text);
    FAILS(store_bisection_create(p.store, r, noon, &found, e), ERR_CONFLICT, "same question");

    OK(store_bisection_set_state(p.store, id.text, BISECTION_CANCELED, "by hand", utc_at(9), e));
    FAILS(store_bisection_find(p.store, &key, &found, e), ERR_NOT_FOUND, "");
    OK(store_bisection_create(p.store, r, noon, &found, e));
    ck_assert_str_ne(found.text, id.text);
}
END_TEST

enum { Q = BISECTION_QUEUED, S = BISECTION_RESOLVING, R = BISECTION_RUNNING };
enum { D = BISECTION_DONE, C = BISECTION_CANCELED };
/* clang-format off */
static const struct {
    const char *name;
    int path[4]; /* from queued; -1 ends; the last step is the one judged */
    enum err_code want;
} steps[] = {
    {"resolving, running, done",       {S, R, D, -1}, ERR_OK},
    {"canceled while running",         {S, R, C, -1}, ERR_OK},
    {"canceled while queued",          {C, -1},       ERR_OK},
    {"failed while resolving",         {S, D, -1},    ERR_OK},
    {"again what it is",               {S, S, -1},    ERR_OK},
    {"done once more",                 {D, D, -1},    ERR_OK},
    {"back from running",              {R, S, -1},    ERR_CONFLICT},
    {"back to queued",                 {S, Q, -1},    ERR_CONFLICT},
    {"canceled when done",             {D, C, -1},    ERR_CONFLICT},
    {"running when canceled",          {C, R, -1},    ERR_CONFLICT},
};
/* clang-format on */

START_TEST(states_follow_the_diagram)
{
    AUTO(place_fini) struct place p = place_new();
    struct id id = bisection_in(&p, "demo");
    for (int i = 0; steps[_i].path[i] >= 0; i++) {
        bool is_last = steps[_i].path[i + 1] < 0;
        struct err e = {0};
        enum err_code code = store_bisection_set_state(
            p.store, id.text, (enum bisection_state)steps[_i].path[i], NULL, noon, &e);
        ck_assert_msg(code == (is_last ? steps[_i].want : ERR_OK), "%s: %s", steps[_i].name,
                      e.text);
    }
}
END_TEST

START_TEST(the_end_is_dated_and_messages_stay)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(bisection_row_free) struct bisection_row *b = NULL;
    struct id id = bisection_in(&p, "demo");
    OK(store_bisection_use(p.store, id.text, 3 * NS_PER_S, e));
    OK(store_bisection_use(p.store, id.text, 4 * NS_PER_S, e));
    OK(store_bisection_set_state(p.store, id.text, BISECTION_DONE, "no culprit", utc_at(5), e));
    OK(store_bisection_set_state(p.store, id.text, BISECTION_DONE, NULL, utc_at(50), e));
    OK(store_bisection_load(p.store, id.text, &b, e));
    ck_assert_int_eq(b->used_ns, 7 * NS_PER_S);
    ck_assert_int_eq(b->finished.ns, utc_at(5).ns);
    ck_assert_str_eq(b->message, "no culprit");
    FAILS(store_bisection_use(p.store, "nosuch", 1, e), ERR_NOT_FOUND, "nosuch");
    FAILS(store_bisection_set_state(p.store, "nosuch", BISECTION_DONE, NULL, noon, e),
          ERR_NOT_FOUND, "nosuch");
}
END_TEST

START_TEST(pages_newest_first)
{
    AUTO(place_fini) struct place p = place_new();
    struct id ids[5];
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%d", i);
        ids[i] = bisection_in(&p, name);
    }
    const char *after = NULL;
    int seen = 5;
    for (bool has_more = true; has_more;) {
        AUTO(bisection_list_fini) struct bisection_list l = {0};
        OK(store_bisection_list(p.store, KIND_BISECTION, 2, after, &l, e));
        for (size_t i = 0; i < l.n; i++)
            ck_assert_str_eq(l.items[i]->id.text, ids[--seen].text);
        after = ids[seen].text;
        has_more = l.has_more;
    }
    ck_assert_int_eq(seen, 0);
    AUTO(bisection_list_fini) struct bisection_list l = {0};
    FAILS(store_bisection_list(p.store, KIND_BISECTION, 2, "nosuch", &l, e), ERR_NOT_FOUND,
          "nosuch");
}
END_TEST

START_TEST(unfinished_ones_come_with_their_requests)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(bisection_list_fini) struct bisection_list l = {0};
    struct id first = bisection_in(&p, "a");
    struct id done = bisection_in(&p, "b");
    struct id running = bisection_in(&p, "c");
    OK(store_bisection_set_state(p.store, done.text, BISECTION_DONE, NULL, noon, e));
    OK(store_bisection_set_state(p.store, running.text, BISECTION_RUNNING, NULL, noon, e));
    OK(store_bisection_unfinished(p.store, &l, e));
    ck_assert_uint_eq(l.n, 2);
    ck_assert_str_eq(l.items[0]->id.text, first.text);
    ck_assert_str_eq(l.items[1]->request->project->name, "c");
}
END_TEST

/** A line of `n` commits, good first. */
static struct range *line_of(uint32_t n)
{
    struct range *r = mem_alloc(sizeof(*r));
    r->n = n;
    r->n_candidates = n - 1;
    r->bad = n - 1;
    r->good_is_ancestor = true;
    r->commits = mem_array(n, sizeof(*r->commits));
    for (uint32_t i = 0; i < n; i++) {
        struct commit *c = &r->commits[i];
        snprintf(c->id.hex, sizeof(c->id.hex), "%040x", i + 1);
        snprintf(c->tree.hex, sizeof(c->tree.hex), "%040x", i + 100000);
        c->subject = mem_printf("change %u", i);
        c->author = mem_dup("A <a@b>");
        c->is_candidate = i > 0;
        c->is_mainline = c->matters = true;
        if (i > 0) {
            c->n_parents = 1;
            c->parents = mem_array(1, sizeof(*c->parents));
            c->parents[0] = i - 1;
        }
    }
    return r;
}

START_TEST(a_range_is_read_back)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(range_free) struct range *r = line_of(5000);
    AUTO(range_free) struct range *back = NULL;
    struct id id = bisection_in(&p, "demo");
    FAILS(store_range_get(p.store, id.text, &back, e), ERR_NOT_FOUND, id.text);
    FAILS(store_range_put(p.store, "nosuch", r, e), ERR_NOT_FOUND, "nosuch");
    OK(store_range_put(p.store, id.text, r, e));
    OK(store_range_put(p.store, id.text, r, e));
    OK(store_range_get(p.store, id.text, &back, e));
    AUTO(json_free) json *want = range_to_json(r);
    AUTO(json_free) json *have = range_to_json(back);
    AUTO(mem_free) char *want_text = column_of_json(want);
    AUTO(mem_free) char *have_text = column_of_json(have);
    ck_assert_str_eq(have_text, want_text);
    ck_assert_int_lt(place_count(&p, "SELECT length(zstd) FROM ranges"),
                     (int64_t)strlen(want_text) / 3);
}
END_TEST

START_TEST(a_damaged_range_is_an_error)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(range_free) struct range *r = line_of(3);
    AUTO(range_free) struct range *back = NULL;
    struct id id = bisection_in(&p, "demo");
    OK(store_range_put(p.store, id.text, r, e));
    place_meddle(&p, "UPDATE ranges SET zstd = x'0102030405'");
    struct err e = {0};
    ck_assert_int_ne(store_range_get(p.store, id.text, &back, &e), ERR_OK);
    ck_assert_msg(strstr(e.text, id.text), "%s", e.text);
}
END_TEST

START_TEST(events_are_numbered_without_gaps)
{
    AUTO(place_fini) struct place p = place_new();
    struct id a = bisection_in(&p, "a"), b = bisection_in(&p, "b");
    AUTO(json_free) json *payload = json_put(json_new_object(), "n", json_new_int(7));
    int64_t seq = 0;
    OK(store_event_append(p.store, a.text, "started", payload, noon, &seq, e));
    ck_assert_int_eq(seq, 1);
    OK(store_event_append(p.store, b.text, "started", NULL, noon, &seq, e));
    ck_assert_int_eq(seq, 1);
    OK(store_event_append(p.store, a.text, "result", NULL, utc_at(1), &seq, e));
    ck_assert_int_eq(seq, 2);
    FAILS(store_event_append(p.store, "nosuch", "started", NULL, noon, &seq, e), ERR_NOT_FOUND,
          "nosuch");

    AUTO(event_list_fini) struct event_list all = {0};
    AUTO(event_list_fini) struct event_list later = {0};
    OK(store_event_list(p.store, a.text, 0, &all, e));
    ck_assert_uint_eq(all.n, 2);
    ck_assert_int_eq(json_int(json_at(all.items[0].payload, "n"), 0), 7);
    ck_assert_ptr_null(all.items[1].payload);
    OK(store_event_list(p.store, a.text, 1, &later, e));
    ck_assert_uint_eq(later.n, 1);
    ck_assert_str_eq(later.items[0].kind, "result");
    ck_assert_int_eq(later.items[0].at.ns, utc_at(1).ns);
}
END_TEST

START_TEST(ids_can_be_typed_and_do_not_repeat)
{
    enum { N = 300 };
    static struct id ids[N];
    for (size_t i = 0; i < N; i++) {
        ids[i] = id_new();
        ck_assert(id_is_valid(ids[i].text));
        ck_assert_ptr_null(strpbrk(ids[i].text, "aeiou01l"));
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(ids[i].text, ids[k].text);
    }
    ck_assert(!id_is_valid("") && !id_is_valid("bcdfghjkm") && !id_is_valid("bcdfghjkmA"));
    ck_assert(!id_is_valid("bcdfghjkmnp") && !id_is_valid("../../../x"));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {what_was_asked_is_read_back, 1},
        {the_same_question_is_found_until_it_is_finished, 1},
        {states_follow_the_diagram, LEN(steps)},
        {the_end_is_dated_and_messages_stay, 1},
        {pages_newest_first, 1},
        {unfinished_ones_come_with_their_requests, 1},
        {a_range_is_read_back, 1},
        {a_damaged_range_is_an_error, 1},
        {events_are_numbered_without_gaps, 1},
        {ids_can_be_typed_and_do_not_repeat, 1},
    };
    return unit_run("bisections", tests, LEN(tests));
}
