/* SPDX-License-Identifier: Apache-2.0 */
#include "model/claim.h"
#include "base/buf.h"
#include "base/mem.h"
#include "model/choice.h"
#include <math.h>
#include <string.h>

static const double odds_factor = 10;
static const double p_least = 1e-9; /* what is closer to 0 or 1 is rounding */

/* clang-format off */
static const struct choice founds[] = {
    {"undecided", FOUND_UNDECIDED, false}, {"higher", FOUND_HIGHER, false},
    {"lower", FOUND_LOWER, false}, {"same", FOUND_SAME, false}, {0}};
static const struct choice outcomes[] = {
    {"right", CHECK_RIGHT, false}, {"wrong", CHECK_WRONG, false},
    {"undecided", CHECK_UNDECIDED, false}, {0}};
static const char *const expected_names[] = {
    [EXPECT_SAME] = "same", [EXPECT_HIGHER] = "higher", [EXPECT_LOWER] = "lower",
    [EXPECT_CHANGE] = "changed"};
/* clang-format on */

const char *found_name(enum found f)
{
    return choice_name(founds, f);
}

enum err_code found_parse(const char *s, enum found *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(founds, s, &value, e))
        return err_wrap(e, "found");
    *out = (enum found)value;
    return ERR_OK;
}

const char *check_outcome_name(enum check_outcome o)
{
    return choice_name(outcomes, o);
}

enum err_code check_outcome_parse(const char *s, enum check_outcome *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(outcomes, s, &value, e))
        return err_wrap(e, "outcome");
    *out = (enum check_outcome)value;
    return ERR_OK;
}

enum found found_of(const struct verdict *v)
{
    bool is_worse = v->kind == VERDICT_REGRESSED;

    if (v->kind == VERDICT_SAME)
        return FOUND_SAME;
    if (!is_worse && v->kind != VERDICT_IMPROVED)
        return FOUND_UNDECIDED;
    if (v->worse != WORSE_EITHER)
        return is_worse == (v->worse == WORSE_UP) ? FOUND_HIGHER : FOUND_LOWER;
    if (!v->change || !isfinite(v->change->delta) || v->change->delta == 0)
        return FOUND_UNDECIDED;
    return v->change->delta > 0 ? FOUND_HIGHER : FOUND_LOWER;
}

static enum expected direction(double delta, enum worse worse)
{
    if (isfinite(delta) && delta != 0)
        return delta > 0 ? EXPECT_HIGHER : EXPECT_LOWER;
    return worse == WORSE_UP ? EXPECT_HIGHER : worse == WORSE_DOWN ? EXPECT_LOWER : EXPECT_CHANGE;
}

/* Its text has no probability of "reversed"; it was reached at the confidence asked for. */
static struct claim of_not_reproduced(const struct verdict *v)
{
    if (v->finding != FINDING_REVERSED)
        return (struct claim){.expected = EXPECT_SAME, .probability = v->p_no_change};
    return (struct claim){.expected = v->worse == WORSE_UP     ? EXPECT_LOWER
                                      : v->worse == WORSE_DOWN ? EXPECT_HIGHER
                                                               : EXPECT_CHANGE,
                          .probability = v->confidence};
}

void claims_fini(struct claims *c)
{
    mem_free(c->items);
    *c = (struct claims){0};
}

void claims_of(const struct verdict *v, struct claims *out)
{
    out->items = mem_array(v->n_culprits + 1, sizeof(*out->items));
    for (size_t i = 0; v->kind == VERDICT_CULPRIT && i < v->n_culprits; i++) {
        const struct culprit *c = &v->culprits[i];
        out->items[out->n++] = (struct claim){.culprit = c->revision,
                                              .expected = direction(c->delta, v->worse),
                                              .probability = c->probability};
    }
    if (v->kind == VERDICT_NOT_REPRODUCED)
        out->items[out->n++] = of_not_reproduced(v);
}

