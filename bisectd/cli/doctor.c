/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl doctor: how noisy this machine is, and why. */
#include "base/machine.h"
#include "cli/checkup.h"
#include "cli/command.h"
#include "cli/findings.h"
#include "cli/terminal.h"
#include "report/figure.h"
#include "report/style.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A change is seen with 80 % chance at 95 % confidence when it is 2.8 standard errors of a
 * difference of two means wide. The search asks for more, and may take more runs. */
enum { SIDE_RUNS = 10 };
#define ERRORS_WIDE 2.8

/* clang-format off */
static const struct flag flags[] = {
    {"--folder", "DIR", FLAG_TEXT, offsetof(struct options, folder), "whose disk is timed (default: this folder)", NULL, 0, 0},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};

enum basis { OF_NOTHING, OF_WALL, OF_CPU, OF_DISK };
static const struct {
    const char *kind;
    enum basis basis;
    const char *advice;
} kinds[] = {
    {"exit, counter, syscalls counts", OF_NOTHING, "do not feel the machine: one or two runs a revision where the program does not vary"},
    {"rss",                 OF_NOTHING, "feels layout and huge pages, hardly anything else"},
    {"cpu",                 OF_CPU,  "the steady one for time: shared caches and clocks are left"},
    {"wall, ts",            OF_WALL, "feel everything above; isolation: exclusive keeps our own work away, warmup the cold start"},
    {"whatever syncs files", OF_DISK, "feels the disk: count fsync by kind syscalls instead, or measure on a disk of its own"},
};

/* clang-format on */

struct checkup {
    struct machine machine;
    struct utsname system;
    double busy;
    struct finding findings[FINDINGS];
    struct spread wall, cpu, disk;
    bool has_disk;
    char folder_says[200];
    struct tool tools[TOOLS];
};

/** Smallest change, in percent, that SIDE_RUNS of each revision show; nan: none to speak of. */
static double sees(const struct checkup *c, enum basis basis)
{
    const double sd[] = {[OF_NOTHING] = nan(""),
                         [OF_WALL] = c->wall.sd_percent,
                         [OF_CPU] = c->cpu.sd_percent,
                         [OF_DISK] = c->has_disk ? c->disk.sd_percent : nan("")};

    return ERRORS_WIDE * sd[basis] * sqrt(2.0 / SIDE_RUNS);
}

static void examine(const struct options *o, struct checkup *c)
{
    struct err e = {0};

    machine_read("", &c->machine);
    if (uname(&c->system) != 0)
        memset(&c->system, 0, sizeof(c->system));
    c->busy = checkup_busy();
    findings_of(&c->machine, c->busy, c->findings);
    checkup_loop(&c->wall, &c->cpu);
    c->has_disk = checkup_disk(o->folder ? o->folder : ".", &c->disk, &e) == ERR_OK;
    if (!c->has_disk)
        snprintf(c->folder_says, sizeof(c->folder_says), "%.190s", e.text);
    checkup_tools(c->tools);
}

/* ---- JSON ---- */

static json *known_to_json(enum known k)
{
    return k == UNKNOWN ? json_new_null() : json_new_bool(k == KNOWN_ON);
}

static json *bytes_to_json(int64_t bytes)
{
    return bytes < 0 ? json_new_null() : json_new_int(bytes);
}

static json *machine_to_json(const struct checkup *c)
{
    const struct machine *m = &c->machine;
    json *o = json_new_object();

    json_put(o, "system", json_new_string(c->system.sysname));
    json_put(o, "kernel", json_new_string(c->system.release));
    json_put(o, "cpus", json_new_int(m->n_cpus));
    json_put(o, "cores", m->n_cores ? json_new_int(m->n_cores) : json_new_null());
    json_put(o, "load", json_new_real(m->load));
    json_put(o, "busy", json_new_real(c->busy));
    json_put(o, "quota_cpus", json_new_real(m->quota_cpus));
    json_put(o, "stolen", json_new_real(m->stolen));
    json_put(o, "virtual", known_to_json(m->is_virtual));
    json_put(o, "governor", json_new_string(m->governor));
    json_put(o, "turbo", known_to_json(m->turbo));
    json_put(o, "smt", known_to_json(m->smt));
    json_put(o, "aslr", m->aslr < 0 ? json_new_null() : json_new_int(m->aslr));
    json_put(o, "huge_pages", json_new_string(m->huge_pages));
    json_put(o, "swap_bytes", bytes_to_json(m->swap_bytes));
    json_put(o, "swap_used_bytes", bytes_to_json(m->swap_used_bytes));
    return json_put(o, "celsius", json_new_real(m->celsius));
}

