/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What changed between two traces, the largest difference first.
 *
 * Rows are matched by call and path; paths that stand on one side alone are matched by their normal
 * form (trace_path_normal), so that temporary names and process numbers do not hide what is alike.
 * Traces may be made in different ways: a relative path that the other side has not is that side's
 * one absolute path that ends in it (strace -y or not); and where one side has no files at all (a
 * table of -c) and a call of it has some on the other, all are matched by call alone.
 *
 * Pure.
 */
#ifndef FORMATS_TRACE_DIFF_H
#define FORMATS_TRACE_DIFF_H

#include "base/json.h"
#include "formats/trace_table.h"

enum trace_group {
    TRACE_DATABASE,  /* *.sqlite *.sqlite3 *.db …, and what has a journal or WAL beside it */
    TRACE_JOURNAL,   /* -journal, and the super-journals of several databases */
    TRACE_WAL,       /* -wal and -shm */
    TRACE_DIRECTORY, /* known to be one, or the folder of another path of the traces */
    TRACE_OTHER,
    TRACE_GROUP_COUNT
};
const char *trace_group_name(enum trace_group g);

struct trace_difference {
    char *call;
    char *path; /* or a normal form; "" for none */
    enum trace_group group;
    bool is_wait;      /* its time is spent waiting for others (poll, wait4, read of a pipe): their
                          work is what takes it, so it explains nothing and stands last */
    uint64_t count[2]; /* before, after */
    uint64_t errors[2];
    double seconds[2]; /* nan: the trace has no times */
    double share;      /* nan: none, see trace_diff_new */
    double size;       /* what it is ranked by */
};

struct trace_diff {
    size_t n;
    struct trace_difference *items;
    bool is_by_call;  /* one side has no files, so that the other's are left away */
    bool has_seconds; /* both sides have times, so that ranks and shares go by them */
    double explained; /* sum of shares of a metric's change; nan if none was given */
};

/**
 * Pre: `metric_delta_s` is the change of the metric in seconds, or nan if there is none.
 *
 * A share is the difference in time over the metric's change, if given; else over the sum of all
 * differences in time, up and down alike; else, where there are no times, the same of counts.
 * Ranked by the difference in time, or by what the difference in calls costs at the mean time of
 * such a call, if that is more: times are noisy, and more calls may have taken less by chance.
 * Without times, ranked by the difference in calls.
 * Rows with no difference at all are left out.
 */
struct trace_diff *trace_diff_new(const struct trace_table *before, const struct trace_table *after,
                                  double metric_delta_s);
void trace_diff_free(struct trace_diff *d);
DEFINE_AUTO(struct trace_diff, trace_diff_free)

/** [{"call","path","group","count":[b,a],"seconds":[b,a],"share"}], at most `most`. What is not
 *  known is null. */
json *trace_diff_to_json(const struct trace_diff *d, size_t most);

#endif
