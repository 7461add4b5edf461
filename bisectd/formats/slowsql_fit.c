/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/slowsql_fit.h"
#include "formats/slowsql_sheet.h"
#include <fnmatch.h>
#include <string.h>

/** The parts of a key. */
enum part { PART_GROUP, PART_DB, PART_THREAD, PART_STATEMENT };

enum group_kind slowsql_groups_of(const struct slowsql_question *q)
{
    return q->is_pair || q->n_groups ? GROUPS_PAIR : q->by & BY_BUILD ? GROUPS_BUILDS : GROUPS_ALL;
}

/** False if the part is no string, or one with a NUL, which no key has. */
static bool read_part(struct span part, struct buf *out)
{
    buf_clear(out);
    if (part.n < 2 || part.s[0] != '"')
        return false;
    return skim_unescape((struct span){part.s + 1, part.n - 2}, out) &&
           !memchr(buf_str(out), '\0', out->len);
}

static bool is_null(struct span part)
{
    return part.n == 4 && memcmp(part.s, "null", 4) == 0;
}

static enum group_kind kind_of(const struct buf *group)
{
    const char *name = buf_str(group);

    if (strcmp(name, "all") == 0)
        return GROUPS_ALL;
    if (strcmp(name, sheet_pair_names[0]) == 0 || strcmp(name, sheet_pair_names[1]) == 0)
        return GROUPS_PAIR;
    return build_id_stamp((struct span){name, group->len}) ? GROUPS_BUILDS : GROUPS_NONE;
}

/** The flag that says which reports are in a group; NULL: none does. */
static const char *group_flag(const struct slowsql_question *q)
{
    static const char *const flags[SLOWSQL_GROUPS][2] = {{"--before-build", "--before-submitted"},
                                                         {"--after-build", "--after-submitted"}};

    for (size_t i = 0; i < q->n_groups; i++) {
        if (!stretch_is_all(&q->groups[i].build))
            return flags[i][0];
        if (!stretch_is_all(&q->groups[i].submitted))
            return flags[i][1];
    }
    return q->n_groups ? flags[0][0] : NULL;
}

/** What a reduced line cannot be asked for at all. */
static enum err_code check_question(const struct slowsql_question *q, struct err *e)
{
    const char *flag = q->channel                       ? "--channel"
                       : !stretch_is_all(&q->submitted) ? "--submitted"
                       : !stretch_is_all(&q->build)     ? "--build"
                       : q->is_every_report             ? "--sessions every"
                                                        : group_flag(q);

    if (!flag)
        return ERR_OK;
    err_set(e, ERR_INVALID, "%s does not go with lines that were reduced, which do not say that",
            flag);
    return err_hint(e, "Give it to `slowsql map`, or read the documents themselves.");
}

static enum err_code check_groups(const struct slowsql_question *q, enum group_kind kind,
                                  struct err *e)
{
    if (q->is_pair && kind != GROUPS_PAIR) {
        err_set(e, ERR_INVALID, "the line is of neither group, before or after");
        return err_hint(e, "Give --before-build and --after-build to `slowsql map`.");
    }
    if (q->by && (kind == GROUPS_BUILDS) != ((q->by & BY_BUILD) != 0)) {
        err_set(e, ERR_INVALID, "--by: the line is %s",
                kind == GROUPS_BUILDS ? "one of builds" : "not one of builds");
        return err_hint(e, "Give the same --by to `slowsql map`.");
    }
    return ERR_OK;
}

static enum err_code does_not_say(const char *flag, const char *what, struct err *e)
{
    err_set(e, ERR_INVALID, "%s: the line does not say of which %s it is", flag, what);
    return err_hint(e, "Give it to `slowsql map`, or map with --by db,thread,statement.");
}

static enum err_code check_by(const struct slowsql_question *q, const struct buf parts[],
                              struct err *e)
{
    const bool wants[] = {[PART_DB] = q->by & (BY_DB | BY_STATEMENT),
                          [PART_THREAD] = q->by & BY_THREAD,
                          [PART_STATEMENT] = q->by & BY_STATEMENT};

    for (size_t i = PART_DB; q->by && i <= PART_STATEMENT; i++)
        if (wants[i] != (parts[i].len > 0)) {
            err_set(e, ERR_INVALID, "--by: the line was mapped with another one");
            return err_hint(e, "Give the same --by to `slowsql map`.");
        }
    return ERR_OK;
}

static enum err_code choose(const struct slowsql_question *q, const struct buf parts[],
                            bool *is_asked, struct err *e)
{
    const char *db = buf_str(&parts[PART_DB]), *thread = buf_str(&parts[PART_THREAD]);
    bool is_thread = q->threads == 0;

    if (check_by(q, parts, e))
        return ERR_INVALID;
    if (q->db && !*db)
        return does_not_say("--db", "database", e);
    if (q->threads && !*thread)
        return does_not_say("--thread", "thread", e);
    if (q->statement && parts[PART_STATEMENT].len == 0)
        return does_not_say("--statement", "statement", e);
    for (unsigned i = 0; i < SQL_THREAD_COUNT; i++)
        is_thread |= (q->threads >> i & 1) && strcmp(thread, sql_thread_names[i]) == 0;
    *is_asked = is_thread && (!q->db || fnmatch(q->db, db, 0) == 0) &&
                (!q->statement || strstr(buf_str(&parts[PART_STATEMENT]), q->statement));
    return ERR_OK;
}

static enum err_code fit_row(const struct slowsql_question *q, const struct slowsql_line *line,
                             struct buf parts[], bool *is_asked, struct err *e)
{
    if (is_null(line->parts[PART_DB]))
        return ERR_OK;
    for (size_t i = PART_DB; i <= PART_STATEMENT; i++)
        if (!read_part(line->parts[i], &parts[i]))
            return err_set(e, ERR_INVALID, "%.*s is no key of slow SQL",
                           (int)(line->key.n < 200 ? line->key.n : 200), line->key.s);
    return choose(q, parts, is_asked, e);
}

enum err_code slowsql_fit(const struct slowsql_question *q, const struct slowsql_line *line,
                          bool *is_asked, enum group_kind *kind, struct err *e)
{
    struct buf parts[LINE_PARTS] = {0};

    *is_asked = true;
    *kind = GROUPS_NONE;
    enum err_code rc = check_question(q, e);
    if (rc || line->kind == LINE_NOTE)
        return rc;
    if (read_part(line->parts[PART_GROUP], &parts[PART_GROUP]))
        *kind = kind_of(&parts[PART_GROUP]);
    if (*kind == GROUPS_NONE)
        rc = err_set(e, ERR_INVALID, "%.*s is no group: neither all, before, after nor a build ID",
                     (int)(line->parts[0].n < 100 ? line->parts[0].n : 100), line->parts[0].s);
    if (!rc)
        rc = check_groups(q, *kind, e);
    if (!rc)
        rc = fit_row(q, line, parts, is_asked, e);
    for (size_t i = 0; i < LINE_PARTS; i++)
        buf_fini(&parts[i]);
    return rc;
}
