#include "base/files/compress.h"

#include <assert.h>
#include <libdeflate.h>
#include <limits.h>
#include <lz4.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/memory.h"

enum {
    DEFLATE_LEVEL = 1,
    ZSTD_LEVEL = 1,
    FLUSH_MARK_MAX = 16,
    ZSTD_STREAM_HEAD_MAX = 32
};

struct cn_compressor {
    enum cn_compression method;
    int level;
    struct libdeflate_compressor *deflate;
    ZSTD_CCtx *zstd;
    z_stream stream; /* for deflate without an end */
    bool is_unfinished;
    bool is_stream; /* zstd: each buffer continues the one before */
};

struct cn_decompressor {
    struct libdeflate_decompressor *deflate;
    ZSTD_DCtx *zstd;
    z_stream inflate; /* for streams without an end */
    bool has_inflate;
};

const char *cn_compression_name(uint32_t method)
{
    switch (method) {
    case CN_COMPRESSION_NONE:
        return "none";
    case CN_COMPRESSION_LZ4:
        return "lz4";
    case CN_COMPRESSION_DEFLATE:
        return "deflate";
    case CN_COMPRESSION_ZSTD:
        return "zstd";
    default:
        return NULL;
    }
}

struct cn_compressor *cn_compressor_new(enum cn_compression method, int level)
{
    struct cn_compressor *compressor = cn_alloc(1, sizeof(*compressor));

    compressor->method = method;
    compressor->level = level;
    if (method == CN_COMPRESSION_DEFLATE) {
        compressor->deflate =
            cn_memory_need(libdeflate_alloc_compressor(level ? level : DEFLATE_LEVEL));
    }
    if (method == CN_COMPRESSION_ZSTD) {
        compressor->zstd = cn_memory_need(ZSTD_createCCtx());
        if (!level)
            compressor->level = ZSTD_LEVEL;
    }
    return compressor;
}

struct cn_compressor *cn_compressor_new_unfinished(int level)
{
    struct cn_compressor *compressor = cn_alloc(1, sizeof(*compressor));

    compressor->method = CN_COMPRESSION_DEFLATE;
    compressor->is_unfinished = true;
    int status = deflateInit2(&compressor->stream, level ? level : DEFLATE_LEVEL,
                              Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
    if (status != Z_OK)
        cn_memory_fail();
    return compressor;
}

struct cn_compressor *cn_compressor_new_stream(int level)
{
    struct cn_compressor *compressor = cn_compressor_new(CN_COMPRESSION_ZSTD, level);

    compressor->is_stream = true;
    (void)ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_compressionLevel,
                                 compressor->level);
    return compressor;
}

void cn_compressor_free(struct cn_compressor *compressor)
{
    if (!compressor)
        return;
    if (compressor->is_unfinished)
        (void)deflateEnd(&compressor->stream);
    libdeflate_free_compressor(compressor->deflate);
    (void)ZSTD_freeCCtx(compressor->zstd);
    free(compressor);
}

size_t cn_compressor_bound(const struct cn_compressor *compressor, size_t len)
{
    switch (compressor->method) {
    case CN_COMPRESSION_LZ4:
        assert(len <= LZ4_MAX_INPUT_SIZE);
        return (size_t)LZ4_compressBound((int)len);
    case CN_COMPRESSION_DEFLATE:
        if (compressor->is_unfinished)
            return compressBound(len) + FLUSH_MARK_MAX;
        return libdeflate_deflate_compress_bound(compressor->deflate, len);
    case CN_COMPRESSION_ZSTD:
        return ZSTD_compressBound(len) +
               (compressor->is_stream ? ZSTD_STREAM_HEAD_MAX : 0);
    case CN_COMPRESSION_NONE:
    default:
        return len;
    }
}

