/* SPDX-License-Identifier: Apache-2.0 */
/* What is here: history, projects, workers, health, counters, the API itself. */
#include "api/route.h"
#include "api/rows.h"
#include "model/bisection.h"
#include "queue/life.h"
#include "store/workers.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { HEX_LEAST = 4, HEX_MOST = 40 };

/* A hash or its first digits; `out` is empty if none was given. */
static enum err_code take_revision(const struct exchange *x, char out[HEX_MOST + 1], struct err *e)
{
    const char *given = exchange_query(x, "revision");
    size_t n = given ? strspn(given, "0123456789abcdefABCDEF") : 0;

    out[0] = '\0';
    if (!given)
        return ERR_OK;
    if (given[n] || n < HEX_LEAST || n > HEX_MOST)
        return err_set(e, ERR_INVALID,
                       "query parameter revision: expected %d to %d hexadecimal digits", HEX_LEAST,
                       HEX_MOST);
    for (size_t i = 0; i <= n; i++)
        out[i] = (char)tolower((unsigned char)given[i]);
    return ERR_OK;
}

void sample_list(struct exchange *x, const struct service *s)
{
    char revision[HEX_MOST + 1];
    struct err e = {0};

    if (take_revision(x, revision, &e)) {
        answer_error(x, &e);
        return;
    }
    struct sample_filter filter = {
        .project = exchange_query(x, "project"),
        .metric = exchange_query(x, "metric"),
        .revision = revision[0] ? revision : NULL,
        .platform = exchange_query(x, "platform"),
    };
    answer_samples(x, s, &filter);
}

void project_list(struct exchange *x, const struct service *s)
{
    answer_page(x, s->project_list(s->self), NULL);
}

static json *worker_item(const struct worker_row *w)
{
    json *o = json_new_object();
    json *tags = json_new_array();

    for (size_t i = 0; i < w->tags.n; i++)
        json_push(tags, json_new_string(w->tags.items[i]));
    json_put(o, "id", json_new_string(w->name));
    json_put(o, "host", json_new_string(w->host));
    json_put(o, "platform", json_new_string(w->platform));
    json_put(o, "engine", json_new_string(w->engine));
    json_put(o, "tags", tags);
    json_put(o, "seen", json_time(w->seen));
    json_put(o, "is_live", json_new_bool(w->is_live));
    json_put(o, "is_draining", json_new_bool(w->is_draining));
    json_put(o, "task", json_new_string(w->task));
    json_put(o, "activity", json_new_string(w->activity));
    return o;
}

void worker_list(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    AUTO(worker_list_fini) struct worker_list rows = {0};

    if (store_worker_list(s->store, utc_now(), &rows, &e)) {
        answer_error(x, &e);
        return;
    }
    json *items = json_new_array();
    for (size_t i = 0; i < rows.n; i++)
        json_push(items, worker_item(&rows.items[i]));
    answer_page(x, items, NULL);
}

void description_show(struct exchange *x, const struct service *s)
{
    answer_json(x, 200, routes_describe(routes, n_routes, s->max_bytes));
}

void health_show(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    struct store_counts counts;

    if (store_count(s->store, &counts, &e)) {
        answer_refusal(x, 503, &e);
        return;
    }
    json *o = json_put(json_new_object(), "status", json_new_string("ok"));
    answer_json(x, 200, json_put(o, "version", json_new_string(BISECTD_VERSION)));
}

static void gauge(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, "# HELP bisectd_%s %s\n# TYPE bisectd_%s gauge\n", name, help, name);
}

static void store_metrics(const struct store_counts *c, struct buf *out)
{
    /* clang-format off */
    const struct {
        const char *name, *help;
        int64_t value;
    } rows[] = {
        {"leases",         "Open leases.",                   c->open_leases},
        {"samples",        "Samples stored.",                c->samples},
        {"builds",         "Builds stored.",                 c->builds},
        {"workers",        "Workers ever seen.",             c->workers},
        {"database_bytes", "Size of the database file.",     c->database_bytes},
    };
    /* clang-format on */

    gauge(out, "bisections", "Bisections by state.");
    for (size_t i = 0; i < LEN(c->bisections); i++)
        buf_printf(out, "bisectd_bisections{state=\"%s\"} %" PRId64 "\n",
                   bisection_state_name((enum bisection_state)i), c->bisections[i]);
    gauge(out, "tasks", "Tasks by state.");
    for (size_t i = 0; i < LEN(c->tasks); i++)
        buf_printf(out, "bisectd_tasks{state=\"%s\"} %" PRId64 "\n",
                   task_state_name((enum task_state)i), c->tasks[i]);
    for (size_t i = 0; i < LEN(rows); i++) {
        gauge(out, rows[i].name, rows[i].help);
        buf_printf(out, "bisectd_%s %" PRId64 "\n", rows[i].name, rows[i].value);
    }
}

void metrics_show(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    struct store_counts counts;
    struct buf text = {0};

    if (store_count(s->store, &counts, &e)) {
        answer_error(x, &e);
        return;
    }
    store_metrics(&counts, &text);
    s->metrics(s->self, &text);
    answer_text(x, 200, "text/plain; version=0.0.4; charset=utf-8", &text);
}
