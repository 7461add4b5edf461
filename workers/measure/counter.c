/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event counted over the command and its children: by perf where the machine counts it, else,
 * of instructions, by callgrind. Both count in user space. Either way the number is stored with the
 * name of what has counted, since the two do not mean quite the same.
 */
#include "formats/counter.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "workers/measure/kind.h"
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROBE_NS (20 * NS_PER_S)
enum { PROBE_BYTES = 64 * KIB, TAIL_BYTES = 64 * KIB, PERF_FILE_BYTES = 64 * KIB };

enum source { SOURCE_UNKNOWN, SOURCE_PERF, SOURCE_CALLGRIND };

/** Who counts an event here: asked once, since an answer takes some 20 ms. */
struct counting {
    char event[80];
    enum source source;
    char by[80];   /* "perf version 6.1": goes with every number */
    char why[256]; /* SOURCE_UNKNOWN: why nobody does */
};

static _Thread_local struct counting counting;

static const char default_event[] = "instructions";

static const char *event_of(const struct metric *m)
{
    return m->event ? m->event : default_event;
}

static bool is_instructions(const char *event)
{
    return strcmp(event, default_event) == 0 || strcmp(event, "instructions:u") == 0;
}

/** As perf is to be told: instructions as callgrind counts them, in user space. */
static const char *perf_event(const char *event)
{
    return is_instructions(event) ? "instructions:u" : event;
}

static void say_version(const char *program, char out[80])
{
    const char *const argv[] = {program, "--version", NULL};
    AUTO(buf_fini) struct buf said = {0};
    AUTO(buf_fini) struct buf clean = {0};
    int status = 0;

    snprintf(out, 80, "%s", program);
    if (subprocess_run(argv, NULL, &said, NULL, PROBE_BYTES, PROBE_NS, &status, NULL) || !said.len)
        return;
    text_clean(&clean, said.data, strcspn(said.data, "\n"), 60);
    snprintf(out, 80, "%s", buf_str(&clean));
}

/** Counts `true`. False leaves a reason. */
static bool perf_counts(const char *event, char why[256])
{
    const char *const argv[] = {"perf", "stat", "-x,", "-e", perf_event(event), "--", "true", NULL};
    AUTO(buf_fini) struct buf said = {0};
    AUTO(buf_fini) struct buf clean = {0};
    struct err e = {0};
    double n = 0;
    int status = 0;

    if (subprocess_run(argv, NULL, NULL, &said, PROBE_BYTES, PROBE_NS, &status, &e)) {
        snprintf(why, 256, "%.120s", e.text);
        return false;
    }
    bool is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (is_done && counter_read_perf(buf_str(&said), said.len, &n, &e) == ERR_OK)
        return true;
    text_clean(&clean, buf_str(&said), strcspn(buf_str(&said), "\n"), 150);
    snprintf(why, 256, "%.250s", is_done ? e.text : buf_str(&clean));
    return false;
}

static void find_source(const char *event, struct counting *c)
{
    AUTO(buf_fini) struct buf path = {0};
    struct err e = {0};

    *c = (struct counting){.source = SOURCE_UNKNOWN};
    snprintf(c->event, sizeof(c->event), "%s", event);
    if (kind_program("perf", "linux-perf", &path, &e))
        snprintf(c->why, sizeof(c->why), "%.250s", e.text);
    else if (perf_counts(event, c->why))
        c->source = SOURCE_PERF;
    if (c->source == SOURCE_UNKNOWN && is_instructions(event))
        c->source = SOURCE_CALLGRIND;
    if (c->source == SOURCE_PERF)
        say_version("perf", c->by);
    if (c->source == SOURCE_CALLGRIND) {
        char version[80];
        say_version("valgrind", version);
        snprintf(c->by, sizeof(c->by), "callgrind of %.60s", version);
    }
}

/* ---- running ---- */

