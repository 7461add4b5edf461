/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl simulate: the real search, or one that it is compared with, on made-up histories and
 * noise; how often it is right, and what that costs. */
#include "search/simulate.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "model/bisection.h"
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
static const struct flag flags[] = {
    {"--commits", "N", FLAG_COUNT, offsetof(struct options, commits), "candidates, in a line (default: 256)", NULL, 1, 1000000},
    {"--effect", "D", FLAG_TEXT, offsetof(struct options, effect), "how far a culprit moves the level, in standard deviations of one run; 0: there is none; 2,4: two of this and that size in either order (default: 2)", NULL, 0, 0},
    {"--noise", "FAMILY", FLAG_CHOICE, offsetof(struct options, noise), "gaussian, lognormal, bimodal, outliers, count, drift or workers (default: gaussian)", noise_names, 0, 0},
    {"--confidence", "P", FLAG_PROBABILITY, offsetof(struct options, confidence), "how sure to be (default: .99)", NULL, 0, 0},
    {"--build-cost", "B", FLAG_NUMBER, offsetof(struct options, build_cost), "how many runs a build takes as long as (default: 0)", NULL, 0, 100000},
    {"--workers", "W", FLAG_COUNT, offsetof(struct options, workers), "at work at once (default: 1)", NULL, 1, NOISE_MAX_WORKERS},
    {"--trials", "T", FLAG_COUNT, offsetof(struct options, trials), "searches (default: 200)", NULL, 1, 1000000},
    {"--seed", "S", FLAG_SEED, offsetof(struct options, seed), "the same seed gives the same numbers (default: 1)", NULL, 0, 0},
    {"--culprits", "K", FLAG_COUNT, offsetof(struct options, culprits), "so many steps, each of the effect (default: 1)", NULL, 1, SCENE_MAX_CULPRITS},
    {"--broken", "F", FLAG_NUMBER, offsetof(struct options, broken), "this part of the range, in one stretch, cannot be built (default: 0)", NULL, 0, 1},
    {"--stored", "R", FLAG_COUNT, offsetof(struct options, stored), "free runs of each end from earlier (default: 0)", NULL, 0, 100000},
    {"--policy", "NAME", FLAG_CHOICE, offsetof(struct options, policy), "bisectd, or another's way: git (told the threshold), pinpoint (told the size), bayesect (told the threshold), known (told both distributions)", policy_names, 0, 0},
    {"--repeats", "R", FLAG_COUNT, offsetof(struct options, repeats), "runs a revision, for git (default: 1)", NULL, 1, 10000},
    {"--verify", NULL, FLAG_SWITCH, offsetof(struct options, verify), "with the fresh builds and runs that confirm the answer", NULL, 0, 0},
    {"--record", "FILE", FLAG_TEXT, offsetof(struct options, record), "of one trial of bisectd: all that happens and is decided, a line of JSON each", NULL, 0, 0},
    {"--revisions", "FILE", FLAG_TEXT, offsetof(struct options, revisions), "names of the commits, one a line: good, then N candidates, oldest first (default: made-up ones)", NULL, 0, 0},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

enum { THREADS_MOST = 64, REVISIONS_MOST = 1000001, NAME_BYTES = 41 };
static const double effect_most = 40;
static const int64_t note_each_ns[2] = {30 * NS_PER_S, NS_PER_S / 4}; /* plain; on a terminal */

static int64_t or_else(int64_t said, int64_t otherwise)
{
    return said >= 0 ? said : otherwise;
}

/* "2" or "2,4". */
static enum err_code read_effects(const char *text, struct setting *s, struct err *e)
{
    while (s->n_culprits < SCENE_MAX_CULPRITS) {
        double effect = 0;
        size_t n = strcspn(text, ",");
        AUTO(mem_free) char *one = mem_dup_n(text, n);
        if (text_num(one, &effect, e) || effect < 0 || effect > effect_most)
            return err_set(e, ERR_INVALID, "--effect: expected a number from 0 to %g, got \"%s\"",
                           effect_most, one);
        s->effects[s->n_culprits++] = effect;
        if (text[n] == '\0')
            return ERR_OK;
        text += n + 1;
    }
    return err_set(e, ERR_INVALID, "--effect: more than %d steps", SCENE_MAX_CULPRITS);
}

static enum err_code read_culprits(const struct options *o, struct setting *s, struct err *e)
{
    uint32_t n = (uint32_t)or_else(o->culprits, s->n_culprits);

    if (s->n_culprits > 1 && n != s->n_culprits)
        return err_set(e, ERR_INVALID, "--culprits %u, but --effect names %u", n, s->n_culprits);
    for (; s->n_culprits < n; s->n_culprits++)
        s->effects[s->n_culprits] = s->effects[0];
    if (s->n_culprits > s->n_commits)
        return err_set(e, ERR_INVALID, "--culprits %u, but only %u commits", n, s->n_commits);
    for (uint32_t i = 0; i < n; i++)
        if (s->effects[i] == 0 && o->culprits > 1)
            return err_set(e, ERR_INVALID, "culprits without effect; --effect 0 has none");
    if (n == 1 && s->effects[0] == 0)
        s->n_culprits = 0;
    return ERR_OK;
}

/* 40 hex digits a line; their array is the caller's to free. */
static enum err_code read_revisions(const char *path, struct revision **out, uint32_t *n,
                                    struct err *e)
{
    AUTO(buf_fini) struct buf text = {0};
    struct revision *all;
    uint32_t count = 0;

    if (file_read(path, (size_t)REVISIONS_MOST * NAME_BYTES, &text, e))
        return err_wrap(e, "--revisions");
    all = mem_array(text.len / NAME_BYTES + 1, sizeof(*all));
    for (const char *line = buf_str(&text); *line;
         line += strcspn(line, "\n"), line += *line != '\0') {
        AUTO(mem_free) char *name = mem_dup_n(line, strcspn(line, "\n"));
        if (revision_parse(name, &all[count], e)) {
            mem_free(all);
            return err_wrap(e, "--revisions: %s: line %u", path, count + 1);
        }
        count++;
    }
    *out = all;
    *n = count;
    return ERR_OK;
}

static enum err_code read_names(const struct options *o, struct revision **names, struct setting *s,
                                struct err *e)
{
    uint32_t n = 0;

    if (!o->revisions)
        return ERR_OK;
    if (read_revisions(o->revisions, names, &n, e))
        return e->code;
    s->revisions = *names;
    if (o->commits < 0 && n >= 2)
        s->n_commits = n - 1;
    if (n != s->n_commits + 1)
        return err_set(e, ERR_INVALID, "--revisions: %s has %u lines, %u are needed", o->revisions,
                       n, s->n_commits + 1);
    return ERR_OK;
}

static enum err_code check_record(const struct options *o, struct err *e)
{
    if (!o->record)
        return ERR_OK;
    if (o->policy && strcmp(o->policy, policy_bisectd.name) != 0)
        return err_set(e, ERR_INVALID, "--record: only bisectd keeps a record, not %s", o->policy);
    if (o->trials > 1)
        return err_set(e, ERR_INVALID, "--record: of 1 trial, not %lld", (long long)o->trials);
    return ERR_OK;
}

/* `names` is the caller's to free, once the setting is no longer used. */
static enum err_code read_setting(const struct options *o, struct setting *out,
                                  struct revision **names, struct err *e)
{
    struct setting s = {
        .n_commits = (uint32_t)or_else(o->commits, 256),
        .confidence = o->confidence > 0 ? o->confidence : REQUEST_CONFIDENCE,
        .build_cost = fmax(o->build_cost, 0),
        .p_broken = fmax(o->broken, 0),
        .n_workers = (uint32_t)or_else(o->workers, 1),
        .n_stored = (uint32_t)or_else(o->stored, 0),
        .n_repeats = (uint32_t)or_else(o->repeats, 1),
        .budget_runs = REQUEST_BUDGET_RUNS,
        .has_verification = o->verify,
        .seed = o->has_seed ? o->seed : 1,
    };

    for (uint32_t i = 0; o->noise && i < N_NOISE_FAMILIES; i++)
        if (strcmp(o->noise, noise_names[i]) == 0)
            s.noise = (enum noise_family)i;
    if (check_record(o, e) || read_names(o, names, &s, e) ||
        read_effects(o->effect ? o->effect : "2", &s, e) || read_culprits(o, &s, e))
        return e->code;
    *out = s;
    return ERR_OK;
}

struct crew {
    const struct simulation *simulation;
    struct trial *trials;
    uint32_t n;
    atomic_uint_fast32_t n_begun, n_done;
    bool is_terminal;
    struct mono noted; /* the main thread's */
};

static void note_progress(struct crew *c)
{
    struct mono now = mono_now();

    if (now.ns - c->noted.ns < note_each_ns[c->is_terminal])
        return;
    c->noted = now;
    unsigned done = (unsigned)atomic_load(&c->n_done);
    if (!c->is_terminal) {
        terminal_note("%u of %u trials", done, c->n);
        return;
    }
    AUTO(buf_fini) struct buf line = {0};
    buf_printf(&line, "\r  %u of %u trials ", done, c->n);
    (void)terminal_write(STDERR_FILENO, &line, NULL);
}

static bool take_one(struct crew *c)
{
    uint32_t at = (uint32_t)atomic_fetch_add(&c->n_begun, 1);

    if (at >= c->n)
        return false;
    simulation_trial(c->simulation, at, &c->trials[at]);
    atomic_fetch_add(&c->n_done, 1);
    return true;
}

static void *work(void *crew)
{
    while (take_one(crew))
        continue;
    return NULL;
}

/* One thread a CPU, the calling one included. */
static void run_all(struct crew *c)
{
    pthread_t threads[THREADS_MOST];
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN),
         most = n_cpus > THREADS_MOST ? THREADS_MOST : n_cpus;
    uint32_t n = 0;

    c->noted = mono_now();
    while (n + 1 < most && n + 1 < c->n && pthread_create(&threads[n], NULL, work, c) == 0)
        n++;
    while (take_one(c))
        note_progress(c);
    while (n > 0)
        pthread_join(threads[--n], NULL);
    if (c->is_terminal) {
        AUTO(buf_fini) struct buf line = {0};
        buf_adds(&line, "\r\x1b[K");
        (void)terminal_write(STDERR_FILENO, &line, NULL);
    }
}

