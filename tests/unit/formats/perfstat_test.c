/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_PERFSTAT
/* perf 6.1; the first line of EXAMPLE with -r, which puts the variance into the fourth column. */
#define REPEATED "0.41,msec,task-clock,5.14%,406005,100.00,0.448,CPUs utilized\n"
#define ONCE     "0.48,msec,task-clock,476840,100.00,207.955,CPUs utilized\n"
#define MISSING  "<not supported>,,cycles,0,100.00,,\n"
#define HEAD     "# started on Wed Aug 19 10:00:00 2026\n\n"
#define OBJECT(value, event)                                                                       \
    "{\"counter-value\" : \"" value "\", \"unit\" : \"msec\", \"event\" : \"" event                \
    "\", \"event-runtime\" : 451022, \"pcnt-running\" : 100.00, \"metric-value\" : \"0.507\", "    \
    "\"metric-unit\" : \"CPUs utilized\"}\n"

/* clang-format off */
static const struct format_row rows[] = {
    {"separated by commas",             "perfstat:test=task-clock", HEAD ONCE MISSING, .48, "in msec"},
    {"with the variance of -r",         "perfstat:test=task-clock", REPEATED MISSING, .41, "in msec"},
    {"the metric is not shifted by it", "perfstat:test=task-clock,field=metric", REPEATED, .448, "in CPUs utilized"},
    {"nor without it",                  "perfstat:test=task-clock,field=metric", ONCE, 207.955, "in CPUs utilized"},
    {"nor where the manual has it",     "perfstat:test=task-clock,field=metric", "0.41,msec,task-clock,406005,100.00,5.14%,0.448,CPUs utilized\n", .448, "in CPUs utilized"},
    {"in the metric's unit",            "perfstat:test=task-clock,unit=us", ONCE, 480, NULL},
    {"a count has no unit",             "perfstat:test=instructions:u", "1234567,,instructions:u,476840,100.00,,\n", 1234567, NULL},
    {"decimal commas with another separator", "perfstat:test=task-clock", "0,41;msec;task-clock;406005;100,00;0,448;CPUs utilized\n", .41, "in msec"},
    {"tabs",                            "perfstat", "0.48\tmsec\ttask-clock\t476840\t100.00\t\t\n", .48, "in msec"},
    {"a time stamp of -I leads",        "perfstat:reduce=sum", "     1.000107622,0.48,msec,task-clock,476840,100.00,,\n     2.000214000,0.52,msec,task-clock,476840,100.00,,\n", 1, "in msec"},
    {"-A names the CPU",                "perfstat:suite=CPU1", "CPU0,5,,cycles,1,100.00,,\nCPU1,7,,cycles,1,100.00,,\n", 7, NULL},
    {"--per-core and how many",         "perfstat:suite=S0-D0-C0", "S0-D0-C0,2,12345,,cycles,1,100.00,,\n", 12345, NULL},
    {"both a time stamp and a core",    "perfstat", "1.000107622,S0-D0-C0,2,12345,,cycles,1,100.00,,\n", 12345, NULL},
    {"further metrics of an event are passed over", "perfstat:test=cycles", "12345,,cycles,1,100.00,0.5,GHz\n,,,,,0.25,stalled cycles per insn\n", 12345, NULL},
    {"JSON lines, numbers as text",     "perfstat:test=task-clock", HEAD OBJECT("0.451022", "task-clock") "{\"counter-value\" : \"<not supported>\", \"unit\" : \"\", \"event\" : \"cycles\"}\n", .451022, "in msec"},
    {"the metric of JSON",              "perfstat:field=metric,test=task-clock", OBJECT("0.451022", "task-clock"), .507, "in CPUs utilized"},
    {"glued run time and percentage",   "perfstat", "{\"counter-value\" : \"7\", \"unit\" : \"\", \"event\" : \"faults\", \"event-runtime\" : 451022100.00}\n", 7, NULL},
    {"an aggregate of JSON",            "perfstat:suite=S0-D0-C1", "{\"core\":\"S0-D0-C0\",\"counter-value\":\"7\",\"unit\":\"\",\"event\":\"e\"}\n{\"core\":\"S0-D0-C1\",\"counter-value\":\"8\",\"unit\":\"\",\"event\":\"e\"}\n", 8, NULL},

    {"not supported",           "perfstat:test=cycles", ONCE MISSING, NAN, "cycles: value: the counter is <not supported>"},
    {"not counted",             "perfstat:test=cycles", "<not counted>,,cycles,0,0.00,,\n", NAN, "cycles: value: the counter is <not counted>"},
    {"not supported in JSON",   "perfstat:test=cycles", OBJECT("<not supported>", "cycles"), NAN, "cycles: value: the counter is <not supported>"},
    {"not counted with a time stamp", "perfstat:test=cycles", "1.000107622,<not counted>,,cycles,0,0.00,,\n", NAN, "cycles: value: the counter is <not counted>"},
    {"no such event",           "perfstat:test=faults", ONCE MISSING, NAN, "no test 'faults'; there are: task-clock, cycles"},
    {"several events",          "perfstat", ONCE MISSING, NAN, "2 results: name one by test, or set reduce; there are: task-clock: value, cycles: value"},
    {"a decimal comma between commas", "perfstat", "0,41,msec,task-clock,406005,100,00,,\n", NAN, "line 1: \"0,41,msec,task-clock,406005,100,00,,\" is not value,unit,event"},
    {"with a time stamp",       "perfstat", "1,000107622,0,41,msec,task-clock,406005,100,00,,\n", NAN, "line 1: \"1,000107622,0,41,msec,task-clock,406005,100,00,,\" is not value,unit,event"},
    {"a count in words",        "perfstat", OBJECT("many", "cycles"), NAN, "cycles: value: the counter is \"many\", which is not a number"},
    {"nan",                     "perfstat", OBJECT("nan", "cycles"), NAN, "cycles: value: value is nan"},
    {"no count",                "perfstat", "{\"counter-value\" : 7, \"unit\" : \"\", \"event\" : \"cycles\"}\n", NAN, "cycles: value: counter-value is no text"},
    {"JSON cut off",            "perfstat", OBJECT("1", "a") "{\"counter-value\" : \"7\"", NAN, "line 2: JSON line 1, column 22: '}' expected near end of file"},
    {"its table for people",    "perfstat", "  0.48 msec task-clock  # 0.2 CPUs utilized\n", NAN, "line 1: \"0.48 msec task-clock  # 0.2 CPUs utilized\" is not value,unit,event"},
    {"nothing",                 "perfstat", HEAD, NAN, "no number: no counter in the output"},
};
static const char *const like[] = {HEAD ONCE, REPEATED, MISSING, HEAD OBJECT("1", "a")};
/* clang-format on */

START_TEST(reads)
{
    format_row_check(&rows[_i]);
}
END_TEST

START_TEST(looks)
{
    format_looks_check(like[_i], KIND);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads, LEN(rows)},
        {looks, LEN(like)},
    };

    return unit_run("perfstat", tests, LEN(tests));
}
