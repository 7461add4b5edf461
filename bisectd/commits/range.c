/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/range.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "commits/promised.h"
#include "commits/touch.h"
#include "commits/walk.h"
#include <string.h>

enum { MAX_WALKED = 4 * RANGE_MAX_CANDIDATES };
/* In larger ranges reading a tree or two of each commit would take seconds. */
enum { MAX_PROSE_CANDIDATES = 5000 };

/** A range under construction. */
struct building {
    const struct mirror *mirror;
    struct walk *walk;
    const struct strings *paths;
    uint32_t *place; /* of each walked commit in the range; UINT32_MAX: none yet */
    bool *is_wanted; /* candidates and boundary commits */
    struct range *range;
};

static void building_fini(struct building *b)
{
    walk_free(b->walk);
    mem_free(b->place);
    mem_free(b->is_wanted);
    range_free(b->range);
}
DEFINE_AUTO_FINI(struct building, building_fini)

/* Refusals */

static enum err_code equal_ends(const struct range_query *q, const git_oid *id, struct err *e)
{
    if (q->is_pair) {
        err_set(e, ERR_INVALID, "base (%.100s) and head (%.100s) are the same commit, %.12s",
                q->good, q->bad, git_oid_tostr_s(id));
        return err_hint(e, "there is nothing to compare; name two revisions");
    }
    err_set(e, ERR_INVALID,
            "good (%.100s) and bad (%.100s) are the same commit, %.12s: there is no "
            "range to search",
            q->good, q->bad, git_oid_tostr_s(id));
    return err_hint(e, "to measure two revisions against each other, use bisectctl compare");
}

static enum err_code swapped_ends(const struct range_query *q, struct err *e)
{
    AUTO(buf_fini) struct buf good = {0}, bad = {0};

    text_shell(&good, q->good);
    text_shell(&bad, q->bad);
    err_set(e, ERR_INVALID, "the ends look swapped: bad (%.100s) is an ancestor of good (%.100s)",
            q->bad, q->good);
    return err_hint(
        e,
        "type --good %.100s --bad %.100s; to look for the commit that fixed something, "
        "type that too, with --worse either: the older end is good, whatever it measures",
        buf_str(&bad), buf_str(&good));
}

static enum err_code unrelated_ends(const struct range_query *q, struct err *e)
{
    err_set(e, ERR_INVALID,
            "good (%.100s) and bad (%.100s) have unrelated histories: no commit is an "
            "ancestor of both",
            q->good, q->bad);
    return err_hint(
        e, "choose a good revision that bad grew out of; git log --graph shows the histories");
}

/* Which commits */

static uint32_t count_bases(const struct walk *w)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->n; i++)
        n += w->commits[i].paint == FROM_BOTH;
    return n;
}

static enum err_code check_ends(const struct walk *w, const struct range_query *q, struct err *e)
{
    if (w->good == w->bad)
        return equal_ends(q, &w->commits[w->good].id, e);
    if (w->commits[w->bad].paint & FROM_GOOD)
        return swapped_ends(q, e);
    if (!(w->commits[w->good].paint & FROM_BAD) && !count_bases(w))
        return unrelated_ends(q, e);
    return ERR_OK;
}

static enum err_code choose(struct building *b, struct err *e)
{
    struct walk *w = b->walk;
    struct range *r = b->range;

    r->good_is_ancestor = w->commits[w->good].paint & FROM_BAD;
    b->is_wanted = mem_array(w->n, sizeof(*b->is_wanted));
    b->is_wanted[w->good] = true;
    for (uint32_t i = 0; i < w->n; i++) {
        const struct walk_commit *c = &w->commits[i];
        if (!r->good_is_ancestor && c->paint == FROM_BOTH)
            b->is_wanted[i] = true;
        if (!walk_is_candidate(c))
            continue;
        r->n_candidates++;
        b->is_wanted[i] = true;
        for (uint32_t k = 0; k < c->n_parents; k++)
            b->is_wanted[c->parents[k]] = true;
    }
    if (r->n_candidates > RANGE_MAX_CANDIDATES)
        return err_set(e, ERR_LIMIT, "the range has %u commits; %d can be searched",
                       r->n_candidates, RANGE_MAX_CANDIDATES);
    for (uint32_t i = 0; i < w->n; i++)
        r->n += b->is_wanted[i];
    return ERR_OK;
}

