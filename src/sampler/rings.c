#include "sampler/rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/sort.h"

enum { CPUS_MAX = 4096, HEAD_LEN = 8, RECORD_MAX = 1 << 16 };

/* A record that was added. */
struct cn_ring_added {
    uint64_t time_ns;
    uint32_t len;
    uint8_t *bytes;
};

/* A record in the order of time. */
struct cn_ring_record {
    uint64_t time_ns, off; /* position in its ring, or number of what was added */
    uint32_t ring;         /* that after the last one: it was added */
    uint32_t len;
};

static bool map_ring(struct cn_ring *ring, int fd, size_t data_len)
{
    size_t page_len = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, data_len + page_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED)
        return false;
    ring->fd = fd;
    ring->map = at;
    ring->map_len = data_len + page_len;
    ring->data = (uint8_t *)at + page_len;
    ring->data_len = data_len;
    return true;
}

/* Open one event and connect it to the ring of its processor. */
static bool open_event(struct cn_rings *rings, struct cn_ring *ring,
                       const struct cn_ring_request *request, size_t event, pid_t tid,
                       struct cn_ring_failure *failure)
{
    struct perf_event_attr attr = request->events->list[event].attr;
    uint64_t id = 0;

    /* One event reports tasks and mappings. */
    if (event > 0)
        attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task =
            attr.context_switch = attr.build_id = 0;
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, ring->cpu, -1,
                          PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        *failure = (struct cn_ring_failure){errno, event, false};
        return false;
    }
    CN_PUSH(rings->fds, rings->fd_count, rings->fd_capacity, fd);
    if (ring->map ? ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0
                  : !map_ring(ring, fd, request->data_len)) {
        *failure = (struct cn_ring_failure){errno, event, true};
        return false;
    }
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0) {
        *failure = (struct cn_ring_failure){errno, event, true};
        return false;
    }
    *cn_map_at(&rings->event_of, id, 0) = (uint32_t)event;
    return true;
}

/* All events of one task on one processor. A task that has ended has none. */
static bool open_task(struct cn_rings *rings, struct cn_ring *ring,
                      const struct cn_ring_request *request, pid_t tid, bool *has_ended,
                      struct cn_ring_failure *failure)
{
    for (size_t i = 0; i < request->events->count; i++) {
        if (open_event(rings, ring, request, i, tid, failure))
            continue;
        *has_ended = failure->error == ESRCH;
        return *has_ended;
    }
    return true;
}

bool cn_rings_open(struct cn_rings *rings, const struct cn_ring_request *request,
                   struct cn_ring_failure *failure)
{
    static const pid_t machine[] = {-1};
    const pid_t *tids = request->tids ? request->tids : machine;
    size_t tid_count = request->tids ? request->tid_count : 1, opened = 0;
    long count = sysconf(_SC_NPROCESSORS_CONF);

    *rings = (struct cn_rings){0};
    count = count > CPUS_MAX ? CPUS_MAX : count;
    rings->list = cn_alloc((size_t)count, sizeof(*rings->list));
    rings->joined = cn_alloc(1, RECORD_MAX);
    for (int cpu = 0; cpu < count; cpu++) {
        struct cn_ring *ring = &rings->list[rings->count];

        *ring = (struct cn_ring){.cpu = cpu, .fd = -1};
        for (size_t i = 0; i < tid_count; i++) {
            bool has_ended = false;

            if (open_task(rings, ring, request, tids[i], &has_ended, failure)) {
                opened += !has_ended;
            } else if (failure->error == ENODEV && !failure->is_ring && !ring->map &&
                       !request->events->list[failure->event].needs_pmu) {
                break; /* the processor is offline */
            } else {
                cn_rings_close(rings);
                return false;
            }
        }
        rings->count += ring->map != NULL;
    }
    if (opened > 0)
        return true;
    *failure = (struct cn_ring_failure){.error = ESRCH};
    cn_rings_close(rings);
    return false;
}

void cn_rings_close(struct cn_rings *rings)
{
    for (size_t i = 0; i < rings->fd_count; i++)
        (void)close(rings->fds[i]);
    /* Also that of a processor whose opening failed. */
    for (size_t i = 0; rings->list && i <= rings->count; i++) {
        if (rings->list[i].map)
            (void)munmap(rings->list[i].map, rings->list[i].map_len);
        if (i == rings->count || i + 1 == (size_t)sysconf(_SC_NPROCESSORS_CONF))
            break;
    }
    for (size_t i = 0; i < rings->added_count; i++)
        free(rings->added[i].bytes);
    cn_map_done(&rings->event_of);
    free(rings->added);
    free(rings->list);
    free(rings->fds);
    free(rings->records);
    free(rings->joined);
    *rings = (struct cn_rings){0};
}

