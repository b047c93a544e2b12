#include "server/http/sealer.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "server/served/worker.h"
#include "store/segment/seal.h"

struct cn_sealer {
    const char *path;
    const struct cn_disk *io;
    pthread_mutex_t lock;
    pthread_cond_t has_changed;
    pthread_t thread;
    uint32_t *segments; /* the first one is being sealed, or is next */
    size_t count, capacity;
    bool is_ending;
};

static void *seal_forever(void *arg)
{
    struct cn_sealer *sealer = arg;

    (void)pthread_mutex_lock(&sealer->lock);
    for (;;) {
        struct cn_error ignored;
        uint32_t segment;

        while (sealer->count == 0 && !sealer->is_ending)
            (void)pthread_cond_wait(&sealer->has_changed, &sealer->lock);
        if (sealer->count == 0)
            break;
        segment = sealer->segments[0];
        (void)pthread_mutex_unlock(&sealer->lock);
        (void)!cn_segment_seal(sealer->path, segment, sealer->io, &ignored);
        (void)pthread_mutex_lock(&sealer->lock);
        sealer->count--;
        for (size_t i = 0; i < sealer->count; i++)
            sealer->segments[i] = sealer->segments[i + 1];
        (void)pthread_cond_broadcast(&sealer->has_changed);
    }
    (void)pthread_mutex_unlock(&sealer->lock);
    return NULL;
}

static void free_sealer(struct cn_sealer *sealer)
{
    (void)pthread_cond_destroy(&sealer->has_changed);
    (void)pthread_mutex_destroy(&sealer->lock);
    free(sealer->segments);
    free(sealer);
}

bool cn_sealer_start(struct cn_sealer **out, const char *path, const struct cn_disk *io,
                     struct cn_error *err)
{
    struct cn_sealer *sealer = cn_alloc(1, sizeof(*sealer));

    sealer->path = path;
    sealer->io = io;
    (void)pthread_mutex_init(&sealer->lock, NULL);
    (void)pthread_cond_init(&sealer->has_changed, NULL);
    if (!cn_worker_start(&sealer->thread, seal_forever, sealer, err)) {
        free_sealer(sealer);
        return false;
    }
    *out = sealer;
    return true;
}

void cn_sealer_add(struct cn_sealer *sealer, uint32_t segment)
{
    (void)pthread_mutex_lock(&sealer->lock);
    sealer->segments = cn_grow(sealer->segments, sealer->count, &sealer->capacity,
                               sizeof(*sealer->segments));
    sealer->segments[sealer->count++] = segment;
    (void)pthread_cond_broadcast(&sealer->has_changed);
    (void)pthread_mutex_unlock(&sealer->lock);
}

void cn_sealer_wait(struct cn_sealer *sealer)
{
    (void)pthread_mutex_lock(&sealer->lock);
    while (sealer->count > 0)
        (void)pthread_cond_wait(&sealer->has_changed, &sealer->lock);
    (void)pthread_mutex_unlock(&sealer->lock);
}

void cn_sealer_stop(struct cn_sealer *sealer)
{
    if (!sealer)
        return;
    (void)pthread_mutex_lock(&sealer->lock);
    sealer->is_ending = true;
    (void)pthread_cond_broadcast(&sealer->has_changed);
    (void)pthread_mutex_unlock(&sealer->lock);
    (void)pthread_join(sealer->thread, NULL);
    free_sealer(sealer);
}
