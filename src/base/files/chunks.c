#include "base/files/chunks.h"

#include <inttypes.h>

bool cn_chunk_file_init(struct cn_chunk_file *file, struct cn_content content,
                        enum cn_chunk_dialect dialect, struct cn_error *err)
{
    enum { METHODS = CN_CHUNK_FLAG_LZ4 | CN_CHUNK_FLAG_DEFLATE };
    enum cn_compression compression = CN_COMPRESSION_NONE;
    bool is_spec = dialect != CN_CHUNK_DIALECT_ORIGINAL;
    bool may_be_packed = dialect == CN_CHUNK_DIALECT_STORE;
    uint32_t known =
        METHODS | CN_CHUNK_FLAG_CRC32 | (may_be_packed ? CN_CHUNK_FLAG_PACKED : 0);
    struct cn_chunk_file_header head;
    struct cn_bytes start;

    if (!cn_content_slice(content, 0, cn_chunk_file_header_size, &start) ||
        !cn_chunk_file_header_decode(start, &head) || head.magic != CN_CHUNK_FILE_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT,
                       "not a chunk file: it does not begin with ZTS0");
    if (head.flags & ~known || (head.flags & METHODS) == METHODS ||
        (head.flags & CN_CHUNK_FLAG_PACKED && head.flags & METHODS))
        return cn_fail(err, CN_ERR_VERSION, "chunk file with unknown flags 0x%x",
                       head.flags);
    if (head.flags & METHODS)
        compression = ((head.flags & CN_CHUNK_FLAG_LZ4) != 0) == is_spec
                          ? CN_COMPRESSION_LZ4
                          : CN_COMPRESSION_DEFLATE;
    *file = (struct cn_chunk_file){
        .content = content,
        .compression = compression,
        .has_checksums = head.flags & CN_CHUNK_FLAG_CRC32,
        .is_packed = head.flags & CN_CHUNK_FLAG_PACKED,
    };
    return true;
}

static bool need(const struct cn_chunk_file *file, struct cn_bytes part,
                 struct cn_error *err)
{
    return !file->source || file->source->need(file->source, part, err);
}

bool cn_chunk_file_init_from(struct cn_chunk_file *file, const struct cn_file *mapped,
                             enum cn_chunk_dialect dialect, struct cn_error *err)
{
    struct cn_bytes head = mapped->bytes;

    if (head.len > cn_chunk_file_header_size)
        head.len = cn_chunk_file_header_size;
    if (!cn_file_need(mapped, head, err) ||
        !cn_chunk_file_init(file, cn_file_content(mapped), dialect, err))
        return false;
    file->source = mapped->source;
    return true;
}

bool cn_chunk_file_at(const struct cn_chunk_file *file, uint64_t off,
                      struct cn_chunk *out, struct cn_error *err)
{
    struct cn_bytes stored, bytes;
    struct cn_chunk_header head;

