/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrator.h"
#include "app/audit.h"
#include "app/quote.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "search/dice.h"
#include "store/bisections.h"
#include "store/checks.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEASURING_MOST = 4, /* comparisons at once: the next is looked up while one is measured */
    VISITS_MOST = 64,   /* finished bisections looked at in one tick */
    DECIMALS = 13       /* hex digits of a hash that make a number */
};
/* Larger ranges are replayed when asked to, not by the way. */
enum { AUDIT_RANGE_MOST = 20000 };
#define OPEN_PERIOD_NS (500 * NS_PER_MS)
#define SCAN_PERIOD_NS (50 * NS_PER_MS)
/* The check's own error, in parts of the error that the bisection was allowed. */
static const double error_part = .1, confidence_least = .99, confidence_most = .9999;
static const uint64_t purpose_seed = 0x636865636b; /* "check" */

struct calibrator {
    struct calibrator_ground g;
    bool is_awake; /* begins what is open */
    bool has_open; /* perhaps */
    size_t n_measuring;
    struct audit *audit; /* one at a time; NULL: none */
    struct mono idle_since;
    bool is_scanned;      /* nothing has finished since the cursor came to the end */
    struct finish cursor; /* drawn up to here */
};

struct calibrator *calibrator_new(const struct calibrator_ground *g)
{
    struct calibrator *k = mem_alloc(sizeof(*k));

    k->g = *g;
    k->is_awake = !g->is_private;
    k->idle_since = mono_now();
    return k;
}

void calibrator_free(struct calibrator *k)
{
    if (!k)
        return;
    audit_drop(k->audit);
    mem_free(k);
}

size_t calibrator_n_measuring(const struct calibrator *k)
{
    return k->n_measuring;
}

enum err_code calibrator_load(struct calibrator *k, struct err *e)
{
    struct check_counts n;

    audit_drop(TAKE(k->audit));
    if (store_check_count(k->g.store, &n, e))
        return e->code;
    k->n_measuring = (size_t)n.n_measuring;
    k->has_open = n.n_measuring + n.n_waiting > 0;
    k->cursor = (struct finish){0};
    k->is_scanned = false;
    return ERR_OK;
}

/* -- what a comparison found -- */

static enum err_code end_check(struct calibrator *k, const struct check_row *c,
                               enum check_outcome outcome, const char *reason, struct err *e)
{
    AUTO(buf_fini) struct buf quoted = {0};

    LOG(outcome == CHECK_WRONG ? LOG_WARN : LOG_INFO, "verdict checked",
        "bisection=%s claim=\"%s\" outcome=%s why=%s", c->bisection.text, c->claim,
        check_outcome_name(outcome), quote(&quoted, reason));
    return store_check_end(k->g.store, c->seq, outcome, reason, utc_now(), e);
}

/* The next parent, if there is one, is begun like the first. */
static enum err_code judge_part(struct calibrator *k, const struct check_part *p,
                                const struct verdict *v, struct err *e)
{
    AUTO(check_row_fini) struct check_row c = {0};
    struct claim claim;
    enum found found = v ? found_of(v) : FOUND_UNDECIDED;

    if (store_check_part_settle(k->g.store, p->comparison.text, found, e) ||
        store_check_load(k->g.store, p->check, &c, e) || claim_parse(c.claim, &claim, e))
        return e->code;
    enum check_outcome outcome = claim_judge(&claim, found);
    if (outcome == CHECK_RIGHT && revision_is_set(&claim.culprit))
        return ERR_OK;
    return end_check(k, &c, outcome, v ? v->message : "its comparison has no verdict", e);
}

static enum err_code settle_part(struct calibrator *k, const struct check_part *p, struct err *e)
{
    AUTO(bisection_row_free) struct bisection_row *row = NULL;
    AUTO(verdict_free) struct verdict *v = NULL;

