/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/slowsql_gather.h"
#include "base/hash.h"
#include "base/mem.h"
#include "cli/terminal.h"
#include "formats/slowsql_fit.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS_MOST = 256 };

/** What the threads share. */
struct team {
    const struct gather_input *in;
    struct feed *feed;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t turned;
    uint64_t turn; /* the chunk whose lines are to be written next */
    int fd;        /* for mapped lines; -1: gather */
    struct err failure;
};

/** One thread. */
struct hand {
    struct team *team;
    pthread_t thread;
    struct telemetry_reader *reader;
    struct slowsql_mapped mapped;
    struct buf lines; /* mapped, of one chunk */
    struct gathered *found;
    size_t reports_cap, items_cap;
};

void gathered_free(struct gathered *g)
{
    if (!g)
        return;
    tally_free(g->tally);
    mem_free(g->reports);
    mem_free(g->items);
    mem_free(g);
}

static struct gathered *gathered_new(void)
{
    struct gathered *g = mem_alloc(sizeof(*g));

    g->tally = tally_new();
    return g;
}

/* Documents */

static uint32_t row_of(struct tally *t, const struct slowsql_mapped *m, size_t i)
{
    return (uint32_t)tally_at(t, m->keys.data + m->items[i].key_at, m->items[i].n_key);
}

/** Keeps what a report says until all are there. */
static void keep_report(struct hand *h, uint64_t anonymous)
{
    const struct slowsql_mapped *m = &h->mapped;
    struct gathered *g = h->found;

    if (g->n_reports == h->reports_cap) {
        h->reports_cap = h->reports_cap ? 2 * h->reports_cap : 1024;
        g->reports = mem_resize(g->reports, h->reports_cap, sizeof(*g->reports));
    }
    if (g->n_items + m->n > h->items_cap) {
        h->items_cap = 2 * (g->n_items + m->n);
        g->items = mem_resize(g->items, h->items_cap, sizeof(*g->items));
    }
    g->reports[g->n_reports++] = (struct gathered_report){
        .client = m->client ? m->client : anonymous,
        .session = m->session.len ? tally_hash(m->session.data, m->session.len) | 1 : 0,
        .order = m->order,
        .row = row_of(g->tally, m, 0),
        .n_items = (uint32_t)m->n - 1,
        .first_item = g->n_items,
        .has_time = m->has_time};
    for (size_t i = 1; i < m->n; i++)
        g->items[g->n_items++] = (struct gathered_item){
            row_of(g->tally, m, i), m->items[i].sums.count, m->items[i].sums.total_ms};
}

static void take_mapped(struct hand *h, uint64_t anonymous)
{
    const struct slowsql_mapped *m = &h->mapped;

    if (h->team->fd >= 0) {
        slowsql_lines_of(m, &h->lines);
        return;
    }
    slowsql_tally_notes(m, h->found->tally);
    if (m->fate != FATE_COUNTED)
        return;
    if (m->session.len || h->team->in->wants_clients) {
        keep_report(h, anonymous);
        return;
    }
    for (size_t i = 0; i < m->n; i++)
        tally_add(h->found->tally, row_of(h->found->tally, m, i), &m->items[i].sums);
}

static bool is_before(const struct gathered_reject *a, const struct gathered_reject *b)
{
    return !b->why ||
           (a->why && (a->source < b->source || (a->source == b->source && a->offset < b->offset)));
}

/** How many lines are documents. */
static void count_document(struct hand *h, const struct chunk *c, uint64_t offset)
{
    const struct gathered_reject reject = {c->source, offset, h->mapped.why};
    struct gathered *g = h->found;

    g->n_documents++;
    if (h->mapped.fate == FATE_COUNTED)
        g->groups |= 1u << slowsql_groups_of(h->team->in->question);
    if (h->mapped.fate != FATE_REJECTED)
        return;
    g->n_rejected++;
    if (is_before(&reject, &g->first_reject))
        g->first_reject = reject;
}

