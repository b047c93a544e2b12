#include "formats/uftrace/packed/record_source.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/packed/decode.h"
#include "formats/uftrace/text/scan.h"

enum {
    /* The longest record with payload, which a block may split. */
    LEFT_MAX = cn_uft_record_size + (1 << 16) + CN_UFT_PAYLOAD_ALIGN,
    FORGET_LEN = 512 << 10, /* mapped pages are dropped in steps of this size */
};

struct cn_uft_record_reader {
    const struct cn_uft_records *records;
    struct cn_uft_unpacker *unpacker; /* NULL for a plain file */
    struct cn_chunk_walk walk;
    struct cn_uft_record_block block; /* the last block returned */
    uint64_t stored_off;              /* where to go on in a plain file */
    uint64_t chunk_off;               /* of the chunk being unpacked */
    uint64_t forgotten_off;           /* end of the pages that were dropped */
    bool has_chunk, has_block, is_at_end;
    uint8_t *rest; /* unused rest of the last block */
    size_t rest_len;
    uint8_t *joined; /* the rest and the next chunk */
    size_t joined_capacity;
    uint8_t *stored; /* copy of a chunk that is read by range */
    size_t stored_capacity;
};

enum cn_uft_task_file cn_uft_task_file(const char *name, uint32_t *tid)
{
    struct cn_bytes text = cn_bytes_of(name);

    /* "007.dat" would be written back under another name. */
    if (name[0] == '0' || !cn_uft_scan_u32(&text, tid))
        return CN_UFT_NO_TASK;
    return cn_uft_text_equals(text, ".dat")   ? CN_UFT_PLAIN_TASK
           : cn_uft_text_equals(text, ".zts") ? CN_UFT_PACKED_TASK
                                              : CN_UFT_NO_TASK;
}

bool cn_uft_records_init(struct cn_uft_records *records, const char *name,
                         struct cn_content content, bool is_big_endian,
                         struct cn_error *err)
{
    struct cn_uft_records made = {
        .name = name,
        .content = content,
        .is_big_endian = is_big_endian,
    };
    uint32_t tid;

    made.is_packed = cn_uft_task_file(name, &tid) == CN_UFT_PACKED_TASK;
    if (made.is_packed &&
        !cn_chunk_file_init(&made.chunks, content, CN_CHUNK_DIALECT_SPEC, err))
        return cn_fail_in(err, "%s", name);
    if (made.is_packed && made.chunks.compression != CN_COMPRESSION_NONE)
        return cn_fail(err, CN_ERR_VERSION,
                       "%s: packed records do not support %s in the chunk file", name,
                       cn_compression_name(made.chunks.compression));
    *records = made;
    return true;
}

uint64_t cn_uft_records_find(const struct cn_uft_records *records, uint64_t time_ns)
{
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;
    struct cn_uft_packed_lead lead;
    struct cn_error err;
    uint64_t off = 0;

    if (!records->is_packed || time_ns == 0)
        return 0;
    cn_chunk_walk_begin(&walk, &records->chunks);
    while (!cn_chunk_walk_is_at_end(&walk)) {
        off = walk.off;
        /* The reader reports damage. */
        if (!cn_chunk_walk_next(&walk, false, &chunk, &err) ||
            !cn_uft_packed_lead_read(chunk.stored, &lead, &err) ||
            lead.last_ns >= time_ns)
            return off;
    }
    return records->content.len;
}

struct cn_uft_record_reader *
cn_uft_record_reader_new(const struct cn_uft_records *records, uint64_t stored_off)
{
    struct cn_uft_record_reader *reader = cn_alloc(1, sizeof(*reader));

    reader->records = records;
    reader->stored_off = reader->forgotten_off = stored_off;
    if (!cn_uft_records_are_one_block(records))
        reader->rest = cn_alloc(LEFT_MAX, 1);
    if (records->is_packed) {
        reader->unpacker = cn_uft_unpacker_new();
        cn_chunk_walk_begin_at(&reader->walk, &records->chunks,
                               stored_off ? stored_off : cn_chunk_file_header_size);
    }
    return reader;
}

