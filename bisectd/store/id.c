/* SPDX-License-Identifier: Apache-2.0 */
#include "store/id.h"

#include "base/auto.h"
#include "base/hash.h"
#include <string.h>

enum { ID_LENGTH = 10 };

/* Neither vowels (no words by accident) nor letters that look like digits; letters last. */
static const char alphabet[] = "23456789bcdfghjkmnpqrstvwxyz";
enum { N_DIGITS = 8, N_LETTERS = sizeof(alphabet) - 1 };

/** Even over [from, N_LETTERS): bytes beyond the last whole multiple are drawn again. */
static char draw(unsigned from)
{
    unsigned n = N_LETTERS - from;
    unsigned char byte;
    do
        random_bytes(&byte, 1);
    while (byte >= 256 / n * n);
    return alphabet[from + byte % n];
}

struct id id_new(void)
{
    struct id id = {""};
    id.text[0] = draw(N_DIGITS);
    for (size_t i = 1; i < ID_LENGTH; i++)
        id.text[i] = draw(0);
    return id;
}

bool id_is_valid(const char *text)
{
    return strlen(text) == ID_LENGTH && strspn(text, alphabet) == ID_LENGTH;
}
