/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a verdict states, as sentences that measuring again can find right or wrong: "this commit
 * moved the metric up against its parents", or "bad does not differ from good".
 */
#ifndef MODEL_CLAIM_H
#define MODEL_CLAIM_H

#include "model/bisection.h"

/** What a comparison found about its head against its base. */
enum found { FOUND_UNDECIDED, FOUND_HIGHER, FOUND_LOWER, FOUND_SAME, FOUND_COUNT };
const char *found_name(enum found f); /* as stored: "undecided", "higher", … */
MUST_CHECK enum err_code found_parse(const char *s, enum found *out, struct err *e);
/** Of a comparison's verdict. */
enum found found_of(const struct verdict *v);

enum check_outcome { CHECK_OPEN, CHECK_RIGHT, CHECK_WRONG, CHECK_UNDECIDED, CHECK_OUTCOME_COUNT };
const char *check_outcome_name(enum check_outcome o); /* as stored; NULL for open */
MUST_CHECK enum err_code check_outcome_parse(const char *s, enum check_outcome *out, struct err *e);

enum expected { EXPECT_SAME, EXPECT_HIGHER, EXPECT_LOWER, EXPECT_CHANGE };

struct claim {
    struct revision culprit; /* empty: it is about bad against good */
    enum expected expected;
    double probability;
};

struct claims {
    size_t n;
    struct claim *items;
};
void claims_fini(struct claims *c);
DEFINE_AUTO_FINI(struct claims, claims_fini)
/** A culprit each, or one of not_reproduced; none for other verdicts. `out` is fresh ({0}). */
void claims_of(const struct verdict *v, struct claims *out);

/** "culprit <hex> higher", "not_reproduced": the same for the same statement. Caller frees. */
char *claim_text(const struct claim *c);
/** Back again, without its probability (nan). */
MUST_CHECK enum err_code claim_parse(const char *text, struct claim *out, struct err *e);

/** What one comparison says about it. */
enum check_outcome claim_judge(const struct claim *c, enum found found);

/** Everything a verdict states, in one line, probabilities included: changes when it is changed.
 *  A verdict without claims is its own name. Caller frees. */
char *stated_text(const struct verdict *v);

/** Do two verdicts state the same, with odds within a factor of ten of one another? */
bool stated_agree(const struct verdict *a, const struct verdict *b);

#endif