static void take_document(struct hand *h, const struct chunk *c, struct span line)
{
    const uint64_t offset = c->offset + (uint64_t)(line.s - buf_str(&c->bytes));
    struct telemetry t;

    telemetry_read(h->reader, line.s, line.n, &t);
    slowsql_map(h->team->in->question, &t, &h->mapped);
    count_document(h, c, offset);
    take_mapped(h, mix64(offset) ^ c->source);
}

static void take_too_long(struct hand *h, const struct chunk *c)
{
    struct telemetry t = {.fault = REJECT_TOO_LONG};

    slowsql_map(h->team->in->question, &t, &h->mapped);
    count_document(h, c, c->offset);
    take_mapped(h, 0);
}

/** A line that came out of reduce. */
static enum err_code take_reduced(struct hand *h, const struct slowsql_line *line, struct err *e)
{
    enum group_kind kind = GROUPS_NONE;
    enum err_code rc = ERR_OK;
    bool is_asked = false;

    if (h->team->fd >= 0 || line->kind == LINE_SESSION) {
        rc = err_set(e, ERR_INVALID, "a line that is mapped already");
        err_hint(e, h->team->fd >= 0 ? "map reads telemetry documents."
                                     : "Reduce first: LC_ALL=C sort | bisectctl slowsql reduce.");
    }
    if (!rc)
        rc = slowsql_fit(h->team->in->question, line, &is_asked, &kind, e);
    if (rc)
        return rc;
    h->found->is_reduced = true;
    h->found->groups |= kind ? 1u << kind : 0;
    if (is_asked)
        tally_add(h->found->tally, tally_at(h->found->tally, line->key.s, line->key.n),
                  &line->sums);
    return ERR_OK;
}

/** Documents do not say which group they are of; only lines that were reduced do. */
static enum err_code check_groups(const struct slowsql_question *q, struct err *e)
{
    if (!q->is_pair || q->n_groups)
        return ERR_OK;
    err_set(e, ERR_INVALID, "--before-build and --after-build are missing");
    return err_hint(e, "As in --before-build ..20130622 --after-build 20130623..; only lines that "
                       "`slowsql reduce` wrote have groups of their own.");
}

/** One that begins with a bracket and is no such line is a document that is none. */
static enum err_code take_line(struct hand *h, const struct chunk *c, struct span text,
                               struct err *e)
{
    const char *end = text.s + text.n, *first = skim_space(text.s, end);
    struct slowsql_line line;
    struct err no_line = {0};

    if (first == end)
        return ERR_OK;
    if (*first != '[' || slowsql_line_parse(text.s, text.n, &line, &no_line)) {
        enum err_code code = check_groups(h->team->in->question, e);
        if (!code)
            take_document(h, c, text);
        return code;
    }
    enum err_code rc = take_reduced(h, &line, e);
    if (rc)
        err_wrap(e, "%.300s: the line at byte %llu", feed_name(h->team->feed, c->source),
                 (unsigned long long)c->offset + (unsigned long long)(text.s - c->bytes.data));
    return rc;
}

/* Threads */

static enum err_code take_chunk(struct hand *h, const struct chunk *c, struct err *e)
{
    const char *p = buf_str(&c->bytes), *end = p + c->bytes.len;

    buf_clear(&h->lines);
    for (unsigned i = 0; i < c->n_too_long; i++)
        take_too_long(h, c);
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);
        enum err_code rc = take_line(h, c, (struct span){p, n}, e);
        if (rc)
            return rc;
        p += n + (stop != NULL);
    }
    return ERR_OK;
}

/** Writes when all chunks before this one are written. */
static enum err_code write_in_turn(struct hand *h, uint64_t number, struct err *e)
{
    struct team *t = h->team;
    enum err_code rc = ERR_OK;

    pthread_mutex_lock(&t->lock);
    while (t->turn != number && !t->failure.code)
        pthread_cond_wait(&t->turned, &t->lock);
    if (!t->failure.code)
        rc = terminal_write(t->fd, &h->lines, e);
    t->turn++;
    pthread_cond_broadcast(&t->turned);
    pthread_mutex_unlock(&t->lock);
    return rc;
}

