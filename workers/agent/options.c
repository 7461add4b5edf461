/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/agent/options.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/check.h"
#include "wire/http.h"
#include "workers/measure/host.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOKEN_BYTES = 4096 };

enum takes { TAKES_TEXT, TAKES_LIST, TAKES_NOTHING };

struct row {
    const char *name;
    enum takes takes;
    size_t at; /* in struct options */
    const char *value;
    const char *help;
};

#define AT(field) offsetof(struct options, field)
/* clang-format off */
static const struct row rows[] = {
    {"coordinator", TAKES_TEXT,    AT(coordinator),   "URL",  "http(s)://HOST:PORT or unix:/path; default $BISECTD_URL, then http://127.0.0.1:8641"},
    {"token-file",  TAKES_TEXT,    AT(token_file),    "FILE", "holds the worker's token; default $BISECTD_TOKEN_FILE"},
    {"platform",    TAKES_TEXT,    AT(platform),      "P",    "label of this machine; default by its kernel, as linux-x64"},
    {"tag",         TAKES_LIST,    AT(tags),          "T",    "a further label; may be given again"},
    {"once",        TAKES_NOTHING, AT(is_once),       NULL,   "end after one task, or when there is none within 30 s"},
    {"work-dir",    TAKES_TEXT,    AT(work_dir),      "DIR",  "own folder of this worker; default $XDG_STATE_HOME/bisect-worker"},
    {"artifacts",   TAKES_TEXT,    AT(artifacts),     "DIR",  "folder of artifacts that the coordinator shares"},
    {"name",        TAKES_TEXT,    AT(name),          "NAME", "of this worker; default by host and folder"},
    {"host",        TAKES_TEXT,    AT(host),          "NAME", "of this machine; default its host name"},
    {"quiet-wait",  TAKES_TEXT,    AT(quiet_wait),    "DUR",  "longest wait before times are measured, while this machine works for others, 0 never waits; default $BISECTD_QUIET_WAIT, then 2s"},
    {"quiet-load",  TAKES_TEXT,    AT(quiet_load),    "PCT",  "share of it up to which that is quiet enough; default 25%"},
    {"log-json",    TAKES_NOTHING, AT(has_json_log),  NULL,   "log JSON lines instead of key=value"},
    {"help",        TAKES_NOTHING, AT(wants_help),    NULL,   "print this"},
    {"version",     TAKES_NOTHING, AT(wants_version), NULL,   "print the version"},
};
/* clang-format on */

void options_fini(struct options *o)
{
    char *texts[] = {o->coordinator, o->token_file, o->platform, o->work_dir,
                     o->artifacts,   o->name,       o->host,     o->quiet_wait,
                     o->quiet_load};

    for (size_t i = 0; i < LEN(texts); i++)
        mem_free(texts[i]);
    strings_fini(&o->tags);
}

void options_help(struct buf *out)
{
    buf_adds(out, "usage: bisect-worker [flags]\n\n"
                  "Takes tasks of a bisectd coordinator, builds and measures, and reports.\n\n");
    for (size_t i = 0; i < LEN(rows); i++) {
        AUTO(mem_free)
        char *flag = mem_printf("--%s %s", rows[i].name, rows[i].value ? rows[i].value : "");
        buf_printf(out, "  %-20s %s\n", flag, rows[i].help);
    }
    buf_adds(
        out,
        "\nexample:\n"
        "  bisect-worker --coordinator https://bisect.example.org --token-file worker.token\n\n"
        "exit status: 0 stopped or done, 1 failure, 2 usage\n");
}

static const struct row *find_row(const char *name, size_t n)
{
    for (size_t i = 0; i < LEN(rows); i++)
        if (strlen(rows[i].name) == n && strncmp(rows[i].name, name, n) == 0)
            return &rows[i];
    return NULL;
}

static enum err_code unknown_flag(const char *flag, struct err *e)
{
    const char *names[LEN(rows)];

    for (size_t i = 0; i < LEN(rows); i++)
        names[i] = rows[i].name;
    const char *near = text_nearest(flag + 2, names, LEN(names));
    err_set(e, ERR_INVALID, "unknown flag %s", flag);
    if (near)
        return err_hint(e, "did you mean --%s?", near);
    return err_hint(e, "bisect-worker --help lists the flags");
}

static void store(const struct row *row, const char *value, struct options *out)
{
    void *at = (char *)out + row->at;

    if (row->takes == TAKES_NOTHING) {
        *(bool *)at = true;
    } else if (row->takes == TAKES_LIST) {
        strings_add(at, value);
    } else {
        mem_free(*(char **)at);
        *(char **)at = mem_dup(value);
    }
}

/** One flag at argv[*i]; *i is moved past a value in an argument of its own. */
static enum err_code parse_flag(int argc, char *const *argv, int *i, struct options *out,
                                struct err *e)
{
    const char *flag = argv[*i];

