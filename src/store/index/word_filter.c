#include "store/index/word_filter.h"

#include <xxhash.h>

#include "base/bytes/record.h"

enum { ID_LEN = 16, ID_SEED = 1 };

uint64_t cn_word_filter_len(uint64_t key_count, uint64_t len_max)
{
    uint64_t len = key_count / 8 * CN_WORD_FILTER_KEY_BITS + CN_WORD_FILTER_KEY_BITS;

    /* With less than half of its bits, most answers are "perhaps". */
    return len <= len_max ? len : len / 2 <= len_max ? len_max : 0;
}

static uint64_t bit_of(uint64_t hash, unsigned i, uint64_t len)
{
    uint64_t sum = (hash & UINT32_MAX) + i * (hash >> 32 | 1);

    return sum % (len * 8);
}

static void add(uint8_t *filter, uint64_t len, uint64_t hash)
{
    for (unsigned i = 0; len > 0 && i < CN_WORD_FILTER_BITS; i++) {
        uint64_t bit = bit_of(hash, i, len);

        filter[bit / 8] = (uint8_t)(filter[bit / 8] | 1U << bit % 8);
    }
}

static bool may_have(struct cn_bytes filter, uint64_t hash)
{
    for (unsigned i = 0; filter.len > 0 && i < CN_WORD_FILTER_BITS; i++) {
        uint64_t bit = bit_of(hash, i, filter.len);

        if (!(filter.ptr[bit / 8] >> bit % 8 & 1))
            return false;
    }
    return true;
}

static uint64_t hash_of_id(uint64_t high, uint64_t low)
{
    uint8_t id[ID_LEN];

    cn_u64_put(id, high);
    cn_u64_put(id + sizeof(uint64_t), low);
    return XXH3_64bits_withSeed(id, sizeof(id), ID_SEED);
}

void cn_word_filter_add(uint8_t *filter, uint64_t len, struct cn_bytes word)
{
    add(filter, len, XXH3_64bits(word.ptr, word.len));
}

void cn_word_filter_add_id(uint8_t *filter, uint64_t len, uint64_t high, uint64_t low)
{
    add(filter, len, hash_of_id(high, low));
}

bool cn_word_filter_may_have(struct cn_bytes filter, struct cn_bytes word)
{
    return may_have(filter, XXH3_64bits(word.ptr, word.len));
}

bool cn_word_filter_may_have_id(struct cn_bytes filter, uint64_t high, uint64_t low)
{
    return may_have(filter, hash_of_id(high, low));
}