    if (store_bisection_load(k->g.store, p->comparison.text, &row, e))
        return e->code;
    if (verdict_from_json(row->verdict, &v, NULL))
        v = NULL;
    k->n_measuring -= k->n_measuring > 0;
    return judge_part(k, p, v, e);
}

static enum err_code settle_all(struct calibrator *k, struct err *e)
{
    struct check_part part;

    while (k->n_measuring > 0) {
        enum err_code code = store_check_part_ended(k->g.store, &part, e);
        if (code == ERR_NOT_FOUND)
            break;
        if (code || settle_part(k, &part, e))
            return e->code;
    }
    *e = (struct err){0};
    return ERR_OK;
}

/* -- beginning a comparison -- */

struct trial {
    const struct check_row *check;
    struct claim claim;
    struct bisection_row *row;
    struct verdict *stated;
    struct range *range;
    struct check_part_list parts;
};

static void trial_fini(struct trial *t)
{
    bisection_row_free(t->row);
    verdict_free(t->stated);
    range_free(t->range);
    check_part_list_fini(&t->parts);
}
DEFINE_AUTO_FINI(struct trial, trial_fini)

static enum err_code trial_load(struct calibrator *k, const struct check_row *c, struct trial *t,
                                struct err *e)
{
    struct store *s = k->g.store;

    t->check = c;
    if (claim_parse(c->claim, &t->claim, e) ||
        store_bisection_load(s, c->bisection.text, &t->row, e) ||
        verdict_from_json(t->row->verdict, &t->stated, e) ||
        store_check_part_list(s, c->seq, &t->parts, e))
        return e->code;
    return ERR_OK;
}

/* What the claim says how large a change there is, put as a percentage of the base. */
static double min_effect_percent(const struct trial *t)
{
    const struct verdict *v = t->stated;
    bool is_rate = metric_kinds[request_metric(t->row->request)->kind].is_rate;
    double percent = v->min_effect_percent;

    for (size_t i = 0; i < v->n_culprits && !is_rate; i++)
        if (revision_equal(&v->culprits[i].revision, &t->claim.culprit))
            percent = 100 * v->min_effect_value / fabs(v->culprits[i].good.mean);
    if (!isfinite(percent) || percent <= 0 || percent > 1e6)
        return t->row->request->min_effect_percent;
    return percent;
}

static struct request *request_of(const struct calibrator *k, const struct trial *t,
                                  const struct revision *base, const struct revision *head)
{
    const struct request *from = t->row->request;
    struct request *r = request_new(project_copy(from->project));
    double error = error_part * (1 - from->confidence);

    mem_free(r->metric);
    mem_free(r->platform);
    r->metric = mem_dup(from->metric);
    r->platform = mem_dup(from->platform);
    r->is_comparison = true;
    r->good = mem_dup(base->hex);
    r->bad = mem_dup(head->hex);
    r->confidence = fmin(fmax(1 - error, confidence_least), confidence_most);
    r->min_effect_percent = min_effect_percent(t);
    r->fresh = true;
    r->is_seed_set = true;
    r->seed = dice_key(dice_key(from->seed, purpose_seed), t->parts.n) & REQUEST_MAX_SEED;
    r->budget_runs = k->g.config->n_runs;
    r->budget_ns = 0;
    return r;
}

static bool is_compared(const struct trial *t, const struct revision *base)
{
    for (size_t i = 0; i < t->parts.n; i++)
        if (revision_equal(&t->parts.items[i].base, base))
            return true;
    return false;
}

/* A comparison that is under way for somebody else has the same answer: later. */
static enum err_code compare(struct calibrator *k, const struct trial *t,
                             const struct revision *base, const struct revision *head,
                             struct err *e)
{
    AUTO(request_free) struct request *r = request_of(k, t, base, head);
    struct check_part part = {.check = t->check->seq, .base = *base};
    struct err why = {0};

