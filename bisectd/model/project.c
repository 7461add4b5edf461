/* SPDX-License-Identifier: Apache-2.0 */
#include "model/project.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/fields.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { MAX_METRICS = 1000 };
#define MAX_TIMEOUT_S (7 * 24 * 3600.0)
#define MAX_BUDGET_S  (366 * 24 * 3600.0)
#define MAX_SIZE      1e15

/* clang-format off */
static const struct choice submodules_choices[] = {
    {"recursive", SUBMODULES_RECURSIVE, false}, {"none", SUBMODULES_NONE, false}, {0}};
static const struct choice confirm_choices[] = {
    {"none", CONFIRM_NONE, false}, {"revert", CONFIRM_REVERT, false}, {0}};
static const struct choice sandbox_choices[] = {
    {"plain", SANDBOX_PLAIN, false}, {"bubblewrap", SANDBOX_BUBBLEWRAP, false}, {0}};

#define AT(member) offsetof(struct project, member)
static const struct field project_fields[] = {
    {"name",        FIELD_STRING,  AT(name),        FIELD_NEEDED,    1, 64, NULL},
    {"repository",  FIELD_STRING,  AT(repository),  FIELD_NEEDED,    1, 4 * KIB, NULL},
    {"platforms",   FIELD_STRINGS, AT(platforms),   FIELD_SKIP_ZERO, 0, 0, NULL},
    {"paths",       FIELD_STRINGS, AT(paths),       FIELD_SKIP_ZERO, 0, 0, NULL},
    {"environment", FIELD_PAIRS,   AT(environment), FIELD_SKIP_ZERO, 0, 0, NULL},
    {"isolation",   FIELD_CHOICE,  AT(isolation),   0,               0, 0, isolation_choices},
    {"confirm",     FIELD_CHOICE,  AT(confirm),     0,               0, 0, confirm_choices},
    {"revision_map", FIELD_STRING, AT(revision_map), FIELD_SKIP_ZERO, 1, 4 * KIB, NULL},
};
static const struct field build_fields[] = {
    {"steps",     FIELD_STRINGS,  AT(build_steps),      0,               0, 0, NULL},
    {"artifacts", FIELD_STRINGS,  AT(artifacts),        FIELD_SKIP_ZERO, 0, 0, NULL},
    {"timeout",   FIELD_DURATION, AT(build_timeout_ns), 0,               0.001, MAX_TIMEOUT_S, NULL},
};
static const struct field sandbox_fields[] = {
    {"kind",      FIELD_CHOICE, AT(sandbox.kind),         0, 0, 0, sandbox_choices},
    {"network",   FIELD_BOOL,   AT(sandbox.has_network),  0, 0, 0, NULL},
    {"read",      FIELD_STRINGS, AT(sandbox.read),        FIELD_SKIP_ZERO, 0, 0, NULL},
    {"memory",    FIELD_SIZE,   AT(sandbox.memory_bytes), 0, 0, MAX_SIZE, NULL},
    {"processes", FIELD_I64,    AT(sandbox.n_processes),  0, 0, 1e6, NULL},
    {"disk",      FIELD_SIZE,   AT(sandbox.disk_bytes),   0, 0, MAX_SIZE, NULL},
    {"output",    FIELD_SIZE,   AT(sandbox.output_bytes), 0, 0, MAX_SIZE, NULL},
};
static const struct field budget_fields[] = {
    {"runs", FIELD_I64,      AT(budget_runs), FIELD_SKIP_ZERO, 0, 1e6, NULL},
    {"time", FIELD_DURATION, AT(budget_ns),   FIELD_SKIP_ZERO, 0, MAX_BUDGET_S, NULL},
};
static const struct {
    const char *key;
    const struct field *fields;
    size_t n;
} sections[] = {
    {"build", build_fields, LEN(build_fields)},
    {"sandbox", sandbox_fields, LEN(sandbox_fields)},
    {"budget", budget_fields, LEN(budget_fields)},
};

