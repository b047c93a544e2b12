#include "store/index/postings.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/index/posting_encoder.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, KEY_BITS = 64, FIRST_SLOTS = 256 };

/* A key of the rows that are encoded. */
struct key_rows {
    cn_posting_key key;
    uint32_t id, first; /* where its rows are, of all rows of all keys */
};

void cn_postings_begin(struct cn_postings *postings, uint32_t first_row)
{
    postings->first_row = first_row;
    postings->row_count = 0;
    postings->count = 0;
    if (postings->key_count > 0)
        memset(postings->ids, 0, postings->id_slots * sizeof(*postings->ids));
    postings->key_count = 0;
}

void cn_postings_done(struct cn_postings *postings)
{
    free(postings->pairs);
    free(postings->keys);
    free(postings->ids);
    *postings = (struct cn_postings){0};
}

/* The slot of the id of a key, or the free one for it. Words and names are numbered: neighbours get
 * neighbouring slots, which are in the cache. */
static inline uint32_t *probe(const struct cn_postings *postings, cn_posting_key key)
{
    size_t i = (size_t)(key ^ (key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (i &= postings->id_slots - 1; postings->ids[i] != 0;
         i = (i + 1) & (postings->id_slots - 1))
        if (postings->keys[postings->ids[i] - 1].key == key)
            break;
    return &postings->ids[i];
}

static void grow_ids(struct cn_postings *postings)
{
    free(postings->ids);
    postings->id_slots = postings->id_slots > 0 ? 2 * postings->id_slots : FIRST_SLOTS;
    postings->ids = cn_alloc(postings->id_slots, sizeof(*postings->ids));
    for (size_t i = 0; i < postings->key_count; i++)
        *probe(postings, postings->keys[i].key) = (uint32_t)i + 1;
}

static uint32_t add_key(struct cn_postings *postings, cn_posting_key key)
{
    if (postings->key_count >= postings->id_slots / 2)
        grow_ids(postings);
    CN_PUSH(postings->keys, postings->key_count, postings->key_capacity,
            (struct cn_posting_known){.key = key});
    *probe(postings, key) = (uint32_t)postings->key_count;
    return (uint32_t)postings->key_count;
}

void cn_postings_add(struct cn_postings *postings, uint32_t row, cn_posting_key key)
{
    uint32_t id = postings->key_count > 0 ? *probe(postings, key) : 0;

    if (id == 0)
        id = add_key(postings, key);
    id--;
    if (postings->keys[id].after_row == row + 1)
        return;
    postings->keys[id].after_row = row + 1;
    CN_PUSH(postings->pairs, postings->count, postings->capacity,
            (struct cn_posting_pair){id, row});
}

/* One pass of a radix sort: stable by the digit at `shift`. */
static void sort_digit(const struct key_rows *from, size_t count, unsigned shift,
                       struct key_rows *to)
{
    size_t begins[DIGITS] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        begins[from[i].key >> shift & (DIGITS - 1)]++;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t n = begins[d];

        begins[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[begins[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* By key. Returns `keys` or `spare`, which is as long. */
static struct key_rows *sort_keys(struct key_rows *keys, struct key_rows *spare,
                                  size_t count)
{
    uint64_t varying = 0;

    for (size_t i = 0; i < count; i++)
        varying |= keys[i].key ^ keys[0].key;
    for (unsigned shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        struct key_rows *sorted = spare;

        if ((varying >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_digit(keys, count, shift, sorted);
        spare = keys;
        keys = sorted;
    }
    return keys;
}

/* The rows of each key together, ascending: `ends` receives where those of each key end in `rows`. */
static void gather_rows(const struct cn_postings *postings, size_t begin,
                        uint32_t first_row, uint32_t *ends, uint32_t *rows)
{
    uint32_t sum = 0;

    for (size_t i = begin; i < postings->count; i++)
        ends[postings->pairs[i].id]++;
    for (size_t id = 0; id < postings->key_count; id++) {
        uint32_t n = ends[id];

        ends[id] = sum;
        sum += n;
    }
    for (size_t i = begin; i < postings->count; i++)
        rows[ends[postings->pairs[i].id]++] = postings->pairs[i].row - first_row;
}

static void encode_pairs(const struct cn_postings *postings, size_t begin,
                         uint32_t first_row, struct cn_posting_encoder *encoder,
                         struct cn_text *lists)
{
    uint32_t *ends = cn_alloc(postings->key_count, sizeof(*ends));
    uint32_t *rows = cn_alloc(postings->count - begin, sizeof(*rows));
    struct key_rows *keys = cn_alloc(2 * postings->key_count, sizeof(*keys)), *sorted;
    size_t count = 0;

    gather_rows(postings, begin, first_row, ends, rows);
    for (uint32_t id = 0, first = 0; id < postings->key_count; first = ends[id++])
        if (ends[id] > first)
            keys[count++] = (struct key_rows){postings->keys[id].key, id, first};
    sorted = sort_keys(keys, keys + postings->key_count, count);
    for (size_t i = 0; i < count; i++)
        cn_posting_encoder_add(encoder, sorted[i].key, rows + sorted[i].first,
                               ends[sorted[i].id] - sorted[i].first, lists);
    free(ends);
    free(rows);
    free(keys);
}

void cn_postings_encode(const struct cn_postings *postings, uint32_t first_row,
                        struct cn_text *out)
{
    uint32_t end = postings->first_row + postings->row_count;
    struct cn_posting_encoder encoder;
    size_t block = cn_posting_block_begin(out), begin = postings->count;

    while (begin > 0 && postings->pairs[begin - 1].row >= first_row)
        begin--;
    cn_posting_encoder_init(&encoder, end - first_row);
    encode_pairs(postings, begin, first_row, &encoder, out);
    cn_posting_block_end(&encoder, first_row, out, block);
    cn_posting_encoder_done(&encoder);
}
