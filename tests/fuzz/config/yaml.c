/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file of either kind is refused with a place, or read. */
#include "config/config.h"
#include "config/node.h"
#include "config/schema.h"
#include "fuzz/fuzz.h"

static void check_as(enum schema_file file, const struct node *root)
{
    AUTO(json_free) json *v = NULL;
    struct err e = {0};

    if (schema_read(file, "f.yml", "", root, &v, &e))
        assert(strncmp(e.text, "f.yml:", 6) == 0);
    else
        assert(json_is_object(v));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *text = fuzz_exact(bytes, n);
    AUTO(node_free) struct node *root = NULL;
    struct err e = {0};

    if (node_parse("f.yml", text, n, &root, &e)) {
        assert(!root && e.code != ERR_OK && e.text[0]);
        return 0;
    }
    check_as(SCHEMA_PROJECT, root);
    check_as(SCHEMA_DAEMON, root);
    return 0;
}
