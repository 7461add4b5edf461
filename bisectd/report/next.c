/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "report/summary.h"
#include <string.h>

struct writer {
    const struct verdict *v;
    const struct place *p;
    const struct style *s;
    struct buf *out;
};

/* The reason stands above as a comment: all of it can be pasted into a shell, and no line is longer
 * than its command. */
static void add_step(const struct writer *w, const struct buf *command, const char *why)
{
    buf_adds(w->out, "  ");
    style_ink(w->out, w->s, INK_FAINT);
    buf_printf(w->out, "# %s", why);
    style_plain(w->out, w->s);
    buf_adds(w->out, "\n  ");
    style_add(w->out, w->s, INK_STRONG, buf_str(command));
    buf_addc(w->out, '\n');
}

void place_add(const struct place *p, struct buf *command)
{
    const struct {
        const char *flag, *value;
    } flags[] = {
        {"--store", p->store},
        {"--coordinator", p->coordinator},
        {"--config", p->config},
        {"--token-file", p->token_file},
    };

    for (size_t i = 0; i < LEN(flags); i++) {
        if (!flags[i].value)
            continue;
        buf_printf(command, " %s ", flags[i].flag);
        text_shell(command, flags[i].value);
    }
}

/* bisectctl WORD ID [MORE] [--store DIR] */
static void begin_ours(const struct writer *w, const char *word, const char *more,
                       struct buf *command)
{
    buf_printf(command, "bisectctl %s ", word);
    text_shell(command, w->v->id ? w->v->id : "");
    buf_adds(command, more);
    place_add(w->p, command);
}

static void add_ours(const struct writer *w, const char *word, const char *more, const char *why)
{
    AUTO(buf_fini) struct buf command = {0};

    begin_ours(w, word, more, &command);
    add_step(w, &command, why);
}

static void add_export(const struct writer *w)
{
    AUTO(buf_fini) struct buf command = {0};

    begin_ours(w, "export", " --format git-bisect-log", &command);
    buf_adds(&command, " > bisect.log");
    add_step(w, &command, "for git bisect replay bisect.log");
}

static void add_git_show(const struct writer *w, const struct revision *r)
{
    AUTO(buf_fini) struct buf command = {0};

    buf_adds(&command, "git ");
    if (w->p->repository) {
        buf_adds(&command, "-C ");
        text_shell(&command, w->p->repository);
        buf_addc(&command, ' ');
    }
    buf_printf(&command, "show %.*s", SHORT_HEX, r->hex);
    add_step(w, &command, "the commit itself");
}

static void add_log(const struct writer *w, const struct revision *r, const char *why)
{
    char more[SHORT_HEX + 2];

    more[0] = ' ';
    memcpy(more + 1, r->hex, SHORT_HEX);
    more[SHORT_HEX + 1] = '\0';
    add_ours(w, "log", revision_is_set(r) ? more : "", why);
}

static void after_culprit(const struct writer *w)
{
    for (size_t i = 0; i < w->v->n_culprits; i++)
        add_git_show(w, &w->v->culprits[i].revision);
    if (w->v->n_culprits > 0)
        add_log(w, &w->v->culprits[0].revision, "how it was built and measured");
    add_export(w);
    add_ours(w, "replay", "", "every decision again, from the samples");
}

static void after_range(const struct writer *w)
{
    if (w->v->n_untestable > 0 && w->v->cost.n_builds + w->v->cost.n_runs > 0)
        add_log(w, &w->v->untestable[0], "why it could not be tested");
    add_export(w);
}

static void after_not_reproduced(const struct writer *w)
{
    add_log(w, &w->v->bad, "what the bad end printed");
    add_ours(w, "log", "", "every task: what was built and measured");
}

/* What ended it, by its own words, and the flag that gives it more. */
/* clang-format off */
static const struct {
    const char *words;
    const char *advice;
} shortages[] = {
    {"time budget",    "Run the same command again with a larger --budget-time or a larger --min-effect: it reuses every build and sample."},
    {"budget of",      "Run the same command again with a larger --budget-runs or a larger --min-effect: it reuses every build and sample."},
    {"",               "Run the same command again with a larger --min-effect: it reuses every build and sample."},
};
/* clang-format on */

