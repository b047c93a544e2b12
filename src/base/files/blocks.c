#include "base/files/blocks.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/crc32c.h"

enum { CHECKSUM_LEN = sizeof(uint32_t) };

static uint64_t block_count(const struct cn_block_file *file)
{
    return (file->blocks.len + file->block_len - 1) / file->block_len;
}

static bool read_footer(struct cn_block_file *file, uint64_t magic, struct cn_error *err)
{
    struct cn_bytes bytes = file->file.bytes, part, head, covered;
    struct cn_block_file_footer footer;

    if (bytes.len < cn_block_file_header_size + cn_block_file_footer_size ||
        !cn_bytes_from(bytes, bytes.len - cn_block_file_footer_size, &part))
        return cn_fail(err, CN_ERR_FORMAT, "incomplete: no footer at its end");
    if (!cn_file_need(&file->file, part, err))
        return false;
    if (!cn_block_file_footer_decode(part, &footer) || footer.magic != magic)
        return cn_fail(err, CN_ERR_FORMAT, "incomplete: no footer at its end");
    if (!cn_bytes_slice(bytes, 0, footer.checksums_off, &file->blocks) ||
        file->blocks.len < cn_block_file_header_size)
        return cn_fail(err, CN_ERR_FORMAT,
                       "checksums at 0x%" PRIx64 " do not fit the file",
                       footer.checksums_off);
    if (!cn_bytes_array(bytes, footer.checksums_off, block_count(file), CHECKSUM_LEN,
                        &file->checksums) ||
        !cn_bytes_array(bytes, footer.checksums_off + file->checksums.len,
                        footer.section_count, cn_block_file_section_size, &file->table) ||
        footer.section_count > CN_BLOCK_FILE_SECTIONS_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "%" PRIu32 " sections do not fit the file",
                       footer.section_count);
    covered =
        (struct cn_bytes){file->checksums.ptr, file->checksums.len + file->table.len};
    if (!cn_file_need(&file->file, covered, err))
        return false;
    head = (struct cn_bytes){bytes.ptr, cn_block_file_header_size};
    uint32_t crc = cn_crc32c_add(cn_crc32c(head), covered);
    if (crc != footer.checksum)
        return cn_fail(err, CN_ERR_FORMAT,
                       "checksum of its tables is %08" PRIx32 ", %08" PRIx32 " expected",
                       crc, footer.checksum);
    return true;
}

static bool init(struct cn_block_file *file, struct cn_file mapped, uint64_t magic,
                 uint32_t version, struct cn_error *err)
{
    struct cn_block_file opened = {.file = mapped};
    struct cn_block_file_header header;
    struct cn_bytes head;

    if (!cn_bytes_slice(mapped.bytes, 0, cn_block_file_header_size, &head))
        return cn_fail(err, CN_ERR_FORMAT, "does not begin as it should");
    if (!cn_file_need(&mapped, head, err))
        return false;
    if (!cn_block_file_header_decode(head, &header) || header.magic != magic)
        return cn_fail(err, CN_ERR_FORMAT, "does not begin as it should");
    if (header.version != version)
        return cn_fail(err, CN_ERR_VERSION, "version %" PRIu32 ", can read %" PRIu32,
                       header.version, version);
    if (header.block_len < CHECKSUM_LEN)
        return cn_fail(err, CN_ERR_FORMAT, "blocks of %" PRIu32 " bytes are too short",
                       header.block_len);
    opened.block_len = header.block_len;
    if (!read_footer(&opened, magic, err))
        return false;
    opened.is_checked = cn_alloc((size_t)block_count(&opened), 1);
    *file = opened;
    return true;
}

bool cn_block_file_init(struct cn_block_file *file, struct cn_bytes bytes, uint64_t magic,
                        uint32_t version, struct cn_error *err)
{
    if (!init(file, (struct cn_file){.bytes = bytes}, magic, version, err))
        return false;
    file->file = (struct cn_file){0};
    return true;
}

bool cn_block_file_open(struct cn_block_file *file, struct cn_file_source *source,
                        const char *dir, const char *name, uint64_t magic,
                        uint32_t version, struct cn_error *err)
{
    struct cn_file mapped = {0};

    if (!cn_file_open_from(&mapped, source, dir, name, err))
        return false;
    if (!init(file, mapped, magic, version, err)) {
        cn_file_close(&mapped);
        return cn_fail_in(err, "%s/%s", dir, name);
    }
    return true;
}

void cn_block_file_close(struct cn_block_file *file)
{
    free((void *)(uintptr_t)file->is_checked);
    cn_file_close(&file->file);
    *file = (struct cn_block_file){0};
}

bool cn_block_file_section(const struct cn_block_file *file, uint32_t id,
                           struct cn_bytes *out, struct cn_error *err)
{
    struct cn_block_file_section section;
    struct cn_bytes rest = file->table, row;

    while (cn_bytes_take(&rest, cn_block_file_section_size, &row)) {
        if (!cn_block_file_section_decode(row, &section) || section.id != id)
            continue;
        if (!cn_bytes_slice(file->blocks, section.off, section.len, out))
            return cn_fail(err, CN_ERR_FORMAT,
                           "section %" PRIu32 " at 0x%" PRIx64 " does not fit the file",
                           id, section.off);
        return true;
    }
    return cn_fail(err, CN_ERR_FORMAT, "section %" PRIu32 " is missing", id);
}

static bool check_block(const struct cn_block_file *file, uint64_t i,
                        struct cn_error *err)
{
    uint64_t off = i * file->block_len, rest = file->blocks.len - off;
    struct cn_bytes block = {file->blocks.ptr + off,
                             rest < file->block_len ? (size_t)rest : file->block_len};
    uint32_t crc = cn_crc32c(block);
    uint32_t expected = cn_u32_get(file->checksums.ptr + i * CHECKSUM_LEN);

    if (crc != expected)
        return cn_fail(err, CN_ERR_FORMAT,
                       "block at 0x%" PRIx64 " is damaged: checksum %08" PRIx32
                       ", %08" PRIx32 " expected",
                       off, crc, expected);
    atomic_store_explicit(&file->is_checked[i], 1, memory_order_relaxed);
    return true;
}

/* All from `first` to `last` in one request; what is there already is not fetched again. */
static bool fetch_blocks(const struct cn_block_file *file, uint64_t first, uint64_t last,
                         struct cn_error *err)
{
    uint64_t off = first * file->block_len, rest = file->blocks.len - off;
    uint64_t len = (last - first + 1) * file->block_len;

    return cn_file_need(
        &file->file,
        (struct cn_bytes){file->blocks.ptr + off, (size_t)(rest < len ? rest : len)},
        err);
}

bool cn_block_file_check(const struct cn_block_file *file, struct cn_bytes part,
                         struct cn_error *err)
{
    if (part.len == 0)
        return true;
    uint64_t off = (uint64_t)(part.ptr - file->blocks.ptr);
    uint64_t last = (off + part.len - 1) / file->block_len;
    for (uint64_t i = off / file->block_len; i <= last; i++) {
        if (atomic_load_explicit(&file->is_checked[i], memory_order_relaxed))
            continue;
        if (!fetch_blocks(file, i, last, err) || !check_block(file, i, err))
            return false;
    }
    return true;
}
