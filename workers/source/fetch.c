/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/fetch.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/source/library.h"
#include "workers/source/origin.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t default_timeout_ns = 3600 * NS_PER_S;
static const int64_t default_stall_ns = 120 * NS_PER_S;
static const int64_t report_every_ns = 100 * NS_PER_MS;

static const char *const schemes[] = {"http", "https", "git", "ssh", "file"};

/** What the child says over its pipe; small enough that each is written whole. */
struct message {
    bool is_last;
    struct fetch_progress progress;
    struct err err; /* of the last */
};
_Static_assert(sizeof(struct message) <= 4096, "a pipe takes it in one piece");

/* The child */

struct child {
    int out;
    struct mono reported;
    struct fetch_progress progress;
    unsigned n_credentials; /* how many were tried */
    bool is_connecting;     /* what fails now is the other side's, or the way there */
};

static void tell(struct child *c, bool is_last, const struct err *e)
{
    struct message m = {.is_last = is_last, .progress = c->progress};

    if (e)
        m.err = *e;
    if (write(c->out, &m, sizeof(m)) != (ssize_t)sizeof(m))
        _exit(1); /* nobody listens any more */
}

static void tell_sometimes(struct child *c)
{
    struct mono now = mono_now();

    if (now.ns - c->reported.ns < report_every_ns)
        return;
    c->reported = now;
    tell(c, false, NULL);
}

static int on_transfer(const git_indexer_progress *p, void *context)
{
    struct child *c = context;

    c->progress.n_objects = p->total_objects;
    c->progress.n_received = p->received_objects;
    c->progress.n_bytes = p->received_bytes;
    tell_sometimes(c);
    return 0;
}

static int on_sideband(const char *text, int n, void *context)
{
    (void)text;
    (void)n;
    tell_sometimes(context);
    return 0;
}

/** The agent's keys, then the usual files without a passphrase; each once. */
static int on_credentials(git_credential **out, const char *url, const char *user, unsigned allowed,
                          void *context)
{
    static const char *const files[] = {"id_ed25519", "id_ecdsa", "id_rsa"};
    struct child *c = context;
    const char *home = getenv("HOME");
    unsigned try = c->n_credentials;

    (void)url;
    if (allowed & GIT_CREDENTIAL_USERNAME)
        return git_credential_username_new(out, user ? user : "git");
    if (!(allowed & GIT_CREDENTIAL_SSH_KEY) || try > LEN(files) || (try > 0 && !home))
        return GIT_EAUTH;
    c->n_credentials++;
    if (try == 0)
        return git_credential_ssh_key_from_agent(out, user ? user : "git");

    AUTO(mem_free) char *key = mem_printf("%s/.ssh/%s", home, files[try - 1]);
    return git_credential_ssh_key_new(out, user ? user : "git", NULL, key, "");
}

static int set_head(git_repository *repo, git_remote *remote)
{
    AUTO(git_buf_dispose) git_buf branch = {0};

    /* A remote without a branch checked out has none to name; the mirror's HEAD stays. */
    if (git_remote_default_branch(&branch, remote) < 0)
        return 0;
    return git_repository_set_head(repo, branch.ptr);
}

/** What is asked for: everything, or one commit. */
static int fetch_specs(git_repository *repo, git_remote *remote, const git_strarray *specs,
                       bool are_all, git_fetch_options *options)
{
    int rc = git_remote_download(remote, specs, options);

    /* Pruning first: a new branch a/b fits only when a deleted branch a is gone. */
    if (rc >= 0 && are_all)
        rc = git_remote_prune(remote, &options->callbacks);
    if (rc >= 0)
        rc = git_remote_update_tips(remote, &options->callbacks, 0, options->download_tags, NULL);
    if (rc >= 0 && are_all)
        rc = set_head(repo, remote);
    return rc;
}

static int fetch_connected(git_repository *repo, git_remote *remote, const struct revision *only,
                           git_fetch_options *options)
{
    static char heads[] = "+refs/heads/*:refs/heads/*", tags[] = "+refs/tags/*:refs/tags/*",
                tracked[] = "+refs/heads/*:refs/remotes/origin/*";
    char *all[] = {heads, tags, tracked};

    if (!only)
        return fetch_specs(repo, remote, &(git_strarray){all, LEN(all)}, true, options);
    AUTO(mem_free) char *spec = mem_printf("+%s:refs/bisectd-fetched/%s", only->hex, only->hex);
    return fetch_specs(repo, remote, &(git_strarray){&spec, 1}, false, options);
}

