/* SPDX-License-Identifier: Apache-2.0 */
#include "app/scorecard.h"
#include "app/calibrator.h"
#include "base/mem.h"
#include "search/calibration.h"
#include "store/checks.h"
#include <math.h>
#include <string.h>

enum { LIST_MOST = 1000 };

struct scorecard {
    struct store *store;
    struct bin bins[CALIBRATION_BINS];
    size_t n_verdicts, n_unreadable;
    json *wrong, *differ;
};

static void scorecard_fini(struct scorecard *c)
{
    json_free(c->wrong);
    json_free(c->differ);
}
DEFINE_AUTO_FINI(struct scorecard, scorecard_fini)

/* -- what was found wrong -- */

static void add_culprit(json *o, const struct verdict *v, const struct claim *claim)
{
    const struct culprit *at = NULL;

    for (size_t i = 0; i < v->n_culprits; i++)
        if (revision_equal(&v->culprits[i].revision, &claim->culprit))
            at = &v->culprits[i];
    json_put(o, "culprit", at ? json_new_string(at->revision.hex) : json_new_null());
    json_put(o, "subject", at ? json_new_string(at->subject) : json_new_null());
    json_put(o, "probability", json_new_real(claim->probability));
}

/* The comparison that ended it is the last one; there is none where the commit is not there. */
static enum err_code add_comparison(struct scorecard *c, json *o, const struct check_row *check,
                                    struct err *e)
{
    AUTO(check_part_list_fini) struct check_part_list parts = {0};

    if (store_check_part_list(c->store, check->seq, &parts, e))
        return e->code;
    const struct check_part *p = parts.n ? &parts.items[parts.n - 1] : NULL;
    json_put(o, "comparison", p ? json_new_string(p->comparison.text) : json_new_null());
    json_put(o, "base", p ? json_new_string(p->base.hex) : json_new_null());
    return ERR_OK;
}

static enum err_code add_wrong(struct scorecard *c, const struct verdict *v,
                               const struct claim *claim, const struct check_row *check,
                               bool differs, struct err *e)
{
    AUTO(json_free) json *o = json_new_object();

    if (json_len(c->wrong) >= LIST_MOST)
        return ERR_OK;
    json_put(o, "id", json_new_string(check->bisection.text));
    json_put(o, "claim", json_new_string(check->claim));
    add_culprit(o, v, claim);
    json_put(o, "reason", json_new_string(check->reason));
    if (add_comparison(c, o, check, e))
        return e->code;
    json_put(o, "differs", json_new_bool(differs));
    json_push(c->wrong, TAKE(o));
    return ERR_OK;
}

/* -- counting -- */

static enum err_code count_check(struct scorecard *c, const char *bisection,
                                 const struct verdict *v, const struct claim *claim, bool differs,
                                 struct err *e)
{
    AUTO(check_row_fini) struct check_row check = {0};
    AUTO(mem_free) char *text = claim_text(claim);
    struct bin *bin = calibration_bin(c->bins, claim->probability);
    enum err_code code = store_check_find(c->store, bisection, text, &check, e);

    if (code) {
        if (code == ERR_NOT_FOUND)
            *e = (struct err){0};
        return code == ERR_NOT_FOUND ? ERR_OK : code;
    }
    bin->n_right += check.outcome == CHECK_RIGHT;
    bin->n_wrong += check.outcome == CHECK_WRONG;
    bin->n_undecided += check.outcome == CHECK_UNDECIDED;
    return check.outcome == CHECK_WRONG ? add_wrong(c, v, claim, &check, differs, e) : ERR_OK;
}

struct replayed {
    bool is_done, differs;
};

static enum err_code read_replay(struct scorecard *c, const char *bisection,
                                 const struct verdict *v, struct replayed *out, struct err *e)
{
    AUTO(replay_row_fini) struct replay_row row = {0};
    AUTO(mem_free) char *stated = stated_text(v);
    enum err_code code = store_replay_get(c->store, bisection, &row, e);

    *out = (struct replayed){0};
    if (code == ERR_NOT_FOUND) {
        *e = (struct err){0};
        return ERR_OK;
    }
    if (code || strcmp(row.stated, stated) != 0)
        return code;
    out->is_done = row.outcome != REPLAY_UNKNOWN;
    out->differs = row.outcome == REPLAY_DIFFERS;
    if (!out->differs || json_len(c->differ) >= LIST_MOST)
        return ERR_OK;
    json *o = json_put(json_new_object(), "id", json_new_string(bisection));
    json_put(o, "stated", json_new_string(row.stated));
    json_push(c->differ, json_put(o, "says", json_new_string(row.says)));
    return ERR_OK;
}

