#include "record/calls/pmu.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

#include "record/pmu_events.h"
#include "record/state/thread.h"
#include "record/syscalls.h"

/* Out of the way of the program's files; at most 1024 are usual. */
enum { FD_MIN = 960 };

/* The program may have closed the file, and opened another one under its number. */
static bool is_ours(const struct cn_rec_pmu *pmu, int which)
{
    uint64_t id = 0;

    return cn_rec_syscall3(SYS_ioctl, pmu->fds[which], PERF_EVENT_IOC_ID, (long)&id) >=
               0 &&
           id == pmu->ids[which];
}

static bool open_counter(struct cn_rec_pmu *pmu, uint32_t pair, int which, int leader)
{
    struct perf_event_attr attr = cn_rec_pmu_attr(pair, (unsigned)which);
    long low = cn_rec_syscall6(SYS_perf_event_open, (long)&attr, 0, -1, leader,
                               PERF_FLAG_FD_CLOEXEC, 0);
    long fd = low < 0 ? low : cn_rec_syscall3(SYS_fcntl, low, F_DUPFD_CLOEXEC, FD_MIN);

    if (low >= 0)
        (void)cn_rec_syscall3(SYS_close, low, 0, 0);
    pmu->fds[which] = (int32_t)fd;
    return fd >= 0 &&
           cn_rec_syscall3(SYS_ioctl, fd, PERF_EVENT_IOC_ID, (long)&pmu->ids[which]) >= 0;
}

static void close_pair(struct cn_rec_pmu *pmu)
{
    for (int i = 0; i < 2; i++)
        if (pmu->fds[i] >= 0 && is_ours(pmu, i))
            (void)cn_rec_syscall3(SYS_close, pmu->fds[i], 0, 0);
}

void cn_rec_pmu_read(struct cn_rec_thread *self, uint32_t pair, uint64_t out[static 2])
{
    struct cn_rec_pmu *pmu = &self->pmu[pair];

    /* After a fork, they are those of the parent. */
    if (pmu->tid != self->tid) {
        if (pmu->tid != 0)
            close_pair(pmu);
        pmu->tid = self->tid;
        pmu->fds[1] = -1;
        if (open_counter(pmu, pair, 0, -1))
            (void)open_counter(pmu, pair, 1, pmu->fds[0]);
    }
    for (int i = 0; i < 2; i++) {
        if (pmu->fds[i] < 0 || !is_ours(pmu, i) ||
            cn_rec_syscall3(SYS_read, pmu->fds[i], (long)&out[i], sizeof(out[i])) !=
                sizeof(out[i]))
            out[i] = 0;
    }
}

void cn_rec_pmu_close(struct cn_rec_thread *self)
{
    for (uint32_t i = 0; i < CN_REC_PMU_COUNT; i++) {
        if (self->pmu[i].tid != 0)
            close_pair(&self->pmu[i]);
        self->pmu[i].tid = 0;
    }
}
