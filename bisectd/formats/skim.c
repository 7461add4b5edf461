/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/skim.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, LONGEST_NUMBER = 400 };

/* Blocks: one bit a byte */

struct block {
    uint64_t quotes, backslashes, brackets;
};

#ifdef __SSE2__
enum { LANE = 16 };
typedef char lane __attribute__((vector_size(LANE)));

static inline lane lane_at(const char *p)
{
    lane v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline lane lane_of(char c)
{
    return (lane){c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c};
}

static inline uint64_t bits(lane v)
{
    return (uint64_t)(unsigned)__builtin_ia32_pmovmskb128(v);
}

static inline struct block block_at(const char *p)
{
    struct block b = {0};

    for (int i = 0; i < BLOCK / LANE; i++) {
        lane v = lane_at(p + i * LANE);
        lane folded = v | lane_of(0x20); /* [ and { are one now, and so are ] and } */
        b.quotes |= bits((lane)(v == lane_of('"'))) << (i * LANE);
        b.backslashes |= bits((lane)(v == lane_of('\\'))) << (i * LANE);
        b.brackets |= bits((lane)((folded == lane_of('{')) | (folded == lane_of('}'))))
                      << (i * LANE);
    }
    return b;
}

/** Bytes from `p` on that are neither quote nor backslash; at least 0, within `n`. */
static inline size_t plain_run(const char *p, size_t n)
{
    size_t at = 0;

    for (; at + LANE <= n; at += LANE) {
        lane v = lane_at(p + at);
        uint64_t found = bits((lane)((v == lane_of('"')) | (v == lane_of('\\'))));
        if (found)
            return at + (size_t)__builtin_ctzll(found);
    }
    while (at < n && p[at] != '"' && p[at] != '\\')
        at++;
    return at;
}
#else
static inline struct block block_at(const char *p)
{
    struct block b = {0};

    for (int i = 0; i < BLOCK; i++) {
        char folded = (char)(p[i] | 0x20);
        b.quotes |= (uint64_t)(p[i] == '"') << i;
        b.backslashes |= (uint64_t)(p[i] == '\\') << i;
        b.brackets |= (uint64_t)(folded == '{' || folded == '}') << i;
    }
    return b;
}

static inline size_t plain_run(const char *p, size_t n)
{
    size_t at = 0;

    while (at < n && p[at] != '"' && p[at] != '\\')
        at++;
    return at;
}
#endif

/** The bytes that a backslash before them escapes. *carry: is the first one of this, and then of
 *  the next block escaped? */
static inline uint64_t escaped_bytes(uint64_t backslashes, uint64_t *carry)
{
    const uint64_t even = UINT64_C(0x5555555555555555);

    if (!backslashes) {
        uint64_t first = *carry;
        *carry = 0;
        return first;
    }
    backslashes &= ~*carry;
    uint64_t follows = backslashes << 1 | *carry;
    uint64_t odd_starts = backslashes & ~even & ~follows;
    uint64_t from_even = 0;
    *carry = __builtin_add_overflow(odd_starts, backslashes, &from_even);
    return (even ^ (from_even << 1)) & follows;
}

/** Bit i of the answer: the parity of bits 0 to i. */
static inline uint64_t parities(uint64_t x)
{
    for (int i = 1; i < BLOCK; i <<= 1)
        x ^= x << i;
    return x;
}

/* Passing over */

const char *skim_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

const char *skim_string(const char *p, const char *end)
{
    for (;;) {
        p += plain_run(p, (size_t)(end - p));
        if (p == end)
            return NULL;
        if (*p == '"')
            return p + 1;
        if (end - p < 2)
            return NULL;
        p += 2;
    }
}

/** How deep we are in brackets of which kinds. */
struct nest {
    uint64_t braces; /* bit 0: is the innermost one a brace? */
    unsigned depth;
    uint64_t is_broken;
};

/** The brackets of one block: the index of the one that closes all, or BLOCK. */
static inline unsigned close_within(struct nest *n, const char *p, uint64_t brackets)
{
    while (brackets) {
        unsigned i = (unsigned)__builtin_ctzll(brackets);
        uint64_t is_brace = (uint64_t)p[i] >> 5 & 1, is_open = (uint64_t)p[i] >> 1 & 1;

        brackets &= brackets - 1;
        if (is_open) {
            n->is_broken |= n->depth == SKIM_DEPTH;
            n->braces = n->braces << 1 | is_brace;
            n->depth++;
        } else {
            n->is_broken |= (n->braces ^ is_brace) & 1;
            n->braces >>= 1;
            if (--n->depth == 0)
                return i;
        }
    }
    return BLOCK;
}

const char *skim_container(char open, const char *p, const char *end)
{
    struct nest nest = {.braces = open == '{', .depth = 1};
    uint64_t escape = 0, in_string = 0; /* the latter all ones or none */

    for (; p < end && !nest.is_broken; p += BLOCK) {
        char tail[BLOCK] = {0};
        const char *at = p;
        if (end - p < BLOCK) {
            memcpy(tail, p, (size_t)(end - p));
            at = tail;
        }
        struct block b = block_at(at);
        uint64_t quotes = b.quotes & ~escaped_bytes(b.backslashes, &escape);
        uint64_t inside = parities(quotes) ^ in_string;
        unsigned i = close_within(&nest, at, b.brackets & ~inside);
        if (i < BLOCK)
            return nest.is_broken ? NULL : p + i + 1;
        in_string = -(inside >> (BLOCK - 1));
    }
    return NULL;
}

static const char *digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/** Just after the number at `p` by RFC 8259, or NULL. */
static const char *skim_number(const char *p, const char *end)
{
    p += p < end && *p == '-';
    const char *whole = digits(p, end);
    if (whole == p || (*p == '0' && whole - p > 1))
        return NULL;
    p = whole;
    if (p < end && *p == '.') {
        const char *fraction = digits(p + 1, end);
        if (fraction == p + 1)
            return NULL;
        p = fraction;
    }
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        const char *exponent = digits(p, end);
        return exponent == p ? NULL : exponent;
    }
    return p;
}

