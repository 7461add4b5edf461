/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/hash.h"
#include "base/stream.h"
#include "unit/run.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** Bytes that do not pack well, the same each time. */
static void fill(struct buf *b, size_t n)
{
    for (size_t i = 0; b->len < n; i++)
        buf_printf(b, "%llx", (unsigned long long)mix64(i));
    b->len = n;
}

static const size_t lengths[] = {0, 1, 1000, 128 * KIB, 128 * KIB + 1, 3 * MIB};

START_TEST(unpacks_what_it_packs)
{
    AUTO(buf_fini) struct buf plain = {0};
    AUTO(buf_fini) struct buf packed = {0};
    AUTO(buf_fini) struct buf back = {0};
    struct err e = {0};

    fill(&plain, lengths[_i]);
    zstd_pack(buf_str(&plain), plain.len, &packed);
    ck_assert_msg(zstd_unpack(packed.data, packed.len, plain.len, &back, &e) == ERR_OK, "%s",
                  e.text);
    ck_assert_uint_eq(back.len, plain.len);
    ck_assert_int_eq(memcmp(buf_str(&back), buf_str(&plain), plain.len), 0);
    if (plain.len == 0)
        return;
    ck_assert_int_eq(zstd_unpack(packed.data, packed.len, plain.len - 1, &back, &e), ERR_LIMIT);
    ck_assert_int_eq(zstd_unpack(packed.data, packed.len - 1, plain.len, &back, &e), ERR_INVALID);
    packed.data[packed.len - 1] ^= 1; /* in the checksum */
    ck_assert_int_eq(zstd_unpack(packed.data, packed.len, plain.len, &back, &e), ERR_INVALID);
    ck_assert_uint_eq(back.len, plain.len); /* nothing appended by the failures */
}
END_TEST

static int file_with(const struct buf *bytes)
{
    FILE *f = tmpfile();

    ck_assert_ptr_nonnull(f);
    if (bytes)
        ck_assert_uint_eq(fwrite(buf_str(bytes), 1, bytes->len, f), bytes->len);
    rewind(f);
    return fileno(f);
}

static void contents(int fd, struct buf *out)
{
    AUTO(buf_fini) struct buf path = {0};

    buf_printf(&path, "/proc/self/fd/%d", fd);
    ck_assert_int_eq(file_read(buf_str(&path), 16 * MIB, out, NULL), ERR_OK);
}

START_TEST(streams_descriptors)
{
    AUTO(buf_fini) struct buf plain = {0};
    AUTO(buf_fini) struct buf back = {0};
    struct err e = {0};

    fill(&plain, lengths[_i]);
    int from = file_with(&plain), packed = file_with(NULL), to = file_with(NULL);
    ck_assert_msg(zstd_pack_fd(from, packed, &e) == ERR_OK, "%s", e.text);
    lseek(packed, 0, SEEK_SET);
    ck_assert_msg(zstd_unpack_fd(packed, to, plain.len, &e) == ERR_OK, "%s", e.text);
    contents(to, &back);
    ck_assert_uint_eq(back.len, plain.len);
    ck_assert_int_eq(memcmp(buf_str(&back), buf_str(&plain), plain.len), 0);
    if (plain.len == 0)
        return;
    lseek(packed, 0, SEEK_SET);
    ck_assert_int_eq(zstd_unpack_fd(packed, to, plain.len - 1, &e), ERR_LIMIT);
}
END_TEST

static const struct {
    const char *name;
    const char *bytes;
    size_t n;
} bad[] = {
    {"nothing", "", 0},
    {"text", "hello, this is no frame", 23},
    {"a magic number alone", "\x28\xB5\x2F\xFD", 4},
    {"gzip", "\x1F\x8B\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00",
     20},
};

START_TEST(refuses_damage)
{
    AUTO(buf_fini) struct buf out = {0};
    struct err e = {0};
    const struct buf bytes = {
        .data = (char *)bad[_i].bytes, .len = bad[_i].n, .cap = bad[_i].n + 1};

    ck_assert_msg(zstd_unpack(bad[_i].bytes, bad[_i].n, MIB, &out, &e) == ERR_INVALID, "%s",
                  bad[_i].name);
    ck_assert_msg(zstd_unpack_fd(file_with(&bytes), file_with(NULL), MIB, &e) == ERR_INVALID, "%s",
                  bad[_i].name);
}
END_TEST

START_TEST(a_small_bomb_stops_at_the_limit)
{
    AUTO(buf_fini) struct buf zeros = {0};
    AUTO(buf_fini) struct buf packed = {0};
    AUTO(buf_fini) struct buf out = {0};

    memset(buf_room(&zeros, 64 * MIB), 0, 64 * MIB);
    zstd_pack(zeros.data, 64 * MIB, &packed);
    ck_assert_uint_lt(packed.len, 64 * KIB);
    ck_assert_int_eq(zstd_unpack(packed.data, packed.len, MIB, &out, NULL), ERR_LIMIT);
    ck_assert_uint_eq(out.len, 0);
}
END_TEST

