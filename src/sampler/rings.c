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
#include "base/host/lending_lock.h"
#include "base/sort.h"

enum {
    CPUS_MAX = 4096,
    HEAD_LEN = 8,
    ADDED_HEAD_LEN = 16,
    RECORD_MAX = 1 << 16,
    TAKEN_LEN_MAX = 512 << 20, /* what waits in memory */
};

/* A record in the order of time. */
struct cn_ring_record {
    uint64_t time_ns, off; /* in what is held of its ring */
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
        attr.mmap = attr.mmap2 = attr.mmap_data = attr.comm = attr.comm_exec = attr.task =
            attr.context_switch = attr.build_id = 0;
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, ring->cpu, -1,
                          PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        *failure = (struct cn_ring_failure){errno, event, false};
        return false;
    }
    CN_PUSH(rings->fds, rings->fd_count, rings->fd_capacity, fd);
    if (request->events->list[event].filter &&
        ioctl(fd, PERF_EVENT_IOC_SET_FILTER, request->events->list[event].filter) != 0) {
        *failure = (struct cn_ring_failure){errno, event, false};
        return false;
    }
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

/* All events of one task on one processor; with the first one those of the machine. A task that has
 * ended has none. */
static bool open_task(struct cn_rings *rings, struct cn_ring *ring,
                      const struct cn_ring_request *request, pid_t tid, bool is_first,
                      bool *has_ended, struct cn_ring_failure *failure)
{
    for (size_t i = 0; i < request->events->count; i++) {
        bool is_of_machine = request->events->list[i].is_of_machine;

        if ((is_of_machine && !is_first) ||
            open_event(rings, ring, request, i, is_of_machine ? -1 : tid, failure))
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
    rings->taken = cn_alloc((size_t)count + 1, sizeof(*rings->taken));
    rings->held = cn_alloc((size_t)count + 1, sizeof(*rings->held));
    rings->kept = cn_alloc((size_t)count + 1, sizeof(*rings->kept));
    rings->events = request->events;
    rings->register_len = request->register_len;
    cn_lending_lock_init(&rings->lock);
    for (int cpu = 0; cpu < count; cpu++) {
        struct cn_ring *ring = &rings->list[rings->count];

        *ring = (struct cn_ring){.cpu = cpu, .fd = -1};
        for (size_t i = 0; i < tid_count; i++) {
            bool has_ended = false;

            if (open_task(rings, ring, request, tids[i], i == 0, &has_ended, failure)) {
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
    for (size_t i = 0; rings->taken && i <= rings->count; i++) {
        free(rings->taken[i].bytes);
        free(rings->held[i].bytes);
        free(rings->kept[i].bytes);
    }
    cn_map_done(&rings->event_of);
    free(rings->taken);
    free(rings->held);
    free(rings->kept);
    if (rings->joined)
        cn_lock_done(&rings->lock);
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

/* A record of a ring in one piece. */
static struct cn_bytes record_at(const struct cn_rings *rings, const struct cn_ring *ring,
                                 uint64_t off, size_t len)
{
    size_t at = (size_t)(off % ring->data_len), to_end = ring->data_len - at;

    if (len <= to_end)
        return (struct cn_bytes){ring->data + at, len};
    memcpy(rings->joined, ring->data + at, to_end);
    memcpy(rings->joined + to_end, ring->data, len - to_end);
    return (struct cn_bytes){rings->joined, len};
}

/* Where the copy of the stack is in a sample: its room, the bytes, and how many were copied.
 * False if it has none. */
static bool find_copy(const struct cn_rings *rings, struct cn_bytes record, size_t *off,
                      uint64_t *room)
{
    uint64_t chain_len, at = CN_RING_SAMPLE_CHAIN_OFF;
    struct cn_bytes word;
    uint32_t event;

    if (cn_u32_get(record.ptr) != PERF_RECORD_SAMPLE ||
        !cn_bytes_slice(record, CN_RING_SAMPLE_ID_OFF, 8, &word))
        return false;
    event = cn_map_find(&rings->event_of, cn_u64_get(word.ptr), 0);
    if (event >= rings->events->count ||
        !(rings->events->list[event].attr.sample_type & PERF_SAMPLE_STACK_USER))
        return false;
    at += rings->events->list[event].attr.sample_type & PERF_SAMPLE_ADDR ? 8 : 0;
    if (!cn_bytes_slice(record, at, 8, &word))
        return false;
    chain_len = cn_u64_get(word.ptr);
    if (chain_len > record.len / 8)
        return false;
    at += 8 + 8 * chain_len;
    if (!cn_bytes_slice(record, at, 8, &word))
        return false;
    if (rings->events->list[event].attr.sample_type & PERF_SAMPLE_RAW) {
        at += sizeof(uint32_t) + cn_u32_get(word.ptr);
        if (!cn_bytes_slice(record, at, 8, &word))
            return false;
    }
    at += 8;
    if (cn_u64_get(word.ptr) != PERF_SAMPLE_REGS_ABI_NONE)
        at += rings->register_len;
    if (!cn_bytes_slice(record, at, 8, &word))
        return false;
    *room = cn_u64_get(word.ptr);
    *off = (size_t)at;
    return *room > 0 && *room % 8 == 0 && *room <= record.len - at - 8 &&
           cn_bytes_slice(record, at + 8 + *room, 8, &word);
}

static uint8_t *room_in(struct cn_ring_bytes *to, size_t len)
{
    CN_GROW_TO(to->bytes, to->len + len, to->capacity);
    to->len += len;
    return to->bytes + to->len - len;
}

/* Copy a record, of a stack only what was copied. */
static void take_record(struct cn_rings *rings, struct cn_ring_bytes *to,
                        struct cn_bytes record)
{
    uint64_t room, used;
    size_t off;

    if (!find_copy(rings, record, &off, &room)) {
        memcpy(room_in(to, record.len), record.ptr, record.len);
        return;
    }
    used = cn_u64_get(record.ptr + off + 8 + room);
    used = used < room ? (used + 7) / 8 * 8 : room;
    size_t len = off + 8 + (used > 0 ? (size_t)used + 8 : 0);
    uint8_t *at = room_in(to, len);
    memcpy(at, record.ptr, off + 8 + (size_t)used);
    cn_u16_put(at + 6, (uint16_t)len);
    cn_u64_put(at + off, used);
    if (used > 0)
        memcpy(at + off + 8 + used, record.ptr + off + 8 + room, 8);
}

static void take_ring(struct cn_rings *rings, size_t index)
{
    struct cn_ring *ring = &rings->list[index];
    struct perf_event_mmap_page *page = ring->map;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

    size_t before = rings->taken[index].len;

    while (head - ring->tail >= HEAD_LEN && rings->taken_len < TAKEN_LEN_MAX) {
        uint32_t len = (uint32_t)(u64_at(ring, ring->tail) >> 48);

        if (len < CN_RING_TIME_FROM_END + HEAD_LEN || len > head - ring->tail)
            break;
        take_record(rings, &rings->taken[index], record_at(rings, ring, ring->tail, len));
        ring->tail += len;
        rings->taken_len += rings->taken[index].len - before;
        before = rings->taken[index].len;
    }
    __atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

static void empty_locked(struct cn_rings *rings)
{
    for (size_t i = 0; i < rings->count; i++)
        take_ring(rings, i);
    if (rings->fill && rings->taken_len < TAKEN_LEN_MAX)
        rings->fill(rings->fill_arg);
}

void cn_rings_empty(struct cn_rings *rings)
{
    cn_lock_take(&rings->lock);
    empty_locked(rings);
    cn_lock_release(&rings->lock);
}

void cn_rings_set_fill(struct cn_rings *rings, void (*fill)(void *arg), void *arg)
{
    rings->fill = fill;
    rings->fill_arg = arg;
}

/* Added records have a head of their own: length and time. */
uint8_t *cn_rings_room(struct cn_rings *rings, size_t len, uint64_t time_ns)
{
    size_t padded = (size_t)cn_align_up(len, 8);
    uint8_t *at = room_in(&rings->taken[rings->count], ADDED_HEAD_LEN + padded);

    rings->taken_len += ADDED_HEAD_LEN + padded;
    cn_u64_put(at, len);
    cn_u64_put(at + 8, time_ns);
    return at + ADDED_HEAD_LEN;
}

void cn_rings_add(struct cn_rings *rings, const uint8_t *record, size_t len,
                  uint64_t time_ns)
{
    memcpy(cn_rings_room(rings, len, time_ns), record, len);
}

/* List the records of a ring. Times within a ring never run backwards, so that what is not
 * yet delivered is always its end. */
static void list_records(struct cn_rings *rings, uint32_t index)
{
    struct cn_bytes rest = {rings->held[index].bytes, rings->held[index].len}, record;
    uint64_t off = 0, last_ns = 0;

    while (rest.len >= HEAD_LEN) {
        size_t len = (size_t)(cn_u64_get(rest.ptr) >> 48);

        if (len < CN_RING_TIME_FROM_END + HEAD_LEN || !cn_bytes_take(&rest, len, &record))
            break;
        uint64_t time_ns =
            cn_u64_get(record.ptr + (cn_u32_get(record.ptr) == PERF_RECORD_SAMPLE
                                         ? CN_RING_SAMPLE_TIME_OFF
                                         : len - CN_RING_TIME_FROM_END));
        last_ns = time_ns > last_ns ? time_ns : last_ns;
        CN_PUSH(rings->records, rings->record_count, rings->record_capacity,
                (struct cn_ring_record){last_ns, off, index, (uint32_t)len});
        off += len;
    }
}

/* The same for what was added, in any order. */
static void list_added(struct cn_rings *rings)
{
    uint32_t index = (uint32_t)rings->count;
    struct cn_bytes rest = {rings->held[index].bytes, rings->held[index].len}, head,
                    record;
    uint64_t off = 0;

    while (cn_bytes_take(&rest, ADDED_HEAD_LEN, &head) &&
           cn_bytes_take(&rest, cn_align_up(cn_u64_get(head.ptr), 8), &record)) {
        CN_PUSH(rings->records, rings->record_count, rings->record_capacity,
                (struct cn_ring_record){cn_u64_get(head.ptr + 8), off + ADDED_HEAD_LEN,
                                        index, (uint32_t)cn_u64_get(head.ptr)});
        off += ADDED_HEAD_LEN + record.len;
    }
}

/* Hold what was taken out of the rings. */
static void hold(struct cn_rings *rings)
{
    cn_lock_take(&rings->lock);
    empty_locked(rings);
    for (size_t i = 0; i <= rings->count; i++) {
        struct cn_ring_bytes *taken = &rings->taken[i], *held = &rings->held[i];

        if (held->len == 0) {
            struct cn_ring_bytes empty = *held;

            *held = *taken;
            *taken = empty;
        } else if (taken->len > 0) {
            memcpy(room_in(held, taken->len), taken->bytes, taken->len);
        }
        taken->len = 0;
    }
    rings->taken_len = 0;
    cn_lock_release(&rings->lock);
}

/* Keep the records that were listed from `at` on. */
static void keep_rest(struct cn_rings *rings, size_t at)
{
    for (; at < rings->record_count; at++) {
        const struct cn_ring_record *record = &rings->records[at];
        size_t head = record->ring == rings->count ? ADDED_HEAD_LEN : 0;
        size_t len = head + (size_t)cn_align_up(record->len, 8);

        memcpy(room_in(&rings->kept[record->ring], len),
               rings->held[record->ring].bytes + record->off - head, len);
    }
    for (size_t i = 0; i <= rings->count; i++) {
        struct cn_ring_bytes held = rings->held[i];

        rings->held[i] = rings->kept[i];
        rings->kept[i] = (struct cn_ring_bytes){held.bytes, 0, held.capacity};
    }
}

bool cn_rings_read(struct cn_rings *rings, uint64_t until_ns,
                   bool (*take)(void *arg, const uint8_t *record, size_t len,
                                uint64_t time_ns, struct cn_error *err),
                   void *arg, struct cn_error *err)
{
    bool ok = true;
    size_t i = 0;

    hold(rings);
    rings->record_count = 0;
    for (uint32_t k = 0; k < rings->count; k++)
        list_records(rings, k);
    list_added(rings);
    CN_SORT(rings->records, rings->record_count, CN_UP(struct cn_ring_record, time_ns),
            CN_UP(struct cn_ring_record, ring), CN_UP(struct cn_ring_record, off));
    for (; i < rings->record_count && ok; i++) {
        const struct cn_ring_record *record = &rings->records[i];

        if (record->time_ns >= until_ns)
            break;
        ok = take(arg, rings->held[record->ring].bytes + record->off, record->len,
                  record->time_ns, err);
    }
    keep_rest(rings, i);
    return ok;
}
