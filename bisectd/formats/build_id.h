/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Build IDs: 14 digits YYYYMMDDHHMMSS, of older builds 10 (YYYYMMDDHH), and stretches of them and
 * of days. Also what says which revision a build is of. Pure.
 */
#ifndef FORMATS_BUILD_ID_H
#define FORMATS_BUILD_ID_H

#include "base/err.h"
#include "formats/skim.h"

/** YYYYMMDDHHMMSS as a number; an ID of 10 digits or a day begins where it does. 0 is none. */
typedef uint64_t stamp;

/** A build ID; 0 if it is none: 10 or 14 digits, a day that exists, a time of day. */
stamp build_id_stamp(struct span id);
/** The day of a date: "20130622" or "2013-06-22", whatever may follow; 0 if it is none. */
stamp day_stamp(struct span date);
/** "20130622" of a stamp. */
void stamp_day(stamp t, char out[9]);

/** Both ends belong to it. */
struct stretch {
    stamp from, to; /* 0 and UINT64_MAX: open */
};
extern const struct stretch stretch_all;
static inline bool stretch_has(const struct stretch *s, stamp t)
{
    return t >= s->from && t <= s->to;
}
static inline bool stretch_is_all(const struct stretch *s)
{
    return s->from == 0 && s->to == UINT64_MAX;
}

/** "FROM..TO", "FROM..", "..TO" or one of them alone; each a day or a build ID. A day is all of it.
 *  Errors: ERR_INVALID. */
MUST_CHECK enum err_code stretch_parse(const char *text, struct stretch *out, struct err *e);

/** Which revision each build is of, in the order of the builds. */
struct build_row {
    stamp build;
    char *revision; /* NULL: two are named, and nothing says which */
};
struct build_map {
    struct build_row *rows;
    size_t n;
};
void build_map_fini(struct build_map *m);
DEFINE_AUTO_FINI(struct build_map, build_map_fini)

/**
 * Reads a list of builds: JSON {"builds": [{"buildid", "revision" or "node", "platform"}, …]}, or
 * lines "BUILD,REVISION" or "BUILD,REVISION,PLATFORM" (comma, semicolon or TAB; quotes allowed; a
 * head line with other names or order is followed; # begins a remark).
 *
 * `platform`: only those, where the list says of which platform a build is; NULL: all.
 * Errors: ERR_INVALID with the line or the entry at fault; ERR_LIMIT over a million builds.
 */
MUST_CHECK enum err_code build_map_read(const char *text, size_t n, const char *platform,
                                        struct build_map *out, struct err *e);
/** NULL if it is not listed. */
const struct build_row *build_map_find(const struct build_map *m, stamp build);

#endif