/* Any descriptor */

/** `gzip -n` of "hello\n", as printed by xxd. */
static const unsigned char gzip_hello[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                           0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xe7, 0x02, 0x00,
                                           0x20, 0x30, 0x3a, 0x36, 0x06, 0x00, 0x00, 0x00};

/** Reads all in pieces of `step`; the code of the first failure. */
static enum err_code drain(const struct buf *bytes, size_t step, struct buf *out, struct err *e)
{
    AUTO(stream_free) struct stream *s = stream_new(file_with(bytes));
    size_t got = 0;

    do {
        enum err_code rc = stream_read(s, buf_room(out, step), step, &got, e);
        if (rc)
            return rc;
        out->len += got;
    } while (got > 0);
    ck_assert_int_eq(stream_read(s, buf_room(out, step), step, &got, e), ERR_OK);
    ck_assert_uint_eq(got, 0);
    return ERR_OK;
}

static const struct {
    const char *name;
    size_t n_gzip, n_zstd; /* members or frames */
    const char *plain;
    const char *want;
} packed[] = {
    {"nothing", 0, 0, "", ""},
    {"one byte", 0, 0, "x", "x"},
    {"plain text", 0, 0, "plain text\n", "plain text\n"},
    {"a gzip member", 1, 0, "", "hello\n"},
    {"three gzip members", 3, 0, "", "hello\nhello\nhello\n"},
    {"a zstd frame", 0, 1, "", "hello\n"},
    {"three zstd frames", 0, 3, "", "hello\nhello\nhello\n"},
};

START_TEST(reads_what_it_is_given)
{
    static const size_t steps[] = {1, 2, 7, 4096};

    for (size_t k = 0; k < LEN(steps); k++) {
        AUTO(buf_fini) struct buf in = {0};
        AUTO(buf_fini) struct buf out = {0};
        struct err e = {0};
        for (size_t i = 0; i < packed[_i].n_gzip; i++)
            buf_add(&in, gzip_hello, sizeof(gzip_hello));
        for (size_t i = 0; i < packed[_i].n_zstd; i++)
            zstd_pack("hello\n", 6, &in);
        buf_adds(&in, packed[_i].plain);
        ck_assert_msg(drain(&in, steps[k], &out, &e) == ERR_OK, "%s: %s", packed[_i].name, e.text);
        ck_assert_str_eq(buf_str(&out), packed[_i].want);
    }
}
END_TEST

START_TEST(reads_much)
{
    AUTO(buf_fini) struct buf plain = {0};
    AUTO(buf_fini) struct buf frames = {0};
    AUTO(buf_fini) struct buf out = {0};
    struct err e = {0};

    fill(&plain, lengths[_i]);
    ck_assert_int_eq(drain(&plain, 100000, &out, &e), ERR_OK);
    ck_assert(out.len == plain.len && memcmp(buf_str(&out), buf_str(&plain), out.len) == 0);
    buf_clear(&out);
    zstd_pack(buf_str(&plain), plain.len, &frames);
    ck_assert_msg(drain(&frames, 100000, &out, &e) == ERR_OK, "%s", e.text);
    ck_assert(out.len == plain.len && memcmp(buf_str(&out), buf_str(&plain), out.len) == 0);
}
END_TEST

START_TEST(packed_data_that_is_cut_or_damaged_is_an_error)
{
    AUTO(buf_fini) struct buf frame = {0};
    struct err e = {0};

    zstd_pack("hello\n", 6, &frame);
    for (size_t n = 4; n < frame.len; n++) {
        AUTO(buf_fini) struct buf in = {0};
        AUTO(buf_fini) struct buf out = {0};
        buf_add(&in, frame.data, n);
        ck_assert_int_eq(drain(&in, 100, &out, &e), ERR_INVALID);
    }
    for (size_t n = 2; n < sizeof(gzip_hello); n++) {
        AUTO(buf_fini) struct buf in = {0};
        AUTO(buf_fini) struct buf out = {0};
        buf_add(&in, gzip_hello, n);
        ck_assert_int_eq(drain(&in, 100, &out, &e), ERR_INVALID);
        ck_assert_str_eq(e.text, "packed data ends too early");
    }
    for (size_t n = 10; n < sizeof(gzip_hello); n++) { /* before it is what nobody checks */
        AUTO(buf_fini) struct buf in = {0};
        AUTO(buf_fini) struct buf out = {0};
        buf_add(&in, gzip_hello, sizeof(gzip_hello));
        in.data[n] ^= 0x55;
        ck_assert_int_eq(drain(&in, 100, &out, &e), ERR_INVALID);
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {unpacks_what_it_packs, LEN(lengths)},
        {streams_descriptors, LEN(lengths)},
        {refuses_damage, LEN(bad)},
        {a_small_bomb_stops_at_the_limit, 1},
        {reads_what_it_is_given, LEN(packed)},
        {reads_much, LEN(lengths)},
        {packed_data_that_is_cut_or_damaged_is_an_error, 1},
    };
    return unit_run("stream", tests, LEN(tests));
}
