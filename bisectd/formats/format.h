/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The result formats: a format is a row here and a file that reads it.
 *
 * Kinds without a row (exit, wall, …) are measured from outside and do not look at the output.
 */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include "formats/document.h"
#include "formats/value.h"

struct format {
    enum metric_kind kind;
    /** Whether it looks like this format. NULL: it is not told by its looks. */
    bool (*is)(const struct document *d);
    /** All its results, into a fresh `out`. ERR_INVALID says in words why it is not this format, or
     *  none that can be trusted; out may then hold some. NULL for kind value. */
    enum err_code (*list)(const struct document *d, struct results *out, struct err *e);
    const char *fields; /* the names of `field`, the main one first; for people */
};
/** In the order in which formats are tried when none is named. */
extern const struct format formats[];
extern const size_t n_formats;

/** NULL for kinds that do not read the output. */
const struct format *format_of(enum metric_kind kind);

/**
 * All results of a document of a format, or of the format that it looks like (METRIC_AUTO).
 *
 * `out` is fresh ({0}) and written only on success; results with a fault are in it.
 * Pre: the kind is of results, see metric_is_results().
 * Errors: ERR_INVALID in words, without "cannot measure"; ERR_LIMIT beyond RESULTS_MOST.
 */
MUST_CHECK enum err_code format_list(enum metric_kind kind, const char *bytes, size_t n,
                                     struct results *out, struct err *e);

/**
 * Reads `n` bytes (the command's stdout, or the metric's file) as the metric's kind says, and takes
 * what it names: see value_read and select_values.
 *
 * `out` is fresh ({0}) and written only on success.
 * Pre: the kind has a row.
 * Errors: ERR_INVALID, "cannot measure: …" in words for whoever wrote the command.
 */
MUST_CHECK enum err_code format_read(const struct metric *m, const char *bytes, size_t n,
                                     struct values *out, struct err *e);

/* The rows' functions, one file a format. */
#define FORMAT_FUNCTIONS(name)                                                                     \
    bool name##_is(const struct document *d);                                                      \
    enum err_code name##_list(const struct document *d, struct results *out, struct err *e);
FORMAT_FUNCTIONS(perfherder)
FORMAT_FUNCTIONS(talos)
FORMAT_FUNCTIONS(fileio)
FORMAT_FUNCTIONS(hyperfine)
FORMAT_FUNCTIONS(gbench)
FORMAT_FUNCTIONS(pytest)
FORMAT_FUNCTIONS(perfstat)
FORMAT_FUNCTIONS(criterion)
FORMAT_FUNCTIONS(gobench)
FORMAT_FUNCTIONS(jmh)
FORMAT_FUNCTIONS(lnt)
FORMAT_FUNCTIONS(bmf)
FORMAT_FUNCTIONS(otava)
FORMAT_FUNCTIONS(plain)
enum err_code auto_list(const struct document *d, struct results *out, struct err *e);

#endif
