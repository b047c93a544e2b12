#include "base/run/failures.h"

#include <stdlib.h>

#include "base/alloc.h"

void cn_failures_init(struct cn_failures *failures, unsigned workers)
{
    *failures = (struct cn_failures){
        .workers = cn_alloc(workers, sizeof(*failures->workers)),
        .count = workers,
    };
}

void cn_failures_done(struct cn_failures *failures)
{
    free(failures->workers);
    *failures = (struct cn_failures){0};
}

bool cn_failures_stopped(const struct cn_failures *failures, unsigned worker)
{
    return failures->workers[worker].is_stopped;
}

struct cn_error *cn_failures_error(struct cn_failures *failures, unsigned worker)
{
    return &failures->workers[worker].err;
}

void cn_failures_note(struct cn_failures *failures, unsigned worker, size_t job)
{
    struct cn_worker_failure *own = &failures->workers[worker];

    own->has_failed = true;
    own->is_stopped = true;
    own->job = job;
}

bool cn_failures_share(struct cn_failures *failures, unsigned worker)
{
    struct cn_worker_failure *own = &failures->workers[worker];

    failures->is_any = failures->is_any || own->has_failed;
    own->is_stopped = failures->is_any;
    return !own->is_stopped;
}

bool cn_failures_result(const struct cn_failures *failures, struct cn_error *err)
{
    const struct cn_worker_failure *first = NULL;

    for (unsigned i = 0; i < failures->count; i++) {
        const struct cn_worker_failure *worker = &failures->workers[i];

        if (worker->has_failed && (!first || worker->job < first->job))
            first = worker;
    }
    if (first)
        *err = first->err;
    return !first;
}
