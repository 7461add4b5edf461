/* SPDX-License-Identifier: Apache-2.0 */
#include "app/document.h"
#include "base/mem.h"
#include <math.h>

json *document_without_search(const struct request *r, const char *id, enum bisection_state state,
                              enum verdict_kind kind, const char *message, double seconds)
{
    const struct metric *m = request_metric(r);
    AUTO(verdict_fini)
    struct verdict v = {
        .id = mem_dup(id),
        .state = state,
        .kind = kind,
        .is_comparison = r->is_comparison,
        .p_no_change = NAN,
        .min_effect_percent = NAN,
        .min_effect_value = NAN,
        .metric_name = mem_dup(r->metric),
        .metric_unit = m && m->unit ? mem_dup(m->unit) : NULL,
        .worse = m ? m->worse : WORSE_EITHER,
        .platform = mem_dup(r->platform),
        .cost.seconds = seconds,
        .confidence = r->confidence,
        .seed = r->seed,
        .message = message ? mem_dup(message) : NULL,
        .expected_runs = NAN,
    };

    return verdict_to_json(&v);
}

void document_stamp(json *document, const char *id, enum bisection_state state, double seconds,
                    const char *activity)
{
    json_put(document, "id", json_new_string(id));
    json_put(document, "state", json_new_string(bisection_state_name(state)));
    json_put(json_at(document, "cost"), "seconds", json_new_real(seconds));
    if (state == BISECTION_DONE || state == BISECTION_CANCELED) {
        json_remove(document, "expected_runs");
        json_remove(document, "activity");
    } else {
        json_put(document, "activity", json_new_string(activity));
    }
}
