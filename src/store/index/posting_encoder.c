#include "store/index/posting_encoder.h"

#include "base/bytes/varint.h"
#include "base/files/crc32c.h"
#include "store/index/posting_block.h"
#include "store/index/posting_steps.h"

void cn_posting_encoder_init(struct cn_posting_encoder *encoder, uint32_t row_count)
{
    *encoder = (struct cn_posting_encoder){.row_count = row_count};
}

void cn_posting_encoder_done(struct cn_posting_encoder *encoder)
{
    cn_text_done(&encoder->entries);
    cn_text_done(&encoder->samples);
}

static void add_varint(struct cn_text *text, uint64_t value)
{
    uint8_t *at = (uint8_t *)cn_text_room(text, CN_VARINT_LEN_MAX);

    cn_text_advance(text, cn_varint_put(at, value));
}

static void add_bits(const struct cn_posting_encoder *encoder, const uint32_t *rows,
                     uint32_t count, struct cn_text *lists)
{
    size_t begin = lists->len;

    cn_text_fill(lists, '\0', (encoder->row_count + 7) / 8);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *byte = (uint8_t *)lists->chars + begin + rows[i] / 8;

        *byte = (uint8_t)(*byte | 1U << rows[i] % 8);
    }
}

void cn_posting_encoder_add(struct cn_posting_encoder *encoder, cn_posting_key key,
                            const uint32_t *rows, uint32_t count, struct cn_text *lists)
{
    size_t begin = lists->len;
    enum cn_posting_form form = CN_POSTING_LIST;
    uint64_t value = 0;

    if (encoder->key_count % CN_POSTING_GROUP == 0) {
        struct cn_posting_sample sample = {
            .key = key,
            .entries_off = encoder->entries.len,
            .lists_off = encoder->lists_len,
        };
        uint8_t bytes[cn_posting_sample_size];

        cn_posting_sample_encode(&sample, bytes);
        cn_text_add(&encoder->samples, (const char *)bytes, sizeof(bytes));
        encoder->last = 0;
    }
    if (count == encoder->row_count) {
        form = CN_POSTING_ALL;
    } else if (count == 1) {
        form = CN_POSTING_ONE;
        value = rows[0];
    } else if (count > encoder->row_count / 8) {
        form = CN_POSTING_BITS;
        add_bits(encoder, rows, count, lists);
    } else if (encoder->has_steps && count > 0) {
        form = CN_POSTING_ALL;
        cn_posting_steps_put(rows, count, lists);
    } else {
        for (uint32_t i = 0; i < count; i++)
            add_varint(lists, i > 0 ? rows[i] - rows[i - 1] : rows[0]);
    }
    if (form != CN_POSTING_ONE)
        value = lists->len - begin;
    encoder->lists_len += lists->len - begin;
    add_varint(&encoder->entries, key - encoder->last);
    add_varint(&encoder->entries, value << 2 | form);
    encoder->last = key;
    encoder->key_count++;
}

size_t cn_posting_block_begin(struct cn_text *out)
{
    size_t begin = out->len;

    cn_text_fill(out, '\0', cn_posting_header_size);
    return begin;
}

void cn_posting_block_end(const struct cn_posting_encoder *encoder, uint32_t first_row,
                          struct cn_text *out, size_t begin)
{
    struct cn_posting_header header = {
        .magic = CN_POSTING_OWN_MAGIC,
        .first_row = first_row,
        .row_count = encoder->row_count,
        .key_count = encoder->key_count,
        .lists_len = encoder->lists_len,
        .entries_len = encoder->entries.len,
        .samples_len = encoder->samples.len,
    };
    uint8_t bytes[cn_posting_header_size];

    cn_text_add(out, cn_text_str(&encoder->entries), encoder->entries.len);
    cn_text_add(out, cn_text_str(&encoder->samples), encoder->samples.len);
    struct cn_bytes body = {(const uint8_t *)out->chars + begin + sizeof(bytes),
                            out->len - begin - sizeof(bytes)};
    header.checksum = cn_crc32c(body);
    cn_posting_header_encode(&header, bytes);
    header.header_checksum = cn_crc32c(
        (struct cn_bytes){bytes, sizeof(bytes) - sizeof(header.header_checksum)});
    cn_posting_header_encode(&header, bytes);
    memcpy(out->chars + begin, bytes, sizeof(bytes));
}