    if (!cn_content_slice(file->content, off, cn_chunk_header_size, &bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "chunk at 0x%" PRIx64 ": the file ends inside its header", off);
    if (!need(file, bytes, err) || !cn_chunk_header_decode(bytes, &head))
        return false;
    if (head.magic != CN_CHUNK_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT, "chunk at 0x%" PRIx64 ": 0x%08x is not ZCH0",
                       off, head.magic);
    if (!cn_content_has(file->content, off + cn_chunk_header_size, head.stored_len))
        return cn_fail(
            err, CN_ERR_FORMAT,
            "chunk at 0x%" PRIx64 ": %u bytes, but the file ends after %" PRIu64, off,
            head.stored_len, file->content.len - off - cn_chunk_header_size);
    if (head.plain_len > CN_CHUNK_LEN_MAX || head.stored_len > CN_CHUNK_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "chunk at 0x%" PRIx64 ": %u bytes, at most %d are allowed", off,
                       head.plain_len, CN_CHUNK_LEN_MAX);
    if (head.plain_len / CN_CHUNK_GROWTH_MAX > head.stored_len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "chunk at 0x%" PRIx64 ": %u bytes do not come out of %u, at most "
                       "%d times as many do",
                       off, head.plain_len, head.stored_len, CN_CHUNK_GROWTH_MAX);
    if (!cn_content_slice(file->content, off + cn_chunk_header_size, head.stored_len,
                          &stored) ||
        !need(file, stored, err))
        return false;
    *out = (struct cn_chunk){
        .off = off,
        .stored = stored,
        .plain_len = head.plain_len,
        .checksum = head.checksum,
    };
    return true;
}

bool cn_chunk_check(const struct cn_chunk_file *file, const struct cn_chunk *chunk,
                    struct cn_error *err)
{
    if (!file->has_checksums)
        return true;
    uint32_t checksum = cn_crc32(chunk->stored);
    if (checksum == chunk->checksum)
        return true;
    return cn_fail(err, CN_ERR_FORMAT,
                   "chunk at 0x%" PRIx64 ": checksum is 0x%08x instead of 0x%08x",
                   chunk->off, checksum, chunk->checksum);
}

bool cn_chunk_read(const struct cn_chunk_file *file, const struct cn_chunk *chunk,
                   struct cn_decompressor *decompressor, uint8_t *out,
                   struct cn_error *err)
{
    if (!cn_chunk_check(file, chunk, err))
        return false;
    return cn_decompress(decompressor, file->compression, chunk->stored, out,
                         chunk->plain_len, err) ||
           cn_fail_in(err, "chunk at 0x%" PRIx64, chunk->off);
}

void cn_chunk_walk_begin(struct cn_chunk_walk *walk, const struct cn_chunk_file *file)
{
    cn_chunk_walk_begin_at(walk, file, cn_chunk_file_header_size);
}

void cn_chunk_walk_begin_at(struct cn_chunk_walk *walk, const struct cn_chunk_file *file,
                            uint64_t off)
{
    *walk = (struct cn_chunk_walk){.file = file, .off = off};
}

bool cn_chunk_walk_is_at_end(const struct cn_chunk_walk *walk)
{
    return walk->off >= walk->file->content.len;
}

/* Whether a chunk, or nothing, begins at `off`. */
static bool is_boundary(const struct cn_chunk_file *file, uint64_t off)
{
    struct cn_bytes magic;

    if (off == file->content.len)
        return true;
    return cn_content_slice(file->content, off, CN_CHUNK_MAGIC_LEN, &magic) &&
           cn_u32_be_get(magic.ptr) == CN_CHUNK_MAGIC;
}

/* The next offset after `off` that looks like the start of a chunk; else the end. */
static uint64_t find_magic(const struct cn_chunk_file *file, uint64_t off)
{
    enum { PIECE_LEN = 16 << 20 };
    uint64_t len = file->content.len, piece_len;
    struct cn_bytes piece;
    uint8_t magic[CN_CHUNK_MAGIC_LEN];
    struct cn_error ignored;

    cn_u32_be_put(magic, CN_CHUNK_MAGIC);
    /* Pieces overlap by what may be the first bytes of a magic number. */
    for (off++; off < len && len - off >= sizeof(magic);
         off += piece_len - (sizeof(magic) - 1)) {
        piece_len = len - off < PIECE_LEN ? len - off : PIECE_LEN;
        /* What cannot be fetched has no chunks. */
        if (!cn_content_slice(file->content, off, piece_len, &piece) ||
            !need(file, piece, &ignored))
            return len;
        const uint8_t *found = memmem(piece.ptr, piece.len, magic, sizeof(magic));
        if (found)
            return off + (uint64_t)(found - piece.ptr);
    }
    return len;
}

static void skip_to(struct cn_chunk_walk *walk, uint64_t off)
{
    walk->lost_len += off - walk->off;
    walk->off = off;
}

/* Where to continue after a chunk whose checksum is wrong. If its length leads to another
 * chunk it can be believed; if not, it may be the length that is wrong, and the next chunk
 * lies inside. Looking there is limited, because what lies inside can claim to be long
 * again. */
static void skip_unsound(struct cn_chunk_walk *walk, const struct cn_chunk *chunk)
{
    uint64_t end_off = chunk->off + cn_chunk_header_size + chunk->stored.len;

    walk->wasted_len += chunk->stored.len;
    if (is_boundary(walk->file, end_off) || walk->wasted_len > walk->file->content.len)
        skip_to(walk, end_off);
    else
        skip_to(walk, find_magic(walk->file, chunk->off));
}

bool cn_chunk_walk_next(struct cn_chunk_walk *walk, bool is_checked, struct cn_chunk *out,
                        struct cn_error *err)
{
    struct cn_chunk chunk;

    if (!cn_chunk_file_at(walk->file, walk->off, &chunk, err)) {
        skip_to(walk, find_magic(walk->file, walk->off));
        return false;
    }
    if (is_checked && !cn_chunk_check(walk->file, &chunk, err)) {
        skip_unsound(walk, &chunk);
        return false;
    }
    walk->off += cn_chunk_header_size + chunk.stored.len;
    *out = chunk;
    return true;
}
