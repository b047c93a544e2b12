#include "store/segment/chunk_data.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/zorka/packed.h"

void cn_chunk_reader_done(struct cn_chunk_reader *reader)
{
    cn_decompressor_free(reader->decompressor);
    cn_zorka_unpacker_free(reader->unpacker);
    free(reader->plain);
    *reader = (struct cn_chunk_reader){0};
}

static void prepare(struct cn_chunk_reader *reader, size_t plain_len)
{
    if (!reader->decompressor)
        reader->decompressor = cn_decompressor_new();
    if (!reader->unpacker)
        reader->unpacker = cn_zorka_unpacker_new();
    reader->plain_len = plain_len;
    reader->plain = cn_grow_to(reader->plain, plain_len, &reader->capacity, 1);
}

static bool open_form(struct cn_chunk_reader *reader, const struct cn_chunk *chunk,
                      struct cn_error *err)
{
    struct cn_chunk_data_head head;
    struct cn_bytes rest;

    if (!cn_chunk_data_head_decode(chunk->stored, &head) ||
        !cn_bytes_from(chunk->stored, cn_chunk_data_head_size, &rest))
        return cn_fail(err, CN_ERR_FORMAT, "a chunk of %zu bytes", chunk->stored.len);
    reader->is_packed = head.form == CN_CHUNK_DATA_PACKED;
    if (head.form > CN_CHUNK_DATA_PACKED)
        return cn_fail(err, CN_ERR_VERSION, "records of unknown form %u", head.form);
    if (head.plain_len >
            (reader->is_packed ? CN_ZORKA_PACKED_LEN_MAX : CN_CHUNK_LEN_MAX) ||
        (!reader->is_packed && head.plain_len / CN_CHUNK_GROWTH_MAX > rest.len))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu32 " bytes of records do not come out of %zu",
                       head.plain_len, rest.len);
    prepare(reader, head.plain_len);
    if (reader->is_packed)
        return cn_zorka_unpack_begin(reader->unpacker, rest, head.plain_len, err);
    return cn_decompress(reader->decompressor, CN_COMPRESSION_DEFLATE, rest,
                         reader->plain, head.plain_len, err);
}

bool cn_chunk_reader_open(struct cn_chunk_reader *reader,
                          const struct cn_chunk_file *file, const struct cn_chunk *chunk,
                          struct cn_error *err)
{
    reader->is_packed = false;
    if (!file->is_packed) {
        prepare(reader, chunk->plain_len);
        return cn_chunk_read(file, chunk, reader->decompressor, reader->plain, err);
    }
    if (!cn_chunk_check(file, chunk, err))
        return false;
    return open_form(reader, chunk, err) ||
           cn_fail_in(err, "chunk at 0x%" PRIx64, chunk->off);
}

bool cn_chunk_reader_all(struct cn_chunk_reader *reader, const struct cn_chunk_file *file,
                         const struct cn_chunk *chunk, struct cn_bytes *out,
                         struct cn_error *err)
{
    if (!cn_chunk_reader_open(reader, file, chunk, err))
        return false;
    if (reader->is_packed && !cn_zorka_unpack_all(reader->unpacker, reader->plain, err))
        return cn_fail_in(err, "chunk at 0x%" PRIx64, chunk->off);
    *out = (struct cn_bytes){reader->plain, reader->plain_len};
    return true;
}

bool cn_chunk_reader_from(struct cn_chunk_reader *reader, uint32_t off,
                          struct cn_bytes *out, struct cn_error *err)
{
    struct cn_bytes record = {reader->plain, reader->plain_len};
    size_t begin = 0;

    if (reader->is_packed &&
        !cn_zorka_unpack_at(reader->unpacker, off, &record, &begin, err))
        return false;
    return cn_bytes_from(record, off - begin, out) ||
           cn_fail(err, CN_ERR_FORMAT, "a record at %" PRIu32 " of a chunk of %zu bytes",
                   off, reader->plain_len);
}

bool cn_chunk_reader_span(struct cn_chunk_reader *reader, uint32_t number,
                          struct cn_bytes *out, struct cn_error *err)
{
    return reader->is_packed ? cn_zorka_unpack_span(reader->unpacker, number, out, err)
                             : cn_fail(err, CN_ERR_FORMAT,
                                       "span %" PRIu32 " of a chunk of records", number);
}

bool cn_chunk_reader_attribute(const struct cn_chunk_reader *reader,
                               const struct cn_zorka_names *names,
                               struct cn_zorka_values *out, struct cn_error *err)
{
    out->count = 0;
    return !reader->is_packed ||
           cn_zorka_unpack_attribute(reader->unpacker, names, out, err);
}

void cn_chunk_reader_places(const struct cn_chunk_reader *reader,
                            const struct cn_chunk *chunk,
                            struct cn_chunk_place places[CN_CHUNK_FIELDS])
{
    static const enum cn_zorka_placed columns[CN_CHUNK_FIELDS] = {
        [CN_CHUNK_TRACE_HIGH] = CN_ZORKA_TRACE_HIGH,
        [CN_CHUNK_TRACE_LOW] = CN_ZORKA_TRACE_LOW,
        [CN_CHUNK_SPAN_ID] = CN_ZORKA_SPAN_IDS,
        [CN_CHUNK_DURATION] = CN_ZORKA_DURATIONS,
    };
    struct cn_zorka_place packed[CN_ZORKA_PLACES] = {0};
    uint64_t begin = chunk->off + cn_chunk_header_size + cn_chunk_data_head_size;

    if (reader->is_packed)
        cn_zorka_unpack_places(reader->unpacker, packed);
    for (unsigned i = 0; i < CN_CHUNK_FIELDS; i++) {
        const struct cn_zorka_place *place = &packed[columns[i]];

        places[i] = (struct cn_chunk_place){
            .off = begin + place->off,
            .lowest = place->lowest,
            .count = (uint32_t)place->count,
            .bits = place->bits,
        };
    }
}