    enum err_code code = k->g.compare(k->g.self, r, &part.comparison, &why);
    if (code == ERR_CONFLICT)
        return ERR_OK;
    if (code) {
        *e = why;
        return code;
    }
    if (store_check_part_add(k->g.store, &part, e))
        return e->code;
    k->n_measuring++;
    LOG(LOG_INFO, "verdict being checked", "bisection=%s comparison=%s base=%.10s head=%.10s",
        t->check->bisection.text, part.comparison.text, base->hex, head->hex);
    return ERR_OK;
}

static enum err_code begin_ends(struct calibrator *k, const struct trial *t, struct err *e)
{
    const struct range *r = t->range;

    return compare(k, t, &r->commits[r->good].id, &r->commits[r->bad].id, e);
}

/* Of a merge that is an answer by itself, what was merged is no side to compare with. */
static uint32_t n_parents(const struct trial *t, const struct commit *c)
{
    return t->row->request->no_inside && c->n_parents > 1 ? 1 : c->n_parents;
}

static enum err_code begin_culprit(struct calibrator *k, const struct trial *t, struct err *e)
{
    const struct range *r = t->range;
    uint32_t at = range_find(r, &t->claim.culprit);

    if (at == UINT32_MAX || !r->commits[at].is_candidate)
        return end_check(k, t->check, CHECK_WRONG, "the commit named is not one of the range", e);
    const struct commit *c = &r->commits[at];
    if (c->n_parents == 0)
        return end_check(k, t->check, CHECK_UNDECIDED, "it has no parent to compare with", e);
    for (uint32_t i = 0; i < n_parents(t, c); i++)
        if (!is_compared(t, &r->commits[c->parents[i]].id))
            return compare(k, t, &r->commits[c->parents[i]].id, &c->id, e);
    return end_check(k, t->check, CHECK_RIGHT, NULL, e);
}

/* -- does it follow from its samples? -- */

static enum err_code is_audited(struct calibrator *k, const char *bisection,
                                const struct verdict *stated, bool *out, struct err *e)
{
    AUTO(replay_row_fini) struct replay_row row = {0};
    AUTO(mem_free) char *text = stated_text(stated);
    enum err_code code = store_replay_get(k->g.store, bisection, &row, e);

    *out = !code && strcmp(row.stated, text) == 0;
    if (code != ERR_OK && code != ERR_NOT_FOUND)
        return code;
    *e = (struct err){0};
    return ERR_OK;
}

/* *is_there: it was done before; else it is on its way, now or once the one before it is done. */
static enum err_code audit(struct calibrator *k, const char *bisection,
                           const struct verdict *stated, bool *is_there, struct err *e)
{
    if (is_audited(k, bisection, stated, is_there, e))
        return e->code;
    if (*is_there || k->audit)
        return ERR_OK;
    return audit_start(k->g.pool, k->g.store, bisection, stated, &k->audit, e);
}

static enum err_code settle_audit(struct calibrator *k, struct err *e)
{
    if (!k->audit || !audit_is_done(k->audit))
        return ERR_OK;
    return audit_settle(TAKE(k->audit), k->g.store, e);
}

/* -- what is open -- */

static enum err_code begin(struct calibrator *k, const struct check_row *c, struct err *e)
{
    AUTO(trial_fini) struct trial t = {0};
    bool is_there = false;

    if (trial_load(k, c, &t, e) || audit(k, c->bisection.text, t.stated, &is_there, e))
        return e->code;
    if (!is_there)
        return ERR_OK;
    if (store_range_get(k->g.store, c->bisection.text, &t.range, e))
        return e->code;
    return revision_is_set(&t.claim.culprit) ? begin_culprit(k, &t, e) : begin_ends(k, &t, e);
}

/* What cannot be begun is over; only the disk's failures are everybody's. */
static enum err_code begin_or_end(struct calibrator *k, const struct check_row *c, struct err *e)
{
    struct err why = {0};

    if (!begin(k, c, &why))
        return ERR_OK;
    if (why.code != ERR_IO)
        return end_check(k, c, CHECK_UNDECIDED, why.text, e);
    *e = why;
    return e->code;
}

