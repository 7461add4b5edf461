/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/schema.h"
#include "unit/run.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes a project file that sets one key, the way its row says it may be. */
/** A kind that has the key, and takes that value for it. */
static const char *kind_with(const char *key, const char *value)
{
    static const struct {
        const char *key, *kind, *value; /* NULL: any */
    } own[] = {
        {"on_timeout", "exit", NULL},   {"ready", "ts", NULL},       {"cold", "ts", NULL},
        {"event", "counter", NULL},     {"calls", "syscalls", NULL}, {"path", "syscalls", NULL},
        {"of", "slowsql", "ms"},        {"of", "syscalls", NULL},    {"db", "slowsql", NULL},
        {"statement", "slowsql", NULL}, {"thread", "slowsql", NULL}};

    for (size_t i = 0; i < LEN(own); i++)
        if (strcmp(own[i].key, key) == 0 && (!own[i].value || strcmp(own[i].value, value) == 0))
            return own[i].kind;
    return "value";
}

static char *project_with(const char *key, const char *value)
{
    static const char minimal[] = "name: p\nrepository: /r\n";
    const char *dot = strchr(key, '.');

    if (strncmp(key, "metrics.*.", 10) == 0)
        return mem_printf("%smetrics: {m: {kind: %s, command: c, %s: %s}}\n", minimal,
                          kind_with(key + 10, value), key + 10, value);
    if (dot)
        return mem_printf("%smetrics: {m: {kind: exit, command: c}}\n%.*s: {%s: %s}\n", minimal,
                          (int)(dot - key), key, dot + 1, value);
    return mem_printf("%smetrics: {m: {kind: exit, command: c}}\n%s: %s\n", minimal, key, value);
}

static char *daemon_with(const char *key, const char *value)
{
    const char *dot = strchr(key, '.');

    if (strcmp(key, "limits.renew") == 0)
        return mem_printf("limits: {lease: 24h, renew: %s}\n", value);
    if (strcmp(key, "limits.lease") == 0)
        return mem_printf("limits: {renew: 100ms, lease: %s}\n", value);
    return dot ? mem_printf("%.*s: {%s: %s}\n", (int)(dot - key), key, dot + 1, value)
               : mem_printf("%s: %s\n", key, value);
}

static enum err_code load(const struct schema_row *row, const char *value, struct err *e)
{
    static const char path[] = "/tmp/schema_test.yml";
    AUTO(mem_free) char *unique = mem_printf("%s.%d", path, (int)getpid());
    AUTO(mem_free)
    char *text = row->file == SCHEMA_PROJECT ? project_with(row->path, value)
                                             : daemon_with(row->path, value);
    AUTO(config_free) struct config *c = NULL;
    AUTO(project_free) struct project *p = NULL;
    enum err_code code = ERR_OK;

    ck_assert_int_eq(file_write(unique, text, strlen(text), 0600, e), ERR_OK);
    code = row->file == SCHEMA_PROJECT ? project_load(unique, &p, e) : config_load(unique, &c, e);
    unlink(unique);
    return code;
}

START_TEST(every_default_is_a_value_of_its_row)
{
    for (size_t i = 0; i < schema_len; i++) {
        const struct schema_row *row = &schema[i];
        struct err e = {0};

        if (!row->standard || strncmp(row->standard, "of the ", 7) == 0 ||
            strcmp(row->standard, "automatic") == 0 || strcmp(row->standard, "none") == 0)
            continue;
        ck_assert_msg(load(row, row->standard, &e) == ERR_OK, "%s: %s", row->path, e.text);
    }
}
END_TEST

START_TEST(numbers_outside_their_limits_are_refused)
{
    for (size_t i = 0; i < schema_len; i++) {
        const struct schema_row *row = &schema[i];
        AUTO(mem_free) char *low = NULL, *high = NULL, *over = NULL;
        const char *unit = row->type == SCHEMA_DURATION ? "s" : "";
        struct err e = {0};

        if (row->high == 0)
            continue;
        low = mem_printf("%.3f%s", row->low, unit);
        if (row->type != SCHEMA_DURATION)
            *strchr(low, '.') = '\0';
        high = mem_printf("%.0f%s", row->high, unit);
        over = mem_printf("%.0f%s", row->high + 1, unit);
        ck_assert_msg(strcmp(row->path, "limits.renew") == 0 || load(row, high, &e) == ERR_OK,
                      "%s: %s", row->path, e.text);
        ck_assert_msg(load(row, low, &e) == ERR_OK, "%s: %s", row->path, e.text);
        ck_assert_msg(load(row, over, &e) == ERR_INVALID, "%s takes %s", row->path, over);
        ck_assert_msg(strstr(e.text, row->path + (strstr(row->path, "*.") ? 10 : 0)) != NULL,
                      "%s: %s", row->path, e.text);
        ck_assert_msg(load(row, "-1", &e) == ERR_INVALID, "%s takes -1", row->path);
        ck_assert_msg(load(row, "some", &e) == ERR_INVALID, "%s takes text", row->path);
        ck_assert_msg(load(row, "", &e) == ERR_INVALID, "%s takes nothing", row->path);
        ck_assert_msg(load(row, "[1]", &e) == ERR_INVALID, "%s takes a list", row->path);
    }
}
END_TEST

