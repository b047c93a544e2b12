/* Writes columns of meta.dat whose values are in chunks. */

#include "store/index/chunk_values_write.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/crc32c.h"
#include "store/index/columns_layout.h"

struct values_writer {
    const struct cn_chunk_places *places;
    enum cn_chunk_field field;
    struct cn_text entries, here;
    uint64_t *run; /* values of the chunk */
    size_t run_count, run_capacity;
    uint32_t first; /* number of the first of them */
    size_t chunk;
    uint64_t in_chunks; /* values that are there */
};

/* True if the chunk has these very values. */
static bool has_values(const struct cn_chunk_place *place, struct cn_bytes bytes,
                       const uint64_t *values, size_t count)
{
    uint64_t mask = UINT64_MAX >> (CN_META_WORD_BITS - place->bits);

    for (size_t i = 0; i < count; i++) {
        uint64_t bit = i * place->bits;
        uint8_t eight[sizeof(uint64_t)] = {0};
        size_t left = bytes.len - (size_t)(bit / 8);

        memcpy(eight, bytes.ptr + bit / 8, left < sizeof(eight) ? left : sizeof(eight));
        if ((cn_u64_get(eight) >> bit % 8 & mask) + place->lowest != values[i])
            return false;
    }
    return true;
}

static bool refer_to_chunk(const struct values_writer *writer,
                           struct cn_chunk_values_entry *entry)
{
    const struct cn_chunk_places *places = writer->places;
    const struct cn_chunk_place *place;
    struct cn_bytes bytes;

    if (writer->chunk >= places->count)
        return false;
    place = &places->places[writer->chunk][writer->field];
    if (place->bits == 0 || place->count != writer->run_count ||
        (place->bits >= CN_META_BITS_MAX && place->bits != CN_META_WORD_BITS) ||
        !cn_content_slice(places->data, place->off,
                          ((uint64_t)place->count * place->bits + 7) / 8, &bytes) ||
        !has_values(place, bytes, writer->run, writer->run_count))
        return false;
    entry->off = place->off;
    entry->lowest = place->lowest;
    entry->bits = (uint8_t)place->bits;
    entry->checksum = cn_crc32c(bytes);
    return true;
}

/* End the values of a chunk. Offsets of values that are here count from the first of them at first. */
static void end_run(struct values_writer *writer)
{
    struct cn_chunk_values_entry entry = {.first = writer->first,
                                          .count = (uint32_t)writer->run_count};

    if (refer_to_chunk(writer, &entry)) {
        writer->in_chunks += entry.count;
    } else {
        entry.off = writer->here.len;
        entry.bits = CN_META_WORD_BITS;
        entry.is_here = 1;
        for (size_t i = 0; i < writer->run_count; i++) {
            uint8_t *at = (uint8_t *)cn_text_room(&writer->here, sizeof(uint64_t));

            cn_u64_put(at, writer->run[i]);
            cn_text_advance(&writer->here, sizeof(uint64_t));
        }
    }
    uint8_t *at = (uint8_t *)cn_text_room(&writer->entries, cn_chunk_values_entry_size);
    cn_chunk_values_entry_encode(&entry, at);
    cn_text_advance(&writer->entries, cn_chunk_values_entry_size);
    writer->first += (uint32_t)writer->run_count;
    writer->run_count = 0;
    writer->chunk++;
}

/* Entries of values that are here get the offset in the section, of which `before` bytes come before the
 * entries. */
static void set_offs(struct values_writer *writer, uint64_t before)
{
    uint64_t here_off = before + sizeof(uint64_t) + writer->entries.len;

    for (size_t at = 0; at < writer->entries.len; at += cn_chunk_values_entry_size) {
        uint8_t *bytes = (uint8_t *)writer->entries.chars + at;
        struct cn_chunk_values_entry entry;

        if (cn_chunk_values_entry_decode(
                (struct cn_bytes){bytes, cn_chunk_values_entry_size}, &entry) &&
            entry.is_here)
            entry.off += here_off;
        cn_chunk_values_entry_encode(&entry, bytes);
    }
}

void cn_chunk_values_gather(struct cn_chunk_values_text *out, uint64_t before,
                            uint32_t row_count, const struct cn_store_column *column,
                            const struct cn_store_column *data_off, bool has_groups,
                            const struct cn_chunk_places *places,
                            enum cn_chunk_field field)
{
    struct values_writer writer = {.places = places, .field = field};

    for (uint32_t row = 0; row < row_count; row++) {
        if (row > 0 && cn_store_column_is_new(data_off, row))
            end_run(&writer);
        if (!has_groups || cn_store_column_is_new(column, row))
            CN_PUSH(writer.run, writer.run_count, writer.run_capacity,
                    cn_store_column_at(column, row));
    }
    if (row_count > 0)
        end_run(&writer);
    set_offs(&writer, before);
    free(writer.run);
    *out = (struct cn_chunk_values_text){
        .entries = writer.entries,
        .here = writer.here,
        .count = (uint32_t)writer.chunk,
        .is_worth = writer.in_chunks > writer.first / 2,
    };
}
