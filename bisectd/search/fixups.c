/* SPDX-License-Identifier: Apache-2.0 */
/* What the revisions that a verdict rests on were built with, beyond what they are. */
#include "base/buf.h"
#include "base/mem.h"
#include "search/state.h"

void fixups_init(struct bisection *b, const struct project *p)
{
    b->n_fixups = p->n_fixups < FIXUP_MAX ? p->n_fixups : FIXUP_MAX;
    b->fixup_names = mem_array(b->n_fixups + 1, sizeof(*b->fixup_names));
    for (size_t i = 0; i < b->n_fixups; i++) {
        struct buf name = {0};
        fixup_name(p->fixups[i], &name);
        b->fixup_names[i] = buf_take(&name);
    }
}

void fixups_fini(struct bisection *b)
{
    for (size_t i = 0; i < b->n_fixups; i++)
        mem_free(b->fixup_names[i]);
    mem_free(b->fixup_names);
}

static bool is_listed(const struct verdict *out, const struct revision *r)
{
    for (size_t i = 0; i < out->n_fixed; i++)
        if (revision_equal(&out->fixed[i].revision, r))
            return true;
    return false;
}

static void list(const struct bisection *b, uint32_t v, struct verdict *out)
{
    const struct commit *c = &b->range->commits[v];

    if (is_listed(out, &c->id))
        return;
    out->fixed = mem_resize(out->fixed, out->n_fixed + 1, sizeof(*out->fixed));
    struct fixed *f = &out->fixed[out->n_fixed++];
    *f = (struct fixed){.revision = c->id};
    for (size_t i = 0; i < b->n_fixups; i++)
        if (c->fixups >> i & 1)
            strings_add(&f->applied, b->fixup_names[i]);
}

static void say(const struct bisection *b, uint64_t set, struct buf *out)
{
    const char *gap = " with ";

    for (size_t i = 0; i < b->n_fixups; i++) {
        if (!(set >> i & 1))
            continue;
        buf_adds(out, gap);
        buf_adds(out, b->fixup_names[i]);
        gap = ", ";
    }
    if (!set)
        buf_adds(out, " as it is");
}

/** The commit and its parents, if any of them is not built as it is. */
static void tell(const struct bisection *b, uint32_t v, struct verdict *out, struct buf *message)
{
    const struct commit *c = &b->range->commits[v];
    uint64_t any = c->fixups;

    for (uint32_t i = 0; i < c->n_parents; i++)
        any |= b->range->commits[c->parents[i]].fixups;
    if (!any)
        return;
    list(b, v, out);
    buf_adds(message, "; built");
    say(b, c->fixups, message);
    for (uint32_t i = 0; i < c->n_parents; i++) {
        const struct commit *parent = &b->range->commits[c->parents[i]];
        list(b, c->parents[i], out);
        if (parent->fixups == c->fixups)
            continue;
        buf_printf(message, ", but its parent %.10s", parent->id.hex);
        say(b, parent->fixups, message);
    }
}

void fixups_fill(const struct bisection *b, struct verdict *out)
{
    AUTO(buf_fini) struct buf message = {0};

    if (b->n_fixups == 0)
        return;
    buf_adds(&message, out->message);
    for (size_t i = 0; i < out->n_culprits; i++)
        tell(b, range_index_find(b->index, &out->culprits[i].revision), out, &message);
    for (uint32_t i = 0; i < bisection_n_ends(b); i++)
        if (b->range->commits[bisection_end(b, i)].fixups)
            list(b, bisection_end(b, i), out);
    mem_free(out->message);
    out->message = buf_take(&message);
}
