#include "base/files/unpack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/character.h"
#include "base/files/outdir.h"

enum {
    PIECE_LEN = 256 * 1024,
    WINDOW_OF_GZIP = 15 + 16,
    WINDOW_LOG_MAX = 27, /* of zstd: memory that a frame may ask for */
};

struct unpacking {
    struct cn_bytes rest;
    size_t whole_len;
    bool is_zstd, is_utf16, is_open; /* open: inside a member or frame */
    bool is_big_endian;
    bool is_endless; /* ends with its bytes, wherever that is */
    z_stream gzip;
    ZSTD_DCtx *zstd;
};

static bool is_gzip(struct cn_bytes bytes)
{
    return bytes.len >= 3 && memcmp(bytes.ptr, "\x1f\x8b\x08", 3) == 0;
}

static bool is_zstd(struct cn_bytes bytes)
{
    return bytes.len >= 4 && memcmp(bytes.ptr, "\x28\xb5\x2f\xfd", 4) == 0;
}

static bool is_utf16(struct cn_bytes bytes)
{
    return bytes.len >= 2 && bytes.ptr[0] >= 0xfe && bytes.ptr[1] >= 0xfe &&
           bytes.ptr[0] != bytes.ptr[1];
}

bool cn_is_packed(struct cn_bytes bytes)
{
    return is_gzip(bytes) || is_zstd(bytes) || is_utf16(bytes);
}

static bool begin(struct unpacking *u, struct cn_bytes bytes, struct cn_error *err)
{
    *u = (struct unpacking){
        .rest = bytes, .whole_len = bytes.len, .is_zstd = is_zstd(bytes)};
    if (is_utf16(bytes)) {
        u->is_utf16 = u->is_open = true;
        u->is_big_endian = bytes.ptr[0] == 0xfe;
        return cn_bytes_from(bytes, 2, &u->rest);
    }
    if (u->is_zstd) {
        u->zstd = ZSTD_createDCtx();
        if (!u->zstd)
            return cn_fail(err, CN_ERR_NO_MEMORY, "no memory for zstd");
        (void)ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
        return true;
    }
    if (inflateInit2(&u->gzip, WINDOW_OF_GZIP) != Z_OK)
        return cn_fail(err, CN_ERR_LIMIT, "no memory for gzip");
    return true;
}

static void end(struct unpacking *u)
{
    if (u->is_utf16)
        return;
    if (u->is_zstd)
        (void)ZSTD_freeDCtx(u->zstd);
    else
        (void)inflateEnd(&u->gzip);
}

static bool damaged(const struct unpacking *u, const char *what, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "%s data at %zu: %s", u->is_zstd ? "zstd" : "gzip",
                   u->whole_len - u->rest.len, what);
}

static bool next_gzip(struct unpacking *u, uint8_t *out, size_t room, size_t *len,
                      struct cn_error *err)
{
    struct cn_bytes used;
    uInt in_len = u->rest.len > PIECE_LEN ? PIECE_LEN : (uInt)u->rest.len;

    if (!u->is_open && inflateReset(&u->gzip) != Z_OK)
        return damaged(u, "cannot begin", err);
    u->is_open = true;
    u->gzip.next_in = (Bytef *)(uintptr_t)u->rest.ptr;
    u->gzip.avail_in = in_len;
    u->gzip.next_out = out;
    u->gzip.avail_out = (uInt)room;
    int status = inflate(&u->gzip, Z_NO_FLUSH);
    (void)cn_bytes_take(&u->rest, in_len - u->gzip.avail_in, &used);
    *len = room - u->gzip.avail_out;
    if (status == Z_STREAM_END)
        u->is_open = false;
    else if (status != Z_OK && status != Z_BUF_ERROR)
        return damaged(u, u->gzip.msg ? u->gzip.msg : "not what gzip writes", err);
    if (*len == 0 && used.len == 0 && u->is_open)
        return damaged(u, "cut off", err);
    return true;
}

