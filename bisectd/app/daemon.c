/* SPDX-License-Identifier: Apache-2.0 */
#include "app/daemon.h"
#include "api/listen.h"
#include "api/server.h"
#include "app/driver.h"
#include "app/loop.h"
#include "app/pool.h"
#include "app/quote.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/place.h"
#include "engine/local.h"
#include "store/tokens.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { N_THREADS = 2, MAX_ROUNDS = 8 };
/* The program that starts a private daemon connects at once; on a busy machine that may take. */
#define FIRST_CLIENT_NS (15 * NS_PER_S)
#define LAST_CLIENT_NS  (2 * NS_PER_S)
/* With nothing unfinished: only as long as a client may take from one connection to the next. */
#define IDLE_CLIENT_NS (100 * NS_PER_MS)
#define STORE_WAIT_NS  (2 * LAST_CLIENT_NS)
/* After a turn that could not be committed. */
#define RETRY_NS      (NS_PER_S)
#define DRAIN_NS      (500 * NS_PER_MS)
#define STOP_GRACE_NS (3 * NS_PER_S)

struct daemon {
    struct daemon_options o;
    char *socket; /* path, removed at the end */
    ino_t socket_inode;
    struct store *store;
    struct loop *loop;
    struct pool *pool;
    struct local *local;
    struct driver *driver;
    struct server *server;
    int signal_fd;
    bool is_stopping;
    bool is_broken;         /* memory is not what the store holds */
    struct mono retry_at;   /* while broken */
    struct mono alone_from; /* if private: nobody is connected since, or will be until */
};

/* -- signals -- */

static void on_signal(void *ctx)
{
    struct daemon *d = ctx;
    struct signalfd_siginfo info;

    while (read(d->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGCHLD)
            continue; /* the turn looks */
        LOG(LOG_INFO, "stopping", "signal=%u", (unsigned)info.ssi_signo);
        d->is_stopping = true;
    }
}

/* Before any thread starts, so that all inherit the mask. */
static enum err_code watch_signals(struct daemon *d, struct err *e)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &set, NULL) || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        return err_sys(e, errno, "signals");
    d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (d->signal_fd < 0)
        return err_sys(e, errno, "signalfd");
    return loop_add(d->loop, d->signal_fd, on_signal, d, e);
}

/* -- start -- */

static void on_nothing(void *ctx)
{
    (void)ctx; /* the turn looks */
}

static enum err_code make_local(struct daemon *d, struct err *e)
{
    const struct config *c = d->o.config;
    AUTO(mem_free) char *folder = path_of_program();
    AUTO(mem_free) char *program = path_join(folder, "bisect-worker");
    struct local_options lo = {.program = program,
                               .socket = d->socket,
                               .data_dir = c->data_dir,
                               .platform = d->o.platform,
                               .n_workers = c->n_workers};

    if (c->engine != ENGINE_LOCAL || !c->n_workers)
        return ERR_OK;
    if (!file_exists(program)) {
        err_set(e, ERR_NOT_FOUND, "there is no bisect-worker beside bisectd, in %s", folder);
        return err_hint(e, "install it there, or start with --workers 0 and connect workers");
    }
    d->local = local_new(&lo);
    return ERR_OK;
}

static enum err_code make_driver(struct daemon *d, struct err *e)
{
    struct driver_options o = {.store = d->store,
                               .loop = d->loop,
                               .pool = d->pool,
                               .config = d->o.config,
                               .local = d->local,
                               .local_platform = d->o.platform,
                               .is_private = d->o.is_private};

    d->driver = driver_new(&o);
    if (store_begin(d->store, e))
        return e->code;
    if (driver_adopt(d->driver, e) || driver_load(d->driver, e)) {
        store_rollback(d->store);
        return e->code;
    }
    return store_commit(d->store, e);
}

static enum err_code listen_private(struct daemon *d, struct err *e)
{
    int fd;

    if (place_make_folder(d->socket, e) || listen_unix(d->socket, &fd, e))
        return e->code;
    struct stat at;
    d->socket_inode = stat(d->socket, &at) ? 0 : at.st_ino;
    return server_listen(d->server, fd, LISTENER_PRIVATE, e);
}

