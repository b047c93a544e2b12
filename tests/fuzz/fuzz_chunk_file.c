/* Any bytes as a chunk file: every chunk that can be found is read. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/chunks.h"
#include "support/fuzz.h"

enum { PLAIN_MAX = 1 << 16 };

static void read_all(struct cn_bytes bytes, enum cn_chunk_dialect dialect,
                     bool is_checked)
{
    struct cn_decompressor *decompressor = cn_decompressor_new();
    uint8_t *out = cn_alloc(PLAIN_MAX, 1);
    struct cn_chunk_file file;
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;
    struct cn_error err = {0};

    if (cn_chunk_file_init(&file, cn_content_of(bytes), dialect, &err)) {
        cn_chunk_walk_begin(&walk, &file);
        while (!cn_chunk_walk_is_at_end(&walk)) {
            if (!cn_chunk_walk_next(&walk, is_checked, &chunk, &err) ||
                chunk.plain_len > PLAIN_MAX)
                continue;
            file.has_checksums = is_checked;
            if (!cn_chunk_read(&file, &chunk, decompressor, out, &err))
                continue;
        }
    }
    free(out);
    cn_decompressor_free(decompressor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};

    read_all(bytes, CN_CHUNK_DIALECT_SPEC, true);
    /* Without checksums mutations get as far as the decompressors. */
    read_all(bytes, CN_CHUNK_DIALECT_SPEC, false);
    read_all(bytes, CN_CHUNK_DIALECT_ORIGINAL, false);
    return 0;
}

static size_t make_file(uint32_t flags, enum cn_compression method, uint8_t *out)
{
    struct cn_chunk_file_header head = {.magic = CN_CHUNK_FILE_MAGIC, .flags = flags};
    static const char text[] = "to be, or not to be, that is the question: to be to be";
    struct cn_compressor *compressor = cn_compressor_new(method, 0);
    size_t end = cn_chunk_file_header_size;
    struct cn_error err = {0};

    cn_chunk_file_header_encode(&head, out);
    for (size_t i = 1; i <= 3; i++) {
        struct cn_chunk_header chunk = {.magic = CN_CHUNK_MAGIC,
                                        .plain_len = (uint32_t)(17 * i)};
        uint8_t *to = out + end + cn_chunk_header_size;
        size_t len;

        if (!cn_compress(compressor,
                         (struct cn_bytes){(const uint8_t *)text, chunk.plain_len}, to,
                         &len, &err))
            break;
        chunk.stored_len = (uint32_t)len;
        chunk.checksum = cn_crc32((struct cn_bytes){to, len});
        cn_chunk_header_encode(&chunk, out + end);
        end += cn_chunk_header_size + len;
    }
    cn_compressor_free(compressor);
    return end;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    uint8_t file[1024];

    emit(file, make_file(0x10, CN_COMPRESSION_NONE, file));
    emit(file, make_file(0x11, CN_COMPRESSION_LZ4, file));
    emit(file, make_file(0x12, CN_COMPRESSION_DEFLATE, file));
    emit(file, make_file(0, CN_COMPRESSION_NONE, file));
}
