/* SPDX-License-Identifier: Apache-2.0 */
/* First line: a JSON pointer. Rest: the document it is followed through. */
#include "base/json.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *pointer = fuzz_line(&bytes, &n);
    AUTO(json_free) json *v = NULL;

    if (json_parse((const char *)bytes, n, &v, NULL))
        return 0;
    const json *found = json_pointer(v, pointer);
    assert(pointer[0] != '\0' || found == v);
    assert(pointer[0] == '\0' || pointer[0] == '/' || !found);
    return 0;
}
