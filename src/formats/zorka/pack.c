/* Columns to packed records. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/varint.h"
#include "base/files/compress.h"
#include "formats/zorka/columns.h"

struct cn_zorka_packer {
    struct cn_compressor *compressor;
    struct cn_text soft, hard;
    struct cn_zorka_unpacker *check;
};

struct cn_zorka_packer *cn_zorka_packer_new(void)
{
    struct cn_zorka_packer *packer = cn_alloc(1, sizeof(*packer));

    packer->compressor = cn_compressor_new(CN_COMPRESSION_ZSTD, 0);
    packer->check = cn_zorka_unpacker_new();
    return packer;
}

void cn_zorka_packer_free(struct cn_zorka_packer *packer)
{
    if (!packer)
        return;
    cn_compressor_free(packer->compressor);
    cn_zorka_unpacker_free(packer->check);
    cn_text_done(&packer->soft);
    cn_text_done(&packer->hard);
    free(packer);
}

static void put_number(struct cn_text *out, uint64_t value)
{
    uint8_t *at = (uint8_t *)cn_text_room(out, CN_VARINT_LEN_MAX);

    cn_text_advance(out, cn_varint_put(at, value));
}

static void put_columns(struct cn_zorka_packer *packer,
                        const struct cn_zorka_columns *columns)
{
    struct cn_text *soft = &packer->soft, *hard = &packer->hard;

    cn_text_clear(soft);
    cn_text_clear(hard);
    put_number(soft, columns->shape_count);
    for (size_t i = 0; i < columns->shape_count; i++) {
        const struct pack_shape *shape = &columns->shapes[i];

        put_number(soft, shape->count);
        for (uint32_t k = 0; k < shape->count; k++) {
            put_number(soft, columns->members[shape->first + k].key);
            put_number(soft, columns->members[shape->first + k].kind);
        }
    }
    for (size_t i = 0; i < PACKED_COLUMN_COUNT; i++)
        cn_number_column_put(&columns->fixed[i], soft, hard);
    for (size_t i = 0; i < columns->value_count; i++)
        cn_number_column_put(&columns->values[i], soft, hard);
}

static bool put_packed(struct cn_zorka_packer *packer,
                       const struct cn_zorka_columns *columns, struct cn_text *out)
{
    struct cn_bytes soft = {(const uint8_t *)packer->soft.chars, packer->soft.len};
    size_t bound = cn_compressor_bound(packer->compressor, soft.len), begin = out->len;
    uint8_t *at = (uint8_t *)cn_text_room(out, cn_packed_header_size + bound);
    struct cn_error ignored;
    size_t soft_len;

    if (!cn_compress(packer->compressor, soft, at + cn_packed_header_size, &soft_len,
                     &ignored))
        return false;
    struct cn_packed_header header = {
        .record_count = (uint32_t)columns->fixed[RECORD_LEN].count,
        .nested_count = (uint32_t)columns->fixed[NESTED].count,
        .soft_plain_len = (uint32_t)soft.len,
        .soft_len = (uint32_t)soft_len,
    };
    cn_packed_header_encode(&header, (uint8_t *)out->chars + begin);
    cn_text_advance(out, cn_packed_header_size + soft_len);
    cn_text_add(out, cn_text_str(&packer->hard), packer->hard.len);
    return true;
}

/* What cannot be read back is not packed. The same columns unpack to the same records. */
static bool is_sound(struct cn_zorka_packer *packer,
                     const struct cn_zorka_columns *columns, struct cn_bytes packed,
                     size_t plain_len)
{
    struct cn_error ignored;

    return cn_zorka_unpack_begin(packer->check, packed, plain_len, &ignored) &&
           cn_zorka_unpacker_has(packer->check, columns);
}

bool cn_zorka_pack(struct cn_zorka_packer *packer, const struct cn_zorka_columns *columns,
                   size_t plain_len, struct cn_text *out)
{
    size_t begin = out->len;

    if (columns->is_partial || columns->fixed[RECORD_LEN].count == 0 ||
        plain_len > CN_ZORKA_PACKED_LEN_MAX)
        return false;
    put_columns(packer, columns);
    if (put_packed(packer, columns, out) &&
        is_sound(packer, columns,
                 (struct cn_bytes){(const uint8_t *)out->chars + begin, out->len - begin},
                 plain_len))
        return true;
    out->len = begin;
    return false;
}