static enum err_code begin_open(struct calibrator *k, struct err *e)
{
    int64_t after = 0;

    for (int i = 0; k->has_open && k->n_measuring < MEASURING_MOST && i < MEASURING_MOST; i++) {
        AUTO(check_row_fini) struct check_row c = {0};
        enum err_code code = store_check_next(k->g.store, after, &c, e);
        if (code == ERR_NOT_FOUND) {
            k->has_open = after > 0 || k->n_measuring > 0;
            *e = (struct err){0};
            return ERR_OK;
        }
        if (code || begin_or_end(k, &c, e))
            return e->code;
        after = c.seq;
    }
    return ERR_OK;
}

/* -- drawing lots -- */

/* Uniform over (0, 1), and always the same for a bisection. */
static double lot_of(const char *bisection)
{
    struct digest d = hash_of(bisection, strlen(bisection));

    d.hex[DECIMALS] = '\0';
    return ((double)strtoull(d.hex, NULL, 16) + .5) / (double)(UINT64_C(1) << (4 * DECIMALS));
}

static enum err_code open_new(struct calibrator *k, const char *bisection,
                              const struct claim *claim, bool *has_opened, struct err *e)
{
    AUTO(check_row_fini) struct check_row there = {0};
    AUTO(mem_free) char *text = claim_text(claim);
    enum err_code code = store_check_find(k->g.store, bisection, text, &there, e);

    if (code != ERR_NOT_FOUND)
        return code;
    *e = (struct err){0};
    return store_check_open(k->g.store, bisection, text, utc_now(), has_opened, e);
}

/* *has_begun: something is to be done about it before the next is looked at. */
static enum err_code visit(struct calibrator *k, const char *bisection, bool *has_begun,
                           struct err *e)
{
    AUTO(bisection_row_free) struct bisection_row *row = NULL;
    AUTO(verdict_free) struct verdict *v = NULL;
    AUTO(claims_fini) struct claims claims = {0};
    bool is_there = true;

    if (store_bisection_load(k->g.store, bisection, &row, e))
        return e->code == ERR_IO ? e->code : ERR_OK;
    if (!row->verdict || verdict_from_json(row->verdict, &v, NULL))
        return ERR_OK;
    claims_of(v, &claims);
    if (claims.n && v->range_size <= AUDIT_RANGE_MOST && audit(k, bisection, v, &is_there, e))
        return e->code;
    *has_begun = !is_there;
    for (size_t i = 0; i < claims.n && lot_of(bisection) < k->g.config->share; i++)
        if (open_new(k, bisection, &claims.items[i], has_begun, e))
            return e->code;
    return ERR_OK;
}

static bool may_draw(const struct calibrator *k, struct mono now)
{
    return !k->g.is_private && k->g.config->share > 0 && !k->has_open && !k->audit &&
           !k->is_scanned && now.ns - k->idle_since.ns >= k->g.config->idle_ns;
}

static enum err_code draw(struct calibrator *k, struct mono now, struct err *e)
{
    for (int i = 0; may_draw(k, now) && i < VISITS_MOST; i++) {
        struct finish next;
        enum err_code code = store_finish_next(k->g.store, &k->cursor, &next, e);
        if (code == ERR_NOT_FOUND) {
            k->is_scanned = true;
            *e = (struct err){0};
            return ERR_OK;
        }
        bool has_begun = false;
        if (code || visit(k, next.id.text, &has_begun, e))
            return e->code;
        *e = (struct err){0};
        k->has_open |= has_begun;
        if (!has_begun)
            k->cursor = next;
    }
    return ERR_OK;
}

/* -- asked for -- */

struct lot {
    double value;
    bool is_again;
    struct id bisection;
    char *claim;
};
struct lots {
    struct store *store;
    size_t n;
    struct lot *items;
};

