/* SPDX-License-Identifier: Apache-2.0 */
#include "app/driver.h"
#include "app/document.h"
#include "app/driver_state.h"
#include "app/quote.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/derived.h"
#include "store/tasks.h"
#include <string.h>
#include <sys/utsname.h>

/* Children that fetch and walk repositories at once. */
enum { MAX_RESOLVING = 4 };
#define EXPIRY_PERIOD_NS (NS_PER_S)
#define TICK_PERIOD_NS   (500 * NS_PER_MS)
/* Work for idle workers that is nearly done may end before others get their turn. */
#define YIELD_AFTER_NS (10 * NS_PER_S)

static void on_changed(void *self, const char *bisection)
{
    struct driver *d = self;

    if (d->server)
        server_publish(d->server, bisection);
}

static void on_queued(void *self)
{
    struct driver *d = self;

    if (d->server)
        server_wake_workers(d->server);
}

/* As a worker of this machine calls its platform. */
static char *platform_here(void)
{
    struct utsname u;

    if (uname(&u))
        return mem_dup("");
    if (strcmp(u.machine, "x86_64") == 0)
        return mem_dup("linux-x64");
    if (strcmp(u.machine, "aarch64") == 0)
        return mem_dup("linux-arm64");
    return mem_printf("linux-%s", u.machine);
}

static bool is_busy(void *self)
{
    return driver_n_wanted(self) > 0;
}

struct driver *driver_new(const struct driver_options *o)
{
    struct driver *d = mem_alloc(sizeof(*d));

    d->o = *o;
    d->rule = (struct tenure_rule){.term_ns = o->config->limits.lease_ns,
                                   .renew_ns = o->config->limits.renew_ns};
    d->local_platform = o->local_platform ? mem_dup(o->local_platform) : platform_here();
    d->ground = (struct ground){
        .store = o->store,
        .pool = o->pool,
        .loop = o->loop,
        .n_local = o->local ? local_count(o->local) : 0,
        .local_platform = d->local_platform,
        .max_range = (uint32_t)o->config->limits.n_range,
        .self = d,
        .changed = on_changed,
        .queued = on_queued,
    };
    const struct calibrator_ground calibration = {
        .store = o->store,
        .pool = o->pool,
        .config = &o->config->calibration,
        .is_private = o->is_private,
        .self = d,
        .compare = serve_check,
        .is_busy = is_busy,
    };
    d->calibrator = calibrator_new(&calibration);
    serve_init(d);
    return d;
}

static void forget(struct driver *d)
{
    for (size_t i = 0; i < d->n_courses; i++)
        course_free(d->courses[i]);
    d->n_courses = 0;
}

void driver_free(struct driver *d)
{
    if (!d)
        return;
    forget(d);
    calibrator_free(d->calibrator);
    mem_free(d->courses);
    mem_free(d->local_platform);
    mem_free(d);
}

const struct service *driver_service(const struct driver *d)
{
    return &d->service;
}

void driver_attach(struct driver *d, struct server *s)
{
    d->server = s;
}

size_t driver_n_courses(const struct driver *d)
{
    return d->n_courses;
}

struct course *driver_find(const struct driver *d, const char *id)
{
    for (size_t i = 0; i < d->n_courses; i++)
        if (strcmp(course_id(d->courses[i]), id) == 0)
            return course_is_over(d->courses[i]) ? NULL : d->courses[i];
    return NULL;
}

size_t driver_n_wanted(const struct driver *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n_courses; i++)
        n += !course_is_over(d->courses[i]) && !course_is_when_idle(d->courses[i]);
    return n;
}

void driver_add(struct driver *d, struct course *c)
{
    d->courses = mem_resize(d->courses, d->n_courses + 1, sizeof(struct course *));
    d->courses[d->n_courses++] = c;
}

enum err_code driver_spoil(struct driver *d, const char *bisection, const struct err *e)
{
    if (!d->fault.code) {
        d->fault = *e;
        d->fault_at = (struct id){{0}};
        if (bisection)
            memcpy(d->fault_at.text, bisection, strnlen(bisection, sizeof(d->fault_at.text) - 1));
    }
    return e->code;
}

const struct err *driver_fault(const struct driver *d)
{
    return &d->fault;
}

/* -- from the store -- */

/* A bisection that cannot be taken up is over; the others are not to suffer for it. */
static enum err_code give_up(struct driver *d, const struct bisection_row *row,
                             const struct err *why, struct err *e)
{
    struct store *s = d->o.store;
    AUTO(mem_free) char *message = mem_printf("an internal error ended it: %s", why->text);
    AUTO(json_free)
    json *document =
        document_without_search(row->request, row->id.text, BISECTION_DONE, VERDICT_FAILED, message,
                                (double)row->used_ns / (double)NS_PER_S);

    AUTO(buf_fini) struct buf quoted = {0};

    LOG(LOG_ERROR, "bisection given up", "bisection=%s error=%s", row->id.text,
        quote(&quoted, why->text));
    if (store_task_cancel_all(s, row->id.text, utc_now(), e) ||
        store_verdict_put(s, row->id.text, document, e))
        return e->code;
    return store_bisection_set_state(s, row->id.text, BISECTION_DONE, message, utc_now(), e);
}

static enum err_code take_up(struct driver *d, const struct bisection_row *row, struct err *e)
{
    struct course *c;
    struct err why = {0};

