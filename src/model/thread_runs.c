#include "model/thread_runs.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

void cn_thread_runs_add(struct cn_thread_runs *runs, uint64_t begin_ns, uint64_t end_ns,
                        uint32_t processor)
{
    struct cn_thread_run *last = runs->count > 0 ? &runs->list[runs->count - 1] : NULL;

    if (last && begin_ns < last->end_ns)
        begin_ns = last->end_ns;
    if (begin_ns >= end_ns || processor >= CN_PROCESSOR_MAX)
        return;
    if (last && begin_ns == last->end_ns && processor == last->processor)
        last->end_ns = end_ns;
    else
        CN_PUSH(runs->list, runs->count, runs->capacity,
                (struct cn_thread_run){begin_ns, end_ns, processor});
}

static bool begins_before(const void *data, uint64_t at, uint64_t time_ns)
{
    return cn_thread_runs_at(data, (size_t)at).begin_ns < time_ns;
}

uint64_t cn_wakeup_runs_ns(const struct cn_wakeup *wakeup,
                           const struct cn_thread_runs *runs)
{
    const struct cn_thread_runs *own = runs ? &runs[wakeup->to] : NULL;
    size_t at =
        own ? (size_t)cn_search(0, own->count, begins_before, own, wakeup->time_ns) : 0;

    return own && at < own->count ? cn_thread_runs_at(own, at).begin_ns : wakeup->time_ns;
}

void cn_thread_runs_done(struct cn_thread_runs *runs)
{
    free(runs->list);
    *runs = (struct cn_thread_runs){0};
}
