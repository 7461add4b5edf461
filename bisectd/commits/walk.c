/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/walk.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SUBJECT = 200, MAX_PARENTS = 65535 };
static const int64_t slack_s = 24 * 3600;
static const int64_t max_time_s = INT64_C(1) << 53; /* dates beyond it are nonsense */

/** Commits whose stored parents are not what git shows. */
struct doubts {
    git_oid *cut, *forged;
    size_t n_cut, n_forged;
};

struct reader {
    struct walk *w;
    git_odb *odb;
    struct doubts doubts;
    uint32_t max_commits;
};

void walk_free(struct walk *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->n; i++) {
        mem_free(w->commits[i].parents);
        mem_free(w->commits[i].subject);
        mem_free(w->commits[i].author);
    }
    mem_free(w->commits);
    mem_free(w->slots);
    mem_free(w->heap);
    mem_free(w);
}

/* Ids to indices */

static uint32_t slot_of(const struct walk *w, const git_oid *id)
{
    uint64_t hash;
    uint32_t at;

    memcpy(&hash, id->id, sizeof(hash));
    at = (uint32_t)hash & (w->n_slots - 1);
    while (w->slots[at] && git_oid_cmp(&w->commits[w->slots[at] - 1].id, id) != 0)
        at = (at + 1) & (w->n_slots - 1);
    return at;
}

uint32_t walk_find(const struct walk *w, const git_oid *id)
{
    uint32_t slot = w->n_slots ? w->slots[slot_of(w, id)] : 0;

    return slot ? slot - 1 : UINT32_MAX;
}

static void rehash(struct walk *w)
{
    mem_free(w->slots);
    w->n_slots = w->n_slots ? 2 * w->n_slots : 4096;
    w->slots = mem_array(w->n_slots, sizeof(*w->slots));
    for (uint32_t i = 0; i < w->n; i++)
        w->slots[slot_of(w, &w->commits[i].id)] = i + 1;
}

/** Index of a commit, which is added, unread, when new. */
static uint32_t intern(struct walk *w, const git_oid *id)
{
    if (2 * (w->n + 1) > w->n_slots)
        rehash(w);

    uint32_t slot = slot_of(w, id);
    if (w->slots[slot])
        return w->slots[slot] - 1;
    if (w->n == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 1024;
        w->commits = mem_resize(w->commits, w->cap, sizeof(*w->commits));
    }
    w->commits[w->n] = (struct walk_commit){.id = *id};
    w->slots[slot] = ++w->n;
    return w->n - 1;
}

/* Waiting commits, youngest on top; equal dates by age in the walk */

static bool is_before(const struct walk *w, uint32_t a, uint32_t b)
{
    const struct walk_commit *x = &w->commits[a], *y = &w->commits[b];

    return x->time_s != y->time_s ? x->time_s > y->time_s : a < b;
}

