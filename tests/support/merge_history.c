/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A long history full of merges, as a stream for git fast-import.
 *
 *     merge_history COMMITS [SEED [MERGED]] | git fast-import
 *
 * A main line with side branches of 1 to 20 commits, several open at a time. A commit of a side
 * branch merges main back with probability MERGED (default .48) if main has moved; at its end the
 * branch is merged into main, and another begins there. The tag "first" names the root, "last" the
 * merge that ends it, COMMITS later. No two trees are equal.
 */
#include "base/hash.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH_MOST = 20, OPEN = 64 };

struct branch {
    uint32_t tip, left; /* commits to come */
    uint32_t merged;    /* what it has of main */
};

struct history {
    uint64_t seed, n_draws;
    double p_merged;
    uint32_t n; /* commits written; a commit's mark is its number */
    uint32_t main;
    struct branch open[OPEN];
};

static double uniform(struct history *h)
{
    return (double)(mix64(mix64(h->seed) + h->n_draws++) >> 11) / 9007199254740992.0;
}

/** Writes one commit; a parent of 0 is none. Returns its mark. */
static uint32_t commit(struct history *h, uint32_t parent, uint32_t merged)
{
    uint32_t mark = ++h->n;
    unsigned date = 1000000000U + mark * 600U;
    char text[16];
    int n = snprintf(text, sizeof(text), "%u\n", mark);

    printf("commit refs/heads/main\nmark :%u\nauthor Ada <ada@example.org> %u +0000\n"
           "committer Ada <ada@example.org> %u +0000\ndata %d\n%s",
           mark, date, date, n, text);
    if (parent)
        printf("from :%u\n", parent);
    if (merged)
        printf("merge :%u\n", merged);
    printf("M 100644 inline file\ndata %d\n%s\n", n, text);
    return mark;
}

static void begin(struct history *h, struct branch *b)
{
    uint32_t length = 1 + (uint32_t)(uniform(h) * LENGTH_MOST);

    *b = (struct branch){.tip = h->main, .left = length, .merged = h->main};
}

/** The next commit of a branch, or its merge into main. */
static void advance(struct history *h, struct branch *b)
{
    if (b->left == 0) {
        h->main = commit(h, h->main, b->tip);
        begin(h, b);
        return;
    }
    bool is_merge = b->merged != h->main && uniform(h) < h->p_merged;
    b->tip = commit(h, b->tip, is_merge ? h->main : 0);
    if (is_merge)
        b->merged = h->main;
    b->left--;
}

int main(int argc, char **argv)
{
    uint32_t n_most = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    struct history h = {
        .seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
        .p_merged = argc > 3 ? strtod(argv[3], NULL) : .48,
    };

    if (argc < 2 || argc > 4 || n_most <= 2 * OPEN) {
        fprintf(stderr, "usage: merge_history COMMITS [SEED [MERGED]]\n");
        return 2;
    }
    h.main = commit(&h, 0, 0);
    for (uint32_t i = 0; i < OPEN; i++)
        begin(&h, &h.open[i]);
    while (h.n <= n_most - OPEN)
        advance(&h, &h.open[(uint32_t)(uniform(&h) * OPEN)]);
    for (uint32_t i = 0; i < OPEN; i++) /* in one go; a branch without commits gives a plain one */
        h.main = commit(&h, h.main, h.open[i].tip == h.open[i].merged ? 0 : h.open[i].tip);
    printf("reset refs/tags/first\nfrom :1\n\nreset refs/tags/last\nfrom :%u\n", h.main);
    return 0;
}
