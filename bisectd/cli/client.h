/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The coordinator as commands see it: found, or started for a store, and asked.
 *
 * Where it is, first match: --coordinator, --store, $BISECTD_URL, the configuration (--config, or
 * the one in its usual place), the current repository's own store, the default address. A store
 * whose daemon does not live gets a private one, which stops by itself when nobody is connected any
 * more.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include "base/err.h"
#include "base/json.h"
#include "cli/flag.h"
#include "model/bisection.h"
#include "report/summary.h"

struct client;

enum client_need {
    CLIENT_READS,  /* a private daemon starts without workers: nothing unfinished goes on */
    CLIENT_WORKS,  /* it needs workers; one that lives without any is waited for to end */
    CLIENT_SERVICE /* a service only, no store */
};

/** ERR_PEER, ERR_IO: nobody there and none could be started; the hint says what to do. */
MUST_CHECK enum err_code client_open(const struct options *o, enum client_need need,
                                     struct client **out, struct err *e);
/** A private daemon on this store, living or new. */
MUST_CHECK enum err_code client_open_store(const char *store, const struct options *o,
                                           enum client_need need, struct client **out,
                                           struct err *e);
void client_free(struct client *c);
DEFINE_AUTO(struct client, client_free)

/** What a further command, given in this folder, has to say to come to the same store or service.
 *  Borrowed from both. */
void client_place(const struct client *c, const struct options *o, struct place *out);
/** Is it the default service, since nothing said where to look? */
bool client_is_default(const struct client *c);

const char *client_store(const struct client *c); /* NULL: a service */
const char *client_base(const struct client *c);
bool client_has_started(const struct client *c); /* the daemon is ours, and new */

/** GET and POST below /api/v1, with a JSON answer. `path` as "/bisections/…", escaped. */
MUST_CHECK enum err_code client_get(struct client *c, const char *path, json **out, struct err *e);
MUST_CHECK enum err_code client_post(struct client *c, const char *path, const json *body,
                                     json **out, struct err *e);
MUST_CHECK enum err_code client_get_text(struct client *c, const char *path, struct buf *out,
                                         struct err *e);
struct client_query {
    const char *path;
    const char *after; /* a cursor to begin at; NULL: at the beginning */
    size_t limit;      /* 0: all */
};
/** {"items":[…],"next":…} of a list, fetched page by page. Caller frees. */
MUST_CHECK enum err_code client_page(struct client *c, const struct client_query *q, json **out,
                                     struct err *e);
/** All items of a list, page by page, up to `limit` (0: all). Caller frees. */
MUST_CHECK enum err_code client_list(struct client *c, const char *path, size_t limit, json **out,
                                     struct err *e);

/**
 * A bisection by id, or by 4 or more characters that only one of the newest begins with.
 *
 * Owns:   caller frees both. Either output may be NULL.
 * Errors: ERR_NOT_FOUND with the hint to list.
 */
MUST_CHECK enum err_code client_bisection(struct client *c, const char *id, char **full_id,
                                          struct verdict **out, struct err *e);

/** Why its culprit changed what it changed. ERR_NOT_FOUND: there is none, says why. Caller frees. */
MUST_CHECK enum err_code client_explanation(struct client *c, const char *id, json **out,
                                            struct err *e);

/** Follows a bisection to its end, or until `changed` or `tick` says false. `changed` sees every
 *  new state. ERR_PEER when the coordinator went away. */
struct follower {
    bool (*changed)(void *context, const struct verdict *v);
    bool (*tick)(void *context);
    void *context;
};
MUST_CHECK enum err_code client_follow(struct client *c, const char *id, const struct follower *f,
                                       struct err *e);

#endif
