/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library copies what + and counts repeat, and copies of copies multiply: a few bytes such as
 * ((a*){999}){999} or a++++++++++++++++++++++++++ would take all memory. So the states that an
 * expression expands to are counted first, roughly and never too low. Ways round and past what is
 * repeated multiply, too, once that is copied: (a)?????++++++++ has few states and takes minutes.
 * So repetitions are counted, with their copies, wherever any are copied.
 */
#include "model/regex.h"

#include <math.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MAX_STATES = 2000, MAX_COPIED = 64, MAX_GROUPS = 64 };

/** What a part of an expression expands to. */
struct size {
    double states, repetitions;
};

static struct size size_sum(struct size a, struct size b)
{
    return (struct size){a.states + b.states, a.repetitions + b.repetitions};
}

/** The last byte of a bracket expression that starts at `s`. */
static const char *bracket_end(const char *s)
{
    const char *p = s + 1 + (s[1] == '^');

    for (p += *p == ']'; *p && *p != ']'; p++) {
        const char kind = p[0] == '[' ? p[1] : '\0'; /* [:alpha:] and the like may hold a ] */
        if (kind != ':' && kind != '.' && kind != '=')
            continue;
        for (p += 2; *p && !(*p == kind && p[1] == ']'); p++)
            continue;
        if (!*p)
            return p - 1;
        p++;
    }
    return *p ? p : p - 1;
}

/** How often a count {n}, {n,} or {n,m} copies, and where it ends. */
static double count_copies(const char *s, const char **last)
{
    char *end = NULL;
    double most = (double)strtol(s + 1, &end, 10);

    if (*end == ',')
        most = fmax(most + 1, (double)strtol(end + 1, &end, 10));
    *last = *end == '}' ? end : s;
    return fmax(most, 1);
}

static bool is_repetition(char c)
{
    return c == '*' || c == '?' || c == '+' || c == '{';
}

/** Repeats `atom` as is said at *s, which is moved to the last byte of that. False if repetitions
 *  within are copied too often. */
static bool repeat(const char **s, struct size *atom)
{
    double copies = **s == '+' ? 2 : **s == '{' ? count_copies(*s, s) : 1;
    bool is_copied = copies > 1 && atom->repetitions > 0;

    atom->states *= copies;
    atom->repetitions = atom->repetitions * copies + 1;
    return !is_copied || atom->repetitions <= MAX_COPIED;
}

static bool expands_too_much(const char *regex)
{
    struct size sums[MAX_GROUPS] = {0}; /* of the groups that are open, without their last atom */
    struct size atom = {0};
    size_t depth = 0;

    for (const char *s = regex; *s; s++) {
        if (is_repetition(*s)) {
            if (!repeat(&s, &atom))
                return true;
        } else if (*s == '(') {
            sums[depth] = size_sum(sums[depth], atom);
            atom = (struct size){0};
            if (++depth == MAX_GROUPS)
                return true;
            sums[depth] = (struct size){0};
        } else if (*s == ')' && depth > 0) {
            atom = size_sum(atom, sums[depth--]);
            atom.states++;
        } else {
            sums[depth] = size_sum(sums[depth], atom);
            atom = (struct size){.states = 1};
            if (*s == '[')
                s = bracket_end(s);
            else if (*s == '\\' && s[1])
                s++;
        }
        if (atom.states + sums[depth].states > MAX_STATES)
            return true;
    }
    return false;
}

enum err_code regex_check(const char *regex, struct err *e)
{
    regex_t compiled;
    char why[128];

    if (expands_too_much(regex))
        return err_set(e, ERR_INVALID,
                       "regex: + and counts in { } expand to more than %d states, or more than %d "
                       "repetitions of repetitions",
                       MAX_STATES, MAX_COPIED);
    const int rc = regcomp(&compiled, regex, REG_EXTENDED);
    if (rc) {
        regerror(rc, &compiled, why, sizeof(why));
        return err_set(e, ERR_INVALID, "regex: not an extended regular expression: %s", why);
    }
    const size_t n_groups = compiled.re_nsub;
    regfree(&compiled);
    if (n_groups == 0) {
        err_set(e, ERR_INVALID, "regex: has no group ( ) to take the number from");
        return err_hint(e, "Put the number in parentheses, as in \"time: ([0-9.]+) ms\".");
    }
    return ERR_OK;
}
