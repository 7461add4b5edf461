/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "formats/build_id.h"
#include "unit/run.h"
#include <inttypes.h>
#include <string.h>

static struct span span_of(const char *s)
{
    return (struct span){s, strlen(s)};
}

/* clang-format off */
static const struct { const char *id; uint64_t want; } ids[] = {
    {"20130623031030", 20130623031030}, {"2013062303", 20130623030000}, {"20160229000000", 20160229000000},
    {"20150229000000", 0}, {"20130431000000", 0}, {"20131301000000", 0}, {"20130623240000", 0},
    {"20130623236000", 0}, {"20130623", 0}, {"201306230310300", 0}, {"k0130512000000", 0}, {"", 0},
    {"2013062303103x", 0}, {"00000000000000", 0},
};
static const struct { const char *date; uint64_t want; } days[] = {
    {"20130622", 20130622000000}, {"2013-06-22", 20130622000000}, {"2013-06-22T10:00:00.000Z", 20130622000000},
    {"2013-06-22 10:00", 20130622000000}, {"20130622101112", 20130622000000}, {"2013-02-30", 0}, {"2013-06-221", 0},
    {"2013/06/22", 0}, {"1371895200", 0}, {"", 0}, {"2013", 0},
};
static const struct { const char *text; uint64_t from, to; } stretches[] = {
    {"20130621..20130624", 20130621000000, 20130624235999},
    {"..20130622", 0, 20130622235999},
    {"20130623..", 20130623000000, UINT64_MAX},
    {"20130623", 20130623000000, 20130623235999},
    {"2013-06-23..2013-06-24", 20130623000000, 20130624235999},
    {"20130623031030..20130623031030", 20130623031030, 20130623031030},
    {"2013062303..2013062304", 20130623030000, 20130623049999},
};
static const char *const no_stretches[] = {"", "..", "yesterday", "20130631", "20130624..20130623", "20130623...",
                                           "k0130512..", "..2013"};
/* clang-format on */

START_TEST(reads_build_ids)
{
    ck_assert_msg(build_id_stamp(span_of(ids[_i].id)) == ids[_i].want, "%s", ids[_i].id);
}
END_TEST

START_TEST(reads_days)
{
    ck_assert_msg(day_stamp(span_of(days[_i].date)) == days[_i].want, "%s", days[_i].date);
}
END_TEST

START_TEST(reads_stretches)
{
    struct stretch s;
    struct err e = {0};

    ck_assert_msg(stretch_parse(stretches[_i].text, &s, &e) == ERR_OK, "%s", e.text);
    ck_assert_uint_eq(s.from, stretches[_i].from);
    ck_assert_uint_eq(s.to, stretches[_i].to);
    ck_assert(stretch_has(&s, s.from) && stretch_has(&s, s.to));
}
END_TEST

START_TEST(refuses_what_is_no_stretch)
{
    struct stretch s;
    struct err e = {0};

    ck_assert_int_eq(stretch_parse(no_stretches[_i], &s, &e), ERR_INVALID);
    ck_assert(e.text[0]);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *text, *platform;
    const char *want; /* "build=revision " in order, or ! and a part of the error */
} maps[] = {
    {"lines", "20130623031030,bbb\n20130622031029,aaa\n", NULL, "20130622031029=aaa 20130623031030=bbb "},
    {"a head line", "Revision;BuildID\r\nbbb;20130623031030\r\n", NULL, "20130623031030=bbb "},
    {"quotes, remarks, spaces", "# made by hand\n\"20130623031030\", \"bbb\" , \"x, y\"\n\n", NULL, "20130623031030=bbb "},
    {"TABs", "20130623031030\tbbb", NULL, "20130623031030=bbb "},
    {"the same twice", "20130623031030,bbb\n20130623031030,bbb\n", NULL, "20130623031030=bbb "},
    {"two revisions", "20130623031030,bbb\n20130623031030,ccc\n20130623031030,ccc\n", NULL, "20130623031030=? "},
    {"of a platform", "20130623031030,bbb,linux64\n20130623031030,ccc,mac\n20130622031030,ddd\n", "mac", "20130622031030=ddd 20130623031030=ccc "},
    {"JSON", "{\"builds\":[{\"buildid\":\"20130623031030\",\"platform\":\"linux64\",\"revision\":\"bbb\"},{\"buildid\":\"20130622031029\",\"node\":\"aaa\"}]}", NULL, "20130622031029=aaa 20130623031030=bbb "},
    {"JSON of a platform", "{\"builds\":[{\"buildid\":\"20130623031030\",\"platform\":\"linux64\",\"node\":\"b\"},{\"buildid\":\"20130623031030\",\"platform\":\"mac\",\"node\":\"c\"}]}", "linux64", "20130623031030=b "},
    {"a bare list", "[{\"buildid\":\"20130623031030\",\"node\":\"b\"}]", NULL, "20130623031030=b "},
    {"10 digits", "2013062303,bbb", NULL, "20130623030000=bbb "},
    {"nothing", "", NULL, "!no build is listed"},
    {"a head line alone", "buildid,revision\n", NULL, "!no build is listed"},
    {"no build ID", "20130623031030,bbb\nxyz,bbb\n", NULL, "!line 2: \"xyz\" is no build ID"},
    {"no revision", "20130623031030\n", NULL, "!line 1: build 20130623031030 has no revision"},
    {"a revision that is a flag", "20130623031030,--all\n", NULL, "!has no revision"},
    {"JSON without builds", "{\"x\":1}", NULL, "!builds: expected a list"},
    {"JSON without a revision", "{\"builds\":[{\"buildid\":\"20130623031030\"}]}", NULL, "!builds[0]: build 20130623031030 has no revision"},
    {"broken JSON", "{\"builds\":", NULL, "!JSON line 1"},
};
/* clang-format on */

START_TEST(reads_lists_of_builds)
{
    AUTO(build_map_fini) struct build_map m = {0};
    AUTO(buf_fini) struct buf got = {0};
    struct err e = {0};
    const char *want = maps[_i].want;

    if (build_map_read(maps[_i].text, strlen(maps[_i].text), maps[_i].platform, &m, &e)) {
        ck_assert_msg(want[0] == '!' && strstr(e.text, want + 1), "%s: %s", maps[_i].name, e.text);
        return;
    }
    for (size_t i = 0; i < m.n; i++) {
        buf_printf(&got, "%" PRIu64 "=%s ", m.rows[i].build,
                   m.rows[i].revision ? m.rows[i].revision : "?");
        ck_assert_ptr_eq(build_map_find(&m, m.rows[i].build), &m.rows[i]);
    }
    ck_assert_msg(strcmp(buf_str(&got), want) == 0, "%s: %s", maps[_i].name, buf_str(&got));
    ck_assert_ptr_null(build_map_find(&m, 19990101000000));
}
END_TEST

START_TEST(writes_days)
{
    char day[9];

    stamp_day(20130622101112, day);
    ck_assert_str_eq(day, "20130622");
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads_build_ids, LEN(ids)},        {reads_days, LEN(days)},
        {reads_stretches, LEN(stretches)},  {refuses_what_is_no_stretch, LEN(no_stretches)},
        {reads_lists_of_builds, LEN(maps)}, {writes_days, 1},
    };
    return unit_run("build_id", tests, LEN(tests));
}
