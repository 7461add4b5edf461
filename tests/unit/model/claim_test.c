/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/claim.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* A verdict of up to two culprits. */
struct told {
    enum verdict_kind kind;
    enum worse worse;
    enum finding finding;
    const char *culprit[2];
    double probability, delta;
};

static void verdict_of(const struct told *t, struct verdict *v, struct culprit culprits[2])
{
    *v = (struct verdict){.kind = t->kind,
                          .worse = t->worse,
                          .finding = t->finding,
                          .p_no_change = t->probability,
                          .confidence = .99,
                          .culprits = culprits};
    for (size_t i = 0; i < 2 && t->culprit[i]; i++) {
        culprits[i] = (struct culprit){.probability = t->probability, .delta = t->delta};
        strcpy(culprits[i].revision.hex, t->culprit[i]);
        v->n_culprits++;
    }
}

/* clang-format off */
static const struct {
    const char *name;
    struct told told;
    size_t n;
    const char *claim;      /* the last one */
    const char *stated;
    enum check_outcome if_higher, if_lower, if_same;
} verdicts[] = {
    {"a rise",          {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .97, 5}, 1, "culprit " A " higher",
     "culprit " A " higher, probability 0.97", CHECK_RIGHT, CHECK_WRONG, CHECK_WRONG},
    {"a fall",          {VERDICT_CULPRIT, WORSE_EITHER, FINDING_NONE, {A}, .97, -5}, 1, "culprit " A " lower",
     "culprit " A " lower, probability 0.97", CHECK_WRONG, CHECK_RIGHT, CHECK_WRONG},
    {"no delta",        {VERDICT_CULPRIT, WORSE_DOWN, FINDING_NONE, {A}, .97, NAN}, 1, "culprit " A " lower",
     "culprit " A " lower, probability 0.97", CHECK_WRONG, CHECK_RIGHT, CHECK_WRONG},
    {"neither told",    {VERDICT_CULPRIT, WORSE_EITHER, FINDING_NONE, {A}, .97, NAN}, 1, "culprit " A " changed",
     "culprit " A " changed, probability 0.97", CHECK_RIGHT, CHECK_RIGHT, CHECK_WRONG},
    {"two culprits",    {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A, B}, .97, 5}, 2, "culprit " B " higher",
     "culprit " A " higher, probability 0.97; culprit " B " higher, probability 0.97",
     CHECK_RIGHT, CHECK_WRONG, CHECK_WRONG},
    {"nothing there",   {VERDICT_NOT_REPRODUCED, WORSE_UP, FINDING_NONE, {NULL}, .995, 0}, 1, "not_reproduced",
     "not_reproduced, probability 0.995", CHECK_WRONG, CHECK_WRONG, CHECK_RIGHT},
    {"ends reversed",   {VERDICT_NOT_REPRODUCED, WORSE_UP, FINDING_REVERSED, {NULL}, .001, 0}, 1,
     "not_reproduced lower", "not_reproduced lower, probability 0.99", CHECK_WRONG, CHECK_RIGHT, CHECK_WRONG},
    {"a range",         {VERDICT_RANGE, WORSE_UP, FINDING_NONE, {NULL}, 0, 0}, 0, NULL, "range", 0, 0, 0},
    {"none",            {VERDICT_NONE, WORSE_UP, FINDING_NONE, {NULL}, 0, 0}, 0, NULL, "no verdict", 0, 0, 0},
};
/* clang-format on */

START_TEST(verdicts_claim)
{
    struct culprit culprits[2];
    struct verdict v;
    struct claim back;
    struct err e = {0};
    AUTO(claims_fini) struct claims claims = {0};
    AUTO(mem_free) char *stated = NULL;
    AUTO(mem_free) char *text = NULL;

    verdict_of(&verdicts[_i].told, &v, culprits);
    claims_of(&v, &claims);
    stated = stated_text(&v);
    ck_assert_msg(claims.n == verdicts[_i].n, "%s: %zu", verdicts[_i].name, claims.n);
    ck_assert_str_eq(stated, verdicts[_i].stated);
    if (!claims.n)
        return;
    const struct claim *c = &claims.items[claims.n - 1];
    text = claim_text(c);
    ck_assert_str_eq(text, verdicts[_i].claim);
    ck_assert_msg(claim_parse(text, &back, &e) == ERR_OK, "%s", e.text);
    ck_assert(revision_equal(&back.culprit, &c->culprit) && back.expected == c->expected);
    ck_assert_int_eq(claim_judge(&back, FOUND_HIGHER), verdicts[_i].if_higher);
    ck_assert_int_eq(claim_judge(&back, FOUND_LOWER), verdicts[_i].if_lower);
    ck_assert_int_eq(claim_judge(&back, FOUND_SAME), verdicts[_i].if_same);
    ck_assert_int_eq(claim_judge(&back, FOUND_UNDECIDED), CHECK_UNDECIDED);
}
END_TEST