static json *spread_to_json(const struct spread *s)
{
    json *o = json_new_object();

    json_put(o, "n", json_new_int((int64_t)s->n));
    json_put(o, "median_ms", json_new_real(s->median));
    json_put(o, "low_ms", json_new_real(s->low));
    json_put(o, "high_ms", json_new_real(s->high));
    json_put(o, "p95_ms", json_new_real(s->p95));
    return json_put(o, "sd_percent", json_new_real(s->sd_percent));
}

static json *findings_to_json(const struct checkup *c)
{
    json *list = json_new_array();

    for (size_t i = 0; i < FINDINGS; i++) {
        json *o = json_new_object();
        json_put(o, "name", json_new_string(c->findings[i].name));
        json_put(o, "says", json_new_string(c->findings[i].says));
        json_push(list, json_put(o, "advice", json_new_string(c->findings[i].advice)));
    }
    return list;
}

static json *tools_to_json(const struct checkup *c)
{
    json *list = json_new_array();

    for (size_t i = 0; i < TOOLS; i++) {
        json *o = json_new_object();
        json_put(o, "name", json_new_string(c->tools[i].name));
        json_put(o, "works", json_new_bool(c->tools[i].works));
        json_put(o, "says", json_new_string(c->tools[i].says));
        json_put(o, "for", json_new_string(c->tools[i].what_for));
        json_push(list, json_put(o, "package", json_new_string(c->tools[i].package)));
    }
    return list;
}

static json *kinds_to_json(const struct checkup *c)
{
    json *list = json_new_array();

    for (size_t i = 0; i < LEN(kinds); i++) {
        json *o = json_new_object();
        json_put(o, "kind", json_new_string(kinds[i].kind));
        json_put(o, "sees_percent", json_new_real(sees(c, kinds[i].basis)));
        json_push(list, json_put(o, "advice", json_new_string(kinds[i].advice)));
    }
    return list;
}

static int print_document(const struct checkup *c)
{
    AUTO(json_free) json *o = json_new_object();
    json *noise = json_new_object();

    json_put(o, "machine", machine_to_json(c));
    json_put(o, "findings", findings_to_json(c));
    json_put(noise, "wall", spread_to_json(&c->wall));
    json_put(noise, "cpu", spread_to_json(&c->cpu));
    json_put(noise, "fsync", c->has_disk ? spread_to_json(&c->disk) : json_new_null());
    json_put(o, "noise", noise);
    json_put(o, "kinds", kinds_to_json(c));
    json_put(o, "tools", tools_to_json(c));
    return print_json(o, EXIT_DONE);
}

/* ---- text ---- */

static void write_findings(const struct checkup *c, const struct style *s, struct buf *out)
{
    style_add(out, s, INK_STRONG, "What makes it noisy");
    buf_addc(out, '\n');
    for (size_t i = 0; i < FINDINGS; i++) {
        const struct finding *f = &c->findings[i];
        buf_printf(out, "  %-16s", f->name);
        style_ink(out, s, f->advice ? INK_WARN : INK_PLAIN);
        style_hostile(out, f->says, sizeof(f->says));
        style_plain(out, s);
        buf_addc(out, '\n');
        if (f->advice)
            style_paragraph(out, s, 18, f->advice);
    }
}

