#include "launcher/events/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "launcher/events/chosen.h"
#include "launcher/files/recording_dir.h"
#include "launcher/files/shared_memory.h"

enum { PAGES_MAX = 32, CPUS_MAX = 4096 };

struct cn_event_ring {
    int fd, file;
    struct perf_event_mmap_page *head; /* NULL: the processor is offline */
    size_t map_len, data_len;
    char *data;
};

/* A chosen event on one processor: the kernel's id, and ours. */
struct cn_event_source {
    uint64_t kernel_id;
    uint32_t id;
    int fd;
};

static int open_event(pid_t pid, int cpu, bool has_tasks, bool has_switches)
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
        .comm = has_tasks,
        .task = has_tasks,
        .sample_id_all = 1,
        .enable_on_exec = 1,
        .use_clockid = 1,
        .context_switch = has_switches,
        .clockid = CLOCK_MONOTONIC,
    };

    return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
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

static int by_kernel_id(const void *a, const void *b)
{
    const struct cn_event_source *x = a, *y = b;

    return x->kernel_id < y->kernel_id ? -1 : x->kernel_id > y->kernel_id;
}

bool cn_events_open(struct cn_events *events, const char *dir,
                    const struct cn_shared_memory *memory, bool has_tasks,
                    bool has_switches, pid_t pid, struct cn_error *err)
{
    long count = sysconf(_SC_NPROCESSORS_CONF);
    bool ok = count > 0 && count <= CPUS_MAX;

    *events = (struct cn_events){.dir = dir, .memory = memory};
    if (!ok)
        return cn_fail(err, CN_ERR_LIMIT, "%ld processors are too many for events",
                       count);
    events->records = cn_alloc(PAGES_MAX, (size_t)sysconf(_SC_PAGESIZE));
    events->rings = cn_alloc((size_t)count, sizeof(*events->rings));
    for (int cpu = 0; cpu < count && ok; cpu++) {
        struct cn_event_ring *ring = &events->rings[events->count++];

        ring->file = -1;
        ring->fd = open_event(pid, cpu, has_tasks, has_switches);
        if (ring->fd < 0 && errno == ENODEV)
            continue;
        ok = (ring->fd >= 0 && map_ring(ring)) ||
             cn_fail_errno(err, "the kernel does not allow events (perf_event_open)");
    }
    if (!ok)
        cn_events_close(events);
    return ok;
}

bool cn_events_choose(struct cn_events *events, const struct cn_chosen_events *chosen,
                      pid_t pid, struct cn_error *err)
{
    events->sources =
        cn_alloc(events->count * chosen->count + 1, sizeof(*events->sources));
    for (size_t i = 0; i < chosen->count * events->count; i++) {
        const struct cn_chosen_event *event = &chosen->list[i / events->count];
        const struct cn_event_ring *ring = &events->rings[i % events->count];
        struct cn_event_source *source = &events->sources[events->source_count];

        if (!ring->head || event->kind == CN_EVENT_KIND_TRACEPOINT)
            continue;
        source->id = event->id;
        source->fd = cn_chosen_event_open(event, pid, (int)(i % events->count));
        if (source->fd < 0)
            return cn_chosen_event_fail(event, err);
        events->source_count++;
        /* Its records go to the ring of the processor. */
        if (ioctl(source->fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0 ||
            ioctl(source->fd, PERF_EVENT_IOC_ID, &source->kernel_id) != 0)
            return cn_chosen_event_fail(event, err);
    }
    qsort(events->sources, events->source_count, sizeof(*events->sources), by_kernel_id);
    return true;
}

/* Replace the kernel's ids of chosen events by ours, and count what was lost. */
static void number_events(struct cn_events *events, size_t len)
{
    struct cn_uft_perf_header head;

    for (size_t at = 0; len - at >= cn_uft_perf_header_size; at += head.size) {
        uint8_t *body = events->records + at + cn_uft_perf_header_size;
        struct cn_event_source key = {0}, *found;
        uint64_t id = 0;

        (void)cn_uft_perf_header_decode((struct cn_bytes){events->records + at, len - at},
                                        &head);
        if (head.size < cn_uft_perf_header_size || head.size > len - at)
            return;
        if (head.type == CN_UFT_PERF_LOST && head.size >= 24)
            events->lost_count += cn_u64_get(body + 8);
        if (head.type != CN_UFT_PERF_SAMPLE_RECORD || head.size < 16)
            continue;
        key.kernel_id = cn_u64_get(body);
        found = bsearch(&key, events->sources, events->source_count, sizeof(key),
                        by_kernel_id);
        id = found ? found->id : 0;
        cn_u64_put(body, id);
    }
}

static bool write_records(struct cn_events *events, size_t cpu, size_t len,
                          struct cn_error *err)
{
    char name[40];

    (void)snprintf(name, sizeof(name), "perf-cpu%zu.dat", cpu);
    return cn_recording_dir_add(events->dir, name, &events->rings[cpu].file,
                                events->records, len, err);
}

static bool drain_ring(struct cn_events *events, size_t cpu, struct cn_error *err)
{
    struct cn_event_ring *ring = &events->rings[cpu];

    if (!ring->head)
        return true;
    uint64_t head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->head->data_tail;
    size_t at = tail % ring->data_len;
    size_t to_end = ring->data_len - at;
    size_t len = (size_t)(head - tail);
    if (len == 0)
        return true;
    memcpy(events->records, ring->data + at, len < to_end ? len : to_end);
    if (len > to_end)
        memcpy(events->records + to_end, ring->data, len - to_end);
    __atomic_store_n(&ring->head->data_tail, head, __ATOMIC_RELEASE);
    number_events(events, len);
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

void cn_events_drop(struct cn_events *events)
{
    struct cn_text path = {0};

    for (size_t i = 0; i < events->count; i++) {
        if (events->rings[i].file < 0)
            continue;
        cn_text_clear(&path);
        cn_text_printf(&path, "%s/perf-cpu%zu.dat", events->dir, i);
        (void)unlink(cn_text_str(&path));
    }
    cn_text_done(&path);
    cn_events_close(events);
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
    for (size_t i = 0; i < events->source_count; i++)
        (void)close(events->sources[i].fd);
    free(events->sources);
    free(events->rings);
    free(events->records);
    *events = (struct cn_events){0};
}
