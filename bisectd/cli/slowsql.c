/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/slowsql.h"
#include "base/mem.h"
#include <string.h>

const char *const slowsql_thread_choices[] = {"main", "other", "all", NULL};
const char *const slowsql_sessions_choices[] = {"last", "every", NULL};

static enum err_code read_stretch(const char *flag, const char *text, struct stretch *out,
                                  struct err *e)
{
    *out = stretch_all;
    if (!text)
        return ERR_OK;
    enum err_code rc = stretch_parse(text, out, e);
    if (rc)
        err_wrap(e, "%s", flag);
    return rc;
}

static enum err_code read_by(const char *text, unsigned *by, struct err *e)
{
    static const struct {
        const char *name;
        enum slowsql_by by;
    } names[] = {
        {"build", BY_BUILD}, {"db", BY_DB}, {"statement", BY_STATEMENT}, {"thread", BY_THREAD}};

    *by = 0;
    while (text) {
        size_t n = strcspn(text, ","), i = 0;
        while (i < LEN(names) && !(strlen(names[i].name) == n && !memcmp(names[i].name, text, n)))
            i++;
        if (i == LEN(names))
            return err_set(e, ERR_INVALID,
                           "--by: expected build, db, statement or thread, got \"%.*s\"", (int)n,
                           text);
        *by |= names[i].by;
        text = text[n] ? text + n + 1 : NULL;
    }
    return ERR_OK;
}

static bool meet(const struct stretch *a, const struct stretch *b)
{
    return a->from <= b->to && b->from <= a->to;
}

/** No group unless something is said of them. */
static enum err_code read_groups(const struct options *o, struct slowsql_question *q, struct err *e)
{
    struct slowsql_group *before = &q->groups[0], *after = &q->groups[1];

    if (!o->before_build && !o->after_build && !o->before_submitted && !o->after_submitted)
        return ERR_OK;
    const bool is_before = o->before_build || o->before_submitted;
    if (!is_before || (!o->after_build && !o->after_submitted)) {
        err_set(e, ERR_INVALID, "--%s-%s is missing", is_before ? "after" : "before",
                o->before_build || o->after_build ? "build" : "submitted");
        return err_hint(e, "As in --before-build ..20130622 --after-build 20130623..");
    }
    q->n_groups = SLOWSQL_GROUPS;
    before->name = sheet_pair_names[0];
    after->name = sheet_pair_names[1];
    if (read_stretch("--before-build", o->before_build, &before->build, e) ||
        read_stretch("--after-build", o->after_build, &after->build, e) ||
        read_stretch("--before-submitted", o->before_submitted, &before->submitted, e) ||
        read_stretch("--after-submitted", o->after_submitted, &after->submitted, e))
        return ERR_INVALID;
    if (meet(&before->build, &after->build) && meet(&before->submitted, &after->submitted)) {
        err_set(e, ERR_INVALID, "the two groups overlap: a report may belong to both");
        return err_hint(e, "As in --before-build ..20130622 --after-build 20130623..");
    }
    if (q->by & BY_BUILD)
        return err_set(e, ERR_INVALID, "--by build does not go with two groups");
    return ERR_OK;
}

enum err_code slowsql_question_of(const struct options *o, struct slowsql_question *out,
                                  struct err *e)
{
    struct slowsql_question q = {.channel = o->channel,
                                 .db = o->db,
                                 .statement = o->statement,
                                 .is_every_report =
                                     o->sessions && strcmp(o->sessions, "every") == 0};

    for (unsigned i = 0; o->thread && i < SQL_THREAD_COUNT; i++)
        if (strcmp(o->thread, sql_thread_names[i]) == 0)
            q.threads = 1u << i;
    if (read_stretch("--submitted", o->submitted, &q.submitted, e) ||
        read_stretch("--build", o->build_range, &q.build, e) || read_by(o->by, &q.by, e) ||
        read_groups(o, &q, e))
        return ERR_INVALID;
    *out = q;
    return ERR_OK;
}

struct gather_input slowsql_input_of(const struct options *o, const struct slowsql_question *q)
{
    return (struct gather_input){
        .paths = o->words, .n_paths = o->n_words, .jobs = o->jobs, .question = q};
}

void slowsql_findings_fini(struct slowsql_findings *f)
{
    for (size_t i = 0; i < f->n_changes; i++) {
        mem_free(f->changes[i].db);
        mem_free(f->changes[i].thread);
        mem_free(f->changes[i].statement);
    }
    mem_free(f->changes);
    mem_free(f->claims);
    sheet_free(f->sheet);
    *f = (struct slowsql_findings){0};
}
