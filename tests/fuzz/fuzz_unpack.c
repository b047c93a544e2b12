/* Any bytes as what gzip or zstd wrote: no more comes out than is allowed, and a look at the
 * beginning shows what comes out. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/files/unpack.h"
#include "support/fuzz.h"

enum { LEN_MAX = 1 << 20, LOOK_LEN = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_unpacked stream;
    struct cn_error err = {0};
    struct cn_text out = {0};
    uint8_t look[LOOK_LEN];
    size_t look_len = cn_unpack_beginning(bytes, look, sizeof(look));

    assert(look_len <= sizeof(look));
    if (cn_unpack(bytes, LEN_MAX, &out, &err)) {
        assert(out.len <= LEN_MAX &&
               look_len == (out.len < LOOK_LEN ? out.len : LOOK_LEN));
        assert(look_len == 0 || memcmp(look, out.chars, look_len) == 0);
    } else {
        assert(err.text[0] != '\0');
    }
    cn_text_done(&out);
    if (cn_unpacked_stream(&stream, bytes, LEN_MAX, &err)) {
        assert(stream.bytes.len <= LEN_MAX);
        cn_unpacked_close(&stream);
    }
    return 0;
}

static size_t pack_gzip(const uint8_t *plain, size_t len, uint8_t *out, size_t room)
{
    z_stream stream = {0};

    if (deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    stream.next_in = (Bytef *)(uintptr_t)plain;
    stream.avail_in = (uInt)len;
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        abort();
    (void)deflateEnd(&stream);
    return (size_t)stream.total_out;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    uint8_t plain[1000], packed[4096];
    size_t len;

    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (uint8_t)(i * i >> 5);
    len = pack_gzip(plain, sizeof(plain), packed, sizeof(packed));
    emit(packed, len);
    /* Two members, then padding. */
    len += pack_gzip(plain, 10, packed + len, sizeof(packed) - len);
    packed[len] = packed[len + 1] = 0;
    emit(packed, len + 2);
    len = ZSTD_compress(packed, sizeof(packed), plain, sizeof(plain), 3);
    emit(packed, len);
    len += ZSTD_compress(packed + len, sizeof(packed) - len, plain, 10, 3);
    emit(packed, len);
    emit(plain, 20);
}
