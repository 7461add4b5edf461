/* SPDX-License-Identifier: Apache-2.0 */
/* First line: a pattern or name. Rest: the text. Every function of base/text.h sees both. */
#include "base/text.h"
#include "fuzz/fuzz.h"
#include <math.h>

static bool is_utf8(const struct buf *b)
{
    uint32_t c;

    for (size_t i = 0, len; i < b->len; i += len) {
        len = text_utf8(buf_str(b) + i, b->len - i, &c);
        if (len == 0)
            return false;
    }
    return true;
}

static void check_output(const uint8_t *bytes, size_t n)
{
    for (size_t max = 0; max < 300; max = 2 * max + 1) {
        AUTO(buf_fini) struct buf clean = {0};
        text_clean(&clean, (const char *)bytes, n, max);
        assert(clean.len <= max && is_utf8(&clean));
        for (size_t i = 0; i < clean.len; i++)
            assert((unsigned char)clean.data[i] >= 0x20 && clean.data[i] != 0x7F);
    }
    AUTO(buf_fini) struct buf repaired = {0};
    text_repair(&repaired, (const char *)bytes, n);
    assert(is_utf8(&repaired));
}

static void check_numbers(const char *s)
{
    double d = 0;
    int64_t i = 0;

    if (text_num(s, &d, NULL) == ERR_OK)
        assert(isfinite(d));
    if (text_int(s, -1000, 1000, &i, NULL) == ERR_OK)
        assert(i >= -1000 && i <= 1000 && text_num(s, &d, NULL) == ERR_OK && d == (double)i);
    if (text_size(s, &i, NULL) == ERR_OK)
        assert(i >= 0);
}

static void check_names(const char *a, const char *b)
{
    const char *const names[] = {a, b};
    size_t n_a = strlen(a), n_b = strlen(b);

    if (n_a > 200 || n_b > 200)
        return;
    size_t d = text_distance(a, b);
    assert(d == text_distance(b, a) && d <= (n_a > n_b ? n_a : n_b));
    assert(n_a == 0 || n_a > 100 || text_nearest(a, names, 2) == (n_a == 1 ? NULL : a) || n_a == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    check_output(bytes, n);
    AUTO(mem_free) char *pattern = fuzz_line(&bytes, &n);
    AUTO(mem_free) char *text = fuzz_line(&bytes, &n);
    AUTO(buf_fini) struct buf quoted = {0};

    text_glob(pattern, text);
    assert(strpbrk(text, "*?[\\") || (text[0] && text[strlen(text) - 1] == '/') ||
           text_glob(text, text));
    assert(text_glob("**", text));
    check_numbers(text);
    check_names(pattern, text);
    text_quote(&quoted, text);
    assert(!memchr(quoted.data, '\n', quoted.len));
    text_shell(&quoted, text);
    return 0;
}