/* Keys of the project file whose work is not in this version, and the value that asks for none. */
static const struct { const char *key, *nothing; } later_keys[] = {
    {"download", NULL},
    {"notify", "{\"auto\":false}"}, {"dependencies", "[]"},
};
/* In the order of the project file. */
static const char *const top_keys[] = {
    "name", "repository", "submodules", "platforms", "paths", "environment", "build", "metrics",
    "sandbox", "isolation", "budget", "fixups", "confirm", "revision_map",
};
/* clang-format on */

void project_free(struct project *p)
{
    if (!p)
        return;
    fields_fini(project_fields, LEN(project_fields), p);
    fields_fini(build_fields, LEN(build_fields), p);
    fields_fini(sandbox_fields, LEN(sandbox_fields), p);
    pairs_fini(&p->submodule_urls);
    for (size_t i = 0; i < p->n_metrics; i++)
        metric_free(p->metrics[i]);
    mem_free(p->metrics);
    for (size_t i = 0; i < p->n_fixups; i++)
        fixup_free(p->fixups[i]);
    mem_free(p->fixups);
    mem_free(p);
}

struct project *project_new(const char *name, const char *repository)
{
    struct project *p = mem_alloc(sizeof(*p));

    p->name = mem_dup(name);
    p->repository = mem_dup(repository);
    p->build_timeout_ns = PROJECT_BUILD_TIMEOUT_NS;
    p->sandbox.n_processes = PROJECT_N_PROCESSES;
    p->sandbox.disk_bytes = PROJECT_DISK_BYTES;
    p->sandbox.output_bytes = PROJECT_OUTPUT_BYTES;
    return p;
}

static void copy_strings(struct strings *to, const struct strings *from)
{
    *to = (struct strings){0};
    for (size_t i = 0; i < from->n; i++)
        strings_add(to, from->items[i]);
}

static void copy_pairs(struct pairs *to, const struct pairs *from)
{
    *to = (struct pairs){0};
    for (size_t i = 0; i < from->n; i++)
        pairs_add(to, from->items[i].key, from->items[i].value);
}

struct project *project_copy(const struct project *p)
{
    struct project *copy = mem_alloc(sizeof(*copy));

    *copy = *p;
    copy->name = mem_dup(p->name);
    copy->repository = mem_dup(p->repository);
    copy->revision_map = p->revision_map ? mem_dup(p->revision_map) : NULL;
    copy_pairs(&copy->submodule_urls, &p->submodule_urls);
    copy_strings(&copy->platforms, &p->platforms);
    copy_strings(&copy->paths, &p->paths);
    copy_strings(&copy->sandbox.read, &p->sandbox.read);
    copy_pairs(&copy->environment, &p->environment);
    copy_strings(&copy->build_steps, &p->build_steps);
    copy_strings(&copy->artifacts, &p->artifacts);
    copy->n_metrics = 0;
    copy->metrics = NULL;
    for (size_t i = 0; i < p->n_metrics; i++)
        project_add_metric(copy, metric_copy(p->metrics[i]));
    copy->n_fixups = 0;
    copy->fixups = NULL;
    for (size_t i = 0; i < p->n_fixups; i++)
        project_add_fixup(copy, fixup_copy(p->fixups[i]));
    return copy;
}

enum err_code sandbox_kind_parse(const char *s, enum sandbox_kind *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(sandbox_choices, s, &value, e))
        return ERR_INVALID;
    *out = (enum sandbox_kind)value;
    return ERR_OK;
}

enum err_code confirm_parse(const char *s, enum confirm *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(confirm_choices, s, &value, e))
        return ERR_INVALID;
    *out = (enum confirm)value;
    return ERR_OK;
}

const struct metric *project_metric(const struct project *p, const char *name)
{
    for (size_t i = 0; i < p->n_metrics; i++) {
        if (strcmp(p->metrics[i]->name, name) == 0)
            return p->metrics[i];
    }
    return NULL;
}

void project_add_metric(struct project *p, struct metric *m)
{
    p->metrics = mem_resize(p->metrics, p->n_metrics + 1, sizeof(struct metric *));
    p->metrics[p->n_metrics++] = m;
}

