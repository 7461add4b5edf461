/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/walls.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "workers/sandbox/supervisor.h"
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "bwrap"
#define NOBODY  "65534"
/* What a job of root's is inside: owner of its files, root of nothing. */
enum { MAX_HIDDEN = 1000 };

const struct job_place walls_place = {.source = "/job/source",
                                      .home = "/job/home",
                                      .out = "/job/out",
                                      .own = "/job/own",
                                      .tmp = "/tmp"};

/* What every job sees of the machine, read-only. */
static const char *const system_folders[] = {
    "/usr",    "/bin", "/sbin", "/lib", "/lib32",     "/lib64",
    "/libx32", "/etc", "/opt",  "/sys", "/nix/store", "/gnu/store",
};
/* Hidden wherever the worker's own files are. */
static const char *const always_hidden[] = {"/etc/bisectd", "/etc/bisect-worker"};

struct hidden {
    char *path;
    bool is_folder;
};

struct walls {
    char *program; /* NULL: there is none */
    struct strings secret;
    struct hidden *hidden; /* all of that which is there, and what is private in /etc */
    size_t n_hidden;
};

/* ---- what there is ---- */

static char *find_program(void)
{
    const char *path = getenv("PATH");

    for (const char *at = path && *path ? path : "/usr/bin:/bin"; *at;) {
        size_t n = strcspn(at, ":");
        AUTO(mem_free) char *candidate = mem_printf("%.*s/" PROGRAM, (int)n, at);
        if (n > 0 && at[0] == '/' && access(candidate, X_OK) == 0)
            return TAKE(candidate);
        at += n + (at[n] == ':');
    }
    return NULL;
}

struct walls *walls_new(void)
{
    struct walls *w = mem_alloc(sizeof(*w));

    for (size_t i = 0; i < LEN(always_hidden); i++)
        strings_add(&w->secret, always_hidden[i]);
    return w;
}

static void forget(struct walls *w)
{
    for (size_t i = 0; i < w->n_hidden; i++)
        mem_free(w->hidden[i].path);
    mem_free(w->hidden);
    mem_free(w->program);
    w->hidden = NULL;
    w->n_hidden = 0;
    w->program = NULL;
}

void walls_free(struct walls *w)
{
    if (!w)
        return;
    forget(w);
    strings_fini(&w->secret);
    mem_free(w);
}

void walls_hide(struct walls *w, const char *path)
{
    if (path && path[0] == '/' && !strings_has(&w->secret, path))
        strings_add(&w->secret, path);
}

static bool lies_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

static enum err_code hide(struct walls *w, const char *path, bool is_folder, struct err *e)
{
    for (size_t i = 0; i < w->n_hidden; i++)
        if (strcmp(w->hidden[i].path, path) == 0 || lies_in(path, w->hidden[i].path))
            return ERR_OK;
    if (w->n_hidden == MAX_HIDDEN)
        return err_set(e, ERR_LIMIT, "more than %d files to hide from jobs, %s among them",
                       MAX_HIDDEN, path);
    w->hidden = mem_resize(w->hidden, w->n_hidden + 1, sizeof(*w->hidden));
    w->hidden[w->n_hidden++] = (struct hidden){mem_dup(path), is_folder};
    return ERR_OK;
}

static enum err_code hide_secret(struct walls *w, const char *secret, struct err *e)
{
    AUTO(mem_free) char *path = path_real(secret, NULL);
    struct stat s;

    return path && stat(path, &s) == 0 ? hide(w, path, S_ISDIR(s.st_mode), e) : ERR_OK;
}

/** Whether this entry is open to us, but not to everybody. */
static bool is_private(const FTSENT *at)
{
    mode_t mode = at->fts_statp->st_mode;

    if (at->fts_info == FTS_D)
        return (mode & 05) != 05 && access(at->fts_path, X_OK) == 0;
    return at->fts_info == FTS_F && !(mode & 04) && access(at->fts_path, R_OK) == 0;
}

