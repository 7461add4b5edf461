/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "unit/run.h"
#include <string.h>
#include <unistd.h>

/** What one call writes to stderr. */
static void logged(struct buf *out, enum log_level level, const char *event, const char *pairs)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    int keep = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    LOG(level, event, "%s", pairs);
    dup2(keep, STDERR_FILENO);
    close(keep);
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], buf_room(out, 4096), 4096)) > 0;)
        out->len += (size_t)n;
    close(ends[0]);
}

START_TEST(writes_one_line)
{
    AUTO(buf_fini) struct buf out = {0};

    log_setup("prog", LOG_INFO, false);
    logged(&out, LOG_INFO, "task leased", "lease=7 worker=w");
    ck_assert_str_eq(buf_str(&out) + strlen("2026-11-30T09:35:00.123Z"),
                     " prog: info: task leased lease=7 worker=w\n");
}
END_TEST

START_TEST(hostile_values_stay_on_the_line)
{
    AUTO(buf_fini) struct buf out = {0};

    log_setup("prog", LOG_INFO, false);
    logged(&out, LOG_INFO, "x", "a=1\nprog: error: forged \x1B[31m");
    ck_assert_ptr_eq(strchr(buf_str(&out), '\n'), buf_str(&out) + out.len - 1);
    ck_assert_ptr_null(strchr(buf_str(&out), '\x1B'));
}
END_TEST

START_TEST(lesser_levels_are_dropped)
{
    AUTO(buf_fini) struct buf out = {0};

    log_setup("prog", LOG_WARN, false);
    logged(&out, LOG_INFO, "x", "a=1");
    ck_assert_uint_eq(out.len, 0);
}
END_TEST

START_TEST(json_has_the_same_fields)
{
    AUTO(buf_fini) struct buf out = {0};
    AUTO(buf_fini) struct buf pairs = {0};
    AUTO(json_free) json *v = NULL;
    struct err e = {0};

    log_setup("prog", LOG_DEBUG, true);
    buf_adds(&pairs, "lease=7 reason=");
    text_quote(&pairs, "said \"no\" = \\ never");
    buf_adds(&pairs, " empty= last=z");
    logged(&out, LOG_ERROR, "task lost", buf_str(&pairs));
    ck_assert_msg(json_parse(out.data, out.len, &v, &e) == ERR_OK, "%s", e.text);
    ck_assert_str_eq(json_str(json_at(v, "level"), ""), "error");
    ck_assert_str_eq(json_str(json_at(v, "event"), ""), "task lost");
    ck_assert_str_eq(json_str(json_at(v, "lease"), ""), "7");
    ck_assert_str_eq(json_str(json_at(v, "reason"), ""), "said \"no\" = \\ never");
    ck_assert_str_eq(json_str(json_at(v, "empty"), "-"), "");
    ck_assert_str_eq(json_str(json_at(v, "last"), ""), "z");
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {writes_one_line, 1},
        {hostile_values_stay_on_the_line, 1},
        {lesser_levels_are_dropped, 1},
        {json_has_the_same_fields, 1},
    };
    return unit_run("log", tests, LEN(tests));
}
