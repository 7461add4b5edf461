/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over each file of the folders it is given: what every build can check. */
#include "base/buf.h"
#include "base/file.h"
#include "fuzz/fuzz.h"
#include <dirent.h>
#include <stdio.h>

static size_t run_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t n = 0;

    if (!dir) {
        perror(folder);
        return 0;
    }
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        AUTO(mem_free) char *path = path_join(folder, d->d_name);
        AUTO(buf_fini) struct buf bytes = {0};
        struct err e = {0};
        if (d->d_name[0] == '.')
            continue;
        if (file_read(path, 16 * MIB, &bytes, &e)) {
            fprintf(stderr, "%s\n", e.text);
            closedir(dir);
            return 0;
        }
        fprintf(stderr, "%s\n", path);
        LLVMFuzzerTestOneInput((const uint8_t *)buf_str(&bytes), bytes.len);
        n++;
    }
    closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    size_t n = 0;

    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        size_t here = run_folder(argv[i]);
        if (here == 0) {
            fprintf(stderr, "%s: no inputs\n", argv[i]);
            return 1;
        }
        n += here;
    }
    printf("%zu inputs\n", n);
    return n ? 0 : 1;
}
