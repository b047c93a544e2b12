#include "store/search/trace_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/contexts/context.h"

enum { FIRST_SLOTS = 64 };

static uint64_t mix(uint64_t high, uint64_t low)
{
    return (low ^ high * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15);
}

static size_t first_slot(const struct cn_trace_ids *ids, uint64_t mixed)
{
    return (size_t)(mixed ^ mixed >> 32) & (ids->slot_count - 1);
}

void cn_trace_ids_expect(const struct cn_trace_ids *ids, uint64_t high, uint64_t low)
{
    if (ids->slot_count > 0)
        __builtin_prefetch(&ids->slots[first_slot(ids, mix(high, low))]);
}

/* The slot of a trace, or the one that it goes to, which gets its mark. */
static struct cn_trace_slot *slot_of(const struct cn_trace_ids *ids, uint64_t high,
                                     uint64_t low, uint32_t *mark)
{
    uint64_t mixed = mix(high, low);
    size_t at = first_slot(ids, mixed);

    *mark = (uint32_t)(mixed >> 32);
    for (;; at = (at + 1) & (ids->slot_count - 1)) {
        struct cn_trace_slot *slot = &ids->slots[at];

        if (slot->place == 0 ||
            (slot->mark == *mark && ids->list[slot->place - 1].low == low &&
             ids->list[slot->place - 1].high == high))
            return slot;
    }
}

static void make_slots(struct cn_trace_ids *ids, size_t count)
{
    free(ids->slots);
    ids->slots = cn_alloc(count, sizeof(*ids->slots));
    ids->slot_count = count;
    for (size_t i = 0; i < ids->count; i++) {
        uint32_t mark;
        struct cn_trace_slot *slot =
            slot_of(ids, ids->list[i].high, ids->list[i].low, &mark);

        *slot = (struct cn_trace_slot){(uint32_t)i + 1, mark};
    }
}

uint32_t cn_trace_ids_add(struct cn_trace_ids *ids, uint64_t high, uint64_t low)
{
    if (ids->count >= ids->slot_count / 2)
        make_slots(ids, ids->slot_count > 0 ? 2 * ids->slot_count : FIRST_SLOTS);
    uint32_t mark;
    struct cn_trace_slot *slot = slot_of(ids, high, low, &mark);
    if (slot->place == 0) {
        CN_PUSH(ids->list, ids->count, ids->capacity,
                (struct cn_trace_id){.high = high, .low = low, .time_ns = UINT64_MAX});
        *slot = (struct cn_trace_slot){(uint32_t)ids->count, mark};
    }
    return slot->place - 1;
}

uint32_t cn_trace_ids_find(const struct cn_trace_ids *ids, uint64_t high, uint64_t low)
{
    uint32_t mark, found = ids->count > 0 ? slot_of(ids, high, low, &mark)->place : 0;

    return found > 0 ? found - 1 : CN_NONE;
}

void cn_trace_ids_renew(struct cn_trace_ids *ids)
{
    size_t count = FIRST_SLOTS;

    while (count / 2 <= ids->count)
        count *= 2;
    make_slots(ids, count);
}

void cn_trace_ids_done(struct cn_trace_ids *ids)
{
    free(ids->list);
    free(ids->slots);
    *ids = (struct cn_trace_ids){0};
}
