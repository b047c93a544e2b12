#include "analyze/concurrency.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/heap.h"

uint64_t cn_concurrency_last_ns(const struct cn_concurrency *c, uint32_t thread)
{
    const struct cn_concurrency_thread *found =
        thread < c->thread_count ? &c->threads[thread] : NULL;

    return found && found->count > 0 ? found->times[found->count - 1] : 0;
}

uint64_t cn_concurrency_add(struct cn_concurrency *c, uint32_t thread, uint64_t begin_ns,
                            uint64_t end_ns)
{
    uint64_t last_ns = cn_concurrency_last_ns(c, thread);

    if (begin_ns < last_ns)
        begin_ns = last_ns;
    if (begin_ns >= end_ns)
        return 0;
    while (c->thread_count <= thread)
        CN_PUSH(c->threads, c->thread_count, c->thread_capacity,
                (struct cn_concurrency_thread){0});
    struct cn_concurrency_thread *found = &c->threads[thread];
    if (found->count > 0 && begin_ns == last_ns)
        found->count--;
    else
        CN_PUSH(found->times, found->count, found->capacity, begin_ns);
    CN_PUSH(found->times, found->count, found->capacity, end_ns);
    return end_ns - begin_ns;
}

/* Threads are merged by their next times. */
struct concurrency_merging {
    const struct cn_concurrency_thread *threads;
    size_t *next;       /* by thread */
    double *started_ns; /* by thread: the latency when its run began */
};

static bool is_before(const void *data, uint32_t a, uint32_t b)
{
    const struct concurrency_merging *m = data;
    uint64_t a_ns = m->threads[a].times[m->next[a]];
    uint64_t b_ns = m->threads[b].times[m->next[b]];

    return a_ns < b_ns || (a_ns == b_ns && a < b);
}

/* The step that begins at a time, which is not before that of the last one. */
static struct cn_concurrency_step *next_step(struct cn_concurrency *c, uint64_t time_ns)
{
    struct cn_concurrency_step step = {.time_ns = time_ns};

    if (c->step_count > 0) {
        struct cn_concurrency_step *last = &c->steps[c->step_count - 1];
        uint64_t ns = time_ns - last->time_ns;

        if (ns == 0)
            return last;
        step.running = last->running;
        step.latency_ns = last->latency_ns;
        if (last->running > 0) {
            step.latency_ns += (double)ns / last->running;
            c->elapsed_ns += ns;
        }
    }
    c->steps[c->step_count] = step;
    return &c->steps[c->step_count++];
}

/* A thread begins or ends to run. */
static void take_time(struct cn_concurrency *c, struct concurrency_merging *m,
                      uint32_t number)
{
    struct cn_concurrency_thread *thread = &c->threads[number];
    size_t at = m->next[number]++;
    struct cn_concurrency_step *step = next_step(c, thread->times[at]);

    if (at % 2 == 0) {
        step->running++;
        m->started_ns[number] = step->latency_ns;
    } else {
        step->running--;
        thread->latency_ns += step->latency_ns - m->started_ns[number];
    }
}

void cn_concurrency_build(struct cn_concurrency *c)
{
    struct concurrency_merging m = {c->threads,
                                    cn_alloc(c->thread_count, sizeof(*m.next)),
                                    cn_alloc(c->thread_count, sizeof(*m.started_ns))};
    uint32_t *heap = cn_alloc(c->thread_count, sizeof(*heap));
    size_t count = 0, time_count = 0;

    for (uint32_t i = 0; i < c->thread_count; i++) {
        if (c->threads[i].count > 0)
            heap[count++] = i;
        time_count += c->threads[i].count;
    }
    c->steps = cn_alloc(time_count, sizeof(*c->steps));
    cn_heap_build(heap, count, is_before, &m);
    while (count > 0) {
        uint32_t first = heap[0];

        take_time(c, &m, first);
        if (m.next[first] == c->threads[first].count)
            heap[0] = heap[--count];
        cn_heap_sink(heap, count, 0, is_before, &m);
    }
    free(heap);
    free(m.next);
    free(m.started_ns);
}

/* The last step at or before a time, or step 0. */
static const struct cn_concurrency_step *step_at(const struct cn_concurrency *c,
                                                 uint64_t time_ns, size_t *cursor)
{
    size_t low = 0, high = c->step_count, reach = 1;

    /* Searches go forward: look after the last result, in growing distances. */
    if (*cursor < c->step_count && c->steps[*cursor].time_ns <= time_ns) {
        low = *cursor;
        while (low + reach < high && c->steps[low + reach].time_ns <= time_ns) {
            low += reach;
            reach *= 2;
        }
        if (reach < high - low)
            high = low + reach;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (c->steps[middle].time_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    *cursor = low;
    return &c->steps[low];
}

static double latency_until(const struct cn_concurrency *c, uint64_t time_ns,
                            size_t *cursor)
{
    const struct cn_concurrency_step *step = step_at(c, time_ns, cursor);

    if (step->running == 0 || time_ns <= step->time_ns)
        return step->latency_ns;
    return step->latency_ns + (double)(time_ns - step->time_ns) / step->running;
}

double cn_concurrency_latency(const struct cn_concurrency *c, uint64_t begin_ns,
                              uint64_t end_ns, size_t *cursor)
{
    if (c->step_count == 0 || begin_ns >= end_ns)
        return 0;
    double before_ns = latency_until(c, begin_ns, cursor);
    return latency_until(c, end_ns, cursor) - before_ns;
}

void cn_concurrency_done(struct cn_concurrency *c)
{
    for (size_t i = 0; i < c->thread_count; i++)
        free(c->threads[i].times);
    free(c->threads);
    free(c->steps);
    *c = (struct cn_concurrency){0};
}
