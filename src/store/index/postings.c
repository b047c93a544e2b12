#include "store/index/postings.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/index/posting_encoder.h"

enum {
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    KEY_BITS = 64,
    SEEN_MAX = 1 << 22, /* method words in `seen`; others may be added twice */
};

void cn_postings_begin(struct cn_postings *postings, uint32_t first_row)
{
    postings->first_row = first_row;
    postings->row_count = 0;
    postings->count = 0;
    if (postings->seen_count > 0)
        memset(postings->seen, 0, postings->seen_count * sizeof(*postings->seen));
}

void cn_postings_done(struct cn_postings *postings)
{
    free(postings->pairs);
    free(postings->spare);
    free(postings->seen);
    *postings = (struct cn_postings){0};
}

void cn_postings_add(struct cn_postings *postings, uint32_t row, cn_posting_key key)
{
    CN_PUSH(postings->pairs, postings->count, postings->capacity,
            (struct cn_posting_pair){key, row});
}

void cn_postings_add_method(struct cn_postings *postings, uint32_t row, uint32_t method)
{
    size_t old = postings->seen_count;

    if (method < SEEN_MAX) {
        if (method >= old) {
            CN_GROW_TO(postings->seen, 2 * (size_t)method + 1024, postings->seen_count);
            memset(postings->seen + old, 0,
                   (postings->seen_count - old) * sizeof(*postings->seen));
        }
        if (postings->seen[method] == row + 1)
            return;
        postings->seen[method] = row + 1;
    }
    cn_postings_add(postings, row, cn_posting_key_of(CN_POSTING_METHOD, 0, method));
}

/* One pass of a radix sort: stable by the digit at `shift`. */
static void sort_digit(const struct cn_posting_pair *from, size_t count, unsigned shift,
                       struct cn_posting_pair *to)
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

/* By key; rows of a key stay in ascending order, as they were added. */
static void sort_pairs(struct cn_postings *postings)
{
    uint64_t varying = 0;

    CN_GROW_TO(postings->spare, postings->count, postings->spare_capacity);
    for (size_t i = 0; i < postings->count; i++)
        varying |= postings->pairs[i].key ^ postings->pairs[0].key;
    for (unsigned shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        struct cn_posting_pair *sorted = postings->spare;
        size_t capacity = postings->spare_capacity;

        if ((varying >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_digit(postings->pairs, postings->count, shift, sorted);
        postings->spare = postings->pairs;
        postings->spare_capacity = postings->capacity;
        postings->pairs = sorted;
        postings->capacity = capacity;
    }
}

static void encode_pairs(const struct cn_postings *postings,
                         struct cn_posting_encoder *encoder, struct cn_text *lists)
{
    uint32_t *rows = cn_alloc(postings->row_count, sizeof(*rows));
    size_t i = 0;

    while (i < postings->count) {
        cn_posting_key key = postings->pairs[i].key;
        uint32_t count = 0;

        for (; i < postings->count && postings->pairs[i].key == key; i++) {
            uint32_t row = postings->pairs[i].row - postings->first_row;

            if (row < postings->row_count && (count == 0 || rows[count - 1] != row))
                rows[count++] = row;
        }
        if (count > 0)
            cn_posting_encoder_add(encoder, key, rows, count, lists);
    }
    free(rows);
}

void cn_postings_encode(struct cn_postings *postings, struct cn_text *out)
{
    struct cn_posting_encoder encoder;
    size_t begin = cn_posting_block_begin(out);

    cn_posting_encoder_init(&encoder, postings->row_count);
    sort_pairs(postings);
    encode_pairs(postings, &encoder, out);
    cn_posting_block_end(&encoder, postings->first_row, out, begin);
    cn_posting_encoder_done(&encoder);
}