void cn_uft_record_reader_free(struct cn_uft_record_reader *reader)
{
    if (!reader)
        return;
    cn_uft_unpacker_free(reader->unpacker);
    free(reader->rest);
    free(reader->joined);
    free(reader->stored);
    free(reader);
}

static enum cn_step next_plain(struct cn_uft_record_reader *reader,
                               struct cn_uft_record_block *out, struct cn_error *err)
{
    struct cn_uft_record_block block = {.off = reader->stored_off,
                                        .stored_off = reader->stored_off};

    if (reader->is_at_end)
        return CN_END;
    reader->is_at_end = true;
    if (!cn_bytes_from(cn_content_bytes(reader->records->content), reader->stored_off,
                       &block.bytes))
        return cn_fail(err, CN_ERR_FORMAT, "%s: no records at 0x%" PRIx64,
                       reader->records->name, reader->stored_off);
    if (block.bytes.len == 0)
        return CN_END;
    *out = block;
    return CN_ITEM;
}

/* Copy the unused rest of the last block before its memory is reused. */
static bool save_rest(struct cn_uft_record_reader *reader, size_t used_len,
                      struct cn_error *err)
{
    struct cn_bytes left;

    reader->rest_len = 0;
    if (!cn_bytes_from(reader->block.bytes, used_len, &left) || left.len == 0)
        return true;
    if (left.len > LEFT_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "%zu bytes at %" PRIu64 " are not a record",
                       left.len, reader->block.off + used_len);
    memmove(reader->rest, left.ptr, left.len); /* may overlap */
    reader->rest_len = left.len;
    return true;
}

static struct cn_bytes join_rest(struct cn_uft_record_reader *reader,
                                 struct cn_bytes bytes)
{
    size_t len = reader->rest_len + bytes.len;

    if (reader->rest_len == 0 && reader->records->is_packed)
        return bytes;
    reader->joined = cn_grow_to(reader->joined, len, &reader->joined_capacity, 1);
    if (reader->rest_len)
        memcpy(reader->joined, reader->rest, reader->rest_len);
    if (bytes.len)
        memcpy(reader->joined + reader->rest_len, bytes.ptr, bytes.len);
    return (struct cn_bytes){reader->joined, len};
}

static bool check_chunk(struct cn_uft_record_reader *reader,
                        const struct cn_uft_packed_lead *lead, struct cn_error *err)
{
    bool is_big_endian = lead->flags & CN_UFT_PACKED_BIG_ENDIAN;
    uint64_t expected_off = reader->block.off + reader->block.bytes.len;

    if (is_big_endian != reader->records->is_big_endian)
        return cn_fail(err, CN_ERR_FORMAT, "packed records of the other byte order");
    if (!reader->has_block || lead->unpacked_off == expected_off)
        return true;
    /* A chunk is missing: report it, and return the chunk after the gap with the next
     * call. */
    reader->walk.off = reader->chunk_off;
    return cn_fail(err, CN_ERR_FORMAT,
                   "packed records continue at byte %" PRIu64 " instead of %" PRIu64,
                   lead->unpacked_off, expected_off);
}

static void drop_read_pages(struct cn_uft_record_reader *reader)
{
    struct cn_bytes pages;

    if (!reader->records->is_mapped ||
        reader->chunk_off - reader->forgotten_off < FORGET_LEN)
        return;
    if (cn_content_slice(reader->records->content, reader->forgotten_off,
                         reader->chunk_off - reader->forgotten_off, &pages))
        cn_file_forget(pages);
    reader->forgotten_off = reader->chunk_off;
}

/* An unpacker reads the chunk for longer than a slice is valid. */
static void own_chunk(struct cn_uft_record_reader *reader, struct cn_chunk *chunk)
{
    if (!reader->records->content.ranges)
        return;
    reader->stored =
        cn_grow_to(reader->stored, chunk->stored.len, &reader->stored_capacity, 1);
    memcpy(reader->stored, chunk->stored.ptr, chunk->stored.len);
    chunk->stored.ptr = reader->stored;
}

static bool begin_chunk(struct cn_uft_record_reader *reader,
                        struct cn_uft_record_block *out, struct cn_error *err)
{
    struct cn_uft_packed_lead lead;
    struct cn_chunk chunk;

