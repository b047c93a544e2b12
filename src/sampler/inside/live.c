#include "sampler/inside/live.h"

enum { WINDOW = 64, TAKEN = 1 }; /* TAKEN: it is filled */

_Atomic uint16_t cn_live_filter[1 << CN_LIVE_FILTER_BITS];
struct cn_live_place cn_live_places[CN_LIVE_PLACES];

static void count(uintptr_t address, int by)
{
    atomic_fetch_add_explicit(
        &cn_live_filter[cn_live_hash(address) >> (64 - CN_LIVE_FILTER_BITS)],
        (uint16_t)by, memory_order_relaxed);
}

static struct cn_live_place *place_at(uintptr_t address, unsigned i)
{
    return &cn_live_places[((cn_live_hash(address) >> (64 - CN_LIVE_PLACE_BITS)) + i) %
                           CN_LIVE_PLACES];
}

bool cn_live_add(uintptr_t address, const struct cn_live_block *block)
{
    for (unsigned i = 0; i < WINDOW; i++) {
        struct cn_live_place *place = place_at(address, i);
        uint64_t free_place = 0;

        if (!atomic_compare_exchange_strong_explicit(&place->hidden, &free_place, TAKEN,
                                                     memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        place->block = *block;
        atomic_store_explicit(&place->hidden, ~(uint64_t)address, memory_order_release);
        count(address, 1);
        return true;
    }
    return false;
}

bool cn_live_remove(uintptr_t address, struct cn_live_block *out)
{
    for (unsigned i = 0; i < WINDOW; i++) {
        struct cn_live_place *place = place_at(address, i);

        if (atomic_load_explicit(&place->hidden, memory_order_acquire) !=
            ~(uint64_t)address)
            continue;
        *out = place->block;
        count(address, -1);
        atomic_store_explicit(&place->hidden, 0, memory_order_release);
        return true;
    }
    return false;
}
