/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/mem.h"
#include "unit/run.h"
#include "workers/measure/quiet.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
static const struct {
    const char *spec;
    bool is_needed;
} metrics[] = {
    {"wall", true}, {"cpu", true}, {"ts", true}, {"value", true},
    {"exit", false}, {"rss", false}, {"counter", false},
};
/* clang-format on */

START_TEST(times_need_quiet)
{
    AUTO(metric_free) struct metric *m = NULL;
    struct err e = {0};

    ck_assert_int_eq(metric_from_spec(metrics[_i].spec, &m, &e), ERR_OK);
    ck_assert_int_eq(quiet_is_needed(m), metrics[_i].is_needed);
}
END_TEST

/* One process for each CPU that does nothing but work. */
enum { SPINNERS_MOST = 256 };
struct spinners {
    pid_t pids[SPINNERS_MOST];
    int n;
};

static void spinners_fini(struct spinners *s)
{
    for (int i = 0; i < s->n; i++) {
        kill(s->pids[i], SIGKILL);
        waitpid(s->pids[i], NULL, 0);
    }
    s->n = 0;
}
DEFINE_AUTO_FINI(struct spinners, spinners_fini)

static void spin(struct spinners *s)
{
    const long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

    for (s->n = 0; s->n < n_cpus && s->n < SPINNERS_MOST; s->n++) {
        s->pids[s->n] = fork();
        if (s->pids[s->n] == 0)
            for (volatile unsigned long i = 0;; i++)
                continue;
    }
}

struct watched {
    struct spinners *spinners; /* ended when first asked */
    int n_asked;
    bool must_stop;
};

static bool go_on(void *context, double busy)
{
    struct watched *w = context;

    ck_assert(busy > .25 && busy <= 1);
    w->n_asked++;
    if (w->spinners)
        spinners_fini(w->spinners);
    return !w->must_stop;
}

static void expect_log(const struct clip *log, const char *words)
{
    AUTO(buf_fini) struct buf text = {0};

    clip_render(log, &text);
    ck_assert_msg(words ? strstr(buf_str(&text), words) != NULL : text.len == 0, "%s",
                  buf_str(&text));
}

START_TEST(a_wait_has_an_end_and_is_told)
{
    AUTO(spinners_fini) struct spinners s = {0};
    AUTO(clip_fini) struct clip log;
    struct quiet q = {.patience_ns = NS_PER_S / 2, .most_busy = .25};
    struct watched w = {0};
    struct err e = {0};

    spin(&s);
    clip_init(&log, 4 * KIB);
    int64_t begin = mono_now().ns;
    ck_assert_int_eq(quiet_wait(&q, &log, go_on, &w, &e), ERR_OK);
    ck_assert_int_ge(mono_now().ns - begin, NS_PER_S / 2);
    ck_assert_int_ge(w.n_asked, 1);
    expect_log(&log, "of it is at work for others (25 % would do)");
    expect_log(&log, "measuring all the same");

    /* For nothing: the next one is not waited for. */
    w.n_asked = 0;
    ck_assert_int_eq(quiet_wait(&q, &log, go_on, &w, &e), ERR_OK);
    ck_assert_int_eq(w.n_asked, 0);
    ck_assert_int_gt(q.rest_until_ns, begin);
}
END_TEST

START_TEST(it_goes_on_when_the_work_of_others_ends)
{
    AUTO(spinners_fini) struct spinners s = {0};
    AUTO(clip_fini) struct clip log;
    struct quiet q = {.patience_ns = 3 * NS_PER_S, .most_busy = .25};
    struct watched w = {.spinners = &s};
    struct err e = {0};

    spin(&s);
    clip_init(&log, 4 * KIB);
    int64_t begin = mono_now().ns;
    ck_assert_int_eq(quiet_wait(&q, &log, go_on, &w, &e), ERR_OK);
    ck_assert_int_ge(w.n_asked, 1);
    /* Other tests may keep the machine busy: then it is the patience that ended. */
    if (mono_now().ns - begin < 3 * NS_PER_S)
        expect_log(&log, "for this machine to be quiet");
    else
        expect_log(&log, "waited 3");
}
END_TEST

START_TEST(it_ends_when_told_to)
{
    AUTO(spinners_fini) struct spinners s = {0};
    AUTO(clip_fini) struct clip log;
    struct quiet q = {.patience_ns = 60 * NS_PER_S, .most_busy = .25};
    struct watched w = {.must_stop = true};
    struct err e = {0};

    spin(&s);
    clip_init(&log, 4 * KIB);
    ck_assert_int_eq(quiet_wait(&q, &log, go_on, &w, &e), ERR_TIMEOUT);
    ck_assert_int_eq(w.n_asked, 1);
}
END_TEST

START_TEST(no_patience_is_no_wait)
{
    AUTO(spinners_fini) struct spinners s = {0};
    AUTO(clip_fini) struct clip log;
    struct quiet q = {.most_busy = 0};
    struct watched w = {.must_stop = true};
    struct err e = {0};

    spin(&s);
    clip_init(&log, 4 * KIB);
    ck_assert_int_eq(quiet_wait(&q, &log, go_on, &w, &e), ERR_OK);
    expect_log(&log, NULL);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {times_need_quiet, LEN(metrics)},
        {a_wait_has_an_end_and_is_told, 1},
        {it_goes_on_when_the_work_of_others_ends, 1},
        {it_ends_when_told_to, 1},
        {no_patience_is_no_wait, 1},
    };

    return unit_run("quiet", tests, LEN(tests));
}
