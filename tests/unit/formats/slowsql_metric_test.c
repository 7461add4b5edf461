/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "formats/slowsql_metric.h"
#include "unit/run.h"
#include <string.h>

#define DOC                                                                                        \
    "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A /* a.db */\":[3,300],\"B /* b.db "             \
    "*/\":[2,200]},\"otherThreads\":{\"A /* a.db */\":[4,800]}}}}"
#define OF_SESSION(minutes, total)                                                                 \
    "{\"slug\":\"s\",\"payload\":{\"simpleMeasurements\":{\"uptime\":" minutes                     \
    "},\"slowSQL\":{\"mainThread\":{\"A\":[1," total "]}}}}\n"
#define ONE(counts) "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":" counts "}}}}"

/* clang-format off */
static const struct {
    const char *name;
    struct metric m;
    const char *text;
    double want;
    const char *error; /* after "cannot measure: " */
} rows[] = {
    {"all of it", {.name = NULL}, DOC, 1300, NULL},
    {"by number", {.of = OF_COUNT}, DOC, 9, NULL},
    {"by database", {.db = (char *)"a*"}, DOC, 1100, NULL},
    {"by statement", {.statement = (char *)"B"}, DOC, 200, NULL},
    {"of the main thread", {.thread = THREAD_MAIN}, DOC, 500, NULL},
    {"of others", {.thread = THREAD_OTHER}, DOC, 800, NULL},
    {"of all threads", {.thread = THREAD_ALL}, DOC, 1300, NULL},
    {"nothing of that kind", {.db = (char *)"c.db"}, DOC, 0, NULL},
    {"nothing slow", {.name = NULL}, "{\"payload\":{\"slowSQL\":null}}", 0, NULL},
    {"spread over lines", {.name = NULL}, "{\"payload\":\n {\"slowSQL\": {\"mainThread\":\n{\"A\": [1, 70]}}}}\n", 70, NULL},
    {"a line each", {.name = NULL}, DOC "\n\n" DOC "\n", 2600, NULL},
    {"the last of a session", {.name = NULL}, OF_SESSION("1", "100") OF_SESSION("9", "900") OF_SESSION("5", "500"), 900, NULL},
    {"faster than slow ones", {.name = NULL}, ONE("[10,20]"), 20, NULL},

    {"nothing", {.name = NULL}, " \n", 0, "no telemetry document: the output is empty"},
    {"words", {.name = NULL}, "done\n", 0, "line 1: not one JSON object"},
    {"words after a document", {.name = NULL}, DOC "\ndone\n", 0, "line 2: not one JSON object"},
    {"cut", {.name = NULL}, "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[1", 0, "line 1: not one JSON object"},
    {"other JSON", {.name = NULL}, "{\"a\":1}", 0, "no telemetry document: neither payload nor slowSQL nor info"},
    {"no counts", {.name = NULL}, ONE("[1]"), 0, "statement: not [count, total ms] in whole numbers: \"A\""},
    {"a negative total", {.name = NULL}, ONE("[1,-5]"), 0, "statement: a negative total: \"A\""},
    {"a count of none", {.name = NULL}, ONE("[0,5]"), 0, "statement: a count of none or less: \"A\""},
    {"nan", {.name = NULL}, ONE("[1,NaN]"), 0, "statement: not [count, total ms] in whole numbers: \"A\""},
    {"a fault that nobody asked for", {.statement = (char *)"B"}, ONE("[1,-5]"), 0, NULL},
};
/* clang-format on */

START_TEST(measures)
{
    AUTO(values_fini) struct values v = {0};
    struct err e = {0};
    enum err_code rc = slowsql_read(&rows[_i].m, rows[_i].text, strlen(rows[_i].text), &v, &e);

    if (rows[_i].error) {
        ck_assert_msg(rc == ERR_INVALID && strncmp(e.text, "cannot measure: ", 16) == 0 &&
                          strcmp(e.text + 16, rows[_i].error) == 0,
                      "%s: %s", rows[_i].name, e.text);
        ck_assert_ptr_null(v.items);
        return;
    }
    ck_assert_msg(rc == ERR_OK, "%s: %s", rows[_i].name, e.text);
    ck_assert_msg(v.n == 1 && v.reduced == rows[_i].want, "%s: %g", rows[_i].name, v.reduced);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{measures, LEN(rows)}};
    return unit_run("slowsql_metric", tests, LEN(tests));
}