static int fetch_in_child(struct child *c, const char *path, const char *url,
                          const struct revision *only)
{
    AUTO(git_repository_free) git_repository *repo = NULL;
    AUTO(git_remote_free) git_remote *remote = NULL;
    git_fetch_options options;

    git_fetch_options_init(&options, GIT_FETCH_OPTIONS_VERSION);
    options.callbacks.transfer_progress = on_transfer;
    options.callbacks.sideband_progress = on_sideband;
    options.callbacks.credentials = on_credentials;
    options.callbacks.payload = c;
    options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE; /* all of them are asked for by name */
    options.prune = GIT_FETCH_NO_PRUNE;
    options.update_fetchhead = 0;
    options.proxy_opts.type = GIT_PROXY_AUTO;

    int rc = git_repository_open_bare(&repo, path);
    if (rc >= 0)
        rc = git_remote_create_anonymous(&remote, repo, url);
    if (rc < 0)
        return rc;
    c->is_connecting = true;
    rc = git_remote_connect(remote, GIT_DIRECTION_FETCH, &options.callbacks, &options.proxy_opts,
                            NULL);
    if (rc < 0)
        return rc;
    c->is_connecting = false;
    return fetch_connected(repo, remote, only, &options);
}

__attribute__((noreturn)) static void child_main(int out, const char *path, const char *url,
                                                 const struct revision *only)
{
    struct child c = {.out = out};
    struct err e = {0};
    int rc = fetch_in_child(&c, path, url, only);

    if (rc < 0) {
        AUTO(mem_free) char *shown = origin_shown(url);
        enum err_code code = err_git(&e, rc, "fetch %s", shown);
        if (c.is_connecting || code == ERR_NOT_FOUND || code == ERR_INVALID)
            e.code = ERR_PEER;
    }
    tell(&c, true, &e);
    _exit(0);
}

/* Us */

/** One message; ERR_TIMEOUT at `wait_ns`, ERR_IO when the child is gone. */
static enum err_code listen_to(int fd, int64_t wait_ns, struct message *m, struct err *e)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t wait_ms = wait_ns / NS_PER_MS + 1;
    int rc = poll(&p, 1, wait_ms > 60000 ? 60000 : (int)wait_ms);
    ssize_t n;

    m->is_last = false;
    if (rc == 0 || (rc < 0 && errno == EINTR))
        return ERR_TIMEOUT; /* the caller knows whether that is too late */
    if (rc < 0)
        return err_sys(e, errno, "wait for the fetch");
    do
        n = read(fd, m, sizeof(*m));
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(*m))
        return err_set(e, ERR_IO, "the fetch was killed");
    return ERR_OK;
}

static enum err_code watch_child(int fd, const char *url, const struct fetch_watch *watch,
                                 struct err *e)
{
    AUTO(mem_free) char *shown = origin_shown(url);
    int64_t timeout_ns = watch && watch->timeout_ns ? watch->timeout_ns : default_timeout_ns;
    int64_t stall_ns = watch && watch->stall_ns ? watch->stall_ns : default_stall_ns;
    struct mono now = mono_now();
    struct mono deadline = {now.ns + timeout_ns}, heard = now;
    char limit[32];

    for (;;) {
        struct message m;
        int64_t quiet_ns = heard.ns + stall_ns - now.ns, left_ns = deadline.ns - now.ns;
        if (left_ns <= 0) {
            duration_format(timeout_ns, limit);
            return err_set(e, ERR_TIMEOUT, "fetch %s: took longer than %s", shown, limit);
        }
        if (quiet_ns <= 0) {
            duration_format(stall_ns, limit);
            return err_set(e, ERR_TIMEOUT, "fetch %s: no answer for %s", shown, limit);
        }
        enum err_code rc = listen_to(fd, quiet_ns < left_ns ? quiet_ns : left_ns, &m, e);
        now = mono_now();
        if (rc == ERR_TIMEOUT)
            continue;
        if (rc)
            return err_wrap(e, "fetch %s", shown);
        heard = now;
        if (m.is_last && e)
            *e = m.err;
        if (m.is_last)
            return m.err.code;
        if (watch && watch->report)
            watch->report(watch->context, &m.progress);
    }
}

static enum err_code check_url(const char *url, struct err *e)
{
    const char *end = strstr(url, "://");

    if (!end && !strstr(url, "::")) /* host:path, and not a helper of git's, helper::address */
        return ERR_OK;
    for (size_t i = 0; end && i < LEN(schemes); i++)
        if (strlen(schemes[i]) == (size_t)(end - url) && !strncmp(url, schemes[i], end - url))
            return ERR_OK;
    err_set(e, ERR_INVALID, "%s: not a kind of URL that can be fetched", url);
    return err_hint(e, "use http, https, ssh, git, file, host:path or a local path");
}

enum err_code fetch_into(const char *path, const char *url, const struct revision *only,
                         const struct fetch_watch *watch, struct err *e)
{
    int ends[2];
    pid_t parent = getpid();

    library_start();
    if (check_url(url, e))
        return ERR_INVALID;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(e, errno, "make a pipe");

    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(ends[0]);
        child_main(ends[1], path, url, only);
    }
    close(ends[1]);
    AUTO(fd_close) int fd = ends[0];
    if (child < 0)
        return err_sys(e, errno, "start a process");

    enum err_code rc = watch_child(fd, url, watch, e);
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return rc;
}
