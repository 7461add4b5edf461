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

int main(void)
{
    const struct unit_test tests[] = {
        {unpacks_what_it_packs, LEN(lengths)},
        {streams_descriptors, LEN(lengths)},
        {refuses_damage, LEN(bad)},
        {a_small_bomb_stops_at_the_limit, 1},
    };
    return unit_run("stream", tests, LEN(tests));
}
