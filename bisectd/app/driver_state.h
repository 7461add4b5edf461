/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of driver.h: shared by driver.c and serve.c. */
#ifndef APP_DRIVER_STATE_H
#define APP_DRIVER_STATE_H

#include "app/calibrator.h"
#include "app/course.h"
#include "app/driver.h"

struct driver {
    struct driver_options o;
    struct server *server; /* NULL: none attached */
    struct service service;
    struct ground ground;
    struct tenure_rule rule;
    char *local_platform;
    size_t n_courses;
    struct course **courses; /* oldest first */
    struct calibrator *calibrator;
    struct mono expiry_due;
    struct err fault;   /* spoils the turn */
    struct id fault_at; /* the bisection it happened to; empty: none */
    struct id poisoned; /* fails every time: to be given up at the next load */
    struct err poison;
};

/** The unfinished bisection of that id; NULL: none. */
struct course *driver_find(const struct driver *d, const char *id);
/** Adds it; over again once it ends. */
void driver_add(struct driver *d, struct course *c);
/** Notes that the turn cannot be committed. Returns the code. */
enum err_code driver_spoil(struct driver *d, const char *bisection, const struct err *e);
/** Tells the bisections what became of their tasks. */
MUST_CHECK enum err_code driver_returned(struct driver *d, const struct returned_list *list,
                                         struct err *e);

/** Unfinished bisections and comparisons that somebody waits for. */
size_t driver_n_wanted(const struct driver *d);

/** A comparison for idle workers, for the calibrator. ERR_CONFLICT: somebody asks the same. */
MUST_CHECK enum err_code serve_check(void *self, const struct request *r, struct id *out,
                                     struct err *e);
/** Fills in d->service. */
void serve_init(struct driver *d);

#endif
