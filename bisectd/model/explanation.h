/* SPDX-License-Identifier: Apache-2.0 */
/** What changed between a culprit and its parent, and how much of the metric's change that is. */
#ifndef MODEL_EXPLANATION_H
#define MODEL_EXPLANATION_H

#include "base/auto.h"
#include "base/err.h"
#include "base/json.h"
#include "model/revision.h"
#include <stdbool.h>
#include <stdint.h>

enum { BEFORE, AFTER, SIDES }; /* the parent, the culprit */

/** What shares are shares of. */
enum share_basis {
    SHARE_OF_NOTHING, /* the metric's unit is neither time nor calls: no shares */
    SHARE_OF_TIME,    /* of the change in elapsed time */
    SHARE_OF_COUNT    /* of the change in a number of calls, which is the metric */
};

/** One system call on one file; numbers are means of a run. */
struct difference {
    char *call;
    char *path;   /* "" for none, or where files were not told apart */
    char *group;  /* database, journal, wal, directory, other */
    bool is_wait; /* its time is spent waiting for others */
    double count[SIDES];
    double seconds[SIDES]; /* nan: not timed */
    double share;          /* nan: none */
};

/** Something the kernel keeps books on, means of untraced runs; and instructions of one run. */
struct resource {
    char *name; /* "user CPU" */
    char *unit; /* "s", "bytes" or "" */
    double amount[SIDES];
    double share; /* of the change in time, for processor time; nan: none */
};

/** A function that more or less processor time goes to; means of a run. */
struct symbol {
    char *name;
    char *object; /* the program or library it is in */
    double seconds[SIDES];
    double share; /* of the change in time; nan: none */
};

struct explanation {
    struct revision culprit, parent;
    char *metric_name, *metric_unit;
    double metric_delta; /* by the verdict */
    enum share_basis basis;
    /** Elapsed time that shares of time are of, in seconds; nan: none. */
    double change_s;
    bool is_change_traced;  /* mostly of the traced runs themselves; else of untraced ones */
    double explained;       /* by the system calls, 0 to 1; nan: no shares */
    double explained_error; /* its standard error; nan: unknown */
    size_t n_differences;
    struct difference *differences; /* largest first */
    uint32_t n_left_out;            /* smaller ones */
    size_t n_resources;
    struct resource *resources;
    size_t n_symbols;
    struct symbol *symbols;               /* largest first; none where nothing could be sampled */
    uint32_t n_plain, n_counted, n_timed; /* runs of each side, less those that were held up */
    char *timed;   /* calls that were timed, with commas between; NULL: none */
    char *error;   /* why there is no explanation; NULL: there is */
    char *message; /* one sentence a person can read */
};

void explanation_free(struct explanation *v);
DEFINE_AUTO(struct explanation, explanation_free)
/** A fresh one at the end. Good until the next is added. */
struct difference *explanation_add_difference(struct explanation *v);
struct resource *explanation_add_resource(struct explanation *v);
struct symbol *explanation_add_symbol(struct explanation *v);
json *explanation_to_json(const struct explanation *v);
/** Keys it does not know are passed over. */
MUST_CHECK enum err_code explanation_from_json(const json *v, struct explanation **out,
                                               struct err *e);

#endif