char *claim_text(const struct claim *c)
{
    if (revision_is_set(&c->culprit))
        return mem_printf("culprit %s %s", c->culprit.hex, expected_names[c->expected]);
    if (c->expected == EXPECT_SAME)
        return mem_dup("not_reproduced");
    return mem_printf("not_reproduced %s", expected_names[c->expected]);
}

static enum err_code expected_parse(const char *word, enum expected *out, struct err *e)
{
    for (size_t i = 0; i < LEN(expected_names); i++)
        if (strcmp(expected_names[i], word) == 0) {
            *out = (enum expected)i;
            return ERR_OK;
        }
    return err_set(e, ERR_INVALID, "claim: nobody expects \"%.20s\"", word);
}

enum err_code claim_parse(const char *text, struct claim *out, struct err *e)
{
    static const char culprit[] = "culprit ", none[] = "not_reproduced";
    enum { HEX = sizeof(out->culprit.hex) - 1 };
    struct claim c = {.expected = EXPECT_SAME, .probability = NAN};
    size_t n_before = strlen(culprit);

    if (strcmp(text, none) == 0) {
        *out = c;
        return ERR_OK;
    }
    if (strncmp(text, culprit, n_before) == 0 && strlen(text) > n_before + HEX + 1) {
        AUTO(mem_free) char *hex = mem_dup_n(text + n_before, HEX);
        if (revision_parse(hex, &c.culprit, e))
            return err_wrap(e, "claim");
        text += n_before + HEX + 1;
    } else if (strncmp(text, none, strlen(none)) == 0) {
        text += strlen(none) + 1;
    } else {
        return err_set(e, ERR_INVALID, "claim: expected a culprit or not_reproduced");
    }
    if (expected_parse(text, &c.expected, e))
        return e->code;
    *out = c;
    return ERR_OK;
}

enum check_outcome claim_judge(const struct claim *c, enum found found)
{
    static const bool fits[FOUND_COUNT][EXPECT_CHANGE + 1] = {
        [FOUND_HIGHER] = {[EXPECT_HIGHER] = true, [EXPECT_CHANGE] = true},
        [FOUND_LOWER] = {[EXPECT_LOWER] = true, [EXPECT_CHANGE] = true},
        [FOUND_SAME] = {[EXPECT_SAME] = true},
    };

    if (found == FOUND_UNDECIDED)
        return CHECK_UNDECIDED;
    return fits[found][c->expected] ? CHECK_RIGHT : CHECK_WRONG;
}

char *stated_text(const struct verdict *v)
{
    struct buf out = {0};
    AUTO(claims_fini) struct claims claims = {0};

    claims_of(v, &claims);
    for (size_t i = 0; i < claims.n; i++) {
        AUTO(mem_free) char *text = claim_text(&claims.items[i]);
        buf_printf(&out, "%s%s, probability %.9g", i ? "; " : "", text,
                   claims.items[i].probability);
    }
    if (claims.n == 0)
        buf_adds(&out, verdict_name(v->kind) ? verdict_name(v->kind) : "no verdict");
    return buf_take(&out);
}

static double log_odds(double p)
{
    p = fmin(fmax(p, p_least), 1 - p_least);
    return log(p) - log1p(-p);
}

static bool claims_agree(const struct claim *a, const struct claim *b)
{
    if (!revision_equal(&a->culprit, &b->culprit) || a->expected != b->expected)
        return false;
    if (isnan(a->probability) || isnan(b->probability))
        return isnan(a->probability) == isnan(b->probability);
    return fabs(log_odds(a->probability) - log_odds(b->probability)) <= log(odds_factor);
}

bool stated_agree(const struct verdict *a, const struct verdict *b)
{
    AUTO(claims_fini) struct claims left = {0};
    AUTO(claims_fini) struct claims right = {0};
    size_t n_found = 0;

    claims_of(a, &left);
    claims_of(b, &right);
    for (size_t i = 0; i < left.n; i++)
        for (size_t j = 0; j < right.n; j++)
            n_found += claims_agree(&left.items[i], &right.items[j]);
    return a->kind == b->kind && left.n == right.n && n_found == left.n;
}