void project_add_fixup(struct project *p, struct fixup *f)
{
    p->fixups = mem_resize(p->fixups, p->n_fixups + 1, sizeof(struct fixup *));
    p->fixups[p->n_fixups++] = f;
}

static bool has_fixup(const struct project *p, uint64_t fixups, size_t i)
{
    return i < p->n_fixups && i < FIXUP_MAX && fixups >> i & 1;
}

void project_environment(const struct project *p, uint64_t fixups, struct pairs *out)
{
    copy_pairs(out, &p->environment);
    for (size_t i = 0; i < p->n_fixups; i++) {
        const struct pairs *own = &p->fixups[i]->environment;

        for (size_t k = 0; has_fixup(p, fixups, i) && k < own->n; k++)
            pairs_add(out, own->items[k].key, own->items[k].value);
    }
}

void project_fixup_names(const struct project *p, uint64_t fixups, struct buf *out)
{
    const char *gap = "";

    for (size_t i = 0; i < p->n_fixups; i++) {
        if (!has_fixup(p, fixups, i))
            continue;
        buf_adds(out, gap);
        fixup_name(p->fixups[i], out);
        gap = ", ";
    }
}

enum isolation project_isolation(const struct project *p, const struct metric *m)
{
    if (m->isolation != ISOLATION_DEFAULT)
        return m->isolation;
    return p->isolation != ISOLATION_DEFAULT ? p->isolation : metric_isolation(m);
}

/* ---- checks ---- */

static enum err_code check_repository(const char *url, struct err *e)
{
    /* URL, or user@host:path as ssh writes it, or a path */
    if (url[0] == '/' || (url[0] != '-' && (strstr(url, "://") || strchr(url, ':'))))
        return ERR_OK;
    return err_set(e, ERR_INVALID, "repository: expected a URL or an absolute path, got %s", url);
}

static enum err_code check_list(const char *key, const struct strings *list,
                                enum err_code (*check)(const char *, const char *, struct err *),
                                struct err *e)
{
    for (size_t i = 0; i < list->n; i++) {
        char item[64];

        snprintf(item, sizeof(item), "%s[%zu]", key, i);
        if (check(item, list->items[i], e))
            return ERR_INVALID;
    }
    return ERR_OK;
}

static enum err_code check_step(const char *key, const char *step, struct err *e)
{
    if (step[strspn(step, " \t\n")] == '\0')
        return err_set(e, ERR_INVALID, "%s: expected a command, got an empty string", key);
    return ERR_OK;
}

/** Within walls the job's own folders are in these places. */
static enum err_code check_read(const char *key, const char *path, struct err *e)
{
    static const char *const taken[] = {"/", "/job", "/tmp", "/var/tmp", "/dev", "/proc"};
    size_t n_path = strlen(path);

    if (*path != '/')
        return err_set(e, ERR_INVALID, "%s: expected an absolute path, got %s", key, path);
    if (strstr(path, "/.") && path_check(key, path + 1, e))
        return ERR_INVALID;
    while (n_path > 1 && path[n_path - 1] == '/')
        n_path--;
    for (size_t i = 0; i < LEN(taken); i++) {
        const size_t n = strlen(taken[i]);
        const bool is_below = n > 1 && strncmp(path, taken[i], n) == 0 && path[n] == '/';
        if (is_below || (n == n_path && memcmp(path, taken[i], n) == 0))
            return err_set(e, ERR_INVALID, "%s: %s cannot be shown: a job has its own %s", key,
                           path, taken[i]);
    }
    return ERR_OK;
}

static enum err_code check_metrics(const struct project *p, struct err *e)
{
    if (p->n_metrics == 0)
        return err_set(e, ERR_INVALID, "metrics: missing: a project has at least one");
    if (p->n_metrics > MAX_METRICS)
        return err_set(e, ERR_INVALID, "metrics: more than %d", MAX_METRICS);
    for (size_t i = 0; i < p->n_metrics; i++) {
        const struct metric *m = p->metrics[i];

        if (project_metric(p, m->name) != m)
            return err_set(e, ERR_INVALID, "metrics.%s: two metrics of one name", m->name);
        if (metric_check(m, e))
            return err_under(e, "metrics.%s", m->name);
    }
    return ERR_OK;
}

