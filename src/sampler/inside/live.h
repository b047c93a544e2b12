/* The sampled blocks of this process that are not freed, by address.
 *
 * A block is added before the program has its address, and removed before the allocator has it
 * back, so that an address is there once. Fixed memory: a block that finds no place is not added.
 * Threads: any thread, also in signal handlers; no locks.
 */
#ifndef CN_SAMPLER_INSIDE_LIVE_H
#define CN_SAMPLER_INSIDE_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sampler/inside/shared.h"

enum { CN_LIVE_FILTER_BITS = 14 };

/* How many blocks have this hash: 0 for nearly all that are freed. */
extern _Atomic uint16_t cn_live_filter[1 << CN_LIVE_FILTER_BITS];

extern struct cn_live_place cn_live_places[CN_LIVE_PLACES];

static inline uint64_t cn_live_hash(uintptr_t address)
{
    return (uint64_t)(address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline bool cn_live_may_have(uintptr_t address)
{
    return atomic_load_explicit(
               &cn_live_filter[cn_live_hash(address) >> (64 - CN_LIVE_FILTER_BITS)],
               memory_order_relaxed) != 0;
}

/* False if there is no place. */
bool cn_live_add(uintptr_t address, const struct cn_live_block *block);

/* False if it is not there. */
bool cn_live_remove(uintptr_t address, struct cn_live_block *out);

#endif