static bool next_zstd(struct unpacking *u, uint8_t *out, size_t room, size_t *len,
                      struct cn_error *err)
{
    ZSTD_inBuffer in = {u->rest.ptr, u->rest.len, 0};
    ZSTD_outBuffer to = {out, room, 0};
    size_t status = ZSTD_decompressStream(u->zstd, &to, &in);
    struct cn_bytes used;

    if (ZSTD_isError(status))
        return damaged(u, ZSTD_getErrorName(status), err);
    u->is_open = status != 0;
    (void)cn_bytes_take(&u->rest, in.pos, &used);
    *len = to.pos;
    if (*len > 0 || used.len > 0 || !u->is_open)
        return true;
    u->is_open = false;
    return u->is_endless || damaged(u, "cut off", err);
}

static uint32_t unit_at(const struct unpacking *u, size_t at)
{
    struct cn_bytes unit;

    if (!cn_bytes_slice(u->rest, at, 2, &unit))
        return 0;
    return u->is_big_endian ? (uint32_t)unit.ptr[0] << 8 | unit.ptr[1]
                            : (uint32_t)unit.ptr[1] << 8 | unit.ptr[0];
}

/* Half a pair of surrogates is no character: U+FFFD. A byte that is left over is dropped. */
static void next_utf16(struct unpacking *u, uint8_t *out, size_t room, size_t *len)
{
    while (u->rest.len >= 2 && room - *len >= CN_CHARACTER_LEN_MAX) {
        uint32_t c = unit_at(u, 0), low = unit_at(u, 2);
        bool is_pair = c >= 0xd800 && c < 0xdc00 && low >= 0xdc00 && low < 0xe000;

        if (is_pair)
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        else if (c >= 0xd800 && c < 0xe000)
            c = 0xfffd;
        (void)cn_bytes_from(u->rest, is_pair ? 4 : 2, &u->rest);
        *len += cn_character_encode(c, (char *)out + *len);
    }
}

/* The next bytes; none at the end. On failure, those before the damage. Zeros after the last member are padding. */
static bool next(struct unpacking *u, uint8_t *out, size_t room, size_t *len,
                 struct cn_error *err)
{
    *len = 0;
    if (u->is_utf16) {
        next_utf16(u, out, room, len);
        return true;
    }
    while (*len == 0 && (u->is_open || cn_is_packed(u->rest)))
        if (!(u->is_zstd ? next_zstd(u, out, room, len, err)
                         : next_gzip(u, out, room, len, err)))
            return false;
    if (*len == 0 && u->rest.len > 0 && u->rest.ptr[0] != 0)
        return damaged(u, "something else follows", err);
    return true;
}

bool cn_unpack(struct cn_bytes bytes, size_t len_max, struct cn_text *out,
               struct cn_error *err)
{
    size_t before = out->len, len;
    struct unpacking u;
    bool ok;

    if (!cn_is_packed(bytes)) {
        if (bytes.len > len_max)
            return cn_fail(err, CN_ERR_LIMIT, "longer than %zu bytes", len_max);
        cn_text_add(out, (const char *)bytes.ptr, bytes.len);
        return true;
    }
    if (!begin(&u, bytes, err))
        return false;
    do {
        char *room = cn_text_room(out, PIECE_LEN);

        ok = next(&u, (uint8_t *)room, PIECE_LEN, &len, err);
        if (ok && len > len_max - (out->len - before))
            ok = cn_fail(err, CN_ERR_LIMIT, "decompresses to more than %zu bytes",
                         len_max);
        if (ok)
            cn_text_advance(out, len);
    } while (ok && len > 0);
    end(&u);
    return ok;
}

size_t cn_unpack_beginning(struct cn_bytes bytes, uint8_t *out, size_t room)
{
    struct cn_error ignored;
    struct unpacking u;
    size_t total = 0, len;

    if (!cn_is_packed(bytes)) {
        total = bytes.len < room ? bytes.len : room;
        memcpy(out, bytes.ptr, total);
        return total;
    }
    if (!begin(&u, bytes, &ignored))
        return 0;
    bool ok;
    do {
        ok = next(&u, out + total, room - total, &len, &ignored);
        total += len;
    } while (ok && len > 0 && total < room);
    end(&u);
    return total;
}

