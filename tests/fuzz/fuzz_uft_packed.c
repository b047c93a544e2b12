/* Any bytes as packed records, once as a whole file and once as a chunk whose checksums are
 * made right; and any bytes as TID.dat, which come back as they were. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/uftrace/packed/decode.h"
#include "formats/uftrace/packed/encode.h"
#include "formats/uftrace/packed/file.h"
#include "formats/uftrace/packed/record_source.h"
#include "support/fuzz.h"
#include "support/random_calls.h"

static void read_file(struct cn_bytes bytes)
{
    struct cn_uft_records records;
    struct cn_uft_record_reader *reader;
    struct cn_uft_record_block block;
    struct cn_error err = {0};
    size_t used_len = 0;
    enum cn_step step;

    if (!cn_uft_records_init(&records, "1.zts", cn_content_of(bytes), false, &err))
        return;
    reader = cn_uft_record_reader_new(&records, cn_uft_records_find(&records, 1 << 20));
    while ((step = cn_uft_record_reader_next(reader, used_len, &block, &err)) != CN_END)
        used_len = step == CN_ITEM ? block.bytes.len - block.bytes.len % 7 : 0;
    cn_uft_record_reader_free(reader);
}

static void read_chunk(struct cn_bytes bytes)
{
    struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();
    uint8_t *copy = cn_alloc(bytes.len + 1, 1);
    struct cn_uft_packed_lead lead;
    struct cn_bytes part;
    struct cn_error err = {0};
    enum cn_step step = CN_FAIL;
    size_t len = 0;

    if (bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    if (bytes.len >= cn_uft_packed_lead_size) {
        memset(copy + CN_UFT_PACKED_CHECK_OFF, 0, 4);
        cn_u32_put(copy + CN_UFT_PACKED_CHECK_OFF,
                   cn_crc32((struct cn_bytes){copy, cn_uft_packed_lead_size}));
    }
    if (cn_uft_unpacker_begin(unpacker, (struct cn_bytes){copy, bytes.len}, &lead, &err))
        while ((step = cn_uft_unpacker_next(unpacker, &part, &err)) == CN_ITEM)
            len += part.len;
    assert(step == CN_FAIL || len == lead.unpacked_len);
    cn_uft_unpacker_free(unpacker);
    free(copy);
}

static void check_chunk(struct cn_uft_unpacker *unpacker, struct cn_bytes chunk,
                        const uint8_t *want)
{
    struct cn_uft_packed_lead lead;
    struct cn_bytes part;
    struct cn_error err = {0};
    enum cn_step step = CN_FAIL;

    if (cn_uft_unpacker_begin(unpacker, chunk, &lead, &err))
        while ((step = cn_uft_unpacker_next(unpacker, &part, &err)) == CN_ITEM) {
            assert(memcmp(part.ptr, want, part.len) == 0);
            want += part.len;
        }
    assert(step == CN_END);
}

static void pack_and_unpack(struct cn_bytes bytes, bool is_big_endian)
{
    struct cn_uft_packer *packer =
        cn_uft_packer_new(is_big_endian, CN_COMPRESSION_NONE, 0);
    struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();
    struct cn_bytes rest = bytes, chunk;
    struct cn_error err = {0};

    while (rest.len > 0) {
        const uint8_t *at = rest.ptr;
        bool ok;

        cn_uft_packer_fill(packer, &rest, is_big_endian);
        ok = cn_uft_packer_take(packer, &chunk, &err);
        assert(ok);
        check_chunk(unpacker, chunk, at);
    }
    cn_uft_unpacker_free(unpacker);
    cn_uft_packer_free(packer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};

    read_file(bytes);
    read_chunk(bytes);
    if (len % 4 == 0) /* making a packer takes long */
        pack_and_unpack(bytes, len % 8 == 0);
    return 0;
}

/* As a chunk, or with the headers of a file around it. */
static void emit_packed(struct cn_bytes chunk, void (*emit)(const uint8_t *, size_t))
{
    struct cn_chunk_file_header head = {.magic = CN_CHUNK_FILE_MAGIC};
    struct cn_chunk_header chunk_head = {.magic = CN_CHUNK_MAGIC,
                                         .stored_len = (uint32_t)chunk.len,
                                         .plain_len = (uint32_t)chunk.len};
    size_t body_off = cn_chunk_file_header_size + cn_chunk_header_size;
    uint8_t *file = cn_alloc(body_off + chunk.len, 1);

    cn_chunk_file_header_encode(&head, file);
    cn_chunk_header_encode(&chunk_head, file + cn_chunk_file_header_size);
    memcpy(file + body_off, chunk.ptr, chunk.len);
    emit(file, body_off + chunk.len);
    emit(chunk.ptr, chunk.len);
    free(file);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    for (unsigned kinds = 0; kinds < 32; kinds += 5) {
        enum cn_compression method =
            kinds % 2 ? CN_COMPRESSION_NONE : CN_COMPRESSION_ZSTD;
        bool is_big_endian = kinds & CN_CALLS_BIG_ENDIAN;
        struct cn_uft_packer *packer = cn_uft_packer_new(is_big_endian, method, 0);
        struct cn_bytes rest, chunk;
        struct cn_error err = {0};
        uint8_t *made = cn_random_calls(40, kinds, kinds, &rest.len);

        rest.ptr = made;
        emit(made, rest.len);
        cn_uft_packer_fill(packer, &rest, is_big_endian);
        if (cn_uft_packer_take(packer, &chunk, &err))
            emit_packed(chunk, emit);
        cn_uft_packer_free(packer);
        free(made);
    }
}
