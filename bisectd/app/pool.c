/* SPDX-License-Identifier: Apache-2.0 */
#include "app/pool.h"
#include "base/file.h"
#include "base/mem.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct queue {
    struct job *first, *last;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct queue waiting, finished; /* under the lock, as is_stopping */
    bool is_stopping;
    int fd;
    uint32_t n_threads;
    pthread_t *threads;
};

static void push(struct queue *q, struct job *j)
{
    j->next = NULL;
    if (q->last)
        q->last->next = j;
    else
        q->first = j;
    q->last = j;
}

static struct job *shift(struct queue *q)
{
    struct job *j = q->first;

    if (j)
        q->first = j->next;
    if (!q->first)
        q->last = NULL;
    return j;
}

static struct job *next_job(struct pool *p)
{
    while (!p->waiting.first && !p->is_stopping)
        pthread_cond_wait(&p->news, &p->lock);
    return p->is_stopping ? NULL : shift(&p->waiting);
}

static void *work(void *ctx)
{
    const uint64_t one = 1;
    struct pool *p = ctx;
    struct job *j;

    pthread_mutex_lock(&p->lock);
    while ((j = next_job(p))) {
        pthread_mutex_unlock(&p->lock);
        j->run(j);
        pthread_mutex_lock(&p->lock);
        push(&p->finished, j);
        ssize_t n = write(p->fd, &one, sizeof(one));
        assert(n == (ssize_t)sizeof(one));
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

enum err_code pool_new(uint32_t n_threads, struct pool **out, struct err *e)
{
    AUTO(pool_free) struct pool *p = mem_alloc(sizeof(*p));

    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->news, NULL);
    p->threads = mem_array(n_threads, sizeof(*p->threads));
    p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->fd < 0)
        return err_sys(e, errno, "eventfd");
    for (; p->n_threads < n_threads; p->n_threads++) {
        int rc = pthread_create(&p->threads[p->n_threads], NULL, work, p);
        if (rc)
            return err_sys(e, rc, "start a thread");
    }
    *out = TAKE(p);
    return ERR_OK;
}

static void finish_all(struct queue *q)
{
    struct job *j;

    while ((j = shift(q)))
        j->done(j);
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_stopping = true;
    pthread_cond_broadcast(&p->news);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->n_threads; i++)
        pthread_join(p->threads[i], NULL);
    finish_all(&p->finished);
    finish_all(&p->waiting);
    pthread_cond_destroy(&p->news);
    pthread_mutex_destroy(&p->lock);
    fd_close(p->fd);
    mem_free(p->threads);
    mem_free(p);
}

int pool_fd(const struct pool *p)
{
    return p->fd;
}

void pool_submit(struct pool *p, struct job *j)
{
    pthread_mutex_lock(&p->lock);
    push(&p->waiting, j);
    pthread_cond_signal(&p->news);
    pthread_mutex_unlock(&p->lock);
}

void pool_collect(struct pool *p)
{
    uint64_t n;

    if (read(p->fd, &n, sizeof(n)) < 0)
        return;
    pthread_mutex_lock(&p->lock);
    struct queue mine = p->finished;
    p->finished = (struct queue){0};
    pthread_mutex_unlock(&p->lock);
    finish_all(&mine);
}
