/* SPDX-License-Identifier: Apache-2.0 */
#include "report/call_times.h"
#include "formats/trace_split.h"
#include <math.h>

/* A call may take so many times what trivial ones cost, and still be nothing but that. */
static const double costs_cheap = 2;
/* The standard error of the cost of a call, as a part of it. */
static const double cost_unknown = .7;
/* Entering the kernel and coming back takes so long, on any machine. */
static const double entry_s = 50e-9;
/* So many standard errors are a contradiction. */
static const double contradiction = 3;

bool call_times_are_cheap(const struct inspection *seen, double seconds, double n)
{
    return seconds < costs_cheap * seen->cost_us * 1e-6 * n;
}

/** Working calls of one side, and what an untraced run has for them. */
struct budget {
    double n_cheap, n_dear, dear_s;
    double system_s;                /* by the books, less page faults */
    struct moments elapsed, kernel; /* all of it, and less user time */
};

static bool is_working(const struct difference *d)
{
    return trace_rank_of(d->call, d->path) == TRACE_WORKS;
}

/** By both sides: a call does not become another one. Those too many to time are cheap, too. */
static bool is_cheap(const struct inspection *seen, const struct difference *d)
{
    return !isfinite(d->seconds[AFTER]) ||
           call_times_are_cheap(seen, d->seconds[BEFORE] + d->seconds[AFTER],
                                d->count[BEFORE] + d->count[AFTER]);
}

static struct budget budget_of(const struct explanation *v, const struct inspection *seen,
                               const struct couples *plain, int side)
{
    struct budget b = {.n_cheap = 0};
    double elapsed[INSPECTION_RUNS] = {0}, kernel[INSPECTION_RUNS] = {0};

    for (size_t i = 0; i < v->n_differences; i++) {
        const struct difference *d = &v->differences[i];
        if (!is_working(d))
            continue;
        if (is_cheap(seen, d)) {
            b.n_cheap += d->count[side];
        } else {
            b.n_dear += d->count[side];
            b.dear_s += d->seconds[side];
        }
    }
    for (uint32_t k = 0; k < plain->n; k++) {
        const struct inspected_run *r = plain->runs[k][side];
        elapsed[k] = kernel[k] = r->seconds;
        if (!r->has_usage || !seen->is_pinned) /* it goes by beside calls */
            continue;
        kernel[k] = r->seconds - r->usage.user_s;
        b.system_s += (r->usage.system_s - FAULT_S * (double)r->usage.minor_faults) / plain->n;
    }
    b.elapsed = moments_of(elapsed, plain->n);
    b.kernel = moments_of(kernel, plain->n);
    return b;
}

/** No call takes longer than the untraced run, or than the change makes it: on an uneven disk that
 *  may be of slower runs. */
static void bound_dear(struct explanation *v, const struct inspection *seen,
                       struct budget budgets[SIDES], int side)
{
    struct budget *b = &budgets[side];
    const double change = side == AFTER ? v->change_s : -v->change_s;
    const double most = fmax(b->elapsed.mean + contradiction * b->elapsed.error,
                             budgets[side == AFTER ? BEFORE : AFTER].elapsed.mean + change);

    if (!isfinite(most) || b->dear_s <= most)
        return;
    for (size_t i = 0; i < v->n_differences; i++) {
        struct difference *d = &v->differences[i];
        if (is_working(d) && !is_cheap(seen, d))
            d->seconds[side] *= most / b->dear_s;
    }
    b->dear_s = most;
}

/** What an untraced run has for cheap calls, and all that is not known of. */
static double room_of(const struct budget *b)
{
    return b->kernel.mean - b->dear_s;
}

/** What one cheap call takes, by the side that makes more of them. */
static struct moments cheap_call(const struct budget budgets[SIDES])
{
    const struct budget *b = &budgets[budgets[AFTER].n_cheap > budgets[BEFORE].n_cheap];
    const double least = fmax((b->system_s - b->dear_s) / b->n_cheap, entry_s);
    const double most = fmax(room_of(b) / b->n_cheap + entry_s, least);
    const double error = isfinite(b->kernel.error) ? b->kernel.error / b->n_cheap : 0;

    return (struct moments){.mean = (most + least) / 2,
                            .error = hypot((most - least) / sqrt(12), error)};
}

/** Is what tracing may be wrong by more than there is room for? */
static bool is_lost(const struct budget *b, double error_s)
{
    return b->n_cheap > 0 && b->n_cheap * error_s > room_of(b);
}

static void set_cheap(struct explanation *v, const struct inspection *seen, double each_s)
{
    for (size_t i = 0; i < v->n_differences; i++) {
        struct difference *d = &v->differences[i];
        if (!is_working(d) || !is_cheap(seen, d))
            continue;
        for (int side = 0; side < SIDES; side++)
            d->seconds[side] = d->count[side] * each_s;
    }
}

double call_times_settle(struct explanation *v, const struct inspection *seen)
{
    const struct couples plain = couples_of(seen, INSPECTED_PLAIN);
    const double error_s = cost_unknown * seen->cost_us * 1e-6;
    struct budget b[SIDES];

    for (int side = 0; side < SIDES; side++)
        b[side] = budget_of(v, seen, &plain, side);
    for (int side = 0; side < SIDES; side++)
        bound_dear(v, seen, b, side);
    const double n_dear = b[AFTER].n_dear - b[BEFORE].n_dear;
    const double n_cheap = b[AFTER].n_cheap - b[BEFORE].n_cheap;
    if (plain.n == 0 || !(is_lost(&b[BEFORE], error_s) || is_lost(&b[AFTER], error_s)))
        return error_s * fabs(n_dear + n_cheap);
    const struct moments each = cheap_call(b);
    set_cheap(v, seen, each.mean);
    const double beside = room_of(&b[AFTER]) - room_of(&b[BEFORE]) - n_cheap * each.mean;
    return hypot(hypot(error_s * n_dear, each.error * n_cheap), beside / 2);
}
