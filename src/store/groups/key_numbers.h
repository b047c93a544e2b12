/* Numbers keys in the order in which they are first seen. For long lists of few keys.
 *
 * A zeroed one is ready for use. Threads: one thread at a time.
 */
#ifndef CN_STORE_GROUPS_KEY_NUMBERS_H
#define CN_STORE_GROUPS_KEY_NUMBERS_H

#include "base/map.h"

enum { CN_KEY_NUMBERS_BITS = 8 };

struct cn_key_numbers {
    struct cn_map numbers;
    struct {
        uint64_t key;
        uint32_t number_after; /* 1 + its number; 0: none */
    } recent[1 << CN_KEY_NUMBERS_BITS];
};

static inline uint32_t cn_key_number_of(struct cn_key_numbers *numbering, uint64_t key)
{
    size_t at =
        (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CN_KEY_NUMBERS_BITS));

    if (numbering->recent[at].key != key || numbering->recent[at].number_after == 0) {
        numbering->recent[at].key = key;
        numbering->recent[at].number_after =
            *cn_map_at(&numbering->numbers, key, (uint32_t)numbering->numbers.count) + 1;
    }
    return numbering->recent[at].number_after - 1;
}

static inline void cn_key_numbers_done(struct cn_key_numbers *numbering)
{
    cn_map_done(&numbering->numbers);
}

#endif
