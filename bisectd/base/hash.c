/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/mem.h"
#include <assert.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum { SHA256_BYTES = 32 };

struct hash {
    gnutls_hash_hd_t state;
};

static void hex_of(const unsigned char *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * n] = '\0';
}

struct hash *hash_new(void)
{
    struct hash *h = mem_alloc(sizeof(*h));

    int rc = gnutls_hash_init(&h->state, GNUTLS_DIG_SHA256);
    assert(rc == 0);
    return h;
}

void hash_add(struct hash *h, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    int rc = gnutls_hash(h->state, bytes, n);
    assert(rc == 0);
}

struct digest hash_end(struct hash *h)
{
    unsigned char raw[SHA256_BYTES];
    struct digest d;

    gnutls_hash_output(h->state, raw);
    hex_of(raw, sizeof(raw), d.hex);
    hash_free(h);
    return d;
}

struct digest hash_of(const void *bytes, size_t n)
{
    struct hash *h = hash_new();

    hash_add(h, bytes, n);
    return hash_end(h);
}

void hash_free(struct hash *h)
{
    if (!h)
        return;
    gnutls_hash_deinit(h->state, NULL);
    mem_free(h);
}

void random_bytes(void *out, size_t n)
{
    unsigned char *to = out;

    while (n > 0) {
        ssize_t got = getrandom(to, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            perror("getrandom");
            abort();
        }
        to += got;
        n -= (size_t)got;
    }
}

void random_hex(char *out, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        unsigned char byte;
        random_bytes(&byte, 1);
        hex_of(&byte, 1, out + 2 * i);
    }
    out[2 * n_bytes] = '\0';
}

uint64_t mix64(uint64_t x)
{
    /* SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}