START_TEST(every_word_allowed_is_taken_and_others_are_not)
{
    for (size_t i = 0; i < schema_len; i++) {
        const struct schema_row *row = &schema[i];
        AUTO(mem_free) char *copy = row->allowed ? mem_dup(row->allowed) : NULL;
        const char *words[16];
        const size_t n = copy ? schema_words(copy, words, LEN(words)) : 0;
        struct err e = {0};

        /* A second `kind` in the flow map is a duplicate: config_test has a row for each kind. */
        if (n == 0 || strcmp(row->path, "metrics.*.kind") == 0)
            continue;
        for (size_t k = 0; k < n; k++)
            ck_assert_msg(load(row, words[k], &e) == ERR_OK, "%s: %s", row->path, e.text);
        ck_assert_msg(load(row, "nosuchword", &e) == ERR_INVALID, "%s", row->path);
        ck_assert_msg(strstr(e.text, words[0]) != NULL, "%s: %s", row->path, e.text);
    }
}
END_TEST

/* The table's defaults are printed; what programs use comes from the model. */
START_TEST(defaults_agree_with_the_model)
{
    AUTO(project_free) struct project *p = project_new("p", "/r");
    AUTO(metric_free) struct metric *m = metric_new("m", METRIC_WALL);
    const struct {
        const char *path;
        int64_t want;
    } rows[] = {
        {"build.timeout", p->build_timeout_ns},
        {"metrics.*.timeout", m->timeout_ns},
        {"metrics.*.warmup", m->n_warmup},
        {"sandbox.memory", p->sandbox.memory_bytes},
        {"sandbox.processes", p->sandbox.n_processes},
        {"sandbox.disk", p->sandbox.disk_bytes},
        {"sandbox.output", p->sandbox.output_bytes},
    };

    for (size_t i = 0; i < LEN(rows); i++) {
        const struct schema_row *row = schema_find(SCHEMA_PROJECT, rows[i].path);
        int64_t got = -1;

        ck_assert_int_eq(schema_number(row, row->standard, &got, NULL), ERR_OK);
        ck_assert_msg(got == rows[i].want, "%s", rows[i].path);
    }
    ck_assert_int_eq(limits_default().log_bytes, 16 * MIB);
    ck_assert_int_eq(limits_default().body_bytes, MIB);
    ck_assert_int_eq(limits_default().lease_ns, 60 * NS_PER_S);
    ck_assert_int_eq(limits_default().renew_ns, 15 * NS_PER_S);
    ck_assert_int_eq(limits_default().n_tries, 3);
    ck_assert_int_eq(limits_default().n_values, 10000);
    ck_assert_int_eq(limits_default().n_runs, 2000);
}
END_TEST

START_TEST(every_row_is_printed)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(json_free) json *v = config_defaults_json();

    config_defaults_text(&text);
    for (size_t i = 0; i < schema_len; i++) {
        ck_assert_msg(strstr(buf_str(&text), schema[i].path) != NULL, "%s", schema[i].path);
        ck_assert_msg(schema[i].help && *schema[i].help, "%s", schema[i].path);
        ck_assert_msg(strstr(buf_str(&text), schema[i].help) != NULL, "%s", schema[i].path);
    }
    ck_assert_uint_eq(json_len(json_at(v, "bisectd.yml")) + json_len(json_at(v, "project")),
                      schema_len);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {every_default_is_a_value_of_its_row, 1},
        {numbers_outside_their_limits_are_refused, 1},
        {every_word_allowed_is_taken_and_others_are_not, 1},
        {defaults_agree_with_the_model, 1},
        {every_row_is_printed, 1},
    };

    return unit_run("schema", tests, LEN(tests));
}
