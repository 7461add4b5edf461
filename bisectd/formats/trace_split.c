/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace_split.h"
#include "base/mem.h"
#include "formats/syscall.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct span {
    int64_t start_ns, end_ns;
    uint32_t row;
    enum trace_rank rank;
};

/** A span begins or ends. */
struct edge {
    int64_t at_ns;
    size_t span;
    bool is_end;
};

struct trace_split {
    struct span *spans;
    size_t n, cap;
};

/** Spans that are open. */
struct set {
    size_t *spans;
    size_t n, cap;
};

enum trace_rank trace_rank_of(const char *call, const char *path)
{
    static const char *const own[] = {"wait4",           "waitid",        "waitpid",
                                      "futex",           "futex_time64",  "futex_waitv",
                                      "rt_sigtimedwait", "rt_sigsuspend", "pause"};

    if (!syscall_waits(call, path))
        return TRACE_WORKS;
    for (size_t i = 0; i < LEN(own); i++)
        if (strcmp(call, own[i]) == 0)
            return TRACE_ATTENDS;
    return strncmp(path, "pipe", strlen("pipe")) == 0 ? TRACE_ATTENDS : TRACE_AWAITS;
}

struct trace_split *trace_split_new(void)
{
    return mem_alloc(sizeof(struct trace_split));
}

void trace_split_free(struct trace_split *s)
{
    if (!s)
        return;
    mem_free(s->spans);
    mem_free(s);
}

void trace_split_add(struct trace_split *s, uint32_t row, int64_t start_ns, int64_t ns,
                     enum trace_rank rank)
{
    if (ns <= 0)
        return;
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->spans = mem_resize(s->spans, s->cap, sizeof(*s->spans));
    }
    s->spans[s->n++] = (struct span){start_ns, start_ns + ns, row, rank};
}

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    if (x->is_end != y->is_end)
        return x->is_end ? -1 : 1;
    return (x->span > y->span) - (x->span < y->span);
}

static struct edge *edges_of(const struct trace_split *s)
{
    struct edge *edges = mem_array(2 * s->n + 1, sizeof(*edges));

    for (size_t i = 0; i < s->n; i++) {
        edges[2 * i] = (struct edge){s->spans[i].start_ns, i, false};
        edges[2 * i + 1] = (struct edge){s->spans[i].end_ns, i, true};
    }
    if (s->n)
        qsort(edges, 2 * s->n, sizeof(*edges), by_time);
    return edges;
}

static void set_add(struct set *s, size_t span)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 16;
        s->spans = mem_resize(s->spans, s->cap, sizeof(*s->spans));
    }
    s->spans[s->n++] = span;
}

static void set_remove(struct set *s, size_t span)
{
    size_t i = 0;

    while (i < s->n && s->spans[i] != span)
        i++;
    if (i < s->n)
        s->spans[i] = s->spans[--s->n];
}

/** The first rank that has any; an empty one if none has. */
static const struct set *first_of(const struct set open[TRACE_RANKS])
{
    int rank = 0;

    while (rank + 1 < TRACE_RANKS && open[rank].n == 0)
        rank++;
    return &open[rank];
}

static void give(const struct trace_split *s, const struct set *to, int64_t ns, double *out_ns)
{
    for (size_t i = 0; i < to->n; i++)
        out_ns[s->spans[to->spans[i]].row] += (double)ns / (double)to->n;
}

void trace_split_give(struct trace_split *s, double *out_ns)
{
    struct edge *edges = edges_of(s);
    struct set open[TRACE_RANKS] = {0};

    for (size_t i = 0; i < 2 * s->n; i++) {
        const struct edge *now = &edges[i];
        int64_t ns = i ? now->at_ns - edges[i - 1].at_ns : 0;
        if (ns > 0)
            give(s, first_of(open), ns, out_ns);
        struct set *of = &open[s->spans[now->span].rank];
        if (now->is_end)
            set_remove(of, now->span);
        else
            set_add(of, now->span);
    }
    for (int rank = 0; rank < TRACE_RANKS; rank++)
        mem_free(open[rank].spans);
    mem_free(edges);
}