static enum err_code check_fixups(const struct project *p, struct err *e)
{
    size_t n_bytes = 0;

    if (p->n_fixups > FIXUP_MAX)
        return err_set(e, ERR_INVALID, "fixups: more than %d", FIXUP_MAX);
    for (size_t i = 0; i < p->n_fixups; i++) {
        if (fixup_check(p->fixups[i], e))
            return err_under(e, "fixups[%zu]", i);
        n_bytes += p->fixups[i]->content ? base64_size(p->fixups[i]->content) : 0;
    }
    if (n_bytes <= FIXUP_MAX_PATCHES)
        return ERR_OK;
    err_set(e, ERR_INVALID, "fixups: the patches are larger than %d KiB together",
            FIXUP_MAX_PATCHES / KIB);
    return err_hint(e, "Commit what the largest does, and name that with commit instead of patch.");
}

enum err_code project_check(const struct project *p, struct err *e)
{
    if (name_check("name", p->name, e) || check_repository(p->repository, e) ||
        check_list("platforms", &p->platforms, name_check, e) ||
        check_list("paths", &p->paths, path_check, e) || environment_check(&p->environment, e) ||
        check_list("build.steps", &p->build_steps, check_step, e) ||
        check_list("build.artifacts", &p->artifacts, path_check, e) ||
        check_list("sandbox.read", &p->sandbox.read, check_read, e))
        return ERR_INVALID;
    for (size_t i = 0; i < p->submodule_urls.n; i++) {
        if (path_check("submodules", p->submodule_urls.items[i].key, e))
            return ERR_INVALID;
    }
    if (check_fixups(p, e))
        return ERR_INVALID;
    return check_metrics(p, e);
}

/* ---- to JSON ---- */

static json *submodules_to_json(const struct project *p)
{
    if (p->submodule_urls.n == 0)
        return json_new_string(choice_name(submodules_choices, p->submodules));

    json *urls = json_new_object();

    for (size_t i = 0; i < p->submodule_urls.n; i++)
        json_put(urls, p->submodule_urls.items[i].key,
                 json_new_string(p->submodule_urls.items[i].value));
    return urls;
}

json *project_to_json(const struct project *p)
{
    json *o = json_new_object();
    json *metrics = json_new_object();

    fields_write(project_fields, LEN(project_fields), p, o);
    if (p->confirm == CONFIRM_NONE) /* as documents were before there was a choice */
        json_remove(o, "confirm");
    json_put(o, "submodules", submodules_to_json(p));
    for (size_t i = 0; i < LEN(sections); i++) {
        json *section = json_new_object();

        fields_write(sections[i].fields, sections[i].n, p, section);
        if (sections[i].fields == sandbox_fields && !p->sandbox.is_kind_set)
            json_remove(section, "kind");
        if (json_len(section) > 0)
            json_put(o, sections[i].key, section);
        else
            json_free(section);
    }
    for (size_t i = 0; i < p->n_metrics; i++) {
        json *m = metric_to_json(p->metrics[i]);

        json_remove(m, "name");
        json_put(metrics, p->metrics[i]->name, m);
    }
    json_put(o, "metrics", metrics);
    if (p->n_fixups == 0)
        return o;

    json *fixups = json_new_array();

    for (size_t i = 0; i < p->n_fixups; i++)
        json_push(fixups, fixup_to_json(p->fixups[i]));
    return json_put(o, "fixups", fixups);
}

/* ---- from JSON ---- */

static enum err_code read_submodules(const json *v, struct project *p, struct err *e)
{
    static const struct field word = {"submodules",      FIELD_CHOICE, AT(submodules), 0, 0, 0,
                                      submodules_choices};
    static const struct field urls = {"submodules", FIELD_PAIRS, AT(submodule_urls), 0, 0, 0, NULL};

