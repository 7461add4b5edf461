/* SPDX-License-Identifier: Apache-2.0 */
/** What lies beside the database: logs, artifacts, the admin token. And the small tables. */
#include "fixture.h"
#include "store/answers.h"
#include "store/artifacts.h"
#include "store/derived.h"
#include "store/logs.h"
#include "store/tokens.h"
#include <sys/stat.h>

/* ---- logs ---- */

static char *log_path(const struct place *p, const char *text)
{
    struct digest d = hash_of(text, strlen(text));
    return mem_printf("%s/logs/%.2s/%s.zst", p->dir, d.hex, d.hex);
}

START_TEST(a_log_is_read_back)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    struct id t = task_in(&p, &b, 0);
    AUTO(lease_row_fini) struct lease_row l = lease_in(&p, "w1", 0);
    AUTO(buf_fini) struct buf back = {0};

    FAILS(store_log_get(p.store, t.text, &back, e), ERR_NOT_FOUND, t.text);
    OK(store_log_put(p.store, l.id.text, l.tenure.fence, "first", 5, noon, e));
    accept_in(&p, &l);
    OK(store_log_put(p.store, l.id.text, l.tenure.fence, "a\0b", 3, noon, e));
    OK(store_log_put(p.store, l.id.text, l.tenure.fence, "a\0b", 3, noon, e));
    place_reopen(&p);
    OK(store_log_get(p.store, t.text, &back, e));
    ck_assert_uint_eq(back.len, 3);
    ck_assert_int_eq(memcmp(back.data, "a\0b", 3), 0);
    AUTO(task_row_free) struct task_row *row = NULL;
    OK(store_task_load(p.store, t.text, &row, e));
    ck_assert(row->has_log);
}
END_TEST

START_TEST(an_empty_log_is_a_log)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    struct id t = task_in(&p, &b, 0);
    AUTO(lease_row_fini) struct lease_row l = lease_in(&p, "w1", 0);
    AUTO(buf_fini) struct buf back = {0};
    OK(store_log_put(p.store, l.id.text, l.tenure.fence, "", 0, noon, e));
    OK(store_log_get(p.store, t.text, &back, e));
    ck_assert_uint_eq(back.len, 0);
}
END_TEST

START_TEST(logs_are_capped_and_fenced)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    struct id t = task_in(&p, &b, 0);
    AUTO(lease_row_fini) struct lease_row l = lease_in(&p, "w1", 0);
    AUTO(mem_free) char *big = mem_alloc(LOG_MAX_BYTES + 1);
    AUTO(buf_fini) struct buf back = {0};

    FAILS(store_log_put(p.store, l.id.text, l.tenure.fence, big, LOG_MAX_BYTES + 1, noon, e),
          ERR_LIMIT, "over the limit");
    OK(store_log_put(p.store, l.id.text, l.tenure.fence, big, LOG_MAX_BYTES, noon, e));
    OK(store_log_get(p.store, t.text, &back, e));
    ck_assert_uint_eq(back.len, LOG_MAX_BYTES);
    FAILS(store_log_put(p.store, l.id.text, l.tenure.fence + 1, "x", 1, noon, e), ERR_CONFLICT,
          "fence");
    FAILS(store_log_put(p.store, "nosuch", 1, "x", 1, noon, e), ERR_NOT_FOUND, "nosuch");
    OK(store_task_cancel_all(p.store, b.text, noon, e));
    FAILS(store_log_put(p.store, l.id.text, l.tenure.fence, "x", 1, noon, e), ERR_CONFLICT,
          "not needed");
}
END_TEST

START_TEST(an_altered_log_is_noticed)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    struct id t = task_in(&p, &b, 0);
    AUTO(lease_row_fini) struct lease_row l = lease_in(&p, "w1", 0);
    AUTO(mem_free) char *one = log_path(&p, "one");
    AUTO(mem_free) char *two = log_path(&p, "two");
    AUTO(buf_fini) struct buf back = {0};
    OK(store_log_put(p.store, l.id.text, l.tenure.fence, "two", 3, noon, e));
    OK(store_log_put(p.store, l.id.text, l.tenure.fence, "one", 3, noon, e));
    ck_assert_int_eq(rename(two, one), 0);
    FAILS(store_log_get(p.store, t.text, &back, e), ERR_IO, "not what was written");
    OK(file_write(one, "junk", 4, 0600, e));
    FAILS(store_log_get(p.store, t.text, &back, e), ERR_IO, "not what was written");
    ck_assert_uint_eq(back.len, 0);
    ck_assert_int_eq(unlink(one), 0);
    struct err e = {0};
    ck_assert_int_ne(store_log_get(p.store, t.text, &back, &e), ERR_OK);
}
END_TEST

