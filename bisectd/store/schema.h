/* SPDX-License-Identifier: Apache-2.0 */
/** The tables, and the numbered steps that lead to them. */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include "store/store.h"

/** Marks the file as ours: "bisd". */
#define SCHEMA_APPLICATION_ID INT64_C(0x62697364)

int schema_version(void); /* that this program writes */

/** Brings the database to schema_version(), each step in a transaction of its own.
 *  ERR_INVALID: newer than this program, or somebody else's database. */
MUST_CHECK enum err_code schema_migrate(struct store *s, struct err *e);

/** Makes this connection refuse changes to evidence. */
MUST_CHECK enum err_code schema_guard(struct store *s, struct err *e);

#endif
