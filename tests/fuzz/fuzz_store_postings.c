/* Any bytes as a block of postings, with its checksums right or left out: every key is walked and
 * every row looked at, and none lies outside. Blocks that can be read can be merged. */

#include <assert.h>
#include <stdlib.h>

#include "base/text.h"
#include "store/index/posting_block.h"
#include "store/index/posting_merge.h"
#include "store/index/rows.h"
#include "store/segment/posting_log.h"
#include "support/fuzz.h"

enum { ROWS_MAX = 5000 };

static void count_row(void *arg, uint32_t row)
{
    const struct cn_posting_block *block = arg;

    assert(row >= block->first_row && row - block->first_row < block->row_count);
}

static void walk(struct cn_posting_block *block)
{
    struct cn_error err = {0};
    struct cn_posting_walk keys;
    struct cn_posting_entry entry;
    struct cn_rows rows;

    if (block->row_count > ROWS_MAX || block->first_row > ROWS_MAX)
        return;
    cn_rows_init(&rows, block->first_row + block->row_count);
    if (cn_posting_walk_begin(&keys, block, 0, &err)) {
        while (cn_posting_walk_next(&keys, &entry, &err) == CN_ITEM) {
            (void)!cn_posting_rows_add(block, &entry, &rows, &err);
            (void)!cn_posting_rows_walk(block, &entry, count_row, block, &err);
        }
    }
    cn_rows_done(&rows);
}

static void merge(const struct cn_posting_block *block)
{
    struct cn_posting_encoder encoder;
    struct cn_error err = {0};
    struct cn_text lists = {0};

    if (block->row_count > ROWS_MAX)
        return;
    cn_posting_encoder_init(&encoder, block->row_count);
    encoder.has_steps = block->row_count % 2 == 0;
    (void)!cn_posting_merge(block, 1, block->first_row, &encoder, &lists, NULL, NULL,
                            &err);
    cn_posting_encoder_done(&encoder);
    cn_text_done(&lists);
}

/* The input without a header: lengths of the parts, then the parts. */
static void read_unchecked(struct cn_bytes data)
{
    struct cn_posting_block block = {0};
    struct cn_bytes head;
    size_t lists_len, entries_len;

    if (!cn_bytes_take(&data, 8, &head))
        return;
    block.first_row = head.ptr[0];
    block.row_count = head.ptr[1] + 1U;
    lists_len = cn_u16_get(head.ptr + 2) % (data.len + 1);
    if (!cn_bytes_take(&data, lists_len, &block.lists))
        return;
    entries_len = cn_u16_get(head.ptr + 4) % (data.len + 1);
    if (!cn_bytes_take(&data, entries_len, &block.entries))
        return;
    block.samples = data;
    walk(&block);
    merge(&block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes input = {data, len};
    struct cn_posting_block *blocks;
    size_t count;
    uint64_t blocks_len;

    blocks = cn_posting_log_read(input, ROWS_MAX, &count, &blocks_len);
    assert(blocks_len <= len);
    for (size_t i = 0; i < count; i++)
        walk(&blocks[i]);
    free(blocks);
    read_unchecked(input);
    return 0;
}

/* The same block as files have it, without a header. */
static void emit_steps(const struct cn_posting_block *block,
                       void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_posting_encoder encoder;
    struct cn_error err = {0};
    struct cn_text lists = {0}, plain = {0};
    uint8_t head[8] = {3, 199};

    cn_posting_encoder_init(&encoder, block->row_count);
    encoder.has_steps = true;
    if (!cn_posting_merge(block, 1, block->first_row, &encoder, &lists, NULL, NULL, &err))
        abort();
    cn_u16_put(head + 2, (uint16_t)lists.len);
    cn_u16_put(head + 4, (uint16_t)encoder.entries.len);
    cn_text_add(&plain, (const char *)head, sizeof(head));
    cn_text_add(&plain, cn_text_str(&lists), lists.len);
    cn_text_add(&plain, cn_text_str(&encoder.entries), encoder.entries.len);
    cn_text_add(&plain, cn_text_str(&encoder.samples), encoder.samples.len);
    emit((const uint8_t *)plain.chars, plain.len);
    cn_posting_encoder_done(&encoder);
    cn_text_done(&lists);
    cn_text_done(&plain);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_postings postings = {0};
    struct cn_posting_block block;
    struct cn_error err = {0};
    struct cn_text text = {0}, plain = {0};
    struct cn_bytes rest;
    uint8_t head[8] = {3, 199};

    cn_postings_begin(&postings, 3);
    for (uint32_t row = 3; row < 203; row++) {
        for (uint32_t key = 1; key < 150; key++) {
            if (row % key == 0)
                cn_postings_add(&postings, row,
                                cn_posting_key_of(CN_POSTING_ATTRIBUTE, key % 3, key));
        }
        cn_postings_end_row(&postings);
    }
    cn_postings_encode(&postings, 3, &text);
    emit((const uint8_t *)text.chars, text.len);
    rest = (struct cn_bytes){(const uint8_t *)text.chars, text.len};
    if (cn_posting_block_take(&rest, &block, &err)) {
        cn_u16_put(head + 2, (uint16_t)block.lists.len);
        cn_u16_put(head + 4, (uint16_t)block.entries.len);
        cn_text_add(&plain, (const char *)head, sizeof(head));
        cn_text_add(&plain, (const char *)block.lists.ptr, block.lists.len);
        cn_text_add(&plain, (const char *)block.entries.ptr, block.entries.len);
        cn_text_add(&plain, (const char *)block.samples.ptr, block.samples.len);
        emit((const uint8_t *)plain.chars, plain.len);
        emit_steps(&block, emit);
    }
    cn_text_done(&text);
    cn_text_done(&plain);
    cn_postings_done(&postings);
}
