/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/terminal.h"
#include "report/progress.h"
#include <string.h>
#include <unistd.h>

static const int64_t redraw_ns = 200 * NS_PER_MS; /* on a terminal */
/* Between plain lines: longer the longer it takes, so that a log of hours can be read. */
static const int64_t plain_least_ns = NS_PER_S, plain_most_ns = 30 * NS_PER_S;
enum { PLAIN_PART = 50 };

struct live {
    bool is_terminal;
    struct style style;
    struct mono start;
    struct mono drawn;          /* ns 0: never */
    bool is_on_screen;          /* our lines stand above the cursor */
    bool is_stale;              /* there is news that is not shown yet */
    enum bisection_state state; /* last shown */
    struct verdict *now;        /* the latest, our copy; NULL: none yet */
    char *plain;                /* last plain line without its clock */
};

struct live *live_new(void)
{
    struct live *l = mem_alloc(sizeof(*l));

    l->is_terminal = terminal_is(STDERR_FILENO);
    l->style = terminal_style(STDERR_FILENO);
    l->start = mono_now();
    return l;
}

void live_free(struct live *l)
{
    if (!l)
        return;
    live_clear(l);
    verdict_free(l->now);
    mem_free(l->plain);
    mem_free(l);
}

static double seconds_since_start(const struct live *l)
{
    return (double)(mono_now().ns - l->start.ns) / 1e9;
}

/* Back over our lines, which are cut to the width and so do not wrap, clearing to the end. */
static void add_erase(const struct live *l, struct buf *out)
{
    if (l->is_on_screen)
        buf_printf(out, "\r\033[%dA\033[J", PROGRESS_LINES);
}

static void draw(struct live *l)
{
    AUTO(buf_fini) struct buf out = {0};
    struct buf lines[PROGRESS_LINES] = {{0}};

    l->style.width = terminal_style(STDERR_FILENO).width; /* it may have been resized */
    progress_live(l->now, seconds_since_start(l), &l->style, lines);
    add_erase(l, &out);
    for (int i = 0; i < PROGRESS_LINES; i++) {
        buf_adds(&out, buf_str(&lines[i]));
        buf_addc(&out, '\n');
        buf_fini(&lines[i]);
    }
    (void)terminal_write(STDERR_FILENO, &out, NULL);
    l->is_on_screen = true;
    l->drawn = mono_now();
}

static void print_plain(struct live *l)
{
    AUTO(buf_fini) struct buf bare = {0};
    AUTO(buf_fini) struct buf line = {0};

    progress_plain(l->now, -1, &bare);
    l->is_stale = false;
    if (l->plain && strcmp(l->plain, buf_str(&bare)) == 0)
        return;
    mem_free(l->plain);
    l->plain = buf_take(&bare);
    progress_plain(l->now, seconds_since_start(l), &line);
    (void)terminal_write(STDERR_FILENO, &line, NULL);
    l->drawn = mono_now();
    l->state = l->now->state;
}

static int64_t plain_pause_ns(const struct live *l)
{
    int64_t ns = (mono_now().ns - l->start.ns) / PLAIN_PART;

    return ns < plain_least_ns ? plain_least_ns : ns > plain_most_ns ? plain_most_ns : ns;
}

static void refresh(struct live *l)
{
    int64_t age_ns = mono_now().ns - l->drawn.ns;
    bool is_first = l->drawn.ns == 0;

    if (!l->now)
        return;
    if (l->is_terminal && (is_first || age_ns >= redraw_ns))
        draw(l);
    else if (!l->is_terminal && l->is_stale &&
             (is_first || age_ns >= plain_pause_ns(l) || l->state != l->now->state))
        print_plain(l);
}

void live_show(struct live *l, const struct verdict *v)
{
    AUTO(json_free) json *document = verdict_to_json(v);
    struct verdict *copy = NULL;

    if (verdict_from_json(document, &copy, NULL))
        return; /* it came from JSON a moment ago; then the old one stays */
    verdict_free(l->now);
    l->now = copy;
    l->is_stale = true;
    refresh(l);
}

void live_tick(struct live *l)
{
    refresh(l);
}

void live_clear(struct live *l)
{
    AUTO(buf_fini) struct buf out = {0};

    add_erase(l, &out);
    (void)terminal_write(STDERR_FILENO, &out, NULL);
    l->is_on_screen = false;
}