    if (json_is_null(v))
        return ERR_OK;
    if (json_is_object(v))
        return field_read(&urls, v, p, e);
    if (!json_is_string(v))
        return err_expected(e, "submodules", "recursive, none, or an object of path: URL", v);
    return field_read(&word, v, p, e);
}

static enum err_code read_sections(const json *v, struct project *p, struct err *e)
{
    for (size_t i = 0; i < LEN(sections); i++) {
        const json *section = json_at(v, sections[i].key);

        if (json_is_null(section))
            continue;
        if (!json_is_object(section))
            return err_expected(e, sections[i].key, "an object", section);
        if (fields_read(sections[i].fields, sections[i].n, section, UNKNOWN_REFUSED, p, e))
            return err_under(e, "%s", sections[i].key);
    }
    p->sandbox.is_kind_set = !json_is_null(json_at(json_at(v, "sandbox"), "kind"));
    return ERR_OK;
}

static enum err_code read_metrics(const json *v, struct project *p, struct err *e)
{
    if (json_is_null(v))
        return ERR_OK; /* project_check() says what is missing */
    if (!json_is_object(v))
        return err_expected(e, "metrics", "an object of name: metric", v);
    for (const char *name = json_first_key(v); name; name = json_next_key(v, name)) {
        const json *given = json_at(v, name);
        AUTO(json_free) json *named = json_new_object();
        struct metric *m = NULL;
        char key[128];

        snprintf(key, sizeof(key), "metrics.%s", name);
        if (!json_is_object(given))
            return err_expected(e, key, "an object", given);
        json_put(named, "name", json_new_string(name));
        for (const char *k = json_first_key(given); k; k = json_next_key(given, k)) {
            if (strcmp(k, "name") == 0)
                return err_set(e, ERR_INVALID, "%s.name: unknown key; a metric is named by its key",
                               key);
            json_put(named, k, json_keep(json_at(given, k)));
        }
        if (metric_from_json(named, &m, e))
            return err_under(e, "metrics.%s", name);
        project_add_metric(p, m);
    }
    return ERR_OK;
}

static enum err_code read_fixups(const json *v, struct project *p, struct err *e)
{
    if (!json_is_null(v) && !json_is_array(v))
        return err_expected(e, "fixups", "a list", v);
    if (json_len(v) > FIXUP_MAX)
        return err_set(e, ERR_INVALID, "fixups: more than %d", FIXUP_MAX);
    for (size_t i = 0; i < json_len(v); i++) {
        const json *given = json_item(v, i);
        struct fixup *f = NULL;

        if (!json_is_object(given))
            return err_set(e, ERR_INVALID, "fixups[%zu]: expected an object", i);
        if (fixup_from_json(given, &f, e))
            return err_under(e, "fixups[%zu]", i);
        project_add_fixup(p, f);
    }
    return ERR_OK;
}

static bool is_top_key(const char *key)
{
    for (size_t i = 0; i < LEN(top_keys); i++) {
        if (strcmp(top_keys[i], key) == 0)
            return true;
    }
    return false;
}

/* A key of a later version may stand there as long as it asks for nothing. */
static enum err_code check_later(const json *v, const char *key, bool *is_later, struct err *e)
{
    for (size_t i = 0; i < LEN(later_keys); i++) {
        AUTO(buf_fini) struct buf dump = {0};

        if (strcmp(later_keys[i].key, key) != 0)
            continue;
        *is_later = true;
        json_dump(json_at(v, key), JSON_SORTED, &dump);
        if (json_is_null(json_at(v, key)) ||
            (later_keys[i].nothing && strcmp(buf_str(&dump), later_keys[i].nothing) == 0))
            return ERR_OK;
        err_set(e, ERR_INVALID, "%s: is not available in this version", key);
        return err_hint(e, "Leave %s out.", key);
    }
    return ERR_OK;
}

static enum err_code check_keys(const json *v, struct err *e)
{
    for (const char *k = json_first_key(v); k; k = json_next_key(v, k)) {
        bool is_later = false;

        if (is_top_key(k))
            continue;
        if (check_later(v, k, &is_later, e))
            return ERR_INVALID;
        if (!is_later)
            return err_unknown_key(e, k, top_keys, LEN(top_keys));
    }
    return ERR_OK;
}