static bool fill_spool(struct cn_unpacked *unpacked, struct cn_bytes packed,
                       uint64_t len_max, bool is_endless, struct cn_error *err)
{
    uint8_t *piece = cn_alloc(1, PIECE_LEN);
    struct unpacking u;
    size_t len = 0;
    bool ok;

    if (!begin(&u, packed, err)) {
        free(piece);
        return false;
    }
    u.is_endless = is_endless;
    do {
        ok = next(&u, piece, PIECE_LEN, &len, err);
        if (unpacked->spool.end_off + len > len_max)
            ok = cn_fail(err, CN_ERR_LIMIT, "decompresses to more than %" PRIu64 " bytes",
                         len_max);
        else if (!cn_spool_write(&unpacked->spool,
                                 cn_spool_reserve(&unpacked->spool, len), piece, len,
                                 err))
            ok = false;
    } while (ok && len > 0);
    end(&u);
    free(piece);
    return ok;
}

/* Damage goes to `damage`, if given, and something is before it. */
static bool unpack_bytes(struct cn_unpacked *unpacked, struct cn_bytes packed,
                         uint64_t len_max, bool is_endless, struct cn_error *damage,
                         struct cn_error *err)
{
    if (!cn_spool_open(&unpacked->spool, cn_temporary_folder(), err))
        return false;
    if (!fill_spool(unpacked, packed, len_max, is_endless, err)) {
        if (!damage || err->kind != CN_ERR_FORMAT || unpacked->spool.end_off == 0)
            return false;
        *damage = *err;
    }
    size_t len = (size_t)unpacked->spool.end_off;
    if (len == 0)
        return true;
    void *map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, unpacked->spool.fds[0], 0);
    if (map == MAP_FAILED)
        return cn_fail_errno(err, "cannot map what was decompressed");
    unpacked->bytes = (struct cn_bytes){map, len};
    return true;
}

static bool open_packed(struct cn_unpacked *unpacked, const char *path,
                        struct cn_error *damage, struct cn_error *err)
{
    *unpacked = (struct cn_unpacked){0};
    if (!cn_file_open(&unpacked->file, path, err))
        return false;
    unpacked->bytes = unpacked->file.bytes;
    if (!cn_is_packed(unpacked->file.bytes))
        return true;
    unpacked->bytes = (struct cn_bytes){(const uint8_t *)"", 0};
    if (unpack_bytes(unpacked, unpacked->file.bytes, CN_UNPACKED_LEN_MAX, false, damage,
                     err))
        return true;
    cn_unpacked_close(unpacked);
    return cn_fail_in(err, "%s", path);
}

bool cn_unpacked_open(struct cn_unpacked *unpacked, const char *path,
                      struct cn_error *err)
{
    return open_packed(unpacked, path, NULL, err);
}

bool cn_unpacked_open_beginning(struct cn_unpacked *unpacked, const char *path,
                                struct cn_error *damage, struct cn_error *err)
{
    *damage = (struct cn_error){0};
    return open_packed(unpacked, path, damage, err);
}

bool cn_unpacked_stream(struct cn_unpacked *unpacked, struct cn_bytes stream,
                        uint64_t len_max, struct cn_error *err)
{
    *unpacked = (struct cn_unpacked){.bytes = {(const uint8_t *)"", 0}};
    if (!is_zstd(stream))
        return cn_fail(err, CN_ERR_FORMAT, "does not begin as zstd does");
    if (unpack_bytes(unpacked, stream, len_max, true, NULL, err))
        return true;
    cn_unpacked_close(unpacked);
    return false;
}

void cn_unpacked_close(struct cn_unpacked *unpacked)
{
    if (unpacked->spool.fds && unpacked->bytes.len > 0)
        (void)munmap((void *)(uintptr_t)unpacked->bytes.ptr, unpacked->bytes.len);
    cn_spool_close(&unpacked->spool);
    cn_file_close(&unpacked->file);
    unpacked->bytes = (struct cn_bytes){0};
}