static void heap_push(struct walk *w, uint32_t v)
{
    uint32_t at = w->n_heap++;

    if (w->n_heap > w->cap_heap) {
        w->cap_heap = w->cap_heap ? 2 * w->cap_heap : 256;
        w->heap = mem_resize(w->heap, w->cap_heap, sizeof(*w->heap));
    }
    for (; at > 0 && is_before(w, v, w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = v;
}

static uint32_t heap_pop(struct walk *w)
{
    uint32_t top = w->heap[0], v = w->heap[--w->n_heap], at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < w->n_heap && is_before(w, w->heap[child + 1], w->heap[child]))
            child++;
        if (child >= w->n_heap || !is_before(w, w->heap[child], v))
            break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = v;
    return top;
}

/* Reading one commit object */

static int by_oid(const void *a, const void *b)
{
    return git_oid_cmp(a, b);
}

static bool is_listed(const git_oid *list, size_t n, const git_oid *id)
{
    return n && bsearch(id, list, n, sizeof(*list), by_oid);
}

/** "<key> <rest>\n" at *at; moves past it. NULL when another key is there. */
static const char *header(const char **at, const char *end, const char *key, size_t *n)
{
    size_t n_key = strlen(key);
    const char *s = *at, *eol = memchr(s, '\n', (size_t)(end - s));

    if (!eol || (size_t)(eol - s) <= n_key || memcmp(s, key, n_key) != 0 || s[n_key] != ' ')
        return NULL;
    *at = eol + 1;
    *n = (size_t)(eol - s) - n_key - 1;
    return s + n_key + 1;
}

static bool read_oid(const char *s, size_t n, git_oid *out)
{
    return n == GIT_OID_HEXSZ && git_oid_fromstrn(out, s, n) == 0;
}

static char *cleaned(const char *s, size_t n, size_t max_bytes)
{
    struct buf b = {0};

    text_clean(&b, s, n, max_bytes);
    return buf_take(&b);
}

/** "Name <mail>" of "Name <mail> 1700000000 +0100", and the number. */
static size_t person(const char *s, size_t n, int64_t *time_s)
{
    const char *mail_end = memrchr(s, '>', n);
    char digits[24] = "";

    *time_s = 0;
    if (!mail_end)
        return n;
    size_t length = (size_t)(mail_end - s) + 1;
    size_t left = n - length < sizeof(digits) ? n - length : sizeof(digits) - 1;
    memcpy(digits, mail_end + 1, left);
    *time_s = strtoll(digits, NULL, 10);
    if (*time_s > max_time_s || *time_s < -max_time_s)
        *time_s = *time_s > 0 ? max_time_s : -max_time_s;
    return length;
}

static void read_message(struct walk_commit *c, const char *at, const char *end)
{
    const char *body = memmem(at, (size_t)(end - at), "\n\n", 2);

    body = at < end && *at == '\n' ? at + 1 : body ? body + 2 : end;
    while (body < end && *body == '\n')
        body++;
    const char *eol = memchr(body, '\n', (size_t)(end - body));
    c->subject = cleaned(body, (size_t)((eol ? eol : end) - body), MAX_SUBJECT);
}

static bool read_parents(struct walk *w, uint32_t i, const char **at, const char *end)
{
    uint32_t parents[64], n = 0, *many = NULL;
    const char *field;
    git_oid oid;
    size_t len;

    while ((field = header(at, end, "parent", &len))) {
        if (!read_oid(field, len, &oid) || n == MAX_PARENTS) {
            mem_free(many);
            return false;
        }
        if (n >= LEN(parents)) {
            many = mem_resize(many, n + 1, sizeof(*many));
            if (n == LEN(parents))
                memcpy(many, parents, sizeof(parents));
            many[n++] = intern(w, &oid);
        } else
            parents[n++] = intern(w, &oid);
    }
    struct walk_commit *c = &w->commits[i]; /* interning moves them */
    c->n_parents = n;
    c->parents = many;
    if (n && !many) {
        c->parents = mem_array(n, sizeof(*parents));
        memcpy(c->parents, parents, n * sizeof(*parents));
    }
    return true;
}

/** Source: gitformat-commit; what git itself writes, nothing lax. */
static bool parse(struct walk *w, uint32_t i, const char *text, size_t n_text)
{
    const char *at = text, *end = text + n_text, *field;
    int64_t unused;
    size_t n;

    field = header(&at, end, "tree", &n);
    if (!field || !read_oid(field, n, &w->commits[i].tree) || !read_parents(w, i, &at, end))
        return false;
    struct walk_commit *c = &w->commits[i];
    field = header(&at, end, "author", &n);
    if (!field)
        return false;
    c->author = cleaned(field, person(field, n, &unused), MAX_SUBJECT);
    field = header(&at, end, "committer", &n);
    if (!field)
        return false;
    person(field, n, &c->time_s);
    read_message(c, at, end);
    return true;
}

static enum err_code missing(const struct reader *r, uint32_t i, uint32_t child, struct err *e)
{
    const git_oid *id = &r->w->commits[i].id;
    char of[GIT_OID_HEXSZ + 1] = "";

    if (child != UINT32_MAX)
        git_oid_tostr(of, sizeof(of), &r->w->commits[child].id);
    err_set(e, ERR_INVALID, "commit %s%s%s is missing from the repository or cannot be read",
            git_oid_tostr_s(id), child != UINT32_MAX ? ", a parent of " : "", of);
    return err_hint(e,
                    "git fsck tells what is damaged; fetching again, or a fresh clone, mends it");
}

static enum err_code read_commit(struct reader *r, uint32_t i, uint32_t child, struct err *e)
{
    AUTO(git_odb_object_free) git_odb_object *object = NULL;
    struct walk *w = r->w;
    const git_oid id = w->commits[i].id;

    if (w->commits[i].is_read)
        return ERR_OK;
    if (w->n > r->max_commits)
        return err_set(e, ERR_LIMIT, "the range has more than %u commits", r->max_commits);
    if (git_odb_read(&object, r->odb, &id) < 0 ||
        git_odb_object_type(object) != GIT_OBJECT_COMMIT ||
        !parse(w, i, git_odb_object_data(object), git_odb_object_size(object)))
        return missing(r, i, child, e);
    struct walk_commit *c = &w->commits[i];
    c->is_read = true;
    c->is_forged = is_listed(r->doubts.forged, r->doubts.n_forged, &id);
    c->is_cut = c->n_parents && is_listed(r->doubts.cut, r->doubts.n_cut, &id);
    return ERR_OK;
}

/* Painting */

static bool is_open(const struct walk_commit *c)
{
    return c->is_waiting && walk_is_candidate(c);
}

/** A commit the answer may still turn on: a candidate, or a merge base. */
static bool may_matter(const struct walk_commit *c)
{
    return walk_is_candidate(c) || c->paint == FROM_BOTH;
}

static enum err_code paint(struct reader *r, uint32_t i, uint8_t colours, uint32_t child,
                           struct err *e)
{
    enum err_code rc;

    if ((r->w->commits[i].paint | colours) == r->w->commits[i].paint)
        return ERR_OK;
    if ((rc = read_commit(r, i, child, e)))
        return rc;

    struct walk *w = r->w;
    struct walk_commit *c = &w->commits[i];
    w->n_open -= is_open(c);
    c->paint |= colours;
    if (!c->is_waiting) {
        c->is_waiting = true;
        heap_push(w, i);
    }
    w->n_open += is_open(c);
    if (may_matter(c) && c->time_s < w->floor_s)
        w->floor_s = c->time_s;
    return ERR_OK;
}

static enum err_code walk_on(struct reader *r, struct err *e)
{
    struct walk *w = r->w;
    bool is_met = false; /* some commit is reached from both */

    while (w->n_heap &&
           (w->n_open || !is_met || w->commits[w->heap[0]].time_s >= w->floor_s - slack_s)) {
        uint32_t i = heap_pop(w);
        struct walk_commit *c = &w->commits[i];
        uint8_t colours = c->paint;
        w->n_open -= is_open(c);
        c->is_waiting = false;
        if ((colours & FROM_BOTH) == FROM_BOTH) {
            is_met = true;
            colours |= BELOW_BASE;
        }
        for (uint32_t k = 0; !w->commits[i].is_cut && k < w->commits[i].n_parents; k++) {
            enum err_code rc = paint(r, w->commits[i].parents[k], colours, i, e);
            if (rc)
                return rc;
        }
    }
    return ERR_OK;
}

/* What to doubt */

static void add_oid(git_oid **list, size_t *n, const git_oid *id)
{
    *list = mem_resize(*list, *n + 1, sizeof(**list));
    (*list)[(*n)++] = *id;
}

/** The first hash of each line of a file, if there is such a file. */
static void read_list(git_repository *origin, const char *file, git_oid **list, size_t *n)
{
    AUTO(mem_free) char *path = path_join(git_repository_commondir(origin), file);
    AUTO(buf_fini) struct buf text = {0};
    git_oid id;

    if (file_read(path, 64 * MIB, &text, NULL))
        return;
    for (const char *at = buf_str(&text), *end = at + text.len; at < end;) {
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        if (end - at >= GIT_OID_HEXSZ && git_oid_fromstrn(&id, at, GIT_OID_HEXSZ) == 0)
            add_oid(list, n, &id);
        at = eol ? eol + 1 : end;
    }
}

static void read_replacements(git_repository *origin, struct doubts *d)
{
    static const char folder[] = "refs/replace/";
    AUTO(git_reference_iterator_free) git_reference_iterator *it = NULL;
    const char *name;
    git_oid id;

    if (git_reference_iterator_glob_new(&it, origin, "refs/replace/*") < 0)
        return;
    while (git_reference_next_name(&name, it) == 0)
        if (git_oid_fromstr(&id, name + strlen(folder)) == 0)
            add_oid(&d->forged, &d->n_forged, &id);
}

static void doubts_read(struct doubts *d, git_repository *origin)
{
    if (!origin)
        return;
    read_list(origin, "shallow", &d->cut, &d->n_cut);
    read_list(origin, "info/grafts", &d->forged, &d->n_forged);
    read_replacements(origin, d);
    if (d->n_cut)
        qsort(d->cut, d->n_cut, sizeof(*d->cut), by_oid);
    if (d->n_forged)
        qsort(d->forged, d->n_forged, sizeof(*d->forged), by_oid);
}

/** A cut or a forgery does no harm where both ends reach it: candidates do not depend on it. */
static enum err_code check_doubts(const struct walk *w, struct err *e)
{
    for (uint32_t i = 0; i < w->n; i++) {
        const struct walk_commit *c = &w->commits[i];
        bool is_inside = (c->paint & FROM_BOTH) != FROM_BOTH || i == w->good || i == w->bad;
        if (c->is_cut && (c->paint & FROM_BOTH) != FROM_BOTH) {
            err_set(e, ERR_INVALID,
                    "the repository is a shallow clone that hides part of the range, "
                    "below commit %s",
                    git_oid_tostr_s(&c->id));
            return err_hint(e,
                            "git fetch --unshallow brings the rest of the history; then try again");
        }
        if (c->is_forged && is_inside) {
            err_set(e, ERR_INVALID, "commit %s in the range is altered by a graft or a replace ref",
                    git_oid_tostr_s(&c->id));
            return err_hint(e, "git replace --list shows them and git replace -d HASH removes one; "
                               "grafts are lines of .git/info/grafts");
        }
    }
    return ERR_OK;
}

static enum err_code walk_read(struct reader *r, const git_oid *good, const git_oid *bad,
                               struct err *e)
{
    struct walk *w = r->w;
    enum err_code rc;

    w->floor_s = INT64_MAX;
    w->bad = intern(w, bad);
    w->good = intern(w, good);
    if ((rc = paint(r, w->bad, FROM_BAD, UINT32_MAX, e)) ||
        (rc = paint(r, w->good, FROM_GOOD, UINT32_MAX, e)) || (rc = walk_on(r, e)))
        return rc;
    return check_doubts(w, e);
}

static enum err_code pair_read(struct reader *r, const git_oid *good, const git_oid *bad,
                               struct err *e)
{
    struct walk *w = r->w;

    w->bad = intern(w, bad);
    w->good = intern(w, good);
    if (read_commit(r, w->bad, UINT32_MAX, e) || read_commit(r, w->good, UINT32_MAX, e))
        return e->code;
    w->commits[w->bad].paint = FROM_BAD;
    w->commits[w->good].paint = FROM_GOOD;
    w->commits[w->bad].is_cut = w->commits[w->good].is_cut = false; /* nobody asks for parents */
    return check_doubts(w, e);
}

typedef enum err_code read_ends(struct reader *r, const git_oid *good, const git_oid *bad,
                                struct err *e);

static enum err_code walk_with(read_ends *read, git_repository *repo, git_repository *origin,
                               const git_oid ends[2], uint32_t max_commits, struct walk **out,
                               struct err *e)
{
    AUTO(walk_free) struct walk *w = mem_alloc(sizeof(*w));
    AUTO(git_odb_free) git_odb *odb = NULL;
    struct reader r = {.w = w, .max_commits = max_commits};
    int git = git_repository_odb(&odb, repo);

    if (git < 0)
        return err_git(e, git, "open the objects of %s", git_repository_path(repo));
    r.odb = odb;
    doubts_read(&r.doubts, origin);
    enum err_code rc = read(&r, &ends[0], &ends[1], e);
    mem_free(r.doubts.cut);
    mem_free(r.doubts.forged);
    if (rc)
        return rc;
    *out = TAKE(w);
    return ERR_OK;
}

enum err_code walk_range(git_repository *repo, git_repository *origin, const git_oid *good,
                         const git_oid *bad, uint32_t max_commits, struct walk **out, struct err *e)
{
    const git_oid ends[2] = {*good, *bad};

    return walk_with(walk_read, repo, origin, ends, max_commits, out, e);
}

enum err_code walk_pair(git_repository *repo, git_repository *origin, const git_oid *good,
                        const git_oid *bad, struct walk **out, struct err *e)
{
    const git_oid ends[2] = {*good, *bad};

    return walk_with(pair_read, repo, origin, ends, UINT32_MAX, out, e);
}