static enum err_code count_verdict(void *self, const char *bisection, const json *document,
                                   struct err *e)
{
    struct scorecard *c = self;
    AUTO(verdict_free) struct verdict *v = NULL;
    AUTO(claims_fini) struct claims claims = {0};
    struct replayed replayed;

    if (verdict_from_json(document, &v, NULL)) {
        c->n_unreadable++;
        return ERR_OK;
    }
    claims_of(v, &claims);
    c->n_verdicts++;
    if (read_replay(c, bisection, v, &replayed, e))
        return e->code;
    for (size_t i = 0; i < claims.n; i++) {
        double p = claims.items[i].probability;
        struct bin *bin = calibration_bin(c->bins, p);
        bin->n_stated++;
        bin->p_sum += isnan(p) ? 0 : p;
        bin->n_replayed += replayed.is_done;
        bin->n_differ += replayed.differs;
        if (count_check(c, bisection, v, &claims.items[i], replayed.differs, e))
            return e->code;
    }
    return ERR_OK;
}

/* -- the document -- */

static json *interval_to_json(const struct bin *b)
{
    double interval[2];

    if (b->n_right + b->n_wrong == 0)
        return json_new_null();
    rate_interval(b->n_right, b->n_right + b->n_wrong, interval);
    json *list = json_push(json_new_array(), json_new_real(interval[0]));
    return json_push(list, json_new_real(interval[1]));
}

static json *bin_to_json(const struct bin *b)
{
    json *o = json_new_object();
    uint32_t n_decided = b->n_right + b->n_wrong;

    json_put(o, "name", json_new_string(b->name));
    json_put(o, "stated", json_new_int(b->n_stated));
    json_put(o, "mean", json_new_real(b->n_stated ? b->p_sum / b->n_stated : NAN));
    json_put(o, "checked", json_new_int(n_decided + b->n_undecided));
    json_put(o, "right", json_new_int(b->n_right));
    json_put(o, "wrong", json_new_int(b->n_wrong));
    json_put(o, "undecided", json_new_int(b->n_undecided));
    json_put(o, "fraction", json_new_real(n_decided ? (double)b->n_right / n_decided : NAN));
    json_put(o, "interval", interval_to_json(b));
    json_put(o, "replayed", json_new_int(b->n_replayed));
    return json_put(o, "differ", json_new_int(b->n_differ));
}

static json *document_of(const struct scorecard *c, const struct calibration_config *config,
                         const struct check_counts *n)
{
    json *o = json_new_object();
    json *bins = json_new_array();
    struct bin total = calibration_total(c->bins);

    for (size_t i = 0; i < CALIBRATION_BINS; i++) {
        json *row = bin_to_json(&c->bins[i]);
        json_put(row, "from", json_new_real(c->bins[i].from));
        json_push(bins, json_put(row, "to", json_new_real(c->bins[i].to)));
    }
    json_put(o, "verdicts", json_new_int((int64_t)c->n_verdicts));
    json_put(o, "covered", json_new_int(CALIBRATION_MOST));
    json_put(o, "unreadable", json_new_int((int64_t)c->n_unreadable));
    json_put(o, "share", json_new_real(config->share));
    json_put(o, "bins", bins);
    json_put(o, "total", bin_to_json(&total));
    json *checks = json_put(json_new_object(), "waiting", json_new_int(n->n_waiting));
    json_put(o, "checks", json_put(checks, "measuring", json_new_int(n->n_measuring)));
    json_put(o, "wrong", json_keep(c->wrong));
    return json_put(o, "differ", json_keep(c->differ));
}

enum err_code scorecard_new(struct store *s, const struct calibration_config *config, json **out,
                            struct err *e)
{
    AUTO(scorecard_fini)
    struct scorecard c = {.store = s, .wrong = json_new_array(), .differ = json_new_array()};
    struct check_counts n;
    size_t n_unreadable = 0;

    calibration_init(c.bins);
    if (store_stated_each(s, CALIBRATION_MOST, count_verdict, &c, &n_unreadable, e) ||
        store_check_count(s, &n, e))
        return e->code;
    c.n_unreadable += n_unreadable;
    *out = document_of(&c, config, &n);
    return ERR_OK;
}
