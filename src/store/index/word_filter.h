/* A filter of words and trace ids: says "certainly not" or "perhaps", without the segment.
 *
 * A Bloom filter: each key sets CN_WORD_FILTER_BITS bits. Bit i of a key with the hash h (XXH3-64
 * of its bytes) is (low half of h + i * high half of h, made odd) modulo the number of bits, which
 * is 8 per byte. A trace id is 16 bytes: the upper half and the lower half, little endian, hashed
 * with the seed 1. An empty filter excludes nothing.
 * Threads: any thread may ask; one thread at a time adds.
 */
#ifndef CN_STORE_INDEX_WORD_FILTER_H
#define CN_STORE_INDEX_WORD_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"

enum { CN_WORD_FILTER_BITS = 9, CN_WORD_FILTER_KEY_BITS = 16 };

/* The bytes that `key_count` keys need, at most `len_max`; 0 if that is too little to be useful. */
uint64_t cn_word_filter_len(uint64_t key_count, uint64_t len_max);

void cn_word_filter_add(uint8_t *filter, uint64_t len, struct cn_bytes word);
void cn_word_filter_add_id(uint8_t *filter, uint64_t len, uint64_t high, uint64_t low);

/* False if the word or id was certainly not added. */
bool cn_word_filter_may_have(struct cn_bytes filter, struct cn_bytes word);
bool cn_word_filter_may_have_id(struct cn_bytes filter, uint64_t high, uint64_t low);

#endif
