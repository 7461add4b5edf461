/* SPDX-License-Identifier: Apache-2.0 */
/** The terminal, or whatever stands in its place, and signals that come from it. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "base/buf.h"
#include "base/err.h"
#include "report/style.h"
#include <stdbool.h>

bool terminal_is(int fd);
/** Colour unless NO_COLOR or TERM=dumb or not a terminal; UTF-8 as the locale says; its width. */
struct style terminal_style(int fd);
/** All of it. A reader that has gone (EPIPE) is fine and quiet from then on. */
enum err_code terminal_write(int fd, const struct buf *text, struct err *e);
/** A plain line of our own on stderr: "bisectctl: …". */
void terminal_note(const char *format, ...) PRINTF(1, 2);

/** From now on Ctrl-C, SIGTERM and SIGHUP are noted; a second one ends the program at once. */
void interrupt_watch(void);
bool interrupt_seen(void);

#endif