static const char *skim_word(const char *word, const char *p, const char *end)
{
    size_t n = strlen(word);

    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0 ? p + n : NULL;
}

const char *skim_value(const char *p, const char *end)
{
    if (p >= end)
        return NULL;
    switch (*p) {
    case '{':
    case '[':
        return skim_container(*p, p + 1, end);
    case '"':
        return skim_string(p + 1, end);
    case 't':
        return skim_word("true", p, end);
    case 'f':
        return skim_word("false", p, end);
    case 'n':
        return skim_word("null", p, end);
    default:
        return skim_number(p, end);
    }
}

/* Members */

/** Over the comma before a member, if it is not the first; *is_end if there is a brace instead. */
static const char *to_member(const char *p, const char *end, bool *is_end)
{
    bool is_first = p[-1] == '{';

    p = skim_space(p, end);
    if (p == end)
        return NULL;
    if (*p == '}') {
        *is_end = true;
        return p + 1;
    }
    if (is_first)
        return p;
    return *p == ',' ? skim_space(p + 1, end) : NULL;
}

enum skim_step skim_key(const char **p, const char *end, struct skim_member *out)
{
    bool is_end = false;
    const char *at = to_member(*p, end, &is_end);

    if (is_end) {
        *p = at;
        return SKIM_END;
    }
    if (!at || at == end || *at != '"')
        return SKIM_BROKEN;
    const char *after = skim_string(at + 1, end);
    if (!after)
        return SKIM_BROKEN;
    out->key = (struct span){at + 1, (size_t)(after - at) - 2};
    at = skim_space(after, end);
    if (at == end || *at != ':')
        return SKIM_BROKEN;
    at = skim_space(at + 1, end);
    if (at == end)
        return SKIM_BROKEN;
    out->type = strchr("{[\"tfn", *at) ? *at : 0;
    *p = at;
    return SKIM_MEMBER;
}

bool skim_rest(const char **p, const char *end, struct skim_member *out)
{
    const char *after = skim_value(*p, end);

    if (!after)
        return false;
    out->value = (struct span){*p, (size_t)(after - *p)};
    if (out->type == '"')
        out->value = (struct span){*p + 1, (size_t)(after - *p) - 2};
    *p = after;
    return true;
}

enum skim_step skim_member(const char **p, const char *end, struct skim_member *out)
{
    enum skim_step step = skim_key(p, end, out);

    if (step != SKIM_MEMBER)
        return step;
    return skim_rest(p, end, out) ? SKIM_MEMBER : SKIM_BROKEN;
}

/* Strings and numbers */

