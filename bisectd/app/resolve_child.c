/* SPDX-License-Identifier: Apache-2.0 */
/* The other side of resolve.h: a process of its own. */
#include "app/resolve.h"
#include "base/json.h"
#include "base/mem.h"
#include "commits/mirror.h"
#include "commits/range.h"
#include "commits/stretch.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_QUESTION_BYTES = 4 * MIB };

static void say(json *v)
{
    AUTO(json_free) json *owned = v;
    AUTO(buf_fini) struct buf line = {0};

    json_dump(owned, JSON_COMPACT, &line);
    buf_addc(&line, '\n');
    (void)fwrite(line.data, 1, line.len, stdout);
    (void)fflush(stdout);
}

static void say_range(const struct range *range)
{
    AUTO(buf_fini) struct buf line = {0};

    buf_adds(&line, "{\"range\":");
    range_write(range, &line);
    buf_adds(&line, "}\n");
    (void)fwrite(line.data, 1, line.len, stdout);
    (void)fflush(stdout);
}

static void report(void *context, const struct fetch_progress *p)
{
    AUTO(mem_free)
    char *text = p->n_objects ? mem_printf("fetching %s: %u of %u objects", (const char *)context,
                                           (unsigned)p->n_received, (unsigned)p->n_objects)
                              : mem_printf("fetching %s", (const char *)context);

    say(json_put(json_new_object(), "progress", json_new_string(text)));
}

static enum err_code read_question(json **out, struct err *e)
{
    AUTO(buf_fini) struct buf text = {0};

    for (;;) {
        ssize_t n = read(STDIN_FILENO, buf_room(&text, 64 * KIB), 64 * KIB);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(e, errno, "read the question");
        if (n == 0)
            break;
        text.len += (size_t)n;
        if (text.len > MAX_QUESTION_BYTES)
            return err_set(e, ERR_LIMIT, "the question is too long");
    }
    return json_parse(buf_str(&text), text.len, out, e);
}

/* A project may be called what a folder may not. */
static char *folder_name(const char *name)
{
    char *s = mem_dup(*name ? name : "project");

    for (char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_' && *c != '-')
            *c = '-';
    if (*s == '.')
        *s = '-';
    return s;
}

struct question {
    const char *data_dir, *bisection, *name, *repository, *good, *bad;
};

static enum err_code parse_question(const json *v, struct question *q, struct err *e)
{
    if (json_need_str(v, "data_dir", &q->data_dir, e) ||
        json_need_str(v, "bisection", &q->bisection, e) || json_need_str(v, "name", &q->name, e) ||
        json_need_str(v, "repository", &q->repository, e) ||
        json_need_str(v, "good", &q->good, e) || json_need_str(v, "bad", &q->bad, e))
        return e->code;
    return ERR_OK;
}

static enum err_code mark_stretches(const json *list, const struct mirror *m, struct range *range,
                                    struct err *e)
{
    struct fixup *fixups[FIXUP_MAX];
    enum err_code code = ERR_OK;
    size_t n = 0;

    while (!code && n < json_len(list) && n < FIXUP_MAX) {
        code = fixup_from_json(json_item(list, n), &fixups[n], e);
        n += !code;
    }
    if (!code)
        code = stretch_mark(m, fixups, n, range, e);
    while (n > 0)
        fixup_free(fixups[--n]);
    return code;
}

static enum err_code load(const json *v, struct range **out, struct err *e)
{
    struct question q;
    AUTO(strings_fini) struct strings paths = {0};
    AUTO(mirror_free) struct mirror *m = NULL;
    AUTO(range_free) struct range *range = NULL;

    if (parse_question(v, &q, e))
        return e->code;
    for (size_t i = 0; i < json_len(json_at(v, "paths")); i++)
        strings_add(&paths, json_str(json_item(json_at(v, "paths"), i), ""));
    AUTO(mem_free) char *name = folder_name(q.name);
    struct mirror_place place = {.data_dir = q.data_dir, .name = name, .repository = q.repository};
    struct fetch_watch watch = {.report = report, .context = (void *)(uintptr_t)q.name};
    struct range_query query = {.good = q.good,
                                .bad = q.bad,
                                .paths = &paths,
                                .is_pair = json_bool(json_at(v, "comparison"), false)};
    if (mirror_open(&place, &watch, &m, e) || range_load(m, &query, &range, e) ||
        mark_stretches(json_at(v, "fixups"), m, range, e) ||
        mirror_pin(m, q.bisection, &range->commits[range->good].id, &range->commits[range->bad].id,
                   e))
        return e->code;
    *out = TAKE(range);
    return ERR_OK;
}

static json *error_to_json(const struct err *e)
{
    json *error = json_new_object();

    json_put(error, "code", json_new_string(err_name(e->code)));
    json_put(error, "text", json_new_string(e->text));
    json_put(error, "hint", json_new_string(e->hint));
    return json_put(json_new_object(), "error", error);
}

int resolve_child(void)
{
    struct err e = {0};
    AUTO(json_free) json *question = NULL;
    AUTO(range_free) struct range *range = NULL;

    if (read_question(&question, &e) || load(question, &range, &e)) {
        say(error_to_json(&e));
        return 1;
    }
    say_range(range);
    return 0;
}