/* ---- artifacts ---- */

/* clang-format off */
static const struct {
    const char *name;
    bool is_valid;
} names[] = {
    {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", true},
    {"0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", false},
    {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde", false},
    {"../../../../../../../../../../../../../../../../../../etc/passwd", false},
    {"", false},
};
/* clang-format on */

START_TEST(artifact_names_are_hashes_and_nothing_else)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(mem_free) char *path = store_artifact_path(p.store, names[_i].name);
    ck_assert_int_eq(artifact_name_is_valid(names[_i].name), names[_i].is_valid);
    ck_assert_int_eq(path != NULL, names[_i].is_valid);
    ck_assert(!store_artifact_exists(p.store, names[_i].name));
    FAILS(store_artifact_note(p.store, names[_i].name, noon, e),
          names[_i].is_valid ? ERR_NOT_FOUND : ERR_INVALID, "artifact");
}
END_TEST

START_TEST(an_artifact_that_is_there_is_noted)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(mem_free) char *path = store_artifact_path(p.store, names[0].name);
    AUTO(mem_free) char *folder = path_join(p.dir, "artifacts/01");
    OK(file_mkdirs(folder, 0700, e));
    OK(file_write(path, "12345", 5, 0600, e));
    ck_assert(store_artifact_exists(p.store, names[0].name));
    OK(store_artifact_note(p.store, names[0].name, utc_at(5), e));
    OK(store_artifact_note(p.store, names[0].name, utc_at(3), e));
    ck_assert_int_eq(place_count(&p, "SELECT bytes FROM artifacts"), 5);
    ck_assert_int_eq(place_count(&p, "SELECT used_ns FROM artifacts"), utc_at(5).ns);
}
END_TEST

/* ---- tokens ---- */

START_TEST(the_admin_token_is_made_once)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(mem_free) char *path = path_join(p.dir, "admin.token");
    AUTO(buf_fini) struct buf first = {0};
    AUTO(buf_fini) struct buf second = {0};
    char role[32];
    bool was_made = false;
    struct stat st;

    OK(store_token_admin(p.store, noon, &was_made, e));
    ck_assert(was_made);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0600);
    OK(file_read(path, 200, &first, e));
    first.data[64] = '\0'; /* without the newline */
    OK(store_token_check(p.store, first.data, noon, role, e));
    ck_assert_str_eq(role, "admin");
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM tokens WHERE hash LIKE '%'"), 1);

    place_reopen(&p);
    OK(store_token_admin(p.store, noon, &was_made, e));
    ck_assert(!was_made);
    ck_assert_int_eq(unlink(path), 0);
    OK(store_token_admin(p.store, noon, &was_made, e));
    ck_assert(was_made);
    OK(file_read(path, 200, &second, e));
    second.data[64] = '\0';
    FAILS(store_token_check(p.store, first.data, noon, role, e), ERR_DENIED, "no longer valid");
    OK(store_token_check(p.store, second.data, noon, role, e));
}
END_TEST

START_TEST(other_tokens_are_denied)
{
    AUTO(place_fini) struct place p = place_new();
    char role[32];
    bool was_made;
    OK(store_token_admin(p.store, noon, &was_made, e));
    FAILS(store_token_check(p.store, "", noon, role, e), ERR_DENIED, "not known");
    FAILS(store_token_check(p.store, "' OR 1 --", noon, role, e), ERR_DENIED, "not known");
}
END_TEST

/* ---- answers ---- */

