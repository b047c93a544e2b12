#include "model/gpu/timelines.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/contexts/context.h"

enum { OPEN_MAX = 64 }; /* operations of one stream at a time; the earliest are cut */

struct open_op {
    uint64_t end_ns;
    uint32_t place;
};

struct stream_state {
    struct open_op *open; /* in the order of begins */
    size_t count, capacity;
    uint64_t time_ns; /* of a sample that the next of its time replaces */
    uint32_t place, shown;
    bool has_sample;
};

struct timelines {
    cn_gpu_sample_fn take;
    void *arg;
    struct stream_state *states;
};

static bool flush(struct timelines *t, uint32_t stream, struct cn_error *err)
{
    struct stream_state *s = &t->states[stream];

    if (!s->has_sample || s->place == s->shown)
        return true;
    s->shown = s->place;
    return t->take(t->arg, stream, s->time_ns, s->place, err);
}

static bool sample(struct timelines *t, uint32_t stream, uint64_t time_ns, uint32_t place,
                   struct cn_error *err)
{
    struct stream_state *s = &t->states[stream];

    if (s->has_sample && time_ns > s->time_ns && !flush(t, stream, err))
        return false;
    if (!s->has_sample || time_ns > s->time_ns)
        s->time_ns = time_ns;
    s->has_sample = true;
    s->place = place;
    return true;
}

/* The operation that ends first. */
static size_t first_end(const struct stream_state *s)
{
    size_t first = 0;

    for (size_t i = 1; i < s->count; i++)
        if (s->open[i].end_ns < s->open[first].end_ns)
            first = i;
    return first;
}

static void remove_open(struct stream_state *s, size_t at)
{
    s->count--;
    for (; at < s->count; at++)
        s->open[at] = s->open[at + 1];
}

/* End what ends up to a time. */
static bool end_until(struct timelines *t, uint32_t stream, uint64_t time_ns,
                      struct cn_error *err)
{
    struct stream_state *s = &t->states[stream];

    while (s->count > 0) {
        size_t first = first_end(s);
        uint64_t end_ns = s->open[first].end_ns;

        if (end_ns > time_ns)
            return true;
        remove_open(s, first);
        if (!sample(t, stream, end_ns, s->count > 0 ? s->open[s->count - 1].place : 0,
                    err))
            return false;
    }
    return true;
}

static bool begin(struct timelines *t, const struct cn_gpu_op *op, struct cn_error *err)
{
    struct stream_state *s = &t->states[op->stream];

    if (!end_until(t, op->stream, op->begin_ns, err))
        return false;
    if (s->count == OPEN_MAX)
        remove_open(s, 0);
    CN_PUSH(s->open, s->count, s->capacity, (struct open_op){op->end_ns, op->place});
    return sample(t, op->stream, op->begin_ns, op->place, err);
}

bool cn_gpu_timelines(const struct cn_gpu_work *work, cn_gpu_sample_fn take, void *arg,
                      struct cn_error *err)
{
    struct timelines t = {take, arg,
                          cn_alloc(work->stream_count, sizeof(struct stream_state))};
    bool ok = true;

    for (uint32_t i = 0; ok && i < work->op_count; i++)
        if (work->ops[i].stream != CN_NONE && work->ops[i].place != 0 &&
            cn_gpu_op_is_busy(&work->ops[i]))
            ok = begin(&t, &work->ops[i], err);
    for (uint32_t i = 0; i < work->stream_count; i++) {
        ok = ok && end_until(&t, i, UINT64_MAX, err) && flush(&t, i, err);
        free(t.states[i].open);
    }
    free(t.states);
    return ok;
}