/* Whoever removed the data folder under us and made it anew has a socket of the same name. */
static void remove_socket(const struct daemon *d)
{
    struct stat at;

    if (!stat(d->socket, &at) && at.st_ino == d->socket_inode)
        (void)unlink(d->socket);
}

static enum err_code listen_open(struct daemon *d, struct err *e)
{
    const struct listen_at *at = &d->o.config->listen;
    AUTO(mem_free) char *where = NULL;
    bool was_made = false;
    int fd;

    if (!at->host) {
        LOG(LOG_INFO, "listening", "socket=%s", d->socket);
        return ERR_OK;
    }
    AUTO(mem_free)
    char *address =
        mem_printf(strchr(at->host, ':') ? "[%s]:%u" : "%s:%u", at->host, (unsigned)at->port);
    if (store_token_admin(d->store, utc_now(), &was_made, e) || listen_tcp(address, &fd, &where, e))
        return e->code;
    if (was_made)
        LOG(LOG_INFO, "admin token written", "file=%s/admin.token", d->o.config->data_dir);
    LOG(LOG_INFO, "listening", "address=%s socket=%s", where, d->socket);
    return server_listen(d->server, fd, LISTENER_TCP, e);
}

/* A private daemon lets its store go soon after its last client has left. */
static enum err_code open_store(struct daemon *d, struct err *e)
{
    const struct timespec nap = {.tv_nsec = 50 * NS_PER_MS};
    int64_t end_ns = mono_now().ns + STORE_WAIT_NS;
    enum err_code code;

    do {
        code = store_open(d->o.config->data_dir, &d->store, e);
    } while (code == ERR_CONFLICT && mono_now().ns < end_ns && nanosleep(&nap, NULL) == 0);
    if (!code)
        store_limit_tries(d->store, (uint32_t)d->o.config->limits.n_tries);
    return code;
}

static enum err_code open_all(struct daemon *d, struct err *e)
{
    if (open_store(d, e) || loop_new(&d->loop, e) || watch_signals(d, e) ||
        pool_new(N_THREADS, &d->pool, e) || loop_add(d->loop, pool_fd(d->pool), on_nothing, d, e) ||
        make_local(d, e) || make_driver(d, e) ||
        server_new(driver_service(d->driver), &d->server, e) ||
        loop_add(d->loop, server_fd(d->server), on_nothing, d, e))
        return e->code;
    driver_attach(d->driver, d->server);
    if (listen_private(d, e))
        return e->code;
    return listen_open(d, e);
}

static void say_ready(struct daemon *d)
{
    static const char line[] = "ready\n";

    if (d->o.ready_fd < 0)
        return;
    if (write(d->o.ready_fd, line, sizeof(line) - 1) < 0)
        LOG(LOG_WARN, "nobody waits for us", "fd=%d", d->o.ready_fd);
    fd_close(d->o.ready_fd);
    d->o.ready_fd = -1;
}

enum err_code daemon_new(const struct daemon_options *o, struct daemon **out, struct err *e)
{
    AUTO(daemon_free) struct daemon *d = mem_alloc(sizeof(*d));

    d->o = *o;
    d->signal_fd = -1;
    d->socket = place_socket(o->config->data_dir);
    if (open_all(d, e))
        return e->code;
    d->alone_from.ns = mono_now().ns + FIRST_CLIENT_NS - LAST_CLIENT_NS;
    say_ready(d);
    *out = TAKE(d);
    return ERR_OK;
}

/* -- turns -- */

static void report(const char *event, const struct err *e)
{
    AUTO(buf_fini) struct buf b = {0};

    LOG(LOG_ERROR, event, "code=%s error=%s", err_name(e->code), quote(&b, e->text));
}

static enum err_code reap(struct daemon *d, struct mono now, struct err *e)
{
    int i;

    while (d->local && (i = local_reap(d->local, now)) >= 0)
        if (driver_worker_died(d->driver, local_name(d->local, (uint32_t)i), e))
            return e->code;
    return ERR_OK;
}