void cn_rings_enable(struct cn_rings *rings, bool is_on)
{
    for (size_t i = 0; i < rings->fd_count; i++)
        (void)ioctl(rings->fds[i], is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
                    0);
}

/* Records are aligned to 8 bytes: numbers never cross the end of a ring. */
static uint64_t u64_at(const struct cn_ring *ring, uint64_t off)
{
    return cn_u64_get(ring->data + off % ring->data_len);
}

/* List the records of a ring. Times within a ring never run backwards, so that what is not
 * yet read is always its end. */
static void list_records(struct cn_rings *rings, uint32_t index)
{
    struct cn_ring *ring = &rings->list[index];
    struct perf_event_mmap_page *page = ring->map;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), last_ns = 0;

    for (uint64_t at = ring->tail; head - at >= HEAD_LEN;) {
        uint64_t word = u64_at(ring, at), time_ns;
        uint32_t type = (uint32_t)word, len = (uint32_t)(word >> 48);

        if (len < CN_RING_TIME_FROM_END + HEAD_LEN || len > head - at)
            break;
        time_ns =
            u64_at(ring, type == PERF_RECORD_SAMPLE ? at + CN_RING_SAMPLE_TIME_OFF
                                                    : at + len - CN_RING_TIME_FROM_END);
        last_ns = time_ns > last_ns ? time_ns : last_ns;
        CN_PUSH(rings->records, rings->record_count, rings->record_capacity,
                (struct cn_ring_record){last_ns, at, index, len});
        at += len;
    }
}

void cn_rings_add(struct cn_rings *rings, const uint8_t *record, size_t len,
                  uint64_t time_ns)
{
    struct cn_ring_added added = {time_ns, (uint32_t)len, cn_alloc(1, len)};

    memcpy(added.bytes, record, len);
    CN_PUSH(rings->added, rings->added_count, rings->added_capacity, added);
}

/* Forget what was added and delivered. */
static void drop_added(struct cn_rings *rings, uint64_t until_ns)
{
    size_t kept = 0;

    for (size_t i = 0; i < rings->added_count; i++) {
        if (rings->added[i].time_ns >= until_ns)
            rings->added[kept++] = rings->added[i];
        else
            free(rings->added[i].bytes);
    }
    rings->added_count = kept;
}

bool cn_rings_read(struct cn_rings *rings, uint64_t until_ns,
                   bool (*take)(void *arg, const uint8_t *record, size_t len,
                                uint64_t time_ns, struct cn_error *err),
                   void *arg, struct cn_error *err)
{
    bool ok = true;

    rings->record_count = 0;
    for (uint32_t i = 0; i < rings->count; i++)
        list_records(rings, i);
    for (size_t i = 0; i < rings->added_count; i++)
        CN_PUSH(rings->records, rings->record_count, rings->record_capacity,
                (struct cn_ring_record){rings->added[i].time_ns, i,
                                        (uint32_t)rings->count, rings->added[i].len});
    CN_SORT(rings->records, rings->record_count, CN_UP(struct cn_ring_record, time_ns),
            CN_UP(struct cn_ring_record, ring), CN_UP(struct cn_ring_record, off));
    for (size_t i = 0; i < rings->record_count && ok; i++) {
        const struct cn_ring_record *record = &rings->records[i];

        if (record->time_ns >= until_ns)
            break;
        if (record->ring == rings->count) {
            ok = take(arg, rings->added[record->off].bytes, record->len, record->time_ns,
                      err);
            continue;
        }
        struct cn_ring *ring = &rings->list[record->ring];
        size_t at = (size_t)(record->off % ring->data_len);
        size_t to_end = ring->data_len - at;
        const uint8_t *bytes = ring->data + at;
        if (record->len > to_end) {
            memcpy(rings->joined, bytes, to_end);
            memcpy(rings->joined + to_end, ring->data, record->len - to_end);
            bytes = rings->joined;
        }
        ok = take(arg, bytes, record->len, record->time_ns, err);
        ring->tail = record->off + record->len;
        __atomic_store_n(&((struct perf_event_mmap_page *)ring->map)->data_tail,
                         ring->tail, __ATOMIC_RELEASE);
    }
    drop_added(rings, until_ns);
    return ok;
}