enum err_code project_from_json(const json *v, struct project **out, struct err *e)
{
    AUTO(project_free) struct project *p = NULL;

    if (!json_is_object(v))
        return err_set(e, ERR_INVALID, "expected a project object");
    if (check_keys(v, e))
        return ERR_INVALID;
    p = project_new("", "");
    if (fields_read(project_fields, LEN(project_fields), v, UNKNOWN_IGNORED, p, e) ||
        read_submodules(json_at(v, "submodules"), p, e) || read_sections(v, p, e) ||
        read_metrics(json_at(v, "metrics"), p, e) || read_fixups(json_at(v, "fixups"), p, e) ||
        project_check(p, e))
        return ERR_INVALID;
    *out = TAKE(p);
    return ERR_OK;
}

/* ---- keys ---- */

static json *build_identity(const struct project *p)
{
    json *whole = project_to_json(p);
    json *o = json_new_object();
    json *sandbox = json_new_object();
    json *build = json_new_object();

    json_put(o, "repository", json_keep(json_at(whole, "repository")));
    json_put(o, "submodules", json_keep(json_at(whole, "submodules")));
    json_put(o, "environment", json_keep(json_at(whole, "environment")));
    json_put(build, "steps", json_keep(json_pointer(whole, "/build/steps")));
    json_put(build, "artifacts", json_keep(json_pointer(whole, "/build/artifacts")));
    json_put(sandbox, "kind", json_new_int(p->sandbox.kind));
    json_put(sandbox, "network", json_new_bool(p->sandbox.has_network));
    json_free(whole);
    return json_put(json_put(o, "build", build), "sandbox", sandbox);
}

static struct digest digest_of(const json *v)
{
    AUTO(buf_fini) struct buf text = {0};

    json_dump(v, JSON_SORTED, &text);
    return hash_of(text.data, text.len);
}

struct digest project_build_key(const struct project *p)
{
    AUTO(json_free) json *identity = build_identity(p);

    return digest_of(identity);
}

struct digest project_measure_key(const struct project *p, const struct metric *m)
{
    /* What changes neither what is run nor how its output is read. */
    static const char *const irrelevant[] = {"name", "min_effect", "isolation"};
    const struct metric_kind_row *kind = &metric_kinds[m->kind];
    /* A unit is a label only where no other is turned into it. */
    bool is_label = m->kind == METRIC_VALUE || m->kind == METRIC_EXIT;
    AUTO(json_free) json *identity = build_identity(p);
    json *metric = metric_to_json(m);

    for (size_t i = 0; i < LEN(irrelevant); i++)
        json_remove(metric, irrelevant[i]);
    if (is_label || strcmp(m->unit, kind->unit) == 0)
        json_remove(metric, "unit");
    if (!metric_is_results(m->kind) || m->worse == kind->worse) /* results may contradict it */
        json_remove(metric, "worse");
    if (m->on_timeout != TIMEOUT_BAD)
        json_remove(metric, "timeout");
    json_put(identity, "metric", metric);
    return digest_of(identity);
}

/* What it does to a revision: neither what it is called nor where else it applies. */
static json *fixup_identity(const struct fixup *f)
{
    json *o = fixup_to_json(f);

    json_remove(o, "range");
    json_remove(o, "patch");
    return o;
}

struct digest project_variant_key(const struct project *p, const struct digest *plain,
                                  uint64_t fixups, const struct revision *reverted)
{
    AUTO(json_free) json *o = json_new_object();
    json *list = json_new_array();

    for (size_t i = 0; i < p->n_fixups; i++)
        if (has_fixup(p, fixups, i))
            json_push(list, fixup_identity(p->fixups[i]));
    json_put(o, "fixups", list);
    if (json_len(list) == 0 && !revision_is_set(reverted))
        return *plain;
    json_put(o, "plain", json_new_string(plain->hex));
    json_put(o, "reverted", json_new_string(reverted->hex));
    return digest_of(o);
}