/* In which order */

struct stack {
    uint32_t commit, next_parent;
};

static bool belongs(const struct building *b, uint32_t i, bool are_candidates)
{
    return b->is_wanted[i] && b->place[i] == UINT32_MAX &&
           walk_is_candidate(&b->walk->commits[i]) == are_candidates;
}

/** Numbers `from` and what it reaches, parents before children, first parents first. */
static uint32_t number_from(struct building *b, uint32_t from, bool are_candidates, uint32_t n,
                            struct stack *stack)
{
    uint32_t depth = 0;

    if (!belongs(b, from, are_candidates))
        return n;
    stack[depth++] = (struct stack){from, 0};
    while (depth) {
        struct stack *top = &stack[depth - 1];
        const struct walk_commit *c = &b->walk->commits[top->commit];
        if (top->next_parent < c->n_parents) {
            uint32_t parent = c->parents[top->next_parent++];
            if (belongs(b, parent, are_candidates))
                stack[depth++] = (struct stack){parent, 0};
            continue;
        }
        if (b->place[top->commit] == UINT32_MAX)
            b->place[top->commit] = n++;
        depth--;
    }
    return n;
}

static void number(struct building *b)
{
    struct walk *w = b->walk;
    struct stack *stack = mem_array(b->range->n, sizeof(*stack));
    uint32_t n = 0;

    b->place = mem_array(w->n, sizeof(*b->place));
    memset(b->place, 0xff, w->n * sizeof(*b->place));
    for (uint32_t i = 0; i < w->n; i++)
        n = number_from(b, i, false, n, stack);
    number_from(b, w->bad, true, n, stack);
    mem_free(stack);
}

/* What each is */

static void fill(struct building *b, uint32_t i)
{
    struct walk_commit *from = &b->walk->commits[i];
    struct commit *to = &b->range->commits[b->place[i]];

    revision_from_oid(&from->id, &to->id);
    revision_from_oid(&from->tree, &to->tree);
    to->subject = TAKE(from->subject);
    to->author = TAKE(from->author);
    to->time_s = from->time_s;
    to->is_candidate = walk_is_candidate(from);
    to->parents = mem_array(from->n_parents ? from->n_parents : 1, sizeof(*to->parents));
    for (uint32_t k = 0; k < from->n_parents; k++)
        if (b->is_wanted[from->parents[k]])
            to->parents[to->n_parents++] = b->place[from->parents[k]];
}

static enum err_code judge(struct building *b, uint32_t i, struct err *e)
{
    const struct walk_commit *c = &b->walk->commits[i];
    bool matters = true;

    for (uint32_t k = 0; matters && walk_is_candidate(c) && k < c->n_parents; k++) {
        enum err_code rc =
            touch_differs(mirror_git(b->mirror), b->paths, &b->walk->commits[c->parents[k]].tree,
                          &c->tree, &matters, e);
        if (rc)
            return err_wrap(e, "commit %s", git_oid_tostr_s(&c->id));
    }
    b->range->commits[b->place[i]].matters = matters;
    if (!matters || !walk_is_candidate(c) || c->n_parents != 1 ||
        b->range->n_candidates > MAX_PROSE_CANDIDATES)
        return ERR_OK;
    if (touch_is_prose(mirror_git(b->mirror), &b->walk->commits[c->parents[0]].tree, &c->tree,
                       &b->range->commits[b->place[i]].is_prose, e))
        return err_wrap(e, "commit %s", git_oid_tostr_s(&c->id));
    return ERR_OK;
}

static void mark_mainline(struct building *b)
{
    const struct walk *w = b->walk;
    uint32_t i = w->bad;

    while (b->is_wanted[i]) {
        b->range->commits[b->place[i]].is_mainline = true;
        if (!walk_is_candidate(&w->commits[i]) || !w->commits[i].n_parents)
            break;
        i = w->commits[i].parents[0];
    }
}

