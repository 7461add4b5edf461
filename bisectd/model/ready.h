/* SPDX-License-Identifier: Apache-2.0 */
/** When a program counts as started: the key `ready` of kind ts. */
#ifndef MODEL_READY_H
#define MODEL_READY_H

#include "base/err.h"
#include <stdint.h>

/** How long a program may take to end after it was ready and has been asked to (SIGTERM). */
#define READY_GRACE_NS INT64_C(5000000000)

enum ready_kind {
    READY_EXIT, /* it has ended, with status 0 */
    READY_LINE, /* it has written the text, to stdout or stderr */
    READY_PORT, /* a TCP port of this machine takes connections */
    READY_HTTP, /* it answers a GET with a status of 2xx or 3xx */
    READY_FILE  /* there is something at the path */
};

struct ready {
    enum ready_kind kind;
    uint16_t port;
    char *text;  /* line: the text. http: all of the request. file: the path as given: absolute,
                    below the folder that the command starts in, or below one of the variables
                    $BISECTD_OUT, $BISECTD_SOURCE, $HOME, $TMPDIR */
    char *words; /* the condition as a person puts it: "port 8080 is open" */
};
void ready_fini(struct ready *r);
DEFINE_AUTO_FINI(struct ready, ready_fini)

/** "exit", "line:TEXT", "port:N", "http:URL" or "file:PATH". Hosts of a URL: localhost, 127.0.0.1,
 *  [::1]. ERR_INVALID says what was expected. */
MUST_CHECK enum err_code ready_parse(const char *s, struct ready *out, struct err *e);

#endif