static const char *const no_claims[] = {
    "",
    "culprit",
    "culprit " A,
    "culprit " A " sideways",
    "culprit zz" A " higher",
    "not_reproduced sideways",
    "range",
};

START_TEST(other_texts_are_no_claims)
{
    struct claim c;
    struct err e = {0};

    ck_assert_int_eq(claim_parse(no_claims[_i], &c, &e), ERR_INVALID);
    ck_assert(e.text[0]);
}
END_TEST

static const struct {
    const char *name;
    struct told a, b;
    bool agree;
} pairs[] = {
    {"the same",
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .999, 5},
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .999, 5},
     true},
    {"odds of 999 and of 199",
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .999, 5},
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .995, 5},
     true},
    {"odds of 9999 and of 99",
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .9999, 5},
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .99, 5},
     false},
    {"both as sure as numbers are",
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, 1, 5},
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, 1 - 1e-12, 5},
     true},
    {"another culprit",
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .999, 5},
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {B}, .999, 5},
     false},
    {"another direction",
     {VERDICT_CULPRIT, WORSE_EITHER, FINDING_NONE, {A}, .999, 5},
     {VERDICT_CULPRIT, WORSE_EITHER, FINDING_NONE, {A}, .999, -5},
     false},
    {"one of two",
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .999, 5},
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A, B}, .999, 5},
     false},
    {"two in another order",
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {B, A}, .999, 5},
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A, B}, .999, 5},
     true},
    {"another kind",
     {VERDICT_NOT_REPRODUCED, WORSE_UP, FINDING_NONE, {NULL}, .999, 5},
     {VERDICT_CULPRIT, WORSE_UP, FINDING_NONE, {A}, .999, 5},
     false},
};

START_TEST(verdicts_agree_or_not)
{
    struct culprit left[2], right[2];
    struct verdict a, b;

    verdict_of(&pairs[_i].a, &a, left);
    verdict_of(&pairs[_i].b, &b, right);
    ck_assert_msg(stated_agree(&a, &b) == pairs[_i].agree, "%s", pairs[_i].name);
    ck_assert_msg(stated_agree(&b, &a) == pairs[_i].agree, "%s", pairs[_i].name);
}
END_TEST

static const struct {
    enum verdict_kind kind;
    enum worse worse;
    double delta; /* nan: not measured */
    enum found want;
} comparisons[] = {
    {VERDICT_REGRESSED, WORSE_UP, 5, FOUND_HIGHER},
    {VERDICT_REGRESSED, WORSE_DOWN, -5, FOUND_LOWER},
    {VERDICT_IMPROVED, WORSE_UP, -5, FOUND_LOWER},
    {VERDICT_IMPROVED, WORSE_DOWN, 5, FOUND_HIGHER},
    {VERDICT_REGRESSED, WORSE_EITHER, 5, FOUND_HIGHER},
    {VERDICT_REGRESSED, WORSE_EITHER, -5, FOUND_LOWER},
    {VERDICT_REGRESSED, WORSE_EITHER, NAN, FOUND_UNDECIDED},
    {VERDICT_SAME, WORSE_UP, .1, FOUND_SAME},
    {VERDICT_INCONCLUSIVE, WORSE_UP, 5, FOUND_UNDECIDED},
    {VERDICT_FAILED, WORSE_UP, NAN, FOUND_UNDECIDED},
    {VERDICT_NONE, WORSE_UP, 5, FOUND_UNDECIDED},
};

START_TEST(comparisons_find)
{
    struct culprit change = {.delta = comparisons[_i].delta};
    struct verdict v = {.kind = comparisons[_i].kind,
                        .worse = comparisons[_i].worse,
                        .is_comparison = true,
                        .change = isnan(change.delta) ? NULL : &change};

    ck_assert_int_eq(found_of(&v), comparisons[_i].want);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {verdicts_claim, LEN(verdicts)},
        {other_texts_are_no_claims, LEN(no_claims)},
        {verdicts_agree_or_not, LEN(pairs)},
        {comparisons_find, LEN(comparisons)},
    };

    return unit_run("claim", tests, LEN(tests));
}
