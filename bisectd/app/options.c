/* SPDX-License-Identifier: Apache-2.0 */
#include "app/options.h"
#include "app/resolve.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include <stddef.h>
#include <string.h>

enum kind { SWITCH, TEXT, NUMBER };
enum { MAX_WORKERS = 256, MAX_FD = 1024 };

/* clang-format off */
#define AT(member) offsetof(struct options, member)
static const struct flag {
    const char *name;
    const char *value; /* as help calls it; NULL: takes none */
    enum kind kind;
    size_t at;
    int64_t high;
    const char *help;  /* NULL: not for people */
} flags[] = {
    {"--config",   "FILE",           TEXT,   AT(config),      0,           "the configuration; without it $XDG_CONFIG_HOME/bisectd/bisectd.yml or /etc/bisectd/bisectd.yml"},
    {"--data-dir", "DIR",            TEXT,   AT(data_dir),    0,           "where database, logs and artifacts are kept (default: $XDG_STATE_HOME/bisectd)"},
    {"--listen",   "HOST:PORT|none", TEXT,   AT(listen),      0,           "where to accept TCP connections (default: 127.0.0.1:8641)"},
    {"--workers",  "N",              NUMBER, AT(n_workers),   MAX_WORKERS, "workers to run on this machine (default: 1)"},
    {"--platform", "P",              TEXT,   AT(platform),    0,           "what these workers call their platform (default: this machine's)"},
    {"--sandbox",  "KIND",           TEXT,   AT(sandbox),     0,           "walls around jobs of projects that name none: bubblewrap (default) or plain"},
    {"--private",  NULL,             SWITCH, AT(is_private),  0,           "serve DATA_DIR/socket only, and end when nobody is connected"},
    {"--ready-fd", "N",              NUMBER, AT(ready_fd),    MAX_FD,      "write a line to this descriptor once requests are served"},
    {"--log-json", NULL,             SWITCH, AT(is_log_json), 0,           "log JSON lines instead of key=value"},
    {"--help",     NULL,             SWITCH, AT(is_help),     0,           "this text"},
    {"--version",  NULL,             SWITCH, AT(is_version),  0,           "print the version"},
    {RESOLVE_FLAG, NULL,             SWITCH, AT(is_child),    0,           NULL},
};
/* clang-format on */

static enum err_code unknown_flag(const char *arg, struct err *e)
{
    const char *names[LEN(flags)];

    for (size_t i = 0; i < LEN(flags); i++)
        names[i] = flags[i].name;
    err_set(e, ERR_INVALID, "unknown argument %s", arg);
    const char *nearest = text_nearest(arg, names, LEN(flags));
    return nearest ? err_hint(e, "did you mean %s?", nearest) : err_hint(e, "see --help");
}

static enum err_code set_value(const struct flag *f, const char *value, struct options *o,
                               struct err *e)
{
    void *to = (char *)o + f->at;

    if (f->kind == TEXT)
        *(const char **)to = value;
    else if (text_int(value, 0, f->high, (int64_t *)to, e))
        return err_wrap(e, "%s", f->name);
    return ERR_OK;
}

/* "--flag=value" and "--flag value" alike. */
static const struct flag *find_flag(const char *arg, const char **value)
{
    size_t n = strcspn(arg, "=");

    *value = arg[n] ? arg + n + 1 : NULL;
    for (size_t i = 0; i < LEN(flags); i++)
        if (strlen(flags[i].name) == n && strncmp(flags[i].name, arg, n) == 0)
            return &flags[i];
    return NULL;
}

enum err_code options_parse(int argc, char **argv, struct options *out, struct err *e)
{
    struct options o = {.n_workers = -1, .ready_fd = -1};

    for (int i = 1; i < argc; i++) {
        const char *value;
        const struct flag *f = find_flag(argv[i], &value);

        if (!f)
            return unknown_flag(argv[i], e);
        if (f->kind == SWITCH) {
            if (value)
                return err_set(e, ERR_INVALID, "%s takes no value", f->name);
            *(bool *)((char *)&o + f->at) = true;
            continue;
        }
        if (!value && i + 1 == argc)
            return err_set(e, ERR_INVALID, "%s needs %s", f->name, f->value);
        if (set_value(f, value ? value : argv[++i], &o, e))
            return e->code;
    }
    *out = o;
    return ERR_OK;
}

void options_help(struct buf *out)
{
    buf_adds(out, "usage: bisectd [flags]\n\n"
                  "The coordinator: takes questions, gives work to workers, names culprits.\n\n");
    for (size_t i = 0; i < LEN(flags); i++) {
        AUTO(mem_free)
        char *left = mem_printf("%s%s%s", flags[i].name, flags[i].value ? " " : "",
                                flags[i].value ? flags[i].value : "");
        if (flags[i].help)
            buf_printf(out, "  %-24s %s\n", left, flags[i].help);
    }
    buf_adds(out, "\nexample: bisectd --data-dir /var/lib/bisectd --listen 127.0.0.1:8641 "
                  "--workers 2\n");
}

/* A private daemon is told all it needs; what stands in a system's file is not meant for it. */
static enum err_code load_file(const struct options *o, struct config **out, struct err *e)
{
    AUTO(mem_free) char *found = o->config || o->is_private ? NULL : config_find();
    const char *path = o->config ? o->config : found;

    if (path)
        return config_load(path, out, e);
    *out = config_default();
    return ERR_OK;
}

static enum err_code settle_data_dir(const struct options *o, struct config *c, struct err *e)
{
    if (o->data_dir) {
        mem_free(c->data_dir);
        c->data_dir = mem_dup(o->data_dir);
    }
    if (file_mkdirs(c->data_dir, 0700, e)) {
        err_wrap(e, "data folder");
        return err_hint(e, "name a folder you may write to with --data-dir");
    }
    char *real = path_real(c->data_dir, e);
    if (!real)
        return e->code;
    mem_free(c->data_dir);
    c->data_dir = real;
    return ERR_OK;
}

enum err_code options_config(const struct options *o, struct config **out, struct err *e)
{
    AUTO(config_free) struct config *c = NULL;
    const char *listen = o->is_private ? "none" : o->listen;

    if (load_file(o, &c, e))
        return e->code;
    if (listen && listen_parse(listen, &c->listen, e))
        return err_wrap(e, "--listen");
    if (o->n_workers >= 0) {
        c->n_workers = (uint32_t)o->n_workers;
        c->engine = o->n_workers ? ENGINE_LOCAL : ENGINE_POOL;
    }
    if (o->sandbox && sandbox_kind_parse(o->sandbox, &c->sandbox, e))
        return err_wrap(e, "--sandbox");
    if (settle_data_dir(o, c, e))
        return e->code;
    *out = TAKE(c);
    return ERR_OK;
}
