/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "report/summary.h"
#include <string.h>

enum { COMMAND_COLUMNS = 52 };

struct writer {
    const struct verdict *v;
    const struct place *p;
    const struct style *s;
    struct buf *out;
};

static void add_step(const struct writer *w, const struct buf *command, const char *why)
{
    buf_adds(w->out, "  ");
    style_add(w->out, w->s, INK_STRONG, buf_str(command));
    for (size_t n = command->len; n < COMMAND_COLUMNS; n++)
        buf_addc(w->out, ' ');
    buf_adds(w->out, " ");
    style_ink(w->out, w->s, INK_FAINT);
    buf_printf(w->out, "# %s", why); /* so that a whole line can be pasted into a shell */
    style_plain(w->out, w->s);
    buf_addc(w->out, '\n');
}

static void add_place(const struct place *p, struct buf *command)
{
    if (p->store) {
        buf_adds(command, " --store ");
        text_shell(command, p->store);
    } else if (p->coordinator) {
        buf_adds(command, " --coordinator ");
        text_shell(command, p->coordinator);
    }
}

/* bisectctl WORD ID [MORE] [--store DIR] */
static void add_ours(const struct writer *w, const char *word, const char *more, const char *why)
{
    AUTO(buf_fini) struct buf command = {0};

    buf_printf(&command, "bisectctl %s ", word);
    text_shell(&command, w->v->id ? w->v->id : "");
    buf_adds(&command, more);
    add_place(w->p, &command);
    add_step(w, &command, why);
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
    add_ours(w, "export", " --format git-bisect-log", "for git bisect replay");
    add_ours(w, "replay", "", "every decision again, from the samples");
}

static void after_range(const struct writer *w)
{
    if (w->v->n_untestable > 0)
        add_log(w, &w->v->untestable[0], "why it could not be tested");
    add_ours(w, "export", " --format git-bisect-log", "for git bisect replay");
}

static void after_not_reproduced(const struct writer *w)
{
    add_log(w, &w->v->bad, "what the bad end printed");
    add_ours(w, "log", "", "every task: what was built and measured");
}

static void after_inconclusive(const struct writer *w)
{
    add_ours(w, "log", "", "every task: what was built and measured");
    style_paragraph(w->out, w->s, 2,
                    "Run the same command again with a larger --budget-runs or a larger "
                    "--min-effect: it reuses every build and sample.");
}

static void after_failed(const struct writer *w)
{
    if (w->v->n_untestable > 0)
        add_log(w, &w->v->untestable[0], "what its commands printed");
    add_ours(w, "log", "", "every task: what was built, and what failed");
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
};
/* clang-format on */

void next_write(const struct verdict *v, const struct place *p, const struct style *s,
                struct buf *out)
{
    struct writer w = {v, p, s, out};

    buf_adds(out, "\nWhat to type next:\n");
    if (v->state == BISECTION_CANCELED && v->kind == VERDICT_NONE)
        after_failed(&w);
    else
        after[v->kind](&w);
}