static bool hex4(const char *p, const char *end, uint32_t *out)
{
    uint32_t v = 0;

    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'                     ? c - '0'
                    : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                             : -1;
        if (digit < 0)
            return false;
        v = v << 4 | (uint32_t)digit;
    }
    *out = v;
    return true;
}

static void add_code_point(struct buf *out, uint32_t c)
{
    if (c < 0x80) {
        buf_addc(out, (char)c);
    } else if (c < 0x800) {
        buf_addc(out, (char)(0xC0 | c >> 6));
        buf_addc(out, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        buf_addc(out, (char)(0xE0 | c >> 12));
        buf_addc(out, (char)(0x80 | (c >> 6 & 0x3F)));
        buf_addc(out, (char)(0x80 | (c & 0x3F)));
    } else {
        buf_addc(out, (char)(0xF0 | c >> 18));
        buf_addc(out, (char)(0x80 | (c >> 12 & 0x3F)));
        buf_addc(out, (char)(0x80 | (c >> 6 & 0x3F)));
        buf_addc(out, (char)(0x80 | (c & 0x3F)));
    }
}

/** \uXXXX, or two of them; `p` after the u. NULL if there are no digits. */
static const char *unescape_unicode(const char *p, const char *end, struct buf *out)
{
    uint32_t c = 0, low = 0;

    if (!hex4(p, end, &c))
        return NULL;
    p += 4;
    if (c >= 0xD800 && c < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
        hex4(p + 2, end, &low) && low >= 0xDC00 && low < 0xE000) {
        add_code_point(out, 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00));
        return p + 6;
    }
    add_code_point(out, c >= 0xD800 && c < 0xE000 ? 0xFFFD : c);
    return p;
}

/** One escape; `p` after its backslash. */
static const char *unescape_one(const char *p, const char *end, struct buf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

    if (p == end || *p == '\0')
        return NULL;
    if (*p == 'u')
        return unescape_unicode(p + 1, end, out);
    const char *found = strchr(from, *p);
    if (!found)
        return NULL;
    buf_addc(out, to[found - from]);
    return p + 1;
}

bool skim_unescape(struct span raw, struct buf *out)
{
    const char *p = raw.s, *end = raw.s + raw.n;

    /* What comes out is never longer, so that the copies below need no look at the room. */
    (void)buf_room(out, raw.n + 1);
    while (p < end) {
        size_t n = plain_run(p, (size_t)(end - p));
        memcpy(out->data + out->len, p, n);
        out->len += n;
        p += n;
        if (p == end)
            break;
        if (*p != '\\')
            return false;
        /* In a document that is quoted as a whole nearly every escape is one of a quote. */
        if (end - p >= 2 && p[1] == '"') {
            out->data[out->len++] = '"';
            p += 2;
            continue;
        }
        p = unescape_one(p + 1, end, out);
        if (!p)
            return false;
    }
    if (out->data)
        out->data[out->len] = '\0';
    return true;
}

bool skim_is(struct span raw, const char *text, size_t n)
{
    if (raw.n == n)
        return memcmp(raw.s, text, n) == 0 && !memchr(text, '\\', n);
    if (raw.n < n || raw.n > 6 * n || !memchr(raw.s, '\\', raw.n))
        return false;

    AUTO(buf_fini) struct buf plain = {0};
    return skim_unescape(raw, &plain) && plain.len == n && memcmp(buf_str(&plain), text, n) == 0;
}

bool skim_int(struct span number, int64_t *out)
{
    const char *p = number.s, *end = number.s + number.n;
    bool is_negative = number.n > 0 && *p == '-';
    int64_t v = 0;

    if (skim_number(p, end) != end)
        return false;
    for (p += is_negative; p < end; p++) {
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_sub_overflow(v, *p - '0', &v)) /* downwards, where there is more room */
            return false;
    }
    if (!is_negative && v == INT64_MIN)
        return false;
    *out = is_negative ? v : -v;
    return true;
}

bool skim_num(struct span number, double *out)
{
    char text[LONGEST_NUMBER + 1];

    if (number.n == 0 || number.n > LONGEST_NUMBER ||
        skim_number(number.s, number.s + number.n) != number.s + number.n)
        return false;
    memcpy(text, number.s, number.n);
    text[number.n] = '\0';
    return text_num(text, out, NULL) == ERR_OK;
}