START_TEST(a_repeated_request_has_the_first_answer)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(answer_fini) struct answer a = {0};
    struct digest one = hash_of("1", 1), two = hash_of("2", 1);
    FAILS(store_answer_get(p.store, "POST /x", "k", &one, &a, e), ERR_NOT_FOUND, "");
    OK(store_answer_put(p.store, "POST /x", "k", &one, 201, "{\"id\":1}", noon, e));
    OK(store_answer_put(p.store, "POST /x", "k", &one, 500, "later", noon, e));
    OK(store_answer_get(p.store, "POST /x", "k", &one, &a, e));
    ck_assert_int_eq(a.status, 201);
    ck_assert_str_eq(a.body, "{\"id\":1}");
    AUTO(answer_fini) struct answer none = {0};
    FAILS(store_answer_get(p.store, "POST /x", "k", &two, &none, e), ERR_CONFLICT,
          "another request");
    FAILS(store_answer_get(p.store, "POST /y", "k", &one, &none, e), ERR_NOT_FOUND, "");
}
END_TEST

START_TEST(old_answers_are_forgotten)
{
    AUTO(place_fini) struct place p = place_new();
    struct digest d = hash_of("1", 1);
    const int64_t day_s = 24 * 3600;
    OK(store_answer_put(p.store, "s", "old", &d, 200, "", noon, e));
    OK(store_answer_put(p.store, "s", "young", &d, 200, "", utc_at(day_s), e));
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM answers"), 2);
    OK(store_answer_put(p.store, "s", "new", &d, 200, "", utc_at(day_s + 1), e));
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM answers"), 2);
}
END_TEST

/* ---- derived ---- */

START_TEST(derived_rows_come_and_go)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo"), other = bisection_in(&p, "other");
    AUTO(json_free) json *doc = json_put(json_new_object(), "x", json_new_real(0.1));
    AUTO(json_free) json *decisions = NULL;
    AUTO(json_free) json *posteriors = NULL;
    AUTO(json_free) json *verdict = NULL;

    OK(store_verdict_get(p.store, b.text, &verdict, e));
    ck_assert_ptr_null(verdict);
    OK(store_decision_put(p.store, b.text, 1, 7, doc, e));
    OK(store_decision_put(p.store, b.text, 0, 3, doc, e));
    OK(store_decision_put(p.store, b.text, 0, 4, doc, e));
    OK(store_posterior_put(p.store, b.text, 2, doc, e));
    OK(store_verdict_put(p.store, b.text, doc, e));
    OK(store_verdict_put(p.store, b.text, doc, e));
    OK(store_verdict_put(p.store, other.text, doc, e));
    FAILS(store_verdict_put(p.store, "nosuch", doc, e), ERR_NOT_FOUND, "nosuch");

    OK(store_decision_list(p.store, b.text, &decisions, e));
    AUTO(mem_free) char *text = column_of_json(decisions);
    ck_assert_str_eq(text, "[{\"ordinal\":0,\"after_seq\":4,\"spec\":{\"x\":0.1}},"
                           "{\"ordinal\":1,\"after_seq\":7,\"spec\":{\"x\":0.1}}]");
    OK(store_posterior_list(p.store, b.text, &posteriors, e));
    ck_assert_int_eq(json_int(json_at(json_item(posteriors, 0), "seq"), 0), 2);
    OK(store_verdict_get(p.store, b.text, &verdict, e));
    ck_assert(json_num(json_at(verdict, "x"), 0) == 0.1);

    AUTO(bisection_row_free) struct bisection_row *row = NULL;
    OK(store_bisection_load(p.store, b.text, &row, e));
    ck_assert_ptr_nonnull(row->verdict);

    OK(store_derived_clear(p.store, b.text, e));
    AUTO(json_free) json *none = NULL;
    OK(store_decision_list(p.store, b.text, &none, e));
    ck_assert_uint_eq(json_len(none), 0);
    AUTO(json_free) json *kept = NULL;
    OK(store_verdict_get(p.store, other.text, &kept, e));
    ck_assert_ptr_nonnull(kept);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_log_is_read_back, 1},
        {an_empty_log_is_a_log, 1},
        {logs_are_capped_and_fenced, 1},
        {an_altered_log_is_noticed, 1},
        {artifact_names_are_hashes_and_nothing_else, LEN(names)},
        {an_artifact_that_is_there_is_noted, 1},
        {the_admin_token_is_made_once, 1},
        {other_tokens_are_denied, 1},
        {a_repeated_request_has_the_first_answer, 1},
        {old_answers_are_forgotten, 1},
        {derived_rows_come_and_go, 1},
    };
    return unit_run("files", tests, LEN(tests));
}
