/* SPDX-License-Identifier: Apache-2.0 */
#include "base/place.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATH_BYTES = 100, NAME_DIGITS = 16 };

char *place_socket(const char *data_dir)
{
    AUTO(mem_free) char *path = path_join(data_dir, "socket");
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    struct digest name = hash_of(data_dir, strlen(data_dir));

    if (strlen(path) <= MAX_PATH_BYTES)
        return TAKE(path);
    return mem_printf("%s/bisectd-%u/%.*s.sock", runtime && runtime[0] ? runtime : "/tmp",
                      (unsigned)getuid(), NAME_DIGITS, name.hex);
}

enum err_code place_make_folder(const char *socket, struct err *e)
{
    AUTO(mem_free) char *folder = mem_dup_n(socket, (size_t)(strrchr(socket, '/') - socket));
    struct stat st;

    if (mkdir(folder, 0700) && errno != EEXIST)
        return err_sys(e, errno, "create folder %s", folder);
    if (lstat(folder, &st))
        return err_sys(e, errno, "folder %s", folder);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return err_set(e, ERR_DENIED, "%s is not a folder of ours", folder);
    if ((st.st_mode & 077) && chmod(folder, 0700))
        return err_sys(e, errno, "folder %s", folder);
    return ERR_OK;
}