static enum err_code hide_private(struct walls *w, const char *folder, struct err *e)
{
    char *const paths[] = {(char *)folder, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    enum err_code code = ERR_OK;
    FTSENT *at;

    while (!code && walk && (at = fts_read(walk)) != NULL) {
        if (!is_private(at))
            continue;
        code = hide(w, at->fts_path, at->fts_info == FTS_D, e);
        fts_set(walk, at, FTS_SKIP);
    }
    if (walk)
        fts_close(walk);
    return code;
}

enum err_code walls_survey(struct walls *w, struct err *e)
{
    enum err_code code = ERR_OK;

    forget(w);
    w->program = find_program();
    if (!w->program)
        return err_set(e, ERR_NOT_FOUND, PROGRAM " is not installed (Debian: bubblewrap)");
    for (size_t i = 0; !code && i < w->secret.n; i++)
        code = hide_secret(w, w->secret.items[i], e);
    return code ? code : hide_private(w, "/etc", e);
}

/* ---- the command ---- */

static void add(struct strings *argv, const char *const *words)
{
    for (; *words; words++)
        strings_add(argv, *words);
}
#define ADD(argv, ...) add(argv, (const char *const[]){__VA_ARGS__, NULL})

static void add_system(struct strings *argv)
{
    char target[PATH_MAX];
    struct stat s;

    for (size_t i = 0; i < LEN(system_folders); i++) {
        const char *path = system_folders[i];
        if (lstat(path, &s) != 0)
            continue;
        ssize_t n = S_ISLNK(s.st_mode) ? readlink(path, target, sizeof(target) - 1) : 0;
        target[n > 0 ? n : 0] = '\0';
        if (n > 0)
            ADD(argv, "--symlink", target, path);
        else if (S_ISDIR(s.st_mode))
            ADD(argv, "--ro-bind", path, path);
    }
}

/** Names are looked up by what /etc/resolv.conf leads to, often a file in /run. */
static void add_resolver(struct strings *argv)
{
    AUTO(mem_free) char *file = path_real("/etc/resolv.conf", NULL);

    if (file && !lies_in(file, "/etc") && !lies_in(file, "/usr"))
        ADD(argv, "--ro-bind", file, file);
}

/** What the project wants seen, under its own name and under the real one. */
static void add_read(const struct strings *read, struct strings *argv)
{
    for (size_t i = 0; i < read->n; i++) {
        AUTO(mem_free) char *path = path_real(read->items[i], NULL);
        if (!path)
            continue;
        ADD(argv, "--ro-bind", path, path);
        if (strcmp(path, read->items[i]) != 0)
            ADD(argv, "--ro-bind", path, read->items[i]);
    }
}

static void add_real(struct strings *list, const char *path)
{
    AUTO(mem_free) char *real = path_real(path, NULL);

    if (real)
        strings_add(list, real);
}

/** A folder shown as a whole cannot be hidden, nor can what that lies in. */
static bool is_shown(const struct strings *shown, const char *path)
{
    for (size_t i = 0; i < shown->n; i++)
        if (lies_in(path, shown->items[i]))
            return true;
    return false;
}

static void add_hidden(const struct walls *w, const struct strings *read, struct strings *argv)
{
    AUTO(strings_fini) struct strings shown = {0};

    for (size_t i = 0; i < LEN(system_folders); i++)
        add_real(&shown, system_folders[i]);
    for (size_t i = 0; i < read->n; i++)
        add_real(&shown, read->items[i]);
    for (size_t i = 0; i < w->n_hidden; i++) {
        const char *path = w->hidden[i].path;
        if (!is_shown(&shown, path))
            continue;
        if (w->hidden[i].is_folder)
            ADD(argv, "--perms", "0555", "--tmpfs", path, "--remount-ro", path);
        else
            ADD(argv, "--ro-bind", "/dev/null", path);
    }
}

static void add_devices(const struct sandbox_limits *l, struct strings *argv)
{
    char size[24];

    ADD(argv, "--proc", "/proc", "--dev", "/dev");
    if (l->memory_bytes > 0) { /* what lies there is in memory */
        snprintf(size, sizeof(size), "%lld", (long long)l->memory_bytes);
        ADD(argv, "--size", size);
    }
    ADD(argv, "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev");
}

static void add_folder(struct strings *argv, const char *from, const char *to)
{
    if (from)
        ADD(argv, "--bind", from, to);
}

static void add_identity(struct strings *argv)
{
    char uid[24] = NOBODY, gid[24] = NOBODY;

    if (geteuid() != 0) {
        snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
        snprintf(gid, sizeof(gid), "%u", (unsigned)getegid());
    }
    ADD(argv, "--uid", uid, "--gid", gid, "--cap-drop", "ALL");
}

void walls_argv(const struct walls *w, const struct job_place *place,
                const struct sandbox_limits *l, struct strings *argv)
{
    char program[40];

    snprintf(program, sizeof(program), "/proc/self/fd/%d", INSIDE_PROGRAM);
    ADD(argv, w->program, "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts",
        "--unshare-cgroup-try", "--hostname", "localhost", "--die-with-parent", "--as-pid-1");
    if (!l->has_network)
        ADD(argv, "--unshare-net");
    add_identity(argv);
    add_system(argv);
    if (l->has_network)
        add_resolver(argv);
    add_read(&l->read, argv);
    add_hidden(w, &l->read, argv);
    add_devices(l, argv);
    ADD(argv, "--perms", "0755", "--dir", "/run", "--perms", "0755", "--dir", "/var", "--perms",
        "0755", "--dir", "/job");
    add_folder(argv, place->source, walls_place.source);
    add_folder(argv, place->home, walls_place.home);
    add_folder(argv, place->out, walls_place.out);
    add_folder(argv, place->own, walls_place.own);
    add_folder(argv, place->tmp, walls_place.tmp);
    add_folder(argv, place->tmp, "/var/tmp");
    ADD(argv, "--remount-ro", "/", "--chdir", "/", "--", program);
}

/* ---- why not ---- */

/** What a setting of the machine reads; false if it has no such setting. */
static bool setting_is(const char *path, const char *value)
{
    AUTO(buf_fini) struct buf text = {0};

    if (file_read(path, KIB, &text, NULL) || text.len == 0)
        return false;
    text.data[strcspn(buf_str(&text), "\n")] = '\0';
    return strcmp(text.data, value) == 0;
}

/** The kernel gives no namespaces to a process whose root is not that of its mounts. */
static bool is_in_chroot(void)
{
    AUTO(buf_fini) struct buf mounts = {0};

    if (file_read("/proc/self/mountinfo", MIB, &mounts, NULL))
        return false;
    for (const char *at = buf_str(&mounts); *at;) {
        int from = 0;
        /* The fifth field of a line is where it is mounted, seen from here. */
        sscanf(at, "%*s %*s %*s %*s %n", &from);
        if (from > 0 && strncmp(at + from, "/ ", 2) == 0)
            return false;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return true;
}

/* clang-format off */
static const struct { const char *path, *value; bool is_for_root; const char *words; } settings[] = {
    {"/proc/sys/user/max_user_namespaces", "0", true, "user namespaces are switched off: user.max_user_namespaces is 0"},
    {"/proc/sys/kernel/unprivileged_userns_clone", "0", false, "user namespaces are for root only: kernel.unprivileged_userns_clone is 0"},
    {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", false, "AppArmor restricts them: kernel.apparmor_restrict_unprivileged_userns is 1"},
};
/* clang-format on */

void walls_explain(const char *words, struct buf *out)
{
    size_t n_before = out->len;

    text_clean(out, words, strlen(words), strlen(words));
    if (out->len == n_before)
        buf_adds(out, "it ended without a word");
    if (is_in_chroot()) {
        buf_adds(out, "; this is a chroot, where the kernel gives no namespaces");
        return;
    }
    for (size_t i = 0; i < LEN(settings); i++) {
        if ((geteuid() == 0 && !settings[i].is_for_root) ||
            !setting_is(settings[i].path, settings[i].value))
            continue;
        buf_printf(out, "; %s", settings[i].words);
        return;
    }
    if (geteuid() == 0 && strstr(words, "No permissions to create"))
        buf_adds(out, "; this is root, so it is a chroot, or a container that filters the call");
}
