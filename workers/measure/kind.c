/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/kind.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { QUOTED_BYTES = 120 };

/* clang-format off */
const struct kind_row kind_rows[] = {
/*   kind, any exit status is a measurement, wraps the command, reads */
    {METRIC_VALUE, false, NULL, kind_format},
    {METRIC_EXIT,  true,  NULL, kind_exit},
    {METRIC_WALL,  false, NULL, kind_wall},
    {METRIC_CPU,   false, NULL, kind_cpu},
    {METRIC_RSS,   false, NULL, kind_rss},
    {METRIC_TS,    true,  NULL, kind_ts},
    {METRIC_COUNTER, false, command_counter, kind_counter},
    {METRIC_SYSCALLS, false, command_syscalls, kind_syscalls},
    {METRIC_SLOWSQL, false, NULL, kind_format},
    {METRIC_AUTO, false, NULL, kind_format},
    {METRIC_PERFHERDER, false, NULL, kind_format},
    {METRIC_TALOS, false, NULL, kind_format},
    {METRIC_FILEIO, false, NULL, kind_format},
    {METRIC_HYPERFINE, false, NULL, kind_format},
    {METRIC_GBENCH, false, NULL, kind_format},
    {METRIC_PYTEST, false, NULL, kind_format},
    {METRIC_PERFSTAT, false, NULL, kind_format},
    {METRIC_CRITERION, false, NULL, kind_format},
    {METRIC_GOBENCH, false, NULL, kind_format},
    {METRIC_JMH, false, NULL, kind_format},
    {METRIC_LNT, false, NULL, kind_format},
    {METRIC_BMF, false, NULL, kind_format},
    {METRIC_OTAVA, false, NULL, kind_format},
    {METRIC_PLAIN, false, NULL, kind_format},
};
/* clang-format on */
const size_t n_kind_rows = LEN(kind_rows);

bool kind_is_exact(enum metric_kind kind)
{
    return kind == METRIC_COUNTER;
}

const struct kind_row *kind_of(enum metric_kind kind)
{
    for (size_t i = 0; i < n_kind_rows; i++)
        if (kind_rows[i].kind == kind)
            return &kind_rows[i];
    return NULL;
}

void reading_fini(struct reading *r)
{
    mem_free(r->values);
    r->values = NULL;
    r->n_values = 0;
}

void reading_set(struct reading *r, double value)
{
    r->status = RUN_OK;
    r->n_values = 1;
    r->values = mem_array(1, sizeof(*r->values));
    r->values[0] = r->value = value;
}

void reading_quote(struct reading *r, const char *what, const struct observation *o)
{
    AUTO(buf_fini) struct buf last = {0};

    clip_last_line(o->log, QUOTED_BYTES, &last);
    snprintf(r->reason, sizeof(r->reason), "%s%s%s%s", what, o->outcome->reason,
             last.len ? ": " : "", buf_str(&last));
}

/** Where PATH has the program; NULL if nowhere. Caller frees with mem_free. */
static char *find_program(const char *program)
{
    const char *path = getenv("PATH");

    for (const char *at = path ? path : ""; *at;) {
        size_t n = strcspn(at, ":");
        AUTO(mem_free) char *folder = mem_dup_n(at, n);
        AUTO(mem_free) char *file = path_join(folder, program);
        struct stat s;
        if (n > 0 && stat(file, &s) == 0 && S_ISREG(s.st_mode) && access(file, X_OK) == 0)
            return TAKE(file);
        at += n + (at[n] == ':');
    }
    return NULL;
}

enum err_code kind_program(const char *program, const char *package, struct buf *out, struct err *e)
{
    AUTO(mem_free) char *file = find_program(program);

    if (!file)
        return err_set(e, ERR_NOT_FOUND,
                       "this worker has no %s: install the package %s (without it no revision can "
                       "be measured)",
                       program, package);
    buf_adds(out, "exec ");
    text_shell(out, file);
    return ERR_OK;
}

void kind_read(const struct kind_row *kind, const struct observation *o, struct reading *r)
{
    const struct job_outcome *job = o->outcome;
    bool has_status = job->end == JOB_EXITED || job->end == JOB_SIGNALED || job->end == JOB_READY;
    bool is_clean = job->end == JOB_EXITED && job->code == 0;

    if (is_clean || (kind->takes_any_exit && has_status)) {
        kind->read(o, r);
        return;
    }
    r->status = RUN_CANNOT;
    reading_quote(r, "cannot measure: ", o);
}

struct scale {
    const char *unit;
    double one;
};

/** How many of the smallest make one of the metric's unit, or of the kind's if that is unknown. */
static double one_unit(const struct scale *scales, size_t n, const struct metric *m)
{
    const char *const units[] = {m->unit, metric_kinds[m->kind].unit};

    for (size_t u = 0; u < LEN(units); u++)
        for (size_t i = 0; units[u] && i < n; i++)
            if (strcmp(scales[i].unit, units[u]) == 0)
                return scales[i].one;
    return 1;
}

void reading_set_time(struct reading *r, const struct metric *m, int64_t ns)
{
    static const struct scale scales[] = {
        {"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};

    reading_set(r, (double)ns / one_unit(scales, LEN(scales), m));
}

void reading_set_memory(struct reading *r, const struct metric *m, int64_t bytes)
{
    static const struct scale scales[] = {{"B", 1},     {"bytes", 1},          {"KiB", KIB},
                                          {"MiB", MIB}, {"GiB", 1024.0 * MIB}, {"kB", 1e3},
                                          {"MB", 1e6}};

    reading_set(r, (double)bytes / one_unit(scales, LEN(scales), m));
}
