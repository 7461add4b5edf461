/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One error type, carrying context.
 *
 * Set once, where the fact is known. Wrap at most once a layer, adding what that layer knows.
 * Report once, at the top. A verdict is not an error; a broken promise of our own is an assert.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/auto.h"

/** What callers may branch on. Everything else lives in err.text. */
enum err_code {
    ERR_OK,        /* no failure */
    ERR_NOMEM,     /* a library ran out of memory (ours ends the program, see mem.h) */
    ERR_INVALID,   /* bad input; trying again will not help */
    ERR_NOT_FOUND, /* no such bisection, commit, lease, file */
    ERR_CONFLICT,  /* changed under us; reload and try again */
    ERR_TIMEOUT,   /* deadline passed; may be tried again */
    ERR_LIMIT,     /* a stated limit was reached */
    ERR_DENIED,    /* the caller may not do this */
    ERR_IO,        /* disk, pipe or database */
    ERR_PEER,      /* another service answered badly, or not at all */
    ERR_COUNT
};

struct err {
    enum err_code code;
    int sys;         /* errno, SQLite, libgit2 or curl code; 0 if none */
    char text[1024]; /* outermost first: "bisection 42: open repo: no such file" */
    char hint[512];  /* what to do next, one sentence; may be empty */
};

/** Fills `e` (which may be NULL) and returns `code`. */
enum err_code err_set(struct err *e, enum err_code code, const char *format, ...) PRINTF(3, 4);

/** Like err_set, and appends strerror(sys). */
enum err_code err_sys(struct err *e, int sys, const char *format, ...) PRINTF(3, 4);

/** Puts "<what>: " in front of the text; returns the code that was there. */
enum err_code err_wrap(struct err *e, const char *format, ...) PRINTF(2, 3);

/** Adds the next step a person should take; returns the code that was there. */
enum err_code err_hint(struct err *e, const char *format, ...) PRINTF(2, 3);

/** "not_found" and the like, as the API spells it. */
const char *err_name(enum err_code code);

#endif