static void list_bases(struct building *b)
{
    struct walk *w = b->walk;
    struct range *r = b->range;

    if (r->good_is_ancestor)
        return;
    r->merge_bases = mem_array(count_bases(w), sizeof(*r->merge_bases));
    for (uint32_t i = 0; i < w->n; i++)
        if (w->commits[i].paint == FROM_BOTH)
            r->merge_bases[r->n_merge_bases++] = b->place[i];
}

static enum err_code build(struct building *b, struct err *e)
{
    struct walk *w = b->walk;
    enum err_code rc;

    b->range = mem_alloc(sizeof(*b->range));
    if ((rc = choose(b, e)))
        return rc;
    number(b);
    b->range->commits = mem_array(b->range->n, sizeof(*b->range->commits));
    b->range->good = b->place[w->good];
    b->range->bad = b->place[w->bad];
    for (uint32_t i = 0; i < w->n; i++) {
        if (!b->is_wanted[i])
            continue;
        fill(b, i);
        if ((rc = judge(b, i, e)))
            return rc;
    }
    mark_mainline(b);
    list_bases(b);
    return ERR_OK;
}

/** The two commits as parent and child, whatever they are in history. */
static void build_pair(struct building *b)
{
    struct walk *w = b->walk;
    struct range *r = b->range = mem_alloc(sizeof(*r));

    r->n = 2;
    r->n_candidates = 1;
    r->bad = 1;
    r->good_is_ancestor = true;
    r->commits = mem_array(r->n, sizeof(*r->commits));
    b->place = mem_array(w->n, sizeof(*b->place));
    b->is_wanted = mem_array(w->n, sizeof(*b->is_wanted)); /* no parent is */
    b->place[w->bad] = 1;
    fill(b, w->good);
    fill(b, w->bad);
    for (uint32_t i = 0; i < r->n; i++)
        r->commits[i].is_mainline = r->commits[i].matters = true;
    mem_free(r->commits[1].parents);
    r->commits[1].parents = mem_array(1, sizeof(uint32_t));
    r->commits[1].n_parents = 1;
}

static enum err_code read_range(struct building *b, const struct range_query *q,
                                const git_oid *good, const git_oid *bad, struct err *e)
{
    git_repository *git = mirror_git(b->mirror), *origin = mirror_origin(b->mirror);
    enum err_code rc;

    if (q->is_pair) {
        rc = walk_pair(git, origin, good, bad, &b->walk, e);
        if (!rc)
            build_pair(b);
        return rc;
    }
    if ((rc = walk_range(git, origin, good, bad, MAX_WALKED, &b->walk, e)) ||
        (rc = check_ends(b->walk, q, e)))
        return rc;
    return build(b, e);
}

static enum err_code resolve_end(const struct mirror *m, const char *what, const char *name,
                                 git_oid *out, struct err *e)
{
    struct revision revision;
    enum err_code rc = mirror_resolve(m, name, &revision, e);

    if (rc)
        return err_wrap(e, "%s", what);
    revision_to_oid(&revision, out);
    return ERR_OK;
}

enum err_code range_load(const struct mirror *m, const struct range_query *q, struct range **out,
                         struct err *e)
{
    AUTO(building_fini) struct building b = {.mirror = m, .paths = q->paths};
    git_oid good, bad;
    enum err_code rc;

    if ((rc = resolve_end(m, q->is_pair ? "base" : "good", q->good, &good, e)) ||
        (rc = resolve_end(m, q->is_pair ? "head" : "bad", q->bad, &bad, e)))
        return rc;
    if (git_oid_equal(&good, &bad))
        return equal_ends(q, &good, e);
    if ((rc = read_range(&b, q, &good, &bad, e)) ||
        (rc = promised_check(mirror_git(m), mirror_origin(m), b.range, e)))
        return rc;
    *out = TAKE(b.range);
    return ERR_OK;
}
