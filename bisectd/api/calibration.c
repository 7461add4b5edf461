/* SPDX-License-Identifier: Apache-2.0 */
/* /calibration: how often stated confidences were right, and asking for more checks. */
#include "api/route.h"
#include "store/checks.h"

enum { MAX_ASKED = 10000 };

void calibration_show(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    json *report = NULL;

    if (s->calibration_show(s->self, &report, &e))
        answer_error(x, &e);
    else
        answer_json(x, 200, report);
}

void calibration_count(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    struct check_counts n;

    if (store_check_count(s->store, &n, &e)) {
        answer_error(x, &e);
        return;
    }
    json *o = json_put(json_new_object(), "waiting", json_new_int(n.n_waiting));
    json_put(o, "measuring", json_new_int(n.n_measuring));
    json_put(o, "right", json_new_int(n.n_right));
    json_put(o, "wrong", json_new_int(n.n_wrong));
    answer_json(x, 200, json_put(o, "undecided", json_new_int(n.n_undecided)));
}

static enum err_code read_count(const json *body, size_t *out, struct err *e)
{
    int64_t n = MAX_ASKED;

    if (!json_bool(json_at(body, "all"), false) && json_need_int(body, "count", &n, e))
        return e->code;
    if (n < 1 || n > MAX_ASKED)
        return err_set(e, ERR_INVALID, "count: expected 1 to %d", MAX_ASKED);
    *out = (size_t)n;
    return ERR_OK;
}

void calibration_ask(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    size_t n = 0, n_opened = 0;

    if (!json_is_object(x->json))
        err_set(&e, ERR_INVALID, "expected {\"count\": N} or {\"all\": true}");
    if (e.code || read_count(x->json, &n, &e) || s->calibration_ask(s->self, n, &n_opened, &e)) {
        answer_error(x, &e);
        return;
    }
    answer_json(x, 202, json_put(json_new_object(), "opened", json_new_int((int64_t)n_opened)));
}
