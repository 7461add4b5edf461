/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/crew.h"
#include "base/buf.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

void crew_fini(struct crew *c)
{
    mem_free(c->platform);
    *c = (struct crew){0};
}

/* A label's value up to its closing quote. */
static char *label_of(const char *at)
{
    struct buf text = {0};

    for (; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1])
            at++;
        buf_addc(&text, *at);
    }
    return buf_take(&text);
}

/* The number after the blank that follows name and labels. */
static int64_t number_of(const char *line)
{
    const char *blank = strrchr(line, ' ');

    return blank ? strtoll(blank + 1, NULL, 10) : 0;
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static void read_line(const char *line, struct crew *out)
{
    static const char local[] = "bisectd_local_workers{platform=\"";
    static const char *const unfinished[] = {"bisectd_bisections{state=\"queued\"}",
                                             "bisectd_bisections{state=\"resolving\"}",
                                             "bisectd_bisections{state=\"running\"}"};

    if (begins(line, local)) {
        mem_free(out->platform);
        out->platform = label_of(line + sizeof(local) - 1);
        out->n_local = number_of(line);
    } else if (begins(line, "bisectd_private ")) {
        out->is_private = number_of(line) != 0;
    } else if (begins(line, "bisectd_clients ")) {
        out->n_clients = number_of(line);
    }
    for (size_t i = 0; i < LEN(unfinished); i++)
        if (begins(line, unfinished[i]))
            out->n_unfinished += number_of(line);
}

void crew_read(const char *metrics, struct crew *out)
{
    *out = (struct crew){0};
    while (*metrics) {
        size_t n = strcspn(metrics, "\n");
        AUTO(mem_free) char *line = mem_dup_n(metrics, n);
        read_line(line, out);
        metrics += n + (metrics[n] == '\n');
    }
}

bool crew_fits(const struct crew *c, int64_t n_workers, const char *platform)
{
    if (n_workers > 0 && c->n_local != n_workers)
        return false;
    return !platform || !c->platform || strcmp(c->platform, platform) == 0;
}

bool crew_may_go(const struct crew *c)
{
    return c->is_private && (c->n_unfinished == 0 || c->n_clients <= 1);
}
