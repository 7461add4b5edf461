/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How well commits split a range, by counting the ancestors of every commit.
 *
 *     git rev-list --topo-order --reverse --parents FIRST..LAST | best_split [COMMIT...]
 *
 * Prints the size of the smaller half that the best commit leaves, then that of each COMMIT (0 if
 * it is not in the range). Exact and slow: the square of the number of commits, over 512.
 */
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 8, BLOCK = 64 * WORDS };

struct bits {
    uint64_t words[WORDS];
};

struct graph {
    uint32_t n, n_edges, cap, cap_edges;
    char (*ids)[41];
    uint32_t *first, *parents; /* of v: parents[first[v] .. first[v + 1] - 1] */
    uint32_t *count;           /* of v and its ancestors */
};

static void *grown(void *p, size_t n, size_t each)
{
    void *q = reallocarray(p, n, each);

    if (!q) {
        fprintf(stderr, "best_split: out of memory\n");
        exit(1);
    }
    return q;
}

/** The commit's number + 1, which `add` gives it when it is new; 0: not known. */
static uintptr_t number_of(const char *id, uintptr_t add)
{
    ENTRY entry = {.key = (char *)id, .data = (void *)add}, *found; /* hsearch keeps it as it is */

    found = hsearch(entry, add ? ENTER : FIND);
    return found ? (uintptr_t)found->data : 0;
}

static void read_line(struct graph *g, char *line)
{
    char *rest = line, *id = strsep(&rest, " \n");

    memcpy(g->ids[g->n], id, strlen(id) + 1);
    g->first[g->n] = g->n_edges;
    for (char *p = strsep(&rest, " \n"); p; p = strsep(&rest, " \n")) {
        uintptr_t at = *p ? number_of(p, 0) : 0;
        if (!at)
            continue;
        if (g->n_edges == g->cap_edges) {
            g->cap_edges = g->cap_edges ? 2 * g->cap_edges : 1024;
            g->parents = grown(g->parents, g->cap_edges, sizeof(*g->parents));
        }
        g->parents[g->n_edges++] = (uint32_t)at - 1;
    }
    g->n++;
    number_of(g->ids[g->n - 1], g->n);
    g->first[g->n] = g->n_edges;
}

static void graph_read(struct graph *g, FILE *in)
{
    char *line = NULL;
    size_t n_line = 0;

    g->cap = 1 << 21;
    g->ids = grown(NULL, g->cap, sizeof(*g->ids));
    g->first = grown(NULL, g->cap + 1, sizeof(*g->first));
    if (!hcreate(2 * (size_t)g->cap))
        exit(1);
    while (getline(&line, &n_line, in) > 0) {
        if (g->n == g->cap || strcspn(line, " \n") != 40) {
            fprintf(stderr, "best_split: more than %u commits, or not a list of them\n", g->cap);
            exit(1);
        }
        read_line(g, line);
    }
    free(line);
}

/** Adds those of the ancestors that are in the block beginning at `from`. */
static void count_block(struct graph *g, uint32_t from, struct bits *bits)
{
    for (uint32_t v = from; v < g->n; v++) {
        struct bits *b = &bits[v];
        memset(b, 0, sizeof(*b));
        if (v - from < BLOCK)
            b->words[(v - from) / 64] |= UINT64_C(1) << (v - from) % 64;
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
            for (int w = 0; w < WORDS && g->parents[e] >= from; w++)
                b->words[w] |= bits[g->parents[e]].words[w];
        for (int w = 0; w < WORDS; w++)
            g->count[v] += (uint32_t)__builtin_popcountll(b->words[w]);
    }
}

static uint32_t split_of(const struct graph *g, uint32_t v)
{
    return g->count[v] < g->n - g->count[v] ? g->count[v] : g->n - g->count[v];
}

int main(int argc, char **argv)
{
    struct graph g = {.n = 0};
    uint32_t best = 0;

    graph_read(&g, stdin);
    g.count = calloc((size_t)g.n + 1, sizeof(*g.count));
    struct bits *bits = grown(NULL, (size_t)g.n + 1, sizeof(*bits));
    for (uint32_t from = 0; g.count && from < g.n; from += BLOCK)
        count_block(&g, from, bits);
    for (uint32_t v = 0; g.count && v < g.n; v++)
        best = split_of(&g, v) > best ? split_of(&g, v) : best;
    printf("%u", best);
    for (int i = 1; i < argc; i++) {
        uintptr_t at = number_of(argv[i], 0);
        printf(" %u", at ? split_of(&g, (uint32_t)at - 1) : 0);
    }
    printf("\n");
    return 0;
}