/** perf takes a signal for success, so a shell between them makes a status of it. */
static enum err_code command_perf(const struct metric *m, const char *folder, struct buf *out,
                                  struct err *e)
{
    if (kind_program("perf", "linux-perf", out, e))
        return e ? e->code : ERR_NOT_FOUND;
    AUTO(mem_free) char *file = path_join(folder, "perf");
    buf_adds(out, " stat -x, -o ");
    text_shell(out, file);
    buf_printf(out, " -e %s -- /bin/sh -c '/bin/sh -ec \"$0\" || exit $?' ",
               perf_event(event_of(m)));
    text_shell(out, m->command);
    return ERR_OK;
}

static enum err_code command_callgrind(const struct metric *m, const char *folder, struct buf *out,
                                       struct err *e)
{
    if (kind_program("valgrind", "valgrind", out, e))
        return e ? e->code : ERR_NOT_FOUND;
    AUTO(mem_free) char *file = mem_printf("%s/callgrind.%%p", folder);
    buf_adds(out, " -q --tool=callgrind --trace-children=yes --callgrind-out-file=");
    text_shell(out, file);
    buf_adds(out, " /bin/sh -ec ");
    text_shell(out, m->command);
    return ERR_OK;
}

static void know_source(const char *event)
{
    if (strcmp(counting.event, event) != 0)
        find_source(event, &counting);
}

bool counter_is_simulated(void)
{
    know_source(default_event);
    return counting.source == SOURCE_CALLGRIND;
}

enum err_code command_counter(const struct metric *m, const char *folder, struct buf *out,
                              struct err *e)
{
    const char *event = event_of(m);

    know_source(event);
    if (counting.source == SOURCE_PERF)
        return command_perf(m, folder, out, e);
    if (counting.source == SOURCE_CALLGRIND && command_callgrind(m, folder, out, e) == ERR_OK)
        return ERR_OK;
    if (counting.source == SOURCE_CALLGRIND)
        return err_wrap(e, "%s", counting.why);
    return err_set(e, ERR_INVALID, "event %s: %s", event, counting.why);
}

/* ---- reading ---- */

/** The last bytes of a file; the total stands at its end. */
static bool read_tail(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "re");

    buf_clear(out);
    if (!f)
        return false;
    if (fseek(f, -(long)TAIL_BYTES, SEEK_END) != 0)
        rewind(f);
    size_t n = fread(buf_room(out, TAIL_BYTES), 1, TAIL_BYTES, f);
    out->len += n;
    fclose(f);
    return n > 0;
}

/** Of all processes. One that was killed has left an empty file, or none. */
static enum err_code sum_callgrind(const char *folder, double *sum, struct err *e)
{
    AUTO(mem_free) char *pattern = path_join(folder, "callgrind.*");
    AUTO(buf_fini) struct buf tail = {0};
    glob_t found = {0};
    size_t n_read = 0;
    enum err_code code = ERR_OK;

    *sum = 0;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        found.gl_pathc = 0;
    for (size_t i = 0; !code && i < found.gl_pathc; i++) {
        double n = 0;
        if (!read_tail(found.gl_pathv[i], &tail))
            continue;
        code = counter_read_callgrind(tail.data, tail.len, &n, e);
        *sum += n;
        n_read++;
    }
    globfree(&found);
    if (!code && n_read == 0)
        return err_set(e, ERR_INVALID, "callgrind has left no file");
    return code;
}

void kind_counter(const struct observation *o, struct reading *r)
{
    AUTO(mem_free) char *file = path_join(o->folder, "perf");
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};
    double n = 0;

    enum err_code code = ERR_OK;
    if (counting.source == SOURCE_PERF)
        code = file_read(file, PERF_FILE_BYTES, &text, &e)
                   ? e.code
                   : counter_read_perf(buf_str(&text), text.len, &n, &e);
    else
        code = sum_callgrind(o->folder, &n, &e);
    if (code) {
        r->status = RUN_CANNOT;
        snprintf(r->reason, sizeof(r->reason), "cannot measure: %.400s", e.text);
        return;
    }
    reading_set(r, n);
    snprintf(r->reason, sizeof(r->reason), "%s", counting.by);
}
