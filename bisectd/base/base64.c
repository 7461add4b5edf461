/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include <assert.h>
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <string.h>

/* The library takes lengths as unsigned int. */
enum { MAX_BYTES = 256 * MIB };

void base64_add(struct buf *out, const void *bytes, size_t n)
{
    const gnutls_datum_t from = {(unsigned char *)(uintptr_t)bytes, (unsigned)n};
    gnutls_datum_t to = {0};

    if (n == 0)
        return;
    assert(n <= MAX_BYTES);
    int rc = gnutls_base64_encode2(&from, &to);
    assert(rc == 0); /* it fails for want of memory alone */
    buf_add(out, (char *)to.data, to.size);
    gnutls_free(to.data);
}

enum err_code base64_read(struct buf *out, const char *text, struct err *e)
{
    const size_t n = strlen(text);
    const gnutls_datum_t from = {(unsigned char *)(uintptr_t)text, (unsigned)n};
    gnutls_datum_t to = {0};

    if (n == 0)
        return ERR_OK;
    if (n > MAX_BYTES || n % 4 != 0 || gnutls_base64_decode2(&from, &to) < 0)
        return err_set(e, ERR_INVALID, "expected base64");
    buf_add(out, (char *)to.data, to.size);
    gnutls_free(to.data);
    return ERR_OK;
}

size_t base64_size(const char *text)
{
    size_t n = strlen(text);

    while (n > 0 && text[n - 1] == '=')
        n--;
    return n / 4 * 3 + (n % 4 ? n % 4 - 1 : 0);
}