static bool has_failed(struct team *t, const struct err *e)
{
    pthread_mutex_lock(&t->lock);
    if (e->code && !t->failure.code) {
        t->failure = *e;
        pthread_cond_broadcast(&t->turned);
    }
    bool has = t->failure.code != ERR_OK;
    pthread_mutex_unlock(&t->lock);
    return has;
}

static void *work(void *hand)
{
    struct hand *h = hand;
    struct chunk c = {0};
    struct err e = {0};
    bool has = false;

    do {
        if (!feed_next(h->team->feed, &c, &has, &e) && has && !take_chunk(h, &c, &e) &&
            h->team->fd >= 0)
            (void)write_in_turn(h, c.number, &e);
    } while (!has_failed(h->team, &e) && has);
    buf_fini(&c.bytes);
    return NULL;
}

static size_t n_jobs(int64_t asked)
{
    long n = asked > 0 ? (long)asked : sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > JOBS_MOST ? JOBS_MOST : (size_t)n;
}

static void run_team(struct team *t, struct hand *hands, size_t n)
{
    size_t n_started = 0;

    for (size_t i = 0; i < n; i++) {
        hands[i].team = t;
        hands[i].reader = telemetry_reader_new();
        hands[i].found = gathered_new();
    }
    for (size_t i = 1; i < n; i++)
        n_started +=
            pthread_create(&hands[n_started + 1].thread, NULL, work, &hands[n_started + 1]) == 0;
    work(&hands[0]);
    for (size_t i = 1; i <= n_started; i++)
        pthread_join(hands[i].thread, NULL);
    for (size_t i = 0; i < n; i++) {
        telemetry_reader_free(hands[i].reader);
        slowsql_mapped_fini(&hands[i].mapped);
        buf_fini(&hands[i].lines);
    }
}

/** Starts, waits, and leaves what was found in the hands. */
static enum err_code gather_all(const struct gather_input *in, int fd, struct hand *hands, size_t n,
                                struct err *e)
{
    AUTO(feed_free) struct feed *feed = NULL;
    struct team team = {.in = in, .fd = fd};

    enum err_code rc =
        feed_new(in->paths, in->n_paths, fd >= 0 ? FEED_IN_ORDER : FEED_ANY_ORDER, &feed, e);
    if (rc)
        return rc;
    team.feed = feed;
    pthread_mutex_init(&team.lock, NULL);
    pthread_cond_init(&team.turned, NULL);
    run_team(&team, hands, n);
    pthread_mutex_destroy(&team.lock);
    pthread_cond_destroy(&team.turned);
    if (team.failure.code && e)
        *e = team.failure;
    return team.failure.code;
}

enum err_code gather_map(const struct gather_input *in, int fd, struct err *e)
{
    size_t n = n_jobs(in->jobs);
    struct hand *hands = mem_array(n, sizeof(*hands));
    enum err_code rc = gather_all(in, fd, hands, n, e);

    for (size_t i = 0; i < n; i++)
        gathered_free(hands[i].found);
    mem_free(hands);
    return rc;
}

/* Putting together */

/** Moves what one thread found to the whole, whose rows have other numbers. */
static void join(struct gathered *all, struct gathered *part)
{
    uint32_t *rows = mem_array(tally_n(part->tally) + 1, sizeof(*rows));

    for (size_t i = 0; i < tally_n(part->tally); i++) {
        const struct tally_row *row = tally_row(part->tally, i);
        rows[i] = (uint32_t)tally_at(all->tally, row->key, row->n_key);
        tally_add(all->tally, rows[i], &row->sums);
    }
    for (size_t i = 0; i < part->n_reports; i++) {
        struct gathered_report *r = &all->reports[all->n_reports + i];
        *r = part->reports[i];
        r->row = rows[r->row];
        r->first_item += all->n_items;
    }
    for (size_t i = 0; i < part->n_items; i++) {
        all->items[all->n_items + i] = part->items[i];
        all->items[all->n_items + i].row = rows[part->items[i].row];
    }
    all->n_reports += part->n_reports;
    all->n_items += part->n_items;
    all->is_reduced |= part->is_reduced;
    all->groups |= part->groups;
    all->n_documents += part->n_documents;
    all->n_rejected += part->n_rejected;
    if (is_before(&part->first_reject, &all->first_reject))
        all->first_reject = part->first_reject;
    mem_free(rows);
}