static void lots_fini(struct lots *l)
{
    for (size_t i = 0; i < l->n; i++)
        mem_free(l->items[i].claim);
    mem_free(l->items);
}
DEFINE_AUTO_FINI(struct lots, lots_fini)

static enum err_code add_lot(struct lots *l, const char *bisection, const struct claim *claim,
                             struct err *e)
{
    AUTO(check_row_fini) struct check_row there = {0};
    AUTO(mem_free) char *text = claim_text(claim);
    enum err_code code = store_check_find(l->store, bisection, text, &there, e);

    if (code && code != ERR_NOT_FOUND)
        return code;
    if (!code && there.outcome != CHECK_UNDECIDED)
        return ERR_OK;
    l->items = mem_resize(l->items, l->n + 1, sizeof(*l->items));
    struct lot *to = &l->items[l->n++];
    *to = (struct lot){.value = lot_of(bisection), .is_again = !code, .claim = TAKE(text)};
    strncpy(to->bisection.text, bisection, sizeof(to->bisection.text) - 1);
    *e = (struct err){0};
    return ERR_OK;
}

static enum err_code visit_lot(void *self, const char *bisection, const json *verdict,
                               struct err *e)
{
    struct lots *l = self;
    AUTO(verdict_free) struct verdict *v = NULL;
    AUTO(claims_fini) struct claims claims = {0};

    if (verdict_from_json(verdict, &v, NULL))
        return ERR_OK;
    claims_of(v, &claims);
    for (size_t i = 0; i < claims.n; i++)
        if (add_lot(l, bisection, &claims.items[i], e))
            return e->code;
    return ERR_OK;
}

static int by_lot(const void *a, const void *b)
{
    const struct lot *x = a, *y = b;

    if (x->is_again != y->is_again)
        return x->is_again ? 1 : -1;
    return (x->value > y->value) - (x->value < y->value);
}

enum err_code calibrator_ask(struct calibrator *k, size_t n, size_t *n_opened, struct err *e)
{
    AUTO(lots_fini) struct lots l = {.store = k->g.store};
    size_t n_bisections = 0, n_unreadable;

    *n_opened = 0;
    if (store_stated_each(k->g.store, CALIBRATION_MOST, visit_lot, &l, &n_unreadable, e))
        return e->code;
    if (l.n)
        qsort(l.items, l.n, sizeof(*l.items), by_lot);
    for (size_t i = 0; i < l.n; i++) {
        bool is_next = i == 0 || strcmp(l.items[i].bisection.text, l.items[i - 1].bisection.text);
        bool is_new = false;
        n_bisections += is_next;
        if (n_bisections > n)
            break;
        if (store_check_open(k->g.store, l.items[i].bisection.text, l.items[i].claim, utc_now(),
                             &is_new, e))
            return e->code;
        *n_opened += is_new;
    }
    k->is_awake = k->has_open = true;
    return ERR_OK;
}

/* -- turns -- */

enum err_code calibrator_tick(struct calibrator *k, struct mono now, struct err *e)
{
    if (k->g.is_busy(k->g.self)) {
        k->idle_since = now;
        k->is_scanned = false;
    }
    if (settle_all(k, e) || settle_audit(k, e))
        return e->code;
    if (!k->is_awake)
        return ERR_OK;
    if (begin_open(k, e))
        return e->code;
    return draw(k, now, e);
}

bool calibrator_deadline(const struct calibrator *k, struct mono now, struct mono *out)
{
    bool draws = !k->g.is_private && k->g.config->share > 0 && !k->is_scanned;
    int64_t idle_at = k->idle_since.ns + k->g.config->idle_ns;

    if (k->is_awake && (k->has_open || k->audit)) {
        out->ns = now.ns + OPEN_PERIOD_NS;
        return true;
    }
    out->ns = idle_at > now.ns + SCAN_PERIOD_NS ? idle_at : now.ns + SCAN_PERIOD_NS;
    return draws;
}
