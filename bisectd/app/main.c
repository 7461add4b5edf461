/* SPDX-License-Identifier: Apache-2.0 */
#include "app/daemon.h"
#include "app/options.h"
#include "app/resolve.h"
#include "base/log.h"
#include <stdio.h>

enum { EXIT_GOOD = 0, EXIT_FAULT = 1, EXIT_USAGE = 2 };

static int complain(const struct err *e, int status)
{
    (void)fprintf(stderr, "bisectd: %s%s%s\n", e->text, e->hint[0] ? "; " : "", e->hint);
    return status;
}

static int serve(const struct options *o)
{
    struct err e = {0};
    AUTO(config_free) struct config *config = NULL;
    AUTO(daemon_free) struct daemon *d = NULL;

    if (options_config(o, &config, &e))
        return complain(&e, e.code == ERR_INVALID ? EXIT_USAGE : EXIT_FAULT);
    struct daemon_options options = {
        .config = config,
        .platform = o->platform,
        .is_private = o->is_private,
        .ready_fd = (int)o->ready_fd,
    };
    if (daemon_new(&options, &d, &e))
        return complain(&e, EXIT_FAULT);
    daemon_run(d);
    return EXIT_GOOD;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct options o;

    if (options_parse(argc, argv, &o, &e))
        return complain(&e, EXIT_USAGE);
    if (o.is_help) {
        AUTO(buf_fini) struct buf text = {0};
        options_help(&text);
        (void)fputs(buf_str(&text), stdout);
        return EXIT_GOOD;
    }
    if (o.is_version) {
        (void)printf("bisectd %s\n", BISECTD_VERSION);
        return EXIT_GOOD;
    }
    log_setup("bisectd", LOG_INFO, o.is_log_json);
    return o.is_child ? resolve_child() : serve(&o);
}
