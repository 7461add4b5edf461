/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The store: one SQLite database and the files beside it, owned by one process.
 *
 * data_dir: bisectd.db, lock, logs/ab/<sha256>.zst, artifacts/ab/<sha256>.tar.zst, admin.token.
 *
 * Not thread-safe: one thread owns it. Functions of this folder run in the open transaction if
 * there is one, else each is a transaction of its own; a function that fails changes nothing
 * of its own (savepoints), so that one bad request spoils no other of the same turn. What a
 * commit returned ERR_OK for survives kill -9 and power loss (WAL, synchronous=FULL).
 *
 * Every function answers ERR_IO for a database or disk that fails, with what to do in the hint;
 * only codes beyond that are told at each function.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/clock.h"
#include "base/err.h"
#include "store/id.h"
#include <stdbool.h>
#include <stdint.h>

struct store;

/**
 * Opens the store in `data_dir`, making the folder (0700) and the schema if needed, and holds
 * its lock until store_close.
 *
 * Errors: ERR_CONFLICT: another process has it; the text names its pid.
 *         ERR_INVALID:  the schema is newer than this program, or the file is not ours.
 *         ERR_IO:       damaged, read-only, full, not a folder. Each with a hint.
 */
MUST_CHECK enum err_code store_open(const char *data_dir, struct store **out, struct err *e);
/** Rolls back what is not committed. */
void store_close(struct store *s);
DEFINE_AUTO(struct store, store_close)

/** Tries of a task that fails for reasons of the machine; 3 until told. */
void store_limit_tries(struct store *s, uint32_t max_tries);

/** The folder, as given. Borrowed. */
const char *store_data_dir(const struct store *s);

MUST_CHECK enum err_code store_begin(struct store *s, struct err *e);
/** On failure the transaction is rolled back, and nothing of it happened. */
MUST_CHECK enum err_code store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);

/** A consistent copy of the database into a new file (not the logs and artifacts). */
MUST_CHECK enum err_code store_backup(struct store *s, const char *path, struct err *e);
/** SQLite's own check of the whole file; slow. ERR_IO names the first fault. */
MUST_CHECK enum err_code store_check(struct store *s, struct err *e);

/** For /metrics. */
struct store_counts {
    int64_t bisections[5]; /* by enum bisection_state */
    int64_t tasks[5];      /* by enum task_state */
    int64_t open_leases;
    int64_t samples; /* and imported points */
    int64_t builds;
    int64_t workers;
    int64_t database_bytes;
};
MUST_CHECK enum err_code store_count(struct store *s, struct store_counts *out, struct err *e);

#endif