    if (strcmp(row->id.text, d->poisoned.text) == 0)
        why = d->poison;
    else if (!course_load(&d->ground, row, &c, &why)) {
        driver_add(d, c);
        return ERR_OK;
    }
    if (why.code == ERR_IO) {
        *e = why;
        return e->code;
    }
    return give_up(d, row, &why, e);
}

/* The same bisection failing again and again for a reason that is not the disk's. */
static void note_poison(struct driver *d)
{
    if (d->fault.code && d->fault.code != ERR_IO && d->fault_at.text[0]) {
        d->poisoned = d->fault_at;
        d->poison = d->fault;
    }
    d->fault = (struct err){0};
}

enum err_code driver_load(struct driver *d, struct err *e)
{
    AUTO(bisection_list_fini) struct bisection_list rows = {0};

    forget(d);
    note_poison(d);
    if (store_bisection_unfinished(d->o.store, &rows, e))
        return e->code;
    for (size_t i = 0; i < rows.n; i++)
        if (take_up(d, rows.items[i], e))
            return e->code;
    return calibrator_load(d->calibrator, e);
}

enum err_code driver_adopt(struct driver *d, struct err *e)
{
    AUTO(returned_list_fini) struct returned_list list = {0};

    if (store_leases_adopt(d->o.store, mono_now(), &d->rule, e))
        return e->code;
    /* Workers of our own died with our last life, if not before it. */
    return store_leases_end_engine(d->o.store, "local", RETURN_RESTART, utc_now(), &list, e);
}

/* -- what becomes due -- */

enum err_code driver_returned(struct driver *d, const struct returned_list *list, struct err *e)
{
    AUTO(buf_fini) struct buf quoted = {0};

    for (size_t i = 0; i < list->n; i++) {
        const struct returned *r = &list->items[i];
        struct course *c = driver_find(d, r->bisection.text);

        LOG(LOG_WARN, "task came back", "bisection=%s task=%s ordinal=%u worker=%s state=%s why=%s",
            r->bisection.text, r->task.text, (unsigned)r->ordinal, r->worker ? r->worker : "",
            task_state_name(r->state), quote(&quoted, r->reason));
        if (c)
            course_activity(c, NULL);
        if (r->state == TASK_QUEUED)
            on_queued(d);
        else if (c && r->state == TASK_GIVEN_UP && course_given_up(c, r->ordinal, r->reason, e))
            return driver_spoil(d, r->bisection.text, e);
    }
    return ERR_OK;
}

/* Who waits for a worker is not to wait for work that nobody waits for. */
static enum err_code yield(struct driver *d, struct err *e)
{
    AUTO(returned_list_fini) struct returned_list list = {0};
    struct utc now = utc_now();

    if (!calibrator_n_measuring(d->calibrator))
        return ERR_OK;
    if (store_leases_yield(d->o.store, (struct utc){now.ns - YIELD_AFTER_NS}, now, &list, e))
        return e->code;
    return driver_returned(d, &list, e);
}

static enum err_code expire(struct driver *d, struct mono now, struct err *e)
{
    AUTO(returned_list_fini) struct returned_list list = {0};

    if (now.ns < d->expiry_due.ns)
        return ERR_OK;
    d->expiry_due.ns = now.ns + EXPIRY_PERIOD_NS;
    if (store_leases_expire(d->o.store, utc_now(), now, &list, e))
        return e->code;
    if (driver_returned(d, &list, e))
        return e->code;
    return yield(d, e);
}

static void drop_finished(struct driver *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n_courses; i++) {
        if (course_is_over(d->courses[i]))
            course_free(d->courses[i]);
        else
            d->courses[n++] = d->courses[i];
    }
    d->n_courses = n;
}

static enum err_code resolve_next(struct driver *d, struct err *e)
{
    size_t n = 0;

    for (size_t i = 0; i < d->n_courses; i++)
        n += course_is_resolving(d->courses[i]);
    for (size_t i = 0; i < d->n_courses && n < MAX_RESOLVING; i++) {
        struct course *c = d->courses[i];
        if (course_state(c) != BISECTION_QUEUED)
            continue;
        if (course_resolve(c, e))
            return driver_spoil(d, course_id(c), e);
        n++;
    }
    return ERR_OK;
}

enum err_code driver_tick(struct driver *d, struct mono now, struct err *e)
{
    for (size_t i = 0; i < d->n_courses; i++)
        if (course_tick(d->courses[i], now, e))
            return driver_spoil(d, course_id(d->courses[i]), e);
    if (expire(d, now, e))
        return e->code;
    if (calibrator_tick(d->calibrator, now, e))
        return driver_spoil(d, NULL, e);
    if (resolve_next(d, e))
        return e->code;
    drop_finished(d);
    return ERR_OK;
}

bool driver_deadline(const struct driver *d, struct mono now, struct mono *out)
{
    struct mono other;
    bool has_other = calibrator_deadline(d->calibrator, now, &other);

    out->ns = now.ns + TICK_PERIOD_NS;
    if (d->n_courses == 0 || (has_other && other.ns < out->ns))
        *out = other;
    return d->n_courses > 0 || has_other;
}

enum err_code driver_worker_died(struct driver *d, const char *name, struct err *e)
{
    AUTO(returned_list_fini) struct returned_list list = {0};

    if (store_leases_end_worker(d->o.store, name, RETURN_DIED, utc_now(), &list, e))
        return e->code;
    return driver_returned(d, &list, e);
}

enum err_code driver_note_time(struct driver *d, struct err *e)
{
    for (size_t i = 0; i < d->n_courses; i++)
        if (course_note_time(d->courses[i], mono_now(), e))
            return e->code;
    return ERR_OK;
}
