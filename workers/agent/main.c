/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "workers/agent/agent.h"
#include "workers/agent/options.h"
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

static volatile sig_atomic_t n_stops;

/** The first asks for a good end; the second does not wait for it. The supervisor ends the job. */
static void on_stop(int number)
{
    (void)number;
    if (n_stops++)
        _exit(EXIT_FAILURE);
}

static bool must_stop(void *context)
{
    (void)context;
    return n_stops > 0;
}

static void listen_to_signals(void)
{
    struct sigaction stop = {.sa_handler = on_stop};

    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what a killed supervisor leaves comes to us */
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash > path ? mem_dup_n(path, (size_t)(slash - path)) : NULL;
}

/** What is ours or the user's no job within walls is to see, wherever it lies. */
static void hide_own(const struct options *o, struct sandbox *s)
{
    static const char socket[] = "unix:";
    const struct passwd *user = getpwuid(geteuid());
    AUTO(mem_free) char *token = o->token_file ? path_real(o->token_file, NULL) : NULL;
    AUTO(mem_free) char *shared = o->artifacts ? folder_of(o->artifacts) : NULL;
    AUTO(mem_free)
    char *store = strncmp(o->coordinator, socket, strlen(socket)) == 0
                      ? folder_of(o->coordinator + strlen(socket))
                      : NULL;
    const char *const own[] = {token,  o->work_dir,    o->artifacts,
                               shared, getenv("HOME"), user ? user->pw_dir : NULL,
                               store};

    for (size_t i = 0; i < LEN(own); i++)
        sandbox_hide(s, own[i]);
}

/** Better known now than when a task needs it. */
static void tell_walls(struct sandbox *s)
{
    struct sandbox_limits limits = {.is_kind_set = true, .kind = SANDBOX_BUBBLEWRAP};
    AUTO(buf_fini) struct buf quoted = {0};
    struct err e = {0};

    if (sandbox_check(s, &limits, &e) == ERR_OK) {
        LOG(LOG_INFO, "sandbox", "bubblewrap=works kernel_keeps=\"%s\"", sandbox_kernel_keeps(s));
        return;
    }
    text_quote(&quoted, e.text);
    LOG(LOG_INFO, "sandbox", "bubblewrap=refused error=%s", buf_str(&quoted));
}

static enum err_code run(const struct options *o, const char *token, struct sandbox *sandbox,
                         struct err *e)
{
    AUTO(buf_fini) struct buf where = {0};
    AUTO(workshop_free) struct workshop *shop = NULL;
    struct workshop_options place = {.folder = o->work_dir,
                                     .artifacts = o->artifacts,
                                     .name = o->name,
                                     .host = o->host,
                                     .platform = o->platform,
                                     .sandbox = sandbox};

    enum err_code code = workshop_new(&place, &shop, e);
    if (code)
        return code;
    struct quiet quiet = o->quiet;
    struct agent a = {.http = {.base = o->coordinator, .token = token},
                      .shop = shop,
                      .quiet = &quiet,
                      .tags = &o->tags,
                      .is_once = o->is_once,
                      .must_stop = must_stop};
    buf_adds(&where, "coordinator=");
    text_quote(&where, o->coordinator);
    buf_adds(&where, " work_dir=");
    text_quote(&where, shop->folder);
    LOG(LOG_INFO, "worker started", "worker=%s platform=%s %s", o->name, o->platform,
        buf_str(&where));
    tell_walls(sandbox);
    return agent_run(&a, e);
}

static void complain(const struct err *e)
{
    fprintf(stderr, "bisect-worker: %s\n", e->text);
    if (e->hint[0])
        fprintf(stderr, "bisect-worker: %s\n", e->hint);
}

int main(int argc, char **argv)
{
    AUTO(options_fini) struct options o = {0};
    AUTO(sandbox_free) struct sandbox *sandbox = NULL;
    AUTO(buf_fini) struct buf help = {0};
    AUTO(mem_free) char *token = NULL;
    struct err e = {0};

    if (options_parse(argc, argv, &o, &e)) {
        complain(&e);
        return EXIT_USAGE;
    }
    if (o.wants_help)
        options_help(&help);
    else if (o.wants_version)
        buf_printf(&help, "bisect-worker %s\n", BISECTD_VERSION);
    if (help.len)
        return fputs(buf_str(&help), stdout) < 0 || fflush(stdout) != 0 ? EXIT_FAILURE
                                                                        : EXIT_SUCCESS;
    if (options_token(&o, &token, &e)) {
        complain(&e);
        return EXIT_USAGE;
    }
    if (sandbox_new(&sandbox, &e)) { /* before anything grows: see there */
        complain(&e);
        return EXIT_FAILURE;
    }
    hide_own(&o, sandbox);
    listen_to_signals();
    log_setup("bisect-worker", LOG_INFO, o.has_json_log);
    if (run(&o, token, sandbox, &e)) {
        complain(&e);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
