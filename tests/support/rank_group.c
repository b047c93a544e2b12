#include "support/rank_group.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Bytes on their way from one rank to another. */
struct stream {
    struct cn_text bytes;
    size_t taken;
};

struct group {
    pthread_mutex_t lock;
    pthread_cond_t sent;
    unsigned size;
    struct stream *streams; /* by channel, sender and receiver */
    cn_rank_fn run;
    void *arg;
};

struct member {
    struct cn_ranks ranks;
    struct group *group;
    pthread_t thread;
};

static struct stream *stream_of(const struct group *group, unsigned channel,
                                unsigned from, unsigned to)
{
    return &group->streams[((size_t)channel * group->size + from) * group->size + to];
}

static bool group_send(struct cn_ranks *ranks, unsigned to, const void *data, size_t len,
                       struct cn_error *err)
{
    struct group *group = ranks->group;

    (void)err;
    (void)pthread_mutex_lock(&group->lock);
    cn_text_add(&stream_of(group, ranks->channel, ranks->rank, to)->bytes, data, len);
    (void)pthread_cond_broadcast(&group->sent);
    (void)pthread_mutex_unlock(&group->lock);
    return true;
}

static bool group_receive(struct cn_ranks *ranks, unsigned from, void *data, size_t len,
                          struct cn_error *err)
{
    struct group *group = ranks->group;
    struct stream *stream = stream_of(group, ranks->channel, from, ranks->rank);

    (void)err;
    (void)pthread_mutex_lock(&group->lock);
    while (stream->bytes.len - stream->taken < len)
        (void)pthread_cond_wait(&group->sent, &group->lock);
    memcpy(data, stream->bytes.chars + stream->taken, len);
    stream->taken += len;
    (void)pthread_mutex_unlock(&group->lock);
    return true;
}

static void group_close(struct cn_ranks *ranks)
{
    (void)ranks;
}

static const struct cn_ranks_ops ops = {group_send, group_receive, group_close};

static void *run_member(void *arg)
{
    struct member *member = arg;

    member->group->run(&member->ranks, member->group->arg);
    return NULL;
}

void cn_rank_group_run(unsigned size, cn_rank_fn run, void *arg)
{
    size_t stream_count = (size_t)CN_RANKS_CHANNEL_COUNT * size * size;
    struct group group = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .sent = PTHREAD_COND_INITIALIZER,
        .size = size,
        .streams = cn_alloc(stream_count, sizeof(*group.streams)),
        .run = run,
        .arg = arg,
    };
    struct member *members = cn_alloc(size, sizeof(*members));

    for (unsigned i = 0; i < size; i++) {
        members[i].ranks =
            (struct cn_ranks){.ops = &ops, .rank = i, .size = size, .group = &group};
        members[i].group = &group;
        if (pthread_create(&members[i].thread, NULL, run_member, &members[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < size; i++)
        (void)pthread_join(members[i].thread, NULL);
    for (size_t i = 0; i < stream_count; i++)
        cn_text_done(&group.streams[i].bytes);
    free(group.streams);
    free(members);
}
