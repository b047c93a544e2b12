#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/chunks.h"
#include "base/files/file.h"

static enum cn_compression compression_of(uint32_t flags)
{
    if (flags & CN_CHUNK_FLAG_LZ4)
        return CN_COMPRESSION_LZ4;
    return flags & CN_CHUNK_FLAG_DEFLATE ? CN_COMPRESSION_DEFLATE : CN_COMPRESSION_NONE;
}

static bool write_all(struct cn_chunk_writer *writer, const uint8_t *bytes, size_t len,
                      struct cn_error *err)
{
    uint64_t off = writer->end_off;

    while (len > 0) {
        ssize_t n = pwrite(writer->fd, bytes, len, (off_t)off);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cn_fail_errno(err, "%s: cannot write %zu bytes at 0x%" PRIx64,
                                 writer->path, len, off);
        bytes += n;
        len -= (size_t)n;
        off += (uint64_t)n;
    }
    writer->end_off = off;
    return true;
}

static bool write_header(struct cn_chunk_writer *writer, uint32_t flags,
                         struct cn_error *err)
{
    struct cn_chunk_file_header head = {.magic = CN_CHUNK_FILE_MAGIC, .flags = flags};
    uint8_t bytes[cn_chunk_file_header_size];

    cn_chunk_file_header_encode(&head, bytes);
    return write_all(writer, bytes, sizeof(bytes), err);
}

bool cn_chunk_writer_create(struct cn_chunk_writer *out, const char *path, uint32_t flags,
                            int level, struct cn_error *err)
{
    struct cn_chunk_writer writer = {.has_checksums = flags & CN_CHUNK_FLAG_CRC32};

    writer.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer.fd < 0)
        return cn_fail_errno(err, "%s", path);
    writer.path = cn_strdup(path);
    writer.compressor = cn_compressor_new(compression_of(flags), level);
    if (!write_header(&writer, flags, err)) {
        cn_chunk_writer_abandon(&writer);
        return false;
    }
    *out = writer;
    return true;
}

/* The end of the last whole chunk. Chunks with wrong checksums before it stay: they are not
 * what a crash leaves behind. */
static uint64_t sound_end(const struct cn_chunk_file *file)
{
    uint64_t end_off = cn_chunk_file_header_size;
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;
    struct cn_error err;

    cn_chunk_walk_begin(&walk, file);
    while (!cn_chunk_walk_is_at_end(&walk))
        if (cn_chunk_walk_next(&walk, true, &chunk, &err))
            end_off = walk.off;
    return end_off;
}

/* What kind of chunk file `path` is, how much of it is sound and how much is not. */
static bool inspect(const char *path, struct cn_chunk_file *out, uint64_t *end_off,
                    uint64_t *cut_len, struct cn_error *err)
{
    struct cn_file file = {0};

    if (!cn_file_open(&file, path, err))
        return false;
    bool ok =
        cn_chunk_file_init(out, cn_content_of(file.bytes), CN_CHUNK_DIALECT_SPEC, err) ||
        cn_fail_in(err, "%s", path);
    if (ok) {
        *end_off = sound_end(out);
        *cut_len = file.bytes.len - *end_off;
        out->content = (struct cn_content){0};
    }
    cn_file_close(&file);
    return ok;
}

bool cn_chunk_writer_reopen(struct cn_chunk_writer *out, const char *path, int level,
                            uint64_t *cut_len, struct cn_error *err)
{
    struct cn_chunk_writer writer = {0};
    struct cn_chunk_file file;
    uint64_t excess_len;

    if (!inspect(path, &file, &writer.end_off, &excess_len, err))
        return false;
    writer.fd = open(path, O_WRONLY | O_CLOEXEC);
    if (writer.fd < 0)
        return cn_fail_errno(err, "%s", path);
    writer.path = cn_strdup(path);
    writer.has_checksums = file.has_checksums;
    writer.compressor = cn_compressor_new(file.compression, level);
    if (ftruncate(writer.fd, (off_t)writer.end_off) < 0) {
        (void)cn_fail_errno(err, "%s: cannot cut it at 0x%" PRIx64, path, writer.end_off);
        cn_chunk_writer_abandon(&writer);
        return false;
    }
    *cut_len = excess_len;
    *out = writer;
    return true;
}

static void make_room(struct cn_chunk_writer *writer, size_t len)
{
    if (len <= writer->capacity)
        return;
    free(writer->buffer);
    writer->buffer = cn_alloc(len, 1);
    writer->capacity = len;
}

bool cn_chunk_writer_add(struct cn_chunk_writer *writer, struct cn_bytes plain,
                         struct cn_error *err)
{
    struct cn_chunk_header head = {.magic = CN_CHUNK_MAGIC};
    uint64_t old_off = writer->end_off;
    struct cn_bytes stored;

    if (plain.len > CN_CHUNK_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "%s: chunk of %zu bytes, at most %d are allowed", writer->path,
                       plain.len, CN_CHUNK_LEN_MAX);
    make_room(writer,
              cn_chunk_header_size + cn_compressor_bound(writer->compressor, plain.len));
    stored.ptr = writer->buffer + cn_chunk_header_size;
    if (!cn_compress(writer->compressor, plain, writer->buffer + cn_chunk_header_size,
                     &stored.len, err))
        return cn_fail_in(err, "%s", writer->path);
    head.stored_len = (uint32_t)stored.len;
    head.plain_len = (uint32_t)plain.len;
    head.checksum = writer->has_checksums ? cn_crc32(stored) : 0;
    cn_chunk_header_encode(&head, writer->buffer);
    if (write_all(writer, writer->buffer, cn_chunk_header_size + stored.len, err))
        return true;
    /* Part of it may be there; what cannot be cut off here, readers skip. */
    int is_cut = ftruncate(writer->fd, (off_t)old_off);
    (void)is_cut;
    return false;
}

bool cn_chunk_writer_close(struct cn_chunk_writer *writer, struct cn_error *err)
{
    bool ok = close(writer->fd) == 0 || cn_fail_errno(err, "%s", writer->path);

    writer->fd = 0;
    cn_chunk_writer_abandon(writer);
    return ok;
}

void cn_chunk_writer_abandon(struct cn_chunk_writer *writer)
{
    if (writer->fd > 0)
        (void)close(writer->fd);
    cn_compressor_free(writer->compressor);
    free(writer->path);
    free(writer->buffer);
    *writer = (struct cn_chunk_writer){0};
}
