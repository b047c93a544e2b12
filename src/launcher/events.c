#include "launcher/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "launcher/recording_dir.h"
#include "launcher/shared_memory.h"

enum { PAGES_MAX = 32, CPUS_MAX = 4096 };

struct cn_event_ring {
    int fd, file;
    struct perf_event_mmap_page *head; /* NULL: the processor is offline */
    size_t map_len, data_len;
    char *data;
};

static int open_event(int cpu, bool has_switches)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .comm = 1,
        .task = 1,
        .sample_id_all = 1,
        .enable_on_exec = 1,
        .use_clockid = 1,
        .context_switch = has_switches,
        .clockid = CLOCK_MONOTONIC,
    };

    return (int)syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Map the largest ring that the kernel allows. */
static bool map_ring(struct cn_event_ring *ring)
{
    size_t page_len = (size_t)sysconf(_SC_PAGESIZE);

    for (size_t pages = PAGES_MAX; pages > 0; pages /= 2) {
        size_t len = (pages + 1) * page_len;
        void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);

        if (at == MAP_FAILED)
            continue;
        ring->head = at;
        ring->data = (char *)at + page_len;
        ring->map_len = len;
        ring->data_len = pages * page_len;
        return true;
    }
    return false;
}

bool cn_events_open(struct cn_events *events, const char *dir,
                    const struct cn_shared_memory *memory, bool has_switches)
{
    long count = sysconf(_SC_NPROCESSORS_CONF);
    bool ok = count > 0 && count <= CPUS_MAX;

    *events = (struct cn_events){.dir = dir, .memory = memory};
    if (!ok)
        return false;
    events->records = cn_alloc(PAGES_MAX, (size_t)sysconf(_SC_PAGESIZE));
    events->rings = cn_alloc((size_t)count, sizeof(*events->rings));
    for (int cpu = 0; cpu < count && ok; cpu++) {
        struct cn_event_ring *ring = &events->rings[events->count++];

        ring->file = -1;
        ring->fd = open_event(cpu, has_switches);
        ok = ring->fd >= 0 ? map_ring(ring) : errno == ENODEV;
    }
    if (!ok)
        cn_events_close(events);
    return ok;
}

static bool write_records(struct cn_events *events, size_t cpu, size_t len,
                          struct cn_error *err)
{
    struct cn_event_ring *ring = &events->rings[cpu];
    char name[40];

    (void)snprintf(name, sizeof(name), "perf-cpu%zu.dat", cpu);
    if (ring->file < 0)
        ring->file = cn_recording_dir_append(events->dir, name, err);
    if (ring->file < 0)
        return false;
    for (size_t at = 0; at < len;) {
        ssize_t done = write(ring->file, events->records + at, len - at);

        if (done <= 0 && errno != EINTR)
            return cn_fail_errno(err, "cannot write %s", name);
        at += done > 0 ? (size_t)done : 0;
    }
    return true;
}

static bool drain_ring(struct cn_events *events, size_t cpu, struct cn_error *err)
{
    struct cn_event_ring *ring = &events->rings[cpu];
    uint64_t head, tail;
    size_t at, len, to_end;

    if (!ring->head)
        return true;
    head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
    tail = ring->head->data_tail;
    at = tail % ring->data_len;
    to_end = ring->data_len - at;
    len = (size_t)(head - tail);
    if (len == 0)
        return true;
    memcpy(events->records, ring->data + at, len < to_end ? len : to_end);
    if (len > to_end)
        memcpy(events->records + to_end, ring->data, len - to_end);
    __atomic_store_n(&ring->head->data_tail, head, __ATOMIC_RELEASE);
    cn_event_clock_convert_records(&events->clock, events->records, len);
    return write_records(events, cpu, len, err);
}

bool cn_events_drain(struct cn_events *events, struct cn_error *err)
{
    struct cn_clock_pair pair;
    bool ok = true;

    if (events->count == 0)
        return true;
    if (cn_shared_memory_clock_pair(events->memory, &pair))
        cn_event_clock_add(&events->clock, pair);
    for (size_t i = 0; i < events->count && ok; i++)
        ok = drain_ring(events, i, err);
    return ok;
}

void cn_events_close(struct cn_events *events)
{
    for (size_t i = 0; i < events->count; i++) {
        struct cn_event_ring *ring = &events->rings[i];

        if (ring->head)
            (void)munmap(ring->head, ring->map_len);
        if (ring->fd >= 0)
            (void)close(ring->fd);
        if (ring->file >= 0)
            (void)close(ring->file);
    }
    free(events->rings);
    free(events->records);
    *events = (struct cn_events){0};
}
