#include "server/collector.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/map.h"
#include "store/ingest.h"
#include "store/writer.h"

enum {
    WAITING_MAX = 4096,         /* requests that wait for a commit */
    WAITING_MAX_OF_ONE = 1024,  /* of the same sender */
    WAITING_LEN_MAX = 64 << 20, /* bytes of their bodies */
    GATHER_NS = 1000000,        /* others may join a commit for so long */
};

struct waiting {
    cn_collected_fn done;
    void *arg;
    uint64_t who;
};

struct cn_collector {
    pthread_mutex_t lock;
    pthread_cond_t has_work;
    pthread_t committer;
    bool has_committer, is_ending;
    struct cn_store_writer *writer;
    struct cn_store_ingest *ingest;
    struct waiting *waiting;
    size_t waiting_count, waiting_capacity;
    uint64_t waiting_len;
    struct cn_map waiting_of; /* by sender: how many wait */
    uint64_t put_off, commits;
    bool has_failed; /* the store cannot be written: everything is refused */
    struct cn_error failure;
};

static void call_back(struct cn_collector *c, bool is_safe)
{
    for (size_t i = 0; i < c->waiting_count; i++)
        c->waiting[i].done(c->waiting[i].arg, is_safe);
    c->waiting_count = 0;
    c->waiting_len = 0;
    cn_map_done(&c->waiting_of);
}

static void commit(struct cn_collector *c)
{
    bool ok = cn_store_writer_commit(c->writer, &c->failure);

    c->commits++;
    c->has_failed |= !ok;
    call_back(c, ok);
}

static void *commit_forever(void *arg)
{
    static const struct timespec gather = {.tv_nsec = GATHER_NS};
    struct cn_collector *c = arg;

    (void)pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->waiting_count == 0 && !c->is_ending)
            (void)pthread_cond_wait(&c->has_work, &c->lock);
        if (c->waiting_count == 0)
            break;
        (void)pthread_mutex_unlock(&c->lock);
        (void)nanosleep(&gather, NULL);
        (void)pthread_mutex_lock(&c->lock);
        commit(c);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

static bool start_committer(struct cn_collector *c, struct cn_error *err)
{
    sigset_t all, before;
    int failure;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    failure = pthread_create(&c->committer, NULL, commit_forever, c);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0)
        return cn_fail(err, CN_ERR_IO, "cannot start a thread (error %d)", failure);
    c->has_committer = true;
    return true;
}

static bool open_store(struct cn_collector *c, const char *path, struct cn_error *err)
{
    struct stat st;

    if (stat(path, &st) != 0 && !cn_store_init(path, NULL, err))
        return false;
    if (!cn_store_writer_open(&c->writer, path, NULL, err))
        return false;
    c->ingest = cn_store_ingest_new(c->writer);
    return true;
}

static void free_collector(struct cn_collector *c)
{
    cn_store_ingest_free(c->ingest);
    cn_map_done(&c->waiting_of);
    free(c->waiting);
    (void)pthread_cond_destroy(&c->has_work);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

bool cn_collector_open(struct cn_collector **out, const char *path, struct cn_error *err)
{
    struct cn_collector *c = cn_alloc(1, sizeof(*c));

    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->has_work, NULL);
    if (!open_store(c, path, err) || !start_committer(c, err)) {
        cn_store_writer_abandon(c->writer);
        free_collector(c);
        return false;
    }
    *out = c;
    return true;
}

void cn_collector_finish(struct cn_collector *c)
{
    if (!c->has_committer)
        return;
    (void)pthread_mutex_lock(&c->lock);
    c->is_ending = true;
    (void)pthread_cond_signal(&c->has_work);
    (void)pthread_mutex_unlock(&c->lock);
    (void)pthread_join(c->committer, NULL);
    c->has_committer = false;
}

bool cn_collector_close(struct cn_collector *c, struct cn_error *err)
{
    bool ok;

    cn_collector_finish(c);
    ok = cn_store_writer_close(c->writer, err);
    free_collector(c);
    return ok;
}

static bool is_busy(const struct cn_collector *c, uint64_t who, size_t len)
{
    return c->waiting_count >= WAITING_MAX || c->waiting_len + len > WAITING_LEN_MAX ||
           cn_map_find(&c->waiting_of, who, 0) >= WAITING_MAX_OF_ONE;
}

static void add_waiting(struct cn_collector *c, struct waiting waiting, size_t len)
{
    c->waiting =
        cn_grow(c->waiting, c->waiting_count, &c->waiting_capacity, sizeof(*c->waiting));
    c->waiting[c->waiting_count++] = waiting;
    c->waiting_len += len;
    ++*cn_map_at(&c->waiting_of, waiting.who, 0);
    (void)pthread_cond_signal(&c->has_work);
}

static bool take_in(struct cn_collector *c, enum cn_collector_kind kind,
                    const struct cn_zorka_request *request, struct cn_error *err)
{
    switch (kind) {
    case CN_COLLECT_AGENT:
        return cn_store_ingest_request(c->ingest, request, err);
    case CN_COLLECT_SPANS:
        return cn_store_ingest_spans(c->ingest, request->body, err);
    }
    return cn_fail(err, CN_ERR_USAGE, "nobody knows what to do with this body");
}

enum cn_collector_result cn_collector_submit(struct cn_collector *c,
                                             enum cn_collector_kind kind,
                                             const struct cn_zorka_request *request,
                                             const char *who, cn_collected_fn done,
                                             void *arg, struct cn_error *err)
{
    enum cn_collector_result result = CN_COLLECTOR_REFUSED;
    uint64_t sender = XXH3_64bits(who, strlen(who));

    (void)pthread_mutex_lock(&c->lock);
    if (c->has_failed) {
        *err = c->failure;
    } else if (c->is_ending || is_busy(c, sender, request->body.len)) {
        c->put_off++;
        result = CN_COLLECTOR_BUSY;
    } else if (take_in(c, kind, request, err)) {
        add_waiting(c, (struct waiting){done, arg, sender}, request->body.len);
        result = CN_COLLECTOR_TAKEN;
    }
    (void)pthread_mutex_unlock(&c->lock);
    return result;
}

struct cn_collector_counts cn_collector_counts(struct cn_collector *c)
{
    struct cn_store_ingest_counts ingest;
    struct cn_collector_counts counts;

    (void)pthread_mutex_lock(&c->lock);
    ingest = cn_store_ingest_counts(c->ingest);
    counts = (struct cn_collector_counts){
        .requests = ingest.requests,
        .refused = ingest.refused,
        .put_off = c->put_off,
        .traces = ingest.traces,
        .known = ingest.known,
        .records = ingest.records,
        .commits = c->commits,
    };
    (void)pthread_mutex_unlock(&c->lock);
    return counts;
}
