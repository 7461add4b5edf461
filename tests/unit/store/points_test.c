/* SPDX-License-Identifier: Apache-2.0 */
/** Imported time series: stored once, listed with the samples, found by range and by time. */
#include "fixture.h"
#include "store/points.h"

static const char hex_digits[] = "0123456789abcdef";

static struct revision nth_revision(uint32_t i)
{
    struct revision r = {{0}};

    memset(r.hex, 'c', 40);
    r.hex[0] = hex_digits[i >> 4 & 15];
    r.hex[1] = hex_digits[i & 15];
    return r;
}

/** Points `first` to `last` of a series, one an hour, each of a revision of its own. */
static struct points *points_of(const char *host, uint32_t first, uint32_t last)
{
    struct points *p = mem_alloc(sizeof(*p));

    p->project = mem_dup("alpha");
    p->metric = mem_dup("startup");
    p->platform = mem_dup("linux-x64");
    p->host = mem_dup(host);
    p->items = mem_array(last - first + 1, sizeof(*p->items));
    for (uint32_t i = first; i <= last; i++)
        p->items[p->n++] =
            (struct point){.revision = nth_revision(i), .at = utc_at(3600 * i), .value = 100 + i};
    return p;
}

static struct points_added add(struct place *p, const char *host, uint32_t first, uint32_t last)
{
    AUTO(points_free) struct points *points = points_of(host, first, last);
    struct points_added added = {0};

    OK(store_points_add(p->store, points, noon, &added, e));
    return added;
}

START_TEST(a_point_is_stored_once)
{
    AUTO(place_fini) struct place p = place_new();
    struct points_added added = add(&p, "ci", 0, 9);

    ck_assert(added.n_added == 10 && added.n_known == 0);
    added = add(&p, "ci", 0, 9);
    ck_assert(added.n_added == 0 && added.n_known == 10);
    added = add(&p, "ci", 5, 14);
    ck_assert(added.n_added == 5 && added.n_known == 5);
    added = add(&p, "other", 0, 9);
    ck_assert(added.n_added == 10);
    place_reopen(&p);
    added = add(&p, "ci", 14, 15);
    ck_assert(added.n_added == 1 && added.n_known == 1);
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM points"), 26);
}
END_TEST

START_TEST(equal_values_are_told_apart_by_number)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(points_free) struct points *points = points_of("ci", 3, 4);
    struct points_added added;

    points->items[1] = points->items[0];
    OK(store_points_add(p.store, points, noon, &added, e));
    ck_assert(added.n_added == 1 && added.n_known == 1);
    points->items[1].nth = 1;
    OK(store_points_add(p.store, points, noon, &added, e));
    ck_assert(added.n_added == 1 && added.n_known == 1);
}
END_TEST

START_TEST(points_and_samples_are_one_list)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(sample_list_fini) struct sample_list l = {0};
    struct id b = bisection_in(&p, "alpha");
    struct sample_filter f = {.project = "alpha"};

    add(&p, "ci", 0, 3);
    task_in(&p, &b, 0);
    AUTO(lease_row_fini) struct lease_row lease = lease_in(&p, "w1", 0);
    accept_in(&p, &lease);
    add(&p, "ci", 4, 6);

    OK(store_sample_list(p.store, &f, &l, e));
    ck_assert_uint_eq(l.n, 10);
    for (size_t i = 0; i < l.n; i++) {
        const struct sample_row *row = &l.items[i];
        bool is_point = i < 4 || i >= 7;
        ck_assert_int_eq(row->seq, (int64_t)i + 1);
        ck_assert(is_point == !row->bisection.text[0]);
        if (!is_point)
            continue;
        uint32_t at = i < 4 ? (uint32_t)i : (uint32_t)i - 3;
        ck_assert_str_eq(row->revision.hex, nth_revision(at).hex);
        ck_assert_str_eq(row->environment.host, "import:ci");
        ck_assert(row->run.value == 100 + at && row->run.n_values == 1);
        ck_assert(row->run.values[0] == 100 + at && row->run.status == RUN_OK);
        ck_assert_int_eq(row->run.at.ns, utc_at(3600 * at).ns);
    }
    struct store_counts n;
    OK(store_count(p.store, &n, e));
    ck_assert_int_eq(n.samples, 10);
    OK(store_samples_verify(p.store, b.text, e));
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    struct sample_filter filter;
    size_t want;
    bool has_more;
} filters[] = {
    {"all",                      {0}, 20, false},
    {"a page",                   {.limit = 15}, 15, true},
    {"what follows",             {.limit = 15, .after = 15}, 5, false},
    {"of one revision",          {.revision = "03"}, 2, false},
    {"of another project",       {.project = "beta"}, 0, false},
    {"of a platform",            {.platform = "linux-x64", .metric = "startup"}, 20, false},
    {"those with a value",       {.only_ok = true}, 20, false},
    {"of a bisection",           {.bisection = "x"}, 0, false},
};
/* clang-format on */