/** By session, the last one of each first. */
static int by_session(const void *a, const void *b)
{
    const struct gathered_report *x = a, *y = b;

    if (x->session != y->session)
        return x->session > y->session ? 1 : -1;
    if (x->order.used != y->order.used)
        return x->order.used < y->order.used ? 1 : -1;
    if (x->order.submitted != y->order.submitted)
        return x->order.submitted < y->order.submitted ? 1 : -1;
    if (x->order.total_ms != y->order.total_ms)
        return x->order.total_ms < y->order.total_ms ? 1 : -1;
    if (x->order.hash != y->order.hash)
        return x->order.hash < y->order.hash ? 1 : -1;
    return (x->client > y->client) - (x->client < y->client);
}

static void add_report(struct gathered *g, const struct gathered_report *r)
{
    struct sums sums = {.reports = 1, .used = r->order.used};

    tally_add(g->tally, r->row, &sums);
    for (size_t i = 0; i < r->n_items; i++) {
        const struct gathered_item *item = &g->items[r->first_item + i];
        sums.count = item->count;
        sums.total_ms = item->total_ms;
        tally_add(g->tally, item->row, &sums);
    }
}

/** Of each session only the last report counts. */
static void settle(struct gathered *g)
{
    int64_t n_superseded = 0;

    if (g->n_reports)
        qsort(g->reports, g->n_reports, sizeof(*g->reports), by_session);
    for (size_t i = 0; i < g->n_reports; i++) {
        struct gathered_report *r = &g->reports[i];
        r->is_superseded = r->session && i > 0 && r[-1].session == r->session;
        if (r->is_superseded)
            n_superseded++;
        else
            add_report(g, r);
    }
    slowsql_note_superseded(g->tally, n_superseded);
}

/** Can an answer be made of it? */
static enum err_code check_whole(const struct gathered *g, struct err *e)
{
    if (g->groups & (g->groups - 1)) {
        err_set(e, ERR_INVALID,
                "documents and reduced lines, or several of these, differ in their "
                "groups: all, before and after, or builds");
        return err_hint(e, "Map all of it with the same flags.");
    }
    if (g->n_documents == 0 || g->n_rejected < g->n_documents || g->is_reduced)
        return ERR_OK;
    const char *words = g->first_reject.why;
    for (size_t i = 0; i < REJECT_COUNT_OF; i++)
        if (strcmp(reject_names[i], g->first_reject.why) == 0)
            words = reject_words[i];
    err_set(e, ERR_INVALID, "no document of use among %zu lines; the first: %s", g->n_documents,
            words);
    return err_hint(e, "Telemetry documents come one a line, plain or packed with gzip or zstd.");
}

enum err_code gather(const struct gather_input *in, struct gathered **out, struct err *e)
{
    size_t n = n_jobs(in->jobs), n_reports = 0, n_items = 0;
    struct hand *hands = mem_array(n, sizeof(*hands));
    AUTO(gathered_free) struct gathered *all = gathered_new();
    enum err_code rc = gather_all(in, -1, hands, n, e);

    for (size_t i = 0; i < n && !rc; i++) {
        n_reports += hands[i].found->n_reports;
        n_items += hands[i].found->n_items;
    }
    all->reports = mem_array(n_reports + 1, sizeof(*all->reports));
    all->items = mem_array(n_items + 1, sizeof(*all->items));
    for (size_t i = 0; i < n; i++) {
        if (!rc)
            join(all, hands[i].found);
        gathered_free(hands[i].found);
    }
    mem_free(hands);
    if (rc)
        return rc;
    rc = check_whole(all, e);
    if (!rc && !all->is_reduced)
        rc = check_groups(in->question, e);
    if (rc)
        return rc;
    settle(all);
    *out = TAKE(all);
    return ERR_OK;
}
