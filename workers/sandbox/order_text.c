/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/order_text.h"
#include "base/file.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void add_strings(struct buf *text, const struct strings *s)
{
    for (size_t i = 0; i < s->n; i++)
        buf_add(text, s->items[i], strlen(s->items[i]) + 1);
}

static const char *variable(const struct strings *environment, const char *key, size_t n_key)
{
    for (size_t i = 0; i < environment->n; i++)
        if (strncmp(environment->items[i], key, n_key) == 0 && environment->items[i][n_key] == '=')
            return environment->items[i] + n_key + 1;
    return "";
}

/** `folder`: where the command starts, as it sees it; so are the variables. */
static void add_path(struct buf *text, const struct job_spec *spec, const char *folder,
                     const char *path)
{
    if (*path == '$') {
        const size_t n_key = strcspn(path + 1, "/");
        buf_adds(text, variable(spec->environment, path + 1, n_key));
        buf_adds(text, path + 1 + n_key);
        return;
    }
    if (*path != '/')
        buf_printf(text, "%s/", folder);
    buf_adds(text, path);
}

/** What readiness looks for; of a file, where it is. */
static void add_wanted(struct buf *text, const struct job_spec *spec, const char *folder)
{
    const struct ready *r = spec->ready;

    if (r && r->kind == READY_FILE)
        add_path(text, spec, folder, r->text);
    else if (r && r->text)
        buf_adds(text, r->text);
    buf_add(text, "", 1);
}

int order_text(const struct job_spec *spec, const struct strings *wall, struct order *o)
{
    const struct job_place seen = sandbox_place(spec->limits, spec->place);
    const char *folder = seen.source ? seen.source : "/";
    AUTO(strings_fini) struct strings argv = {0};
    AUTO(buf_fini) struct buf text = {0};

    strings_add(&argv, "/bin/sh");
    strings_add(&argv, "-ec");
    strings_add(&argv, spec->command);
    o->n_wall = (uint32_t)wall->n;
    o->n_argv = (uint32_t)argv.n;
    o->n_environment = (uint32_t)spec->environment->n;
    add_strings(&text, wall);
    add_strings(&text, &argv);
    buf_add(&text, folder, strlen(folder) + 1);
    add_wanted(&text, spec, folder);
    add_strings(&text, spec->environment);
    o->text_bytes = (uint32_t)text.len;

    int fd = memfd_create("job", MFD_CLOEXEC);
    for (size_t at = 0; fd >= 0 && at < text.len;) {
        ssize_t n = write(fd, text.data + at, text.len - at);
        if (n < 0) {
            fd_close(fd);
            return -1;
        }
        at += (size_t)n;
    }
    return fd;
}
