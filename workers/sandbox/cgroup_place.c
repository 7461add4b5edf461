/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/cgroup_place.h"
#include "base/buf.h"
#include "base/mem.h"
#include <string.h>

struct span {
    const char *at;
    size_t n;
};

/** Cuts the next field off a line, at any of the characters in `ends`. */
static struct span next_field(struct span *line, const char *ends)
{
    struct span field = {.at = line->at};

    while (field.n < line->n && !strchr(ends, line->at[field.n]))
        field.n++;
    size_t n_gone = field.n < line->n ? field.n + 1 : field.n;
    line->at += n_gone;
    line->n -= n_gone;
    return field;
}

static bool is_text(struct span s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.at, text, s.n) == 0;
}

static bool has_item(struct span list, const char *item)
{
    while (list.n > 0)
        if (is_text(next_field(&list, ","), item))
            return true;
    return false;
}

bool cgroup_has_word(const char *list, const char *word)
{
    struct span left = {list, strlen(list)};

    while (left.n > 0)
        if (is_text(next_field(&left, " \n"), word))
            return true;
    return false;
}

/** "4:memory:/a/b", or for version 2 "0::/a/b". */
static bool find_group(const char *groups, const char *controller, struct span *out)
{
    struct span all = {groups, strlen(groups)};

    while (all.n > 0) {
        struct span line = next_field(&all, "\n");
        struct span number = next_field(&line, ":"), list = next_field(&line, ":");
        bool is_it = controller ? has_item(list, controller) : is_text(number, "0") && list.n == 0;
        if (is_it && line.n > 0 && line.at[0] == '/') {
            *out = line;
            return true;
        }
    }
    return false;
}

/** mountinfo writes blank, tab, newline and backslash as \040 and so on. */
static char *unescape(struct span s)
{
    struct buf out = {0};

    for (size_t i = 0; i < s.n; i++) {
        bool is_octal = s.at[i] == '\\' && i + 3 < s.n;
        for (size_t k = 1; is_octal && k <= 3; k++)
            is_octal = s.at[i + k] >= '0' && s.at[i + k] <= '7';
        if (!is_octal) {
            buf_addc(&out, s.at[i]);
            continue;
        }
        buf_addc(&out,
                 (char)((s.at[i + 1] - '0') * 64 + (s.at[i + 2] - '0') * 8 + (s.at[i + 3] - '0')));
        i += 3;
    }
    return buf_take(&out);
}

/** `group` below `root`: the mount shows that part of the tree as its whole. */
static char *join(struct span root, struct span point, struct span group)
{
    AUTO(mem_free) char *from = unescape(root);
    AUTO(mem_free) char *to = unescape(point);
    AUTO(mem_free) char *path = mem_dup_n(group.at, group.n);
    size_t n_root = strcmp(from, "/") == 0 ? 0 : strlen(from);

    if (strstr(path, "/..")) /* out of what this namespace shows */
        return NULL;
    if (strncmp(path, from, n_root) != 0 || (path[n_root] != '/' && path[n_root] != '\0'))
        return NULL;
    const char *below = path + n_root;
    while (*below == '/')
        below++;
    return *below ? mem_printf("%s/%s", to, below) : mem_dup(to);
}

char *cgroup_place(const char *mounts, const char *groups, const char *controller)
{
    struct span all = {mounts, strlen(mounts)};
    struct span group;

    if (!find_group(groups, controller, &group))
        return NULL;
    while (all.n > 0) {
        /* 36 35 98:0 ROOT POINT OPTIONS [FIELDS...] - TYPE SOURCE SUPER_OPTIONS */
        struct span line = next_field(&all, "\n");
        for (int i = 0; i < 3; i++)
            next_field(&line, " ");
        struct span root = next_field(&line, " "), point = next_field(&line, " ");
        while (line.n > 0 && !is_text(next_field(&line, " "), "-"))
            ;
        struct span type = next_field(&line, " ");
        next_field(&line, " ");
        bool is_it = controller ? is_text(type, "cgroup") && has_item(line, controller)
                                : is_text(type, "cgroup2");
        char *found = is_it ? join(root, point, group) : NULL;
        if (found)
            return found;
    }
    return NULL;
}
