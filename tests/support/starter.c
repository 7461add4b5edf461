/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose start takes a known time:
 *
 *     starter WAY MS [STOP]
 *
 * After MS milliseconds (by the clock, from its first instruction) it is ready: WAY is exit,
 * line:TEXT, port:N, http:N, slow-http:N (503 for another MS milliseconds), or file:PATH. Then,
 * unless it is exit, it waits. STOP: what it does at SIGTERM: a file to create before it ends,
 * "deaf" for nothing, "daemon" to leave a child in a session of its own that creates ./daemon-ended
 * when it is asked to end.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char *at_end = "";

static void end(int signal_number)
{
    (void)signal_number;
    if (*at_end)
        close(open(at_end, O_CREAT | O_WRONLY, 0644));
    _exit(0);
}

static struct timespec after(struct timespec t, long ms)
{
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void sleep_until(struct timespec t)
{
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
        continue;
}

static int listen_at(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((unsigned short)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(fd, 8) != 0) {
        perror("starter");
        exit(1);
    }
    return fd;
}

static void serve(int port, struct timespec well)
{
    int fd = listen_at(port);

    for (;;) {
        char request[1000];
        int c = accept(fd, NULL, NULL);
        struct timespec now;
        if (c < 0 || read(c, request, sizeof(request)) <= 0) {
            close(c);
            continue;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        int is_well =
            now.tv_sec > well.tv_sec || (now.tv_sec == well.tv_sec && now.tv_nsec >= well.tv_nsec);
        dprintf(c, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n",
                is_well ? "204 No Content" : "503 Starting");
        close(c);
    }
}

/** What is left when the first process ends. */
static void leave_daemon(void)
{
    if (fork() != 0)
        return;
    setsid();
    at_end = "daemon-ended";
    for (;;)
        pause();
}

static void be_ready(const char *way, struct timespec start, long ms)
{
    const char *value = strchr(way, ':');

    value = value ? value + 1 : "";
    if (strncmp(way, "line:", 5) == 0 && dprintf(1, "starting\n%s\n", value) < 0)
        exit(1);
    if (strncmp(way, "file:", 5) == 0)
        close(open(value, O_CREAT | O_WRONLY, 0644));
    if (strncmp(way, "port:", 5) == 0)
        listen_at(atoi(value));
    if (strncmp(way, "http:", 5) == 0)
        serve(atoi(value), start);
    if (strncmp(way, "slow-http:", 10) == 0)
        serve(atoi(value), after(start, 2 * ms));
}

int main(int argc, char **argv)
{
    struct timespec start;

    clock_gettime(CLOCK_MONOTONIC, &start);
    if (argc < 3)
        return 2;
    const char *stop = argc > 3 ? argv[3] : "";
    signal(SIGTERM, strcmp(stop, "deaf") == 0 ? SIG_IGN : end);
    if (strcmp(stop, "daemon") == 0)
        leave_daemon();
    else if (strcmp(stop, "deaf") != 0)
        at_end = stop;
    sleep_until(after(start, atol(argv[2])));
    be_ready(argv[1], start, atol(argv[2]));
    while (strcmp(argv[1], "exit") != 0)
        pause();
    return 0;
}
