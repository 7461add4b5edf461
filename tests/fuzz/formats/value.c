/* SPDX-License-Identifier: Apache-2.0 */
/* First line: how to read (one digit for reduce, then r and the number of a regex, j and a pointer,
 * or nothing). Rest: what the command wrote. */
#include "formats/value.h"
#include "fuzz/fuzz.h"
#include <math.h>

/* Regular expressions come from whoever owns the project and may be slow; the output may not. */
static const char *const regexes[] = {
    "t=([0-9.]+)", "^ *([-+.0-9eE]+) *$",          "[0-9]+", "(a|b)*([0-9])|c", "x*",
    "(.*)",        "([[:alpha:]]*)=([[:digit:]]*)"};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *how = fuzz_line(&bytes, &n);
    AUTO(mem_free) char *output = fuzz_exact(bytes, n);
    AUTO(values_fini) struct values v = {0};
    struct metric m = {.kind = METRIC_VALUE, .reduce = (enum reduce)((unsigned char)how[0] % 6)};
    struct err e = {0};

    if (how[0] && how[1] == 'r')
        m.regex = (char *)regexes[(unsigned char)how[2] % LEN(regexes)];
    else if (how[0] && how[1] == 'j')
        m.pointer = how + 2;
    if (value_read(&m, output, n, &v, &e)) {
        assert(e.code == ERR_INVALID && strncmp(e.text, "cannot measure", 14) == 0 && !v.items);
        return 0;
    }
    assert(v.n >= 1 && v.n <= VALUES_MOST && isfinite(v.reduced));
    assert(m.reduce != REDUCE_UNSET || v.n == 1);
    for (size_t i = 0; i < v.n; i++)
        assert(isfinite(v.items[i]));
    return 0;
}