/* Nothing was ever built or measured: there is no log to look at. */
static bool has_tasks(const struct verdict *v)
{
    return v->range_size > 0 || v->cost.n_builds > 0 || v->cost.n_runs > 0;
}

static void after_inconclusive(const struct writer *w)
{
    const char *message = w->v->message ? w->v->message : "";
    size_t i = 0;

    if (has_tasks(w->v))
        add_ours(w, "log", "", "every task: what was built and measured");
    if (w->v->is_comparison) {
        style_paragraph(w->out, w->s, 2,
                        "A larger --budget-runs, --budget-time or --min-effect lets it decide: "
                        "builds are reused, runs are taken anew.");
        return;
    }
    while (!strstr(message, shortages[i].words))
        i++;
    style_paragraph(w->out, w->s, 2, shortages[i].advice);
}

/* The revision that the message speaks of, in SHORT_HEX digits; false: of none. */
static bool revision_in(const char *message, struct revision *out)
{
    for (const char *at = message; *at;) {
        size_t n = strspn(at, "0123456789abcdef");
        if (n == SHORT_HEX) {
            memcpy(out->hex, at, n);
            out->hex[n] = '\0';
            return true;
        }
        at += n;
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    return false;
}

static void after_failed(const struct writer *w)
{
    struct revision named = {{0}};
    bool is_named = revision_in(w->v->message ? w->v->message : "", &named);

    if (!has_tasks(w->v)) {
        style_paragraph(w->out, w->s, 2, "Mend what is said above, then give the command again.");
        return;
    }
    if (is_named)
        add_log(w, &named, "what its commands printed");
    else if (w->v->n_untestable > 0)
        add_log(w, &w->v->untestable[0], "what its commands printed");
    add_ours(w, "log", "", "every task: what was built, and what failed");
}

static void after_cancel(const struct writer *w)
{
    if (has_tasks(w->v))
        add_ours(w, "log", "", "every task: what was built and measured");
    style_paragraph(w->out, w->s, 2,
                    "The same command searches anew; it reuses every build and sample.");
}

static void after_comparison(const struct writer *w)
{
    add_ours(w, "log", "", "every task: what was built and measured");
    add_ours(w, "replay", "", "every decision again, from the samples");
}

static void after_regressed(const struct writer *w)
{
    AUTO(buf_fini) struct buf text = {0};

    after_comparison(w);
    buf_printf(&text,
               "bisectctl run --good %.*s --bad %.*s, with the same flags, finds the commit.",
               SHORT_HEX, w->v->good.hex, SHORT_HEX, w->v->bad.hex);
    style_paragraph(w->out, w->s, 2, buf_str(&text));
}

static void while_running(const struct writer *w)
{
    add_ours(w, "watch", "", "follow it to its verdict");
    add_ours(w, "cancel", "", "stop it; its samples are kept");
}

/* clang-format off */
static void (*const after[])(const struct writer *w) = {
    [VERDICT_NONE]           = while_running,
    [VERDICT_CULPRIT]        = after_culprit,
    [VERDICT_RANGE]          = after_range,
    [VERDICT_NOT_REPRODUCED] = after_not_reproduced,
    [VERDICT_INCONCLUSIVE]   = after_inconclusive,
    [VERDICT_FAILED]         = after_failed,
    [VERDICT_REGRESSED]      = after_regressed,
    [VERDICT_IMPROVED]       = after_comparison,
    [VERDICT_SAME]           = after_comparison,
};
/* clang-format on */

void next_write(const struct verdict *v, const struct place *p, const struct style *s,
                struct buf *out)
{
    struct writer w = {v, p, s, out};

    buf_adds(out, "\nWhat to type next:\n");
    if (v->state == BISECTION_CANCELED && v->kind == VERDICT_NONE)
        after_cancel(&w);
    else
        after[v->kind](&w);
}