static json *to_json(const char *policy, const struct tally *t)
{
    json *o = json_new_object();

    json_put(o, "policy", json_new_string(policy));
    json_put(o, "trials", json_new_int(t->n_trials));
    json_put(o, "exact", json_new_real(t->exact));
    json_put(o, "wrong", json_new_real(t->wrong));
    json_put(o, "undecided", json_new_real(t->undecided));
    json_put(o, "runs_mean", json_new_real(t->runs));
    json_put(o, "builds_mean", json_new_real(t->builds));
    json_put(o, "cost_mean", json_new_real(t->cost));
    json_put(o, "rounds_mean", json_new_real(t->rounds));
    json_put(o, "floor_runs", json_new_real(t->floor_runs));
    json_put(o, "decisions_mean", json_new_real(t->decisions));
    json_put(o, "share_error", json_new_real(t->share_error));
    json_put(o, "beside_culprit", json_new_real(t->beside_culprit));
    json_put(o, "beside_named", json_new_real(t->beside_named));
    return json_put(o, "beside_wrong", json_new_real(t->beside_wrong));
}

static void to_text(const char *policy, const struct tally *t, double cpu_s, const struct style *s,
                    struct buf *out)
{
    double cpu_ms = 1e3 * cpu_s / t->n_trials; /* a trial */

