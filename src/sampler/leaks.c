#include "sampler/leaks.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "base/sort.h"
#include "formats/exchange/perf/writer.h"
#include "launcher/leaks/scan.h"
#include "launcher/leaks/stop.h"
#include "sampler/inside/shared.h"
#include "sampler/sampler.h"
#include "sampler/timers.h"

enum { LIMIT_S = 30 };

struct leak_blocks {
    struct cn_leak_block *list;
    size_t count, capacity;
};

/* The blocks that the program says are live, by address. */
static bool read_blocks(struct leak_blocks *blocks, const struct cn_inside_leaks *asked,
                        struct cn_error *err)
{
    struct cn_live_place *places = cn_alloc(CN_LIVE_PLACES, sizeof(*places));
    struct iovec to = {places, CN_LIVE_PLACES * sizeof(*places)};
    struct iovec from = {(void *)(uintptr_t)asked->places, to.iov_len};
    bool ok =
        process_vm_readv((pid_t)asked->pid, &to, 1, &from, 1, 0) == (ssize_t)to.iov_len ||
        cn_fail_errno(err, "cannot read the memory of process %u", asked->pid);

    for (size_t i = 0; ok && i < CN_LIVE_PLACES; i++) {
        uint64_t address = ~atomic_load(&places[i].hidden);

        /* A place that is free, or being filled, is at the end of the addresses. */
        if (address < UINT64_MAX - 1 && places[i].block.size > 0)
            CN_PUSH(blocks->list, blocks->count, blocks->capacity,
                    (struct cn_leak_block){address, places[i].block.size, false});
    }
    free(places);
    CN_SORT(blocks->list, blocks->count, CN_UP(struct cn_leak_block, address));
    for (size_t i = 0; i + 1 < blocks->count; i++)
        if (blocks->list[i].size > blocks->list[i + 1].address - blocks->list[i].address)
            blocks->list[i].size = blocks->list[i + 1].address - blocks->list[i].address;
    return ok;
}

static bool scan(const struct cn_timers *timers, const struct cn_inside_leaks *asked,
                 struct leak_blocks *blocks, struct cn_error *err)
{
    struct cn_stopped stopped;
    struct stat status;

    if (fstat(timers->fd, &status) != 0)
        return cn_fail_errno(err, "the memory of samples");
    if (!cn_stopped_begin(&stopped, (pid_t)asked->pid, err))
        return false;
    bool ok = read_blocks(blocks, asked, err);
    struct cn_leak_scan scan = {
        .stopped = &stopped,
        .blocks = blocks->list,
        .count = blocks->count,
        .skipped_file = status.st_ino,
        .deadline_ns = cn_clock_ns() + LIMIT_S * UINT64_C(1000000000),
    };
    ok = ok && cn_leak_scan_run(&scan, err);
    cn_stopped_end(&stopped);
    return ok;
}

static bool check(const struct cn_timers *timers, const struct cn_inside_leaks *asked,
                  struct cn_sample_leaks_result *result,
                  bool (*take)(void *arg, const struct cn_perf_memory *record,
                               struct cn_error *err),
                  void *arg, struct cn_error *err)
{
    struct cn_perf_memory record = {
        .kind = CN_PERF_IS_CHECKED,
        .time_ns = cn_clock_ns(),
        .pid = asked->pid,
        .tid = asked->tid,
        .image = asked->image,
    };
    struct leak_blocks blocks = {0};
    struct cn_error failure = {0};

    if (!scan(timers, asked, &blocks, &failure)) {
        memcpy(result->failure, failure.text, sizeof(result->failure));
        free(blocks.list);
        return true;
    }
    result->checked_count++;
    bool ok = take(arg, &record, err);
    record.kind = CN_PERF_IS_LEAK;
    for (size_t i = 0; ok && i < blocks.count; i++) {
        record.address = blocks.list[i].address;
        if (!blocks.list[i].is_reached) {
            result->leaked_count++;
            ok = take(arg, &record, err);
        }
    }
    free(blocks.list);
    return ok;
}

bool cn_sample_leaks_answer(const struct cn_timers *timers,
                            struct cn_sample_leaks_result *result,
                            bool (*take)(void *arg, const struct cn_perf_memory *record,
                                         struct cn_error *err),
                            void *arg, struct cn_error *err)
{
    struct cn_inside_leaks *leaks = &timers->shared->leaks;
    struct cn_inside_leaks asked = {.pid = atomic_load(&leaks->pid),
                                    .tid = leaks->tid,
                                    .image = leaks->image,
                                    .places = leaks->places};
    uint32_t state = atomic_load(&leaks->state);
    bool ok = true;

    if (state == CN_INSIDE_LEAKS_FREE || asked.pid == 0)
        return true;
    if (kill((pid_t)asked.pid, 0) != 0 && errno == ESRCH) {
        atomic_store(&leaks->pid, 0);
        state = CN_INSIDE_LEAKS_FREE;
    } else if (state == CN_INSIDE_LEAKS_ASKED) {
        ok = check(timers, &asked, result, take, arg, err);
        state = CN_INSIDE_LEAKS_ANSWERED;
    } else {
        return true;
    }
    atomic_store(&leaks->state, state);
    (void)syscall(SYS_futex, &leaks->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return ok;
}