    if (strncmp(flag, "--", 2) != 0)
        return err_set(e, ERR_INVALID, "\"%s\" is not a flag", flag);
    const char *equals = strchr(flag, '=');
    const struct row *row =
        find_row(flag + 2, equals ? (size_t)(equals - flag) - 2 : strlen(flag) - 2);
    if (!row)
        return unknown_flag(flag, e);
    if (row->takes == TAKES_NOTHING && equals)
        return err_set(e, ERR_INVALID, "--%s takes no value", row->name);
    const char *value = equals ? equals + 1 : NULL;
    if (row->takes != TAKES_NOTHING && !value) {
        if (*i + 1 >= argc)
            return err_set(e, ERR_INVALID, "--%s needs a value, %s", row->name, row->value);
        value = argv[++*i];
    }
    if (value && !*value)
        return err_set(e, ERR_INVALID, "--%s is empty", row->name);
    store(row, value, out);
    return ERR_OK;
}

static char *default_work_dir(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state && *state)
        return path_join(state, "bisect-worker");
    if (home && *home)
        return path_join(home, ".local/state/bisect-worker");
    return mem_printf("/tmp/bisect-worker-%u", (unsigned)geteuid());
}

static char *host_name(void)
{
    char name[256] = "";

    return mem_dup(gethostname(name, sizeof(name) - 1) == 0 && *name ? name : "localhost");
}

static char *from_environment(const char *key)
{
    const char *value = getenv(key);

    return value && *value ? mem_dup(value) : NULL;
}

/** The flag's own value, else the variable's, else none; and which it was. */
static const char *take_variable(char **value, const char *flag, const char *key)
{
    if (*value)
        return flag;
    *value = from_environment(key + 1);
    return *value ? key : flag;
}

#define QUIET_WAIT_NS      (2 * NS_PER_S)
#define QUIET_WAIT_MOST_NS (3600 * NS_PER_S)
#define QUIET_LOAD         .25

static enum err_code read_quiet(struct options *o, const char *wait_from, struct err *e)
{
    o->quiet = (struct quiet){.patience_ns = QUIET_WAIT_NS, .most_busy = QUIET_LOAD};
    if (o->quiet_wait && duration_parse(o->quiet_wait, &o->quiet.patience_ns, e))
        return err_wrap(e, "%s", wait_from);
    if (o->quiet.patience_ns > QUIET_WAIT_MOST_NS)
        return err_set(e, ERR_INVALID, "%s: at most 1h, got %s", wait_from, o->quiet_wait);
    if (!o->quiet_load)
        return ERR_OK;
    const size_t n = strlen(o->quiet_load);
    AUTO(mem_free) char *bare = mem_dup_n(o->quiet_load, n - (o->quiet_load[n - 1] == '%'));
    double percent = 0;
    if (text_num(bare, &percent, NULL) || percent < 0 || percent > 100)
        return err_set(e, ERR_INVALID, "--quiet-load: expected a percentage from 0 to 100, got %s",
                       o->quiet_load);
    o->quiet.most_busy = percent / 100;
    return ERR_OK;
}

static enum err_code check(const struct options *o, struct err *e)
{
    enum err_code code = http_base_check(o->coordinator, e);

    if (code) {
        err_wrap(e, "%s", o->coordinator_from);
        return code;
    }
    return name_check("--platform", o->platform, e);
}

enum err_code options_parse(int argc, char *const *argv, struct options *out, struct err *e)
{
    for (int i = 1; i < argc; i++) {
        enum err_code code = parse_flag(argc, argv, &i, out, e);
        if (code)
            return code;
    }
    out->coordinator_from = take_variable(&out->coordinator, "--coordinator", "$BISECTD_URL");
    out->token_file_from = take_variable(&out->token_file, "--token-file", "$BISECTD_TOKEN_FILE");
    const char *quiet_wait_from =
        take_variable(&out->quiet_wait, "--quiet-wait", "$BISECTD_QUIET_WAIT");
    if (!out->coordinator)
        out->coordinator = mem_dup("http://127.0.0.1:8641");
    if (!out->platform)
        out->platform = host_platform();
    if (!out->work_dir)
        out->work_dir = default_work_dir();
    if (!out->host)
        out->host = host_name();
    if (!out->name) { /* the same after a restart, and another for another worker here */
        struct digest folder = hash_of(out->work_dir, strlen(out->work_dir));
        out->name = mem_printf("%s-%.6s", out->host, folder.hex);
    }
    if (out->wants_help || out->wants_version)
        return ERR_OK;
    enum err_code code = read_quiet(out, quiet_wait_from, e);
    return code ? code : check(out, e);
}

enum err_code options_token(const struct options *o, char **token, struct err *e)
{
    AUTO(buf_fini) struct buf text = {0};

    *token = NULL;
    if (!o->token_file)
        return ERR_OK;
    if (file_read(o->token_file, TOKEN_BYTES, &text, e))
        return err_wrap(e, "%s", o->token_file_from);
    const char *s = buf_str(&text) + strspn(buf_str(&text), " \t\r\n");
    size_t n = strcspn(s, " \t\r\n");
    if (n == 0)
        return err_set(e, ERR_INVALID, "%s: %s holds no token", o->token_file_from, o->token_file);
    for (size_t i = 0; i < n; i++)
        if (s[i] <= ' ' || s[i] > '~')
            return err_set(e, ERR_INVALID, "%s: %s holds something that is no token",
                           o->token_file_from, o->token_file);
    *token = mem_dup_n(s, n);
    return ERR_OK;
}
