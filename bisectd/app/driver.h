/* SPDX-License-Identifier: Apache-2.0 */
/** All unfinished bisections, and what the API asks about them: fills api/service.h in. */
#ifndef APP_DRIVER_H
#define APP_DRIVER_H

#include "api/server.h"
#include "api/service.h"
#include "app/loop.h"
#include "app/pool.h"
#include "config/config.h"
#include "engine/local.h"
#include "store/store.h"

struct driver;

/** All borrowed, for the driver's life. */
struct driver_options {
    struct store *store;
    struct loop *loop;
    struct pool *pool;
    const struct config *config;
    struct local *local;        /* NULL: no workers of our own */
    const char *local_platform; /* what they call it; NULL: as this machine's do */
    bool is_private;            /* the daemon ends when nobody is connected */
};

struct driver *driver_new(const struct driver_options *o);
void driver_free(struct driver *d);
DEFINE_AUTO(struct driver, driver_free)

/** What the server needs of us, and we of the server. Borrowed. */
const struct service *driver_service(const struct driver *d);
void driver_attach(struct driver *d, struct server *s);

/**
 * Forgets what is in memory and takes up what is in the store: at start, and after a turn that
 * could not be committed. In an open transaction.
 */
MUST_CHECK enum err_code driver_load(struct driver *d, struct err *e);
/** At start only, before driver_load: leases of an earlier life. In an open transaction. */
MUST_CHECK enum err_code driver_adopt(struct driver *d, struct err *e);

/** What became due. In an open transaction. */
MUST_CHECK enum err_code driver_tick(struct driver *d, struct mono now, struct err *e);
/** When driver_tick() is due at the latest; false: not before something happens. */
bool driver_deadline(const struct driver *d, struct mono now, struct mono *out);
/** An error that a service function met and that spoils the turn; ERR_OK for none. */
const struct err *driver_fault(const struct driver *d);

/** A worker of ours died. In an open transaction. */
MUST_CHECK enum err_code driver_worker_died(struct driver *d, const char *name, struct err *e);
/** Notes the time used so far; before the end. In an open transaction. */
MUST_CHECK enum err_code driver_note_time(struct driver *d, struct err *e);

size_t driver_n_courses(const struct driver *d);

#endif
