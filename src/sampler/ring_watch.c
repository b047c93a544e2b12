#include "sampler/ring_watch.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sampler/rings.h"

enum { PRIORITY = -20 };

/* It copies for less than a millisecond at a time, and then a ring would be full. */
static void be_urgent(void)
{
    const struct sched_param lowest = {.sched_priority =
                                           sched_get_priority_min(SCHED_FIFO)};

    if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0)
        (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), PRIORITY);
}

static bool run(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_ring_watch *watch = arg;

    (void)progress;
    (void)err;
    be_urgent();
    for (;;) {
        bool is_any = false;

        int count = poll(watch->polled, (nfds_t)watch->count,
                         watch->every_ms ? *watch->every_ms : -1);
        if (count == 0)
            cn_rings_empty(watch->rings);
        if (count <= 0)
            continue;
        if (watch->polled[0].revents)
            return true;
        for (size_t i = 1; i < watch->count; i++) {
            is_any |= watch->polled[i].revents != 0;
            /* The task that the ring was opened for has ended. Others still use it. */
            if (watch->polled[i].revents & (POLLHUP | POLLERR))
                watch->polled[i].fd = -1;
        }
        if (is_any)
            cn_rings_empty(watch->rings);
    }
}

void cn_ring_watch_start(struct cn_ring_watch *watch, struct cn_rings *rings, int also,
                         const _Atomic int *every_ms)
{
    struct cn_error ignored = {0};

    *watch = (struct cn_ring_watch){
        .rings = rings,
        .every_ms = every_ms,
        .polled = cn_alloc(rings->count + 2, sizeof(*watch->polled)),
    };
    watch->polled[watch->count++] =
        (struct pollfd){.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
    for (size_t i = 0; i < rings->count; i++)
        watch->polled[watch->count++] =
            (struct pollfd){.fd = rings->list[i].fd, .events = POLLIN};
    watch->polled[watch->count++] = (struct pollfd){.fd = also, .events = POLLIN};
    cn_job_group_init(&watch->group, 1);
    watch->job = (struct cn_job){
        .group = &watch->group, .work = run, .arg = watch, .what = "emptying rings"};
    if (watch->polled[0].fd >= 0)
        (void)!cn_job_start(&watch->job, &ignored);
}

void cn_ring_watch_stop(struct cn_ring_watch *watch)
{
    const uint64_t one = 1;

    if (!watch->polled)
        return;
    if (watch->polled[0].fd >= 0) {
        (void)!write(watch->polled[0].fd, &one, sizeof(one));
        cn_job_end(&watch->job);
        (void)close(watch->polled[0].fd);
    }
    cn_job_group_done(&watch->group);
    free(watch->polled);
    *watch = (struct cn_ring_watch){0};
}
