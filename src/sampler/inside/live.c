#include "sampler/inside/live.h"

enum { PLACE_BITS = 16, PLACES = 1 << PLACE_BITS, WINDOW = 64, TAKEN = 1 };

/* `address` 0: free; TAKEN: it is filled. */
struct live_place {
    _Atomic uintptr_t address;
    struct cn_live_block block;
};

_Atomic uint16_t cn_live_filter[1 << CN_LIVE_FILTER_BITS];
static struct live_place places[PLACES];

static void count(uintptr_t address, int by)
{
    atomic_fetch_add_explicit(
        &cn_live_filter[cn_live_hash(address) >> (64 - CN_LIVE_FILTER_BITS)],
        (uint16_t)by, memory_order_relaxed);
}

static struct live_place *place_at(uintptr_t address, unsigned i)
{
    return &places[((cn_live_hash(address) >> (64 - PLACE_BITS)) + i) % PLACES];
}

bool cn_live_add(uintptr_t address, const struct cn_live_block *block)
{
    for (unsigned i = 0; i < WINDOW; i++) {
        struct live_place *place = place_at(address, i);
        uintptr_t free_place = 0;

        if (!atomic_compare_exchange_strong_explicit(&place->address, &free_place, TAKEN,
                                                     memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        place->block = *block;
        atomic_store_explicit(&place->address, address, memory_order_release);
        count(address, 1);
        return true;
    }
    return false;
}

bool cn_live_remove(uintptr_t address, struct cn_live_block *out)
{
    for (unsigned i = 0; i < WINDOW; i++) {
        struct live_place *place = place_at(address, i);

        if (atomic_load_explicit(&place->address, memory_order_acquire) != address)
            continue;
        *out = place->block;
        count(address, -1);
        atomic_store_explicit(&place->address, 0, memory_order_release);
        return true;
    }
    return false;
}