static void write_spread(struct buf *out, const char *name, const struct spread *p)
{
    static const struct figure_scale ms = {1, "ms", NULL};

    buf_printf(out, "  %-16ssd %.1f %%, median ", name, p->sd_percent);
    figure_value(out, p->median, ms);
    buf_adds(out, ", ");
    figure_value(out, p->low, ms);
    buf_adds(out, " to ");
    figure_value(out, p->high, ms);
    buf_adds(out, " (95 % below ");
    figure_value(out, p->p95, ms);
    buf_printf(out, "), %zu times\n", p->n);
}

static void write_noise(const struct checkup *c, const struct style *s, struct buf *out)
{
    buf_addc(out, '\n');
    style_add(out, s, INK_STRONG, "How noisy it is");
    buf_addc(out, '\n');
    write_spread(out, "a loop, elapsed", &c->wall);
    write_spread(out, "a loop, cpu", &c->cpu);
    if (c->has_disk)
        write_spread(out, "4 KiB and sync", &c->disk);
    else
        buf_printf(out, "  %-16snot measured: %s\n", "4 KiB and sync", c->folder_says);
}

static void write_kinds(const struct checkup *c, const struct style *s, struct buf *out)
{
    AUTO(buf_fini) struct buf head = {0};

    buf_addc(out, '\n');
    buf_printf(&head, "What to expect of a metric, at best, with %d runs of each revision",
               SIDE_RUNS);
    style_add(out, s, INK_STRONG, buf_str(&head));
    buf_addc(out, '\n');
    for (size_t i = 0; i < LEN(kinds); i++) {
        double percent = sees(c, kinds[i].basis);
        buf_printf(out, "  %s", kinds[i].kind);
        if (!isnan(percent))
            buf_printf(out, ": changes of %.*f %% and more", percent >= 10 ? 0 : 1, percent);
        buf_addc(out, '\n');
        style_paragraph(out, s, 18, kinds[i].advice);
    }
}

static void write_tools(const struct checkup *c, const struct style *s, struct buf *out)
{
    buf_addc(out, '\n');
    style_add(out, s, INK_STRONG, "What works");
    buf_addc(out, '\n');
    for (size_t i = 0; i < TOOLS; i++) {
        const struct tool *t = &c->tools[i];
        buf_printf(out, "  %-16s", t->name);
        style_add(out, s, t->works ? INK_GOOD : INK_WARN, t->works ? "yes" : "no");
        buf_printf(out, ": %s (for %s)\n", t->says, t->what_for);
    }
}

static int print_report(const struct checkup *c)
{
    AUTO(buf_fini) struct buf text = {0};
    struct style style = terminal_style(STDOUT_FILENO);

    write_findings(c, &style, &text);
    write_noise(c, &style, &text);
    write_kinds(c, &style, &text);
    write_tools(c, &style, &text);
    return print_text(&text, EXIT_DONE);
}

/** One that is there but cannot be written is no mistake: the report says what that leaves out. */
static enum err_code check_folder(const char *folder, struct err *e)
{
    struct stat st;

    if (stat(folder, &st) == 0 && S_ISDIR(st.st_mode))
        return ERR_OK;
    err_set(e, ERR_INVALID, "--folder: %s is no folder", folder);
    return err_hint(e, "Name the folder whose disk is to be timed.");
}

static int run(const struct options *o)
{
    struct checkup c = {0};
    struct err e = {0};

    if (o->folder && check_folder(o->folder, &e))
        return fail_usage(o, &e);
    examine(o, &c);
    int status = o->json ? print_document(&c) : print_report(&c);
    machine_fini(&c.machine);
    return status;
}

const struct command command_doctor = {
    .name = "doctor",
    .words = "",
    .summary = "how noisy this machine is to measure on, and why",
    .about = "Reads what the system tells of its processors, memory and load, times a loop and a "
             "synced write some dozens of times (3 s in all), and tries the programs that some "
             "kinds of metric need. Nothing is changed. Run it while the machine is as it will be "
             "when it measures.",
    .example = "bisectctl doctor\n"
               "bisectctl doctor --folder /var/lib/bisect-worker --json\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