static size_t compress_lz4(const struct cn_compressor *compressor, struct cn_bytes in,
                           uint8_t *out)
{
    int bound = LZ4_compressBound((int)in.len);
    int acceleration = compressor->level > 1 ? compressor->level : 1;
    int len = LZ4_compress_fast((const char *)in.ptr, (char *)out, (int)in.len, bound,
                                acceleration);

    return len > 0 ? (size_t)len : 0;
}

static size_t compress_zstd(struct cn_compressor *compressor, struct cn_bytes in,
                            uint8_t *out)
{
    ZSTD_inBuffer input = {in.ptr, in.len, 0};
    ZSTD_outBuffer output = {out, cn_compressor_bound(compressor, in.len), 0};

    if (compressor->is_stream)
        return ZSTD_compressStream2(compressor->zstd, &output, &input, ZSTD_e_flush) == 0
                   ? output.pos
                   : 0;
    size_t len = ZSTD_compressCCtx(compressor->zstd, out, output.size, in.ptr, in.len,
                                   compressor->level);
    return ZSTD_isError(len) ? 0 : len;
}

static size_t compress_unfinished(struct cn_compressor *compressor, struct cn_bytes in,
                                  uint8_t *out, size_t bound)
{
    z_stream *stream = &compressor->stream;

    if (in.len > UINT_MAX || bound > UINT_MAX || deflateReset(stream) != Z_OK)
        return 0;
    stream->next_in = (Bytef *)(uintptr_t)in.ptr;
    stream->avail_in = (uInt)in.len;
    stream->next_out = out;
    stream->avail_out = (uInt)bound;
    if (deflate(stream, Z_FULL_FLUSH) != Z_OK || stream->avail_in != 0)
        return 0;
    return bound - stream->avail_out;
}

bool cn_compress(struct cn_compressor *compressor, struct cn_bytes in, uint8_t *out,
                 size_t *out_len, struct cn_error *err)
{
    size_t bound, len = 0;

    if (compressor->method == CN_COMPRESSION_LZ4 && in.len > LZ4_MAX_INPUT_SIZE)
        return cn_fail(err, CN_ERR_LIMIT, "%zu bytes are too many for lz4", in.len);
    bound = cn_compressor_bound(compressor, in.len);
    switch (compressor->method) {
    case CN_COMPRESSION_LZ4:
        len = compress_lz4(compressor, in, out);
        break;
    case CN_COMPRESSION_DEFLATE:
        len = compressor->is_unfinished
                  ? compress_unfinished(compressor, in, out, bound)
                  : libdeflate_deflate_compress(compressor->deflate, in.ptr, in.len, out,
                                                bound);
        break;
    case CN_COMPRESSION_ZSTD:
        len = compress_zstd(compressor, in, out);
        break;
    case CN_COMPRESSION_NONE:
    default:
        if (in.len)
            memcpy(out, in.ptr, in.len);
        *out_len = in.len;
        return true;
    }
    if (len == 0)
        return cn_fail(err, CN_ERR_LIMIT, "cannot compress %zu bytes with %s", in.len,
                       cn_compression_name(compressor->method));
    *out_len = len;
    return true;
}

struct cn_decompressor *cn_decompressor_new(void)
{
    return cn_alloc(1, sizeof(struct cn_decompressor));
}

void cn_decompressor_free(struct cn_decompressor *decompressor)
{
    if (!decompressor)
        return;
    libdeflate_free_decompressor(decompressor->deflate);
    (void)ZSTD_freeDCtx(decompressor->zstd);
    if (decompressor->has_inflate)
        (void)inflateEnd(&decompressor->inflate);
    free(decompressor);
}

static bool wrong_data(const char *method, struct cn_bytes in, size_t out_len,
                       struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "%zu bytes of %s data do not make %zu bytes",
                   in.len, method, out_len);
}

static bool decompress_lz4(struct cn_bytes in, uint8_t *out, size_t out_len,
                           struct cn_error *err)
{
    int len;

