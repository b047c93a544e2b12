/* text-*.fmi: the records of a dictionary after a Burrows-Wheeler transform, packed in blocks.
 * The transformed bytes are unpacked block by block, then the transform is inverted. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/compress.h"
#include "formats/zorka/java_format.h"
#include "formats/zorka/java_store.h"

enum {
    FMI_MAGIC = 0x5a464d30,
    FMI_RANKS_LEN = 256 * 4,
    FMI_RANK_LEN = 7, /* entry of the map before the data of a block: u8, i32, i16 */
    FMI_HAS_DATA = 1,
    FMI_IS_LZ4 = 2,
    FMI_LEN_MAX = 1 << 28,
    FMI_RATIO_MAX = 256, /* text length / file length */
};

struct fmi {
    struct cn_bytes file, blocks;
    struct cn_java_fmi_header head;
    struct cn_decompressor *decompressor;
    uint8_t *sorted;
};

static void block_at(const struct fmi *fmi, uint32_t i, struct cn_java_fmi_block *out)
{
    (void)cn_java_fmi_block_decode(
        cn_bytes_element(fmi->blocks, i, cn_java_fmi_block_size), out);
}

static bool unpack(const struct fmi *fmi, uint32_t i, struct cn_error *err)
{
    struct cn_java_fmi_block block,
        next = {.off = (uint32_t)fmi->file.len, .plain_off = fmi->head.data_len};
    struct cn_bytes stored;

    block_at(fmi, i, &block);
    if (i + 1 < fmi->head.block_count)
        block_at(fmi, i + 1, &next);
    if (next.plain_off < block.plain_off || next.plain_off > fmi->head.data_len)
        return cn_fail(err, CN_ERR_FORMAT, "block %u: %u bytes of text end at %u", i,
                       fmi->head.data_len, next.plain_off);
    uint32_t len = next.plain_off - block.plain_off;
    if (!(block.flags & FMI_HAS_DATA)) {
        memset(fmi->sorted + block.plain_off, block.rank_count, len);
        return true;
    }
    uint64_t begin = block.off + (uint64_t)block.rank_count * FMI_RANK_LEN;
    if (next.off < begin || !cn_bytes_slice(fmi->file, begin, next.off - begin, &stored))
        return cn_fail(err, CN_ERR_FORMAT, "block %u: bytes %" PRIu64 " to %u", i, begin,
                       next.off);
    if (!(block.flags & FMI_IS_LZ4) && stored.len > len)
        stored.len = len;
    return cn_decompress(fmi->decompressor,
                         block.flags & FMI_IS_LZ4 ? CN_COMPRESSION_LZ4
                                                  : CN_COMPRESSION_NONE,
                         stored, fmi->sorted + block.plain_off, len, err) ||
           cn_fail_in(err, "block %u", i);
}

static bool unpack_all(struct fmi *fmi, struct cn_error *err)
{
    struct cn_java_fmi_block first = {0};

    if (fmi->head.block_count > 0)
        block_at(fmi, 0, &first);
    if (first.plain_off != 0)
        return cn_fail(err, CN_ERR_FORMAT, "block 0 begins at %u", first.plain_off);
    for (uint32_t i = 0; i < fmi->head.block_count; i++)
        if (!unpack(fmi, i, err))
            return false;
    return true;
}

/* Row i of the sorted rotations comes from the byte with the same rank among equal bytes. */
static void unsort(const struct fmi *fmi, uint8_t *out)
{
    uint32_t *from = cn_alloc((size_t)fmi->head.data_len + 1, sizeof(*from));
    uint32_t first[257] = {0};
    uint32_t row = fmi->head.start_row;

    for (uint32_t i = 0; i < fmi->head.data_len; i++)
        first[fmi->sorted[i] + 1]++;
    for (int i = 0; i < 256; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < fmi->head.data_len; i++)
        from[first[fmi->sorted[i]]++] = i;
    for (uint32_t i = 0; i < fmi->head.data_len; i++) {
        row = from[row];
        out[i] = fmi->sorted[row];
    }
    free(from);
}

static bool read_unsorted(struct fmi *fmi, struct cn_java_words *words,
                          struct cn_error *err)
{
    struct cn_bytes text = {.len = fmi->head.data_len};
    uint8_t *bytes = cn_alloc((size_t)fmi->head.data_len + 4, 1);

    unsort(fmi, bytes + 3);
    /* The text begins with the last byte of a WAL's header. */
    memcpy(bytes, "WAL", 3);
    text.ptr = bytes;
    text.len += 3;
    bool ok = cn_java_wal_read(text, words, err);
    free(bytes);
    return ok;
}

bool cn_java_fmi_read(struct cn_bytes file, struct cn_java_words *words,
                      struct cn_error *err)
{
    struct fmi fmi = {.file = file};

    if (!cn_java_fmi_header_decode(file, &fmi.head) || fmi.head.magic != FMI_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT, "not a packed text index");
    if (fmi.head.data_len == 0)
        return true;
    if (fmi.head.data_len > FMI_LEN_MAX || fmi.head.data_len / FMI_RATIO_MAX > file.len)
        return cn_fail(err, CN_ERR_FORMAT, "%u bytes of text in a file of %zu",
                       fmi.head.data_len, file.len);
    if (!cn_bytes_array(file, cn_java_fmi_header_size + FMI_RANKS_LEN,
                        fmi.head.block_count, cn_java_fmi_block_size, &fmi.blocks) ||
        fmi.head.start_row >= fmi.head.data_len)
        return cn_fail(err, CN_ERR_FORMAT, "%u blocks do not fit the file",
                       fmi.head.block_count);
    fmi.sorted = cn_alloc(fmi.head.data_len, 1);
    fmi.decompressor = cn_decompressor_new();
    bool ok = unpack_all(&fmi, err) && read_unsorted(&fmi, words, err);
    cn_decompressor_free(fmi.decompressor);
    free(fmi.sorted);
    return ok;
}
