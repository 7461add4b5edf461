/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/job_env.h"
#include "base/file.h"
#include "base/mem.h"
#include <fts.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

void job_env_set(struct strings *env, const char *key, const char *value)
{
    AUTO(mem_free) char *item = mem_printf("%s=%s", key, value);
    size_t n_key = strlen(key);

    for (size_t i = 0; i < env->n; i++) {
        if (strncmp(env->items[i], item, n_key + 1) != 0)
            continue;
        mem_free(env->items[i]);
        env->items[i] = TAKE(item);
        return;
    }
    strings_add(env, item);
}

static void set_number(struct strings *env, const char *key, long long number)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", number);
    job_env_set(env, key, text);
}

static int usable_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/** Git, in search of a repository, goes up from its folder: not out of the job's. */
static void fence_git(struct strings *env, const char *source)
{
    const char *slash = strrchr(source, '/');
    AUTO(mem_free) char *above = mem_dup_n(source, slash ? (size_t)(slash - source) : 0);

    job_env_set(env, "GIT_CEILING_DIRECTORIES", above);
}

void job_env_fill(struct strings *out, const struct pairs *own, const struct job_place *place,
                  const struct revision *revision, enum job_phase phase)
{
    const char *path = getenv("PATH");

    job_env_set(out, "PATH", path && *path ? path : DEFAULT_PATH);
    job_env_set(out, "HOME", place->home);
    job_env_set(out, "TMPDIR", place->tmp);
    job_env_set(out, "LC_ALL", "C.UTF-8");
    job_env_set(out, "TZ", "UTC");
    set_number(out, "SOURCE_DATE_EPOCH", JOB_SOURCE_DATE_EPOCH);
    for (size_t i = 0; i < own->n; i++)
        job_env_set(out, own->items[i].key, own->items[i].value);
    fence_git(out, place->source);
    job_env_set(out, "BISECTD_SOURCE", place->source);
    job_env_set(out, "BISECTD_REVISION", revision->hex);
    job_env_set(out, "BISECTD_PHASE", phase == JOB_BUILD ? "build" : "measure");
    set_number(out, "BISECTD_JOBS", usable_cpus());
}

void job_env_cpus(struct strings *env, const cpu_set_t *cpus)
{
    if (cpus)
        set_number(env, "BISECTD_JOBS", CPU_COUNT(cpus));
}

bool job_folder_survives(const char *path)
{
    struct stat s;

    if (lstat(path, &s) != 0 || !S_ISDIR(s.st_mode))
        return false;
    return (s.st_mode & S_IRWXU) == S_IRWXU || chmod(path, (s.st_mode & 07777) | S_IRWXU) == 0;
}

enum err_code job_folder_empty(const char *path, struct err *e)
{
    enum err_code code = file_remove_tree(path, e);

    return code ? code : file_mkdirs(path, 0755, e);
}

static int64_t folder_usage(const char *folder, int64_t enough_bytes)
{
    char *const paths[] = {(char *)(uintptr_t)folder, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int64_t total = 0;
    FTSENT *at;

    while (walk && total <= enough_bytes && (at = fts_read(walk)) != NULL) {
        bool is_counted = at->fts_info == FTS_F || at->fts_info == FTS_D ||
                          at->fts_info == FTS_SL || at->fts_info == FTS_DEFAULT;
        if (is_counted)
            total += at->fts_statp->st_blocks * INT64_C(512);
    }
    if (walk)
        fts_close(walk);
    return total;
}

int64_t job_place_usage(const struct job_place *place, int64_t enough_bytes)
{
    const char *const folders[] = {place->source, place->home, place->tmp, place->out, place->own};
    int64_t total = 0;

    for (size_t i = 0; i < LEN(folders) && total <= enough_bytes; i++)
        if (folders[i])
            total += folder_usage(folders[i], enough_bytes - total);
    return total;
}
