/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Ownership that ends with the scope, and a few words every file uses.
 *
 * Cleanup does not run across exit, longjmp or exec: a forked child leaves with _exit.
 */
#ifndef BASE_AUTO_H
#define BASE_AUTO_H

#include <stddef.h>

/* clang-format off */
#define AUTO(f) __attribute__((cleanup(f##_auto)))
#define TAKE(p) __extension__({ __typeof__(p) taken_ = (p); (p) = NULL; taken_; })
/** For heap objects: AUTO(x_free) struct x *p = NULL; */
#define DEFINE_AUTO(type, f) \
    static inline void f##_auto(type **p) { if (*p) f(*p); }
/** For embedded objects: AUTO(x_fini) struct x v = {0}; */
#define DEFINE_AUTO_FINI(type, f) \
    static inline void f##_auto(type *p) { f(p); }

#define MUST_CHECK      __attribute__((warn_unused_result))
#define PRINTF(f, a)    __attribute__((format(printf, f, a)))
#define LEN(array)      (sizeof(array) / sizeof((array)[0]))
/* clang-format on */

enum { KIB = 1024, MIB = 1024 * 1024 };

#endif
