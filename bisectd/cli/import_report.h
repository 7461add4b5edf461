/* SPDX-License-Identifier: Apache-2.0 */
/** What `import` says: what it read and stored, the changes it sees, and what to type next. */
#ifndef CLI_IMPORT_REPORT_H
#define CLI_IMPORT_REPORT_H

#include "cli/imported.h"
#include "report/style.h"
#include "report/summary.h"

struct import_outcome {
    bool is_dry_run;
    size_t *n_added, *n_known; /* of each series; NULL in a dry run */
    const char *command;       /* "submit" to a service, "run" on a store */
    bool is_named;             /* the service has the project by its name */
    bool is_unknown;           /* the service has projects, and this is none of them */
    struct place place;        /* what to add to commands */
};

void import_report_write(const struct imported *i, const struct import_outcome *o,
                         const struct style *s, struct buf *out);
json *import_report_json(const struct imported *i, const struct import_outcome *o);

#endif
