/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/terminal.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { EXIT_BY_SIGNAL = 130, NOTE_BYTES = 2048 };

bool terminal_is(int fd)
{
    return isatty(fd) == 1;
}

static bool is_utf8_locale(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value && value[0])
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

struct style terminal_style(int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    struct style s = {.is_utf8 = is_utf8_locale()};
    struct winsize size;

    if (!terminal_is(fd))
        return s;
    s.has_colour = !(no_colour && no_colour[0]) && term && strcmp(term, "dumb") != 0;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0)
        s.width = size.ws_col;
    return s;
}

enum err_code terminal_write(int fd, const struct buf *text, struct err *e)
{
    size_t at = 0;

    while (at < text->len) {
        ssize_t n = write(fd, text->data + at, text->len - at);
        if (n > 0) {
            at += (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            poll(&ready, 1, -1);
        } else if (errno == EPIPE) {
            return ERR_OK;
        } else if (errno != EINTR) {
            return err_sys(e, errno, "write to %s", fd == STDOUT_FILENO ? "stdout" : "stderr");
        }
    }
    return ERR_OK;
}

void terminal_note(const char *format, ...)
{
    AUTO(buf_fini) struct buf line = {0};
    char text[NOTE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    buf_adds(&line, "bisectctl: ");
    style_hostile(&line, text, sizeof(text));
    buf_addc(&line, '\n');
    /* Nowhere to complain when stderr itself is broken. */
    (void)terminal_write(STDERR_FILENO, &line, NULL);
}

static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
    (void)number;
    if (++n_signals > 1)
        _exit(EXIT_BY_SIGNAL);
}

void interrupt_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};

    for (size_t i = 0; i < LEN(numbers); i++)
        sigaction(numbers[i], &action, NULL);
}

bool interrupt_seen(void)
{
    return n_signals > 0;
}