    if (!cn_chunk_walk_next(&reader->walk, true, &chunk, err))
        return false;
    reader->chunk_off = chunk.off;
    drop_read_pages(reader);
    own_chunk(reader, &chunk);
    if (!cn_uft_unpacker_begin(reader->unpacker, chunk.stored, &lead, err) ||
        !check_chunk(reader, &lead, err))
        return cn_fail_in(err, "chunk at 0x%" PRIx64, chunk.off);
    out->off = lead.unpacked_off;
    out->open_words = cn_uft_unpacker_open_words(reader->unpacker);
    out->open_count = lead.depth;
    return true;
}

/* The next records of the current chunk, or of the chunk after it. */
static enum cn_step read_chunk(struct cn_uft_record_reader *reader,
                               struct cn_uft_record_block *out, struct cn_error *err)
{
    enum cn_step step = CN_END;
    struct cn_bytes bytes;

    out->off = reader->block.off + reader->block.bytes.len;
    if (reader->has_chunk)
        step = cn_uft_unpacker_next(reader->unpacker, &bytes, err);
    while (step == CN_END) {
        reader->has_chunk = false;
        if (cn_chunk_walk_is_at_end(&reader->walk))
            return CN_END;
        if (!begin_chunk(reader, out, err))
            return CN_FAIL;
        reader->has_chunk = true;
        step = cn_uft_unpacker_next(reader->unpacker, &bytes, err);
    }
    if (step == CN_FAIL)
        return cn_fail_in(err, "chunk at 0x%" PRIx64, reader->chunk_off);
    out->bytes = join_rest(reader, bytes);
    out->off -= reader->rest_len;
    out->stored_off = reader->chunk_off;
    return CN_ITEM;
}

/* The next records of a plain file that is read by range. */
static enum cn_step read_piece(struct cn_uft_record_reader *reader,
                               struct cn_uft_record_block *out, struct cn_error *err)
{
    struct cn_content content = reader->records->content;
    uint64_t off = reader->stored_off, len = 0, len_max = cn_ranges_page_len();
    struct cn_bytes piece;

    if (off <= content.len)
        len = content.len - off < len_max ? content.len - off : len_max;
    reader->stored_off = off + len < content.len ? off + len : content.len;
    if (!cn_content_slice(content, off, len, &piece))
        return cn_fail(err, CN_ERR_FORMAT, "no records at 0x%" PRIx64, off);
    if (len == 0)
        return CN_END;
    out->bytes = join_rest(reader, piece);
    out->off = out->stored_off = off - reader->rest_len;
    return CN_ITEM;
}

/* At the end of the file, return the rest, which is not a whole record. */
static enum cn_step read_rest(struct cn_uft_record_reader *reader,
                              struct cn_uft_record_block *out)
{
    if (reader->is_at_end || reader->rest_len == 0)
        return CN_END;
    reader->is_at_end = true;
    out->off = reader->block.off + reader->block.bytes.len - reader->rest_len;
    out->stored_off = reader->block.stored_off;
    out->bytes = (struct cn_bytes){reader->rest, reader->rest_len};
    return CN_ITEM;
}

enum cn_step cn_uft_record_reader_next(struct cn_uft_record_reader *reader,
                                       size_t used_len, struct cn_uft_record_block *out,
                                       struct cn_error *err)
{
    struct cn_uft_record_block block = {0};
    enum cn_step step = CN_FAIL;

    if (cn_uft_records_are_one_block(reader->records))
        return next_plain(reader, out, err);
    if (save_rest(reader, used_len, err))
        step = reader->records->is_packed ? read_chunk(reader, &block, err)
                                          : read_piece(reader, &block, err);
    if (step == CN_END)
        step = read_rest(reader, &block);
    if (step == CN_FAIL)
        reader->has_chunk = false;
    /* After damage, the last block is unknown. */
    reader->has_block = step == CN_ITEM;
    reader->block = step == CN_ITEM ? block : (struct cn_uft_record_block){0};
    if (step == CN_FAIL)
        return cn_fail_in(err, "%s", reader->records->name);
    if (step == CN_ITEM)
        *out = block;
    return step;
}