/* What requests bring makes something due, which may answer requests that wait. */
static enum err_code work(struct daemon *d, struct mono now, struct err *e)
{
    if (reap(d, now, e))
        return e->code;
    pool_collect(d->pool);
    for (int i = 0; i < MAX_ROUNDS && (i == 0 || server_is_busy(d->server, now)); i++) {
        server_handle(d->server, now);
        if (driver_fault(d->driver)->code) {
            *e = *driver_fault(d->driver);
            return e->code;
        }
        if (driver_tick(d->driver, now, e))
            return e->code;
    }
    return ERR_OK;
}

/* Everything of a turn that touches the store: all of it happens, or nothing. */
static enum err_code transact(struct daemon *d, struct mono now, struct err *e)
{
    if (store_begin(d->store, e))
        return e->code;
    if ((d->is_broken && driver_load(d->driver, e)) || work(d, now, e)) {
        store_rollback(d->store);
        return e->code;
    }
    return store_commit(d->store, e);
}

static void turn(struct daemon *d)
{
    struct mono now = mono_now();
    struct err e = {0};

    server_receive(d->server);
    if (d->is_broken && now.ns < d->retry_at.ns) {
        server_refuse(d->server);
        server_release(d->server, false, now);
        return;
    }
    bool is_good = !transact(d, now, &e);
    if (!is_good) {
        report("turn undone", &e);
        server_refuse(d->server);
        d->retry_at.ns = now.ns + (d->is_broken ? RETRY_NS : 0);
    }
    d->is_broken = !is_good;
    server_release(d->server, is_good, now);
    if (d->local && is_good)
        local_start_due(d->local, now);
}

static void sooner(struct mono *at, bool is_set, struct mono other)
{
    if (is_set && other.ns < at->ns)
        *at = other;
}

/* Whoever left may come back to what is unfinished; else there is nobody to wait for. */
static int64_t patience_ns(const struct daemon *d)
{
    bool is_over = server_has_served(d->server) && driver_n_courses(d->driver) == 0;

    return is_over ? IDLE_CLIENT_NS : LAST_CLIENT_NS;
}

static struct mono next_turn(const struct daemon *d, struct mono now)
{
    struct mono at = {now.ns + 60 * NS_PER_S};
    struct mono other = {0};

    sooner(&at, server_deadline(d->server, now, &other), other);
    sooner(&at, driver_deadline(d->driver, now, &other), other);
    sooner(&at, d->local && local_deadline(d->local, &other), other);
    sooner(&at, d->o.is_private, (struct mono){now.ns + patience_ns(d) / 4});
    sooner(&at, d->is_broken, d->retry_at);
    return at;
}

static void look_for_clients(struct daemon *d)
{
    struct mono now = mono_now();

    if (!d->o.is_private)
        return;
    if (server_n_clients(d->server)) {
        d->alone_from = now;
        return;
    }
    if (now.ns - d->alone_from.ns > patience_ns(d)) {
        LOG(LOG_INFO, "stopping", "why=\"nobody is connected\"");
        d->is_stopping = true;
    }
}

void daemon_run(struct daemon *d)
{
    if (d->local)
        local_start_due(d->local, mono_now());
    while (!d->is_stopping) {
        loop_wait(d->loop, next_turn(d, mono_now()));
        turn(d);
        look_for_clients(d);
    }
}

/* -- end -- */

static void note_time(struct daemon *d)
{
    struct err e = {0};

    if (!d->driver || d->is_broken)
        return;
    if (store_begin(d->store, &e) || driver_note_time(d->driver, &e) ||
        store_commit(d->store, &e)) {
        store_rollback(d->store);
        report("time not noted", &e);
    }
}

void daemon_free(struct daemon *d)
{
    if (!d)
        return;
    if (d->server)
        server_drain(d->server, DRAIN_NS);
    if (d->local)
        local_stop(d->local, STOP_GRACE_NS);
    note_time(d);
    if (d->driver)
        driver_attach(d->driver, NULL);
    server_free(d->server);
    pool_free(d->pool);
    driver_free(d->driver);
    local_free(d->local);
    if (d->store)
        remove_socket(d);
    store_close(d->store);
    loop_free(d->loop);
    fd_close(d->signal_fd);
    mem_free(d->socket);
    mem_free(d);
}