    style_label(out, s, "policy");
    buf_printf(out, "%s, %u trials\n", policy, t->n_trials);
    style_label(out, s, "exact");
    buf_printf(out, "%.2f %%\n", 100 * t->exact);
    style_label(out, s, "wrong");
    buf_printf(out, "%.2f %%\n", 100 * t->wrong);
    style_label(out, s, "undecided");
    buf_printf(out, "%.2f %%\n", 100 * t->undecided);
    style_label(out, s, "runs");
    buf_printf(out, "%.1f (standard error %.1f)", t->runs, t->runs_error);
    if (!isnan(t->floor_runs))
        buf_printf(out, "; no search can do with less than %.1f", t->floor_runs);
    buf_addc(out, '\n');
    style_label(out, s, "builds");
    buf_printf(out, "%.1f beside the ends\n", t->builds);
    style_label(out, s, "cost");
    buf_printf(out, "%.1f run lengths of work\n", t->cost);
    style_label(out, s, "rounds");
    buf_printf(out, "%.1f run lengths from begin to end\n", t->rounds);
    if (!isnan(t->share_error)) {
        style_label(out, s, "shares");
        buf_printf(out, "off by %.3f on average\n", t->share_error);
    }
    style_label(out, s, "CPU");
    buf_printf(out, "%.2f ms a trial, %.3f ms a decision\n", cpu_ms,
               cpu_ms / fmax(t->decisions, 1));
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum err_code record_one(struct crew *c, const char *path, struct err *e)
{
    AUTO(buf_fini) struct buf record = {0};

    simulation_record(c->simulation, 0, &c->trials[0], &record);
    if (file_write(path, record.data, record.len, 0666, e))
        return err_wrap(e, "--record");
    return ERR_OK;
}

static void revisions_free(struct revision *names)
{
    mem_free(names);
}
DEFINE_AUTO(struct revision, revisions_free)

static int run(const struct options *o)
{
    AUTO(revisions_free) struct revision *names = NULL;
    AUTO(simulation_free) struct simulation *simulation = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct setting setting;
    struct tally tally;
    struct err e = {0};
    struct style style = terminal_style(STDOUT_FILENO);
    const struct policy *policy = policy_find(o->policy ? o->policy : policy_names[0]);

    if (read_setting(o, &setting, &names, &e))
        return fail_usage(o, &e);
    simulation = simulation_new(policy, &setting);
    struct crew crew = {.simulation = simulation,
                        .n = (uint32_t)or_else(o->trials, o->record ? 1 : 200),
                        .is_terminal = terminal_is(STDERR_FILENO)};
    crew.trials = mem_array(crew.n, sizeof(*crew.trials));
    double start = cpu_seconds();
    if (!o->record)
        run_all(&crew);
    else
        (void)record_one(&crew, o->record, &e);
    simulation_tally(simulation, crew.trials, crew.n, &tally);
    mem_free(crew.trials);
    if (e.code)
        return fail(o, &e);
    if (o->json) {
        AUTO(json_free) json *document = to_json(policy->name, &tally);
        return print_json(document, EXIT_DONE);
    }
    to_text(policy->name, &tally, cpu_seconds() - start, &style, &text);
    return print_text(&text, EXIT_DONE);
}

const struct command command_simulate = {
    .name = "simulate",
    .words = "",
    .summary = "search made-up histories: how often it is right, at what cost",
    .about = "Plays whole searches in memory, up to where the answer is sure; nothing is built or "
             "measured. Builds of the ends are free, their runs are counted.",
    .example = "bisectctl simulate --commits 256 --effect 2 --confidence .95 --trials 2000\n"
               "bisectctl simulate --policy pinpoint --effect 2 --build-cost 10\n"
               "bisectctl simulate --seed 7 --verify --record search.jsonl\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