START_TEST(points_are_found)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(sample_list_fini) struct sample_list l = {0};

    add(&p, "ci", 0, 9);
    add(&p, "other", 0, 9);
    OK(store_sample_list(p.store, &filters[_i].filter, &l, e));
    ck_assert_msg(l.n == filters[_i].want && l.has_more == filters[_i].has_more, "%s: %zu",
                  filters[_i].name, l.n);
}
END_TEST

START_TEST(what_samples_are_pooled_by_finds_no_point)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(sample_list_fini) struct sample_list l = {0};
    struct digest key = hash_of("x", 1);
    struct sample_filter f = {.measure_key = &key};

    add(&p, "ci", 0, 9);
    OK(store_sample_list(p.store, &f, &l, e));
    ck_assert_uint_eq(l.n, 0);
}
END_TEST

START_TEST(nobody_changes_a_point)
{
    AUTO(place_fini) struct place p = place_new();

    add(&p, "ci", 0, 9);
    FAILS(db_run(p.store, "UPDATE points SET value = 1", NO_CELLS, NULL, e), ERR_CONFLICT,
          "append only");
    FAILS(db_run(p.store, "DELETE FROM points", NO_CELLS, NULL, e), ERR_CONFLICT, "append only");
    FAILS(db_run(p.store, "DELETE FROM series", NO_CELLS, NULL, e), ERR_CONFLICT, "append only");
}
END_TEST

/* A line of `n` commits, those of the points from `first` on. */
static struct range *line_of(uint32_t first, uint32_t n)
{
    struct range *r = mem_alloc(sizeof(*r));

    r->n = n;
    r->commits = mem_array(n, sizeof(*r->commits));
    for (uint32_t i = 0; i < n; i++)
        r->commits[i].id = nth_revision(first + i);
    return r;
}

/* 40 points are fewer than ten times 8 commits, and more than ten times 3: both ways to look. */
START_TEST(points_of_a_range_are_found)
{
    AUTO(place_fini) struct place p = place_new();
    const uint32_t n_commits = _i ? 8 : 3;
    AUTO(range_free) struct range *range = line_of(5, n_commits);
    AUTO(range_index_free) struct range_index *known = range_index_new(range);
    AUTO(series_list_fini) struct series_list series = {0};
    AUTO(point_list_fini) struct point_list l = {0};

    add(&p, "ci", 0, 39);
    OK(store_series_list(p.store, "alpha", "startup", "linux-x64", &series, e));
    ck_assert_uint_eq(series.n, 1);
    ck_assert_str_eq(series.items[0].host, "import:ci");
    OK(store_points_within(p.store, series.items[0].id, range, known, &l, e));
    ck_assert_uint_eq(l.n, n_commits);
    for (uint32_t i = 0; i < n_commits; i++)
        ck_assert(l.items[i].value == 105 + i);
}
END_TEST

START_TEST(points_beside_a_time_are_found)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(series_list_fini) struct series_list series = {0};
    AUTO(point_list_fini) struct point_list before = {0};
    AUTO(point_list_fini) struct point_list after = {0};

    add(&p, "ci", 0, 19);
    OK(store_series_list(p.store, "alpha", "startup", "linux-x64", &series, e));
    OK(store_points_beside(p.store, series.items[0].id, POINTS_BEFORE, utc_at(3600 * 5), 3, &before,
                           e));
    ck_assert(before.n == 3 && before.items[0].value == 102 && before.items[2].value == 104);
    OK(store_points_beside(p.store, series.items[0].id, POINTS_AFTER, utc_at(3600 * 17), 9, &after,
                           e));
    ck_assert(after.n == 2 && after.items[0].value == 118);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_point_is_stored_once, 1},
        {equal_values_are_told_apart_by_number, 1},
        {points_and_samples_are_one_list, 1},
        {points_are_found, LEN(filters)},
        {what_samples_are_pooled_by_finds_no_point, 1},
        {nobody_changes_a_point, 1},
        {points_of_a_range_are_found, 2},
        {points_beside_a_time_are_found, 1},
    };

    return unit_run("points", tests, LEN(tests));
}
