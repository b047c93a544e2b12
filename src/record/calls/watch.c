#include "record/calls/watch.h"

#include <stdbool.h>
#include <stddef.h>

#include "record/layout.h"
#include "record/process.h"
#include "record/state/maps.h"
#include "record/state/ring.h"
#include "record/state/thread.h"
#include "record/syscalls.h"
#include "record/text.h"

enum {
    EVENT_WATCH_CPU = 100011,
    EVENT_WATCH_VAR = 100012,
    LEN_BITS = 16, /* the length of a payload is in front of it */
};

/* A change is recorded once, by the thread that finds it. As in uftrace, the first value is
 * recorded unless it is 0. */
static struct {
    uintptr_t at; /* 0: not in this process */
    uint32_t size;
    _Atomic uint64_t last;
} variables[CN_REC_WATCH_MAX];

static void find_variables(const struct cn_rec_mapping *mapping, void *arg)
{
    const struct cn_rec_shared *shared = cn_rec_process.shared;

    (void)arg;
    if (!mapping->is_code || !cn_rec_text_is_same(mapping->path, shared->exe))
        return;
    for (uint32_t i = 0; i < shared->watch_count && i < CN_REC_WATCH_MAX; i++) {
        variables[i].at = mapping->start + shared->watches[i].address;
        variables[i].size = shared->watches[i].size;
    }
}

void cn_rec_watch_begin(void)
{
    if (cn_rec_process.shared->watch_count > 0)
        (void)cn_rec_maps_walk(find_variables, NULL);
}

static void record(struct cn_rec_thread *self, uint64_t event, const uint64_t *payload,
                   uint32_t words)
{
    cn_rec_add(self, 0, event << 16 | CN_REC_EVENT_WORD | CN_REC_MORE_BIT, payload,
               words * (uint32_t)sizeof(*payload));
}

static void check_cpu(struct cn_rec_thread *self)
{
    uint32_t cpu = 0;
    uint64_t payload;

    if (cn_rec_syscall3(SYS_getcpu, (long)&cpu, 0, 0) < 0 ||
        (self->has_watched && cpu == self->cpu))
        return;
    self->cpu = cpu;
    payload = sizeof(cpu) | (uint64_t)cpu << LEN_BITS;
    record(self, EVENT_WATCH_CPU, &payload, 1);
}

static uint64_t read_variable(uintptr_t at, uint32_t size)
{
    switch (size) {
    case sizeof(uint8_t):
        return *(const volatile uint8_t *)at;
    case sizeof(uint16_t):
        return *(const volatile uint16_t *)at;
    case sizeof(uint32_t):
        return *(const volatile uint32_t *)at;
    default:
        return *(const volatile uint64_t *)at;
    }
}

/* The payload is the address and the value, which follows it without a gap. */
static void check_variable(struct cn_rec_thread *self, uint32_t i)
{
    uintptr_t at = variables[i].at;
    uint32_t size = variables[i].size;
    uint64_t value = read_variable(at, size), payload[3];

    if (atomic_exchange(&variables[i].last, value) == value)
        return;
    payload[0] = (sizeof(at) + size) | (uint64_t)at << LEN_BITS;
    payload[1] = (uint64_t)at >> (64 - LEN_BITS) | value << LEN_BITS;
    payload[2] = value >> (64 - LEN_BITS);
    record(self, EVENT_WATCH_VAR, payload, size > sizeof(uint32_t) ? 3 : 2);
}

void cn_rec_watch_check(struct cn_rec_thread *self)
{
    const struct cn_rec_shared *shared = cn_rec_process.shared;

    if (shared->watches_cpu)
        check_cpu(self);
    for (uint32_t i = 0; i < shared->watch_count && i < CN_REC_WATCH_MAX; i++) {
        if (variables[i].at)
            check_variable(self, i);
    }
    self->has_watched = true;
}
