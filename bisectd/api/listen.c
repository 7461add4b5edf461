/* SPDX-License-Identifier: Apache-2.0 */
#include "api/listen.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 512 };

/* Splits "HOST:PORT"; both are new strings. */
static enum err_code split_address(const char *address, char **host, char **port, struct err *e)
{
    const char *colon = strrchr(address, ':');
    int64_t number;

    if (!colon || (address[0] == '[' && colon[-1] != ']') ||
        (address[0] != '[' && memchr(address, ':', (size_t)(colon - address))))
        return err_set(e, ERR_INVALID, "\"%s\" is not HOST:PORT", address);
    if (text_int(colon + 1, 0, 65535, &number, e))
        return err_wrap(e, "port of \"%s\"", address);
    if (address[0] == '[')
        *host = mem_dup_n(address + 1, (size_t)(colon - address) - 2);
    else if (colon == address)
        *host = mem_dup("127.0.0.1");
    else
        *host = mem_dup_n(address, (size_t)(colon - address));
    *port = mem_dup(colon + 1);
    return ERR_OK;
}

static enum err_code bind_failed(int sys, const char *address, struct err *e)
{
    if (sys == EADDRINUSE) {
        err_set(e, ERR_CONFLICT, "%s is in use by another program", address);
        return err_hint(e,
                        "perhaps another bisectd runs; give another port with --listen HOST:PORT");
    }
    err_sys(e, sys, "listen on %s", address);
    if (sys == EACCES)
        e->code = ERR_DENIED;
    if (sys == EADDRNOTAVAIL)
        err_hint(e, "no network interface of this machine has that address");
    return e->code;
}

static int open_socket(const struct addrinfo *a)
{
    int one = 1;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, BACKLOG)) {
        fd_close(fd);
        return -1;
    }
    return fd;
}

static char *socket_name(int fd, const char *host)
{
    struct sockaddr_storage at;
    socklen_t n = sizeof(at);
    char port[16] = "?";

    if (getsockname(fd, (struct sockaddr *)&at, &n) == 0)
        (void)getnameinfo((struct sockaddr *)&at, n, NULL, 0, port, sizeof(port), NI_NUMERICSERV);
    return mem_printf(strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

enum err_code listen_tcp(const char *address, int *fd, char **where, struct err *e)
{
    AUTO(mem_free) char *host = NULL;
    AUTO(mem_free) char *port = NULL;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;

    if (split_address(address, &host, &port, e))
        return err_hint(e, "for example 127.0.0.1:8641");
    int rc = getaddrinfo(host, port, &hints, &found);
    if (rc)
        return err_set(e, ERR_INVALID, "listen on %s: %s", address, gai_strerror(rc));

    int opened = open_socket(found);
    int sys = errno;
    freeaddrinfo(found);
    if (opened < 0)
        return bind_failed(sys, address, e);
    *where = socket_name(opened, host);
    *fd = opened;
    return ERR_OK;
}

enum err_code listen_unix(const char *path, int *fd, struct err *e)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(at.sun_path))
        return err_set(e, ERR_LIMIT, "socket path is too long: %s", path);
    memcpy(at.sun_path, path, strlen(path));

    AUTO(fd_close) int opened = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (opened < 0)
        return err_sys(e, errno, "socket");
    (void)unlink(path);
    mode_t mask = umask(0177);
    int rc = bind(opened, (struct sockaddr *)&at, sizeof(at));
    int sys = errno;
    umask(mask);
    if (rc || listen(opened, BACKLOG))
        return err_sys(e, rc ? sys : errno, "listen on %s", path);
    *fd = opened;
    opened = -1;
    return ERR_OK;
}
