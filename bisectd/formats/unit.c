/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/unit.h"
#include "base/auto.h"
#include "formats/piece.h"
#include <string.h>

enum dimension { TIME, BYTES, SHARE, COUNT, DIMENSION_COUNT };

/* clang-format off */
static const struct { const char *name; enum dimension dimension; double size; } units[] = {
    {"ns", TIME, 1e-9}, {"nsec", TIME, 1e-9}, {"nanoseconds", TIME, 1e-9},
    {"us", TIME, 1e-6}, {"µs", TIME, 1e-6}, {"\xCE\xBCs", TIME, 1e-6}, {"usec", TIME, 1e-6}, {"microseconds", TIME, 1e-6},
    {"ms", TIME, 1e-3}, {"msec", TIME, 1e-3}, {"milliseconds", TIME, 1e-3},
    {"s", TIME, 1}, {"sec", TIME, 1}, {"secs", TIME, 1}, {"seconds", TIME, 1},
    {"min", TIME, 60}, {"minutes", TIME, 60}, {"h", TIME, 3600}, {"hours", TIME, 3600},
    {"B", BYTES, 1}, {"byte", BYTES, 1}, {"bytes", BYTES, 1},
    {"kB", BYTES, 1e3}, {"KB", BYTES, 1e3}, {"MB", BYTES, 1e6}, {"GB", BYTES, 1e9},
    {"KiB", BYTES, 1024}, {"MiB", BYTES, 1048576}, {"GiB", BYTES, 1073741824},
    {"%", SHARE, .01}, {"percent", SHARE, .01},
    {"op", COUNT, 1}, {"ops", COUNT, 1}, {"operations", COUNT, 1},
};
/* clang-format on */

/** What a name without a slash is worth; false if it is not known. */
static bool find(struct piece name, enum dimension *dimension, double *size)
{
    for (size_t i = 0; i < LEN(units); i++) {
        if (!piece_is(name, units[i].name))
            continue;
        *dimension = units[i].dimension;
        *size = units[i].size;
        return true;
    }
    return false;
}

static bool part_factor(struct piece from, struct piece to, double *factor)
{
    enum dimension a = 0, b = 0;
    double size = 1, other = 1;

    if (from.n == to.n && memcmp(from.s, to.s, from.n) == 0) {
        *factor = 1;
        return true;
    }
    if (!find(from, &a, &size) || !find(to, &b, &other) || a != b)
        return false;
    *factor = size / other;
    return true;
}

bool unit_factor(const char *from, const char *to, double *factor)
{
    struct piece rest[2] = {{from, strlen(from)}, {to, strlen(to)}};
    struct piece part[2];
    double above = 1, below = 1;

    (void)!piece_part(&rest[0], '/', &part[0]);
    (void)!piece_part(&rest[1], '/', &part[1]);
    if (!part_factor(piece_trimmed(part[0]), piece_trimmed(part[1]), &above))
        return false;
    if ((rest[0].s == NULL) != (rest[1].s == NULL))
        return false;
    if (rest[0].s && !part_factor(piece_trimmed(rest[0]), piece_trimmed(rest[1]), &below))
        return false;
    *factor = above / below;
    return true;
}