    if (in.len > INT_MAX || out_len > INT_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu bytes are too many for lz4", out_len);
    len =
        LZ4_decompress_safe((const char *)in.ptr, (char *)out, (int)in.len, (int)out_len);
    if (len < 0 || (size_t)len != out_len)
        return wrong_data("lz4", in, out_len, err);
    return true;
}

static bool decompress_zstd(struct cn_decompressor *decompressor, struct cn_bytes in,
                            uint8_t *out, size_t out_len, struct cn_error *err)
{
    if (!decompressor->zstd)
        decompressor->zstd = cn_memory_need(ZSTD_createDCtx());
    if (ZSTD_decompressDCtx(decompressor->zstd, out, out_len, in.ptr, in.len) != out_len)
        return wrong_data("zstd", in, out_len, err);
    return true;
}

/* Java's Deflater, flushed but never finished, leaves out the final block. */
static bool inflate_without_end(struct cn_decompressor *decompressor, struct cn_bytes in,
                                uint8_t *out, size_t out_len, struct cn_error *err)
{
    z_stream *stream = &decompressor->inflate;
    int status;

    if (in.len > UINT_MAX || out_len > UINT_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu bytes are too many for deflate", out_len);
    if (decompressor->has_inflate) {
        (void)inflateReset(stream);
    } else {
        status = inflateInit2(stream, -MAX_WBITS);
        if (status != Z_OK)
            cn_memory_fail();
        decompressor->has_inflate = true;
    }
    stream->next_in = (Bytef *)(uintptr_t)in.ptr;
    stream->avail_in = (uInt)in.len;
    stream->next_out = out;
    stream->avail_out = (uInt)out_len;
    status = inflate(stream, Z_SYNC_FLUSH);
    if ((status != Z_OK && status != Z_BUF_ERROR) || stream->avail_out != 0 ||
        stream->avail_in != 0)
        return wrong_data("deflate", in, out_len, err);
    return true;
}

static bool decompress_deflate(struct cn_decompressor *decompressor, struct cn_bytes in,
                               uint8_t *out, size_t out_len, struct cn_error *err)
{
    size_t in_len;

    if (!decompressor->deflate)
        decompressor->deflate = cn_memory_need(libdeflate_alloc_decompressor());
    /* Without a place for its length, a result of another length is an error. */
    if (libdeflate_deflate_decompress_ex(decompressor->deflate, in.ptr, in.len, out,
                                         out_len, &in_len, NULL) == LIBDEFLATE_SUCCESS)
        return in_len == in.len || wrong_data("deflate", in, out_len, err);
    return inflate_without_end(decompressor, in, out, out_len, err);
}

bool cn_decompress(struct cn_decompressor *decompressor, enum cn_compression method,
                   struct cn_bytes in, uint8_t *out, size_t out_len, struct cn_error *err)
{
    switch (method) {
    case CN_COMPRESSION_LZ4:
        return decompress_lz4(in, out, out_len, err);
    case CN_COMPRESSION_DEFLATE:
        return decompress_deflate(decompressor, in, out, out_len, err);
    case CN_COMPRESSION_ZSTD:
        return decompress_zstd(decompressor, in, out, out_len, err);
    case CN_COMPRESSION_NONE:
        if (in.len != out_len)
            return cn_fail(err, CN_ERR_FORMAT, "%zu stored bytes instead of %zu", in.len,
                           out_len);
        if (out_len)
            memcpy(out, in.ptr, out_len);
        return true;
    default:
        return cn_fail(err, CN_ERR_FORMAT, "unknown compression %u", (unsigned)method);
    }
}

uint32_t cn_crc32(struct cn_bytes bytes)
{
    return cn_crc32_add(0, bytes);
}

uint32_t cn_crc32_add(uint32_t crc, struct cn_bytes bytes)
{
    return bytes.len ? libdeflate_crc32(crc, bytes.ptr, bytes.len) : crc;
}
