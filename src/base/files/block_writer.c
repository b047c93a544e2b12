#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/blocks.h"
#include "base/files/crc32c.h"
#include "base/text.h"

enum { ALIGN = 8, WAITING_LEN = 1 << 17 };

bool cn_block_writer_open(struct cn_block_writer *writer, const struct cn_disk *disk,
                          const char *dir, const char *name, uint64_t magic,
                          uint32_t version, struct cn_error *err)
{
    uint8_t header[cn_block_file_header_size];
    struct cn_text path = {0}, temporary = {0};

    cn_text_printf(&path, "%s/%s", dir, name);
    cn_text_printf(&temporary, "%s/%s" CN_BLOCK_WRITER_ENDING, dir, name);
    *writer = (struct cn_block_writer){
        .disk = disk,
        .fd = -1,
        .path = path.chars,
        .temporary = temporary.chars,
        .header = {.magic = magic, .version = version, .block_len = CN_BLOCK_LEN},
    };
    writer->waiting = cn_alloc(WAITING_LEN, 1);
    cn_block_file_header_encode(&writer->header, header);
    /* A crash may have left a file of this name. */
    if (!disk->remove(disk->arg, writer->temporary, err) ||
        !disk->open(disk->arg, writer->temporary, &writer->fd, err) ||
        !cn_block_writer_add(writer, header, sizeof(header), err)) {
        cn_block_writer_abandon(writer);
        return false;
    }
    return true;
}

static bool write_waiting(struct cn_block_writer *writer, struct cn_error *err)
{
    uint64_t off = writer->end_off - writer->waiting_len;

    if (!writer->disk->write(writer->disk->arg, writer->fd, off, writer->waiting,
                             writer->waiting_len, err))
        return cn_fail_in(err, "%s", writer->temporary);
    writer->waiting_len = 0;
    return true;
}

static bool write_bytes(struct cn_block_writer *writer, const void *data, size_t len,
                        struct cn_error *err)
{
    struct cn_bytes rest = {data, len}, part;

    while (rest.len > 0) {
        size_t room = WAITING_LEN - writer->waiting_len;

        if (!cn_bytes_take(&rest, rest.len < room ? rest.len : room, &part))
            break;
        memcpy(writer->waiting + writer->waiting_len, part.ptr, part.len);
        writer->waiting_len += part.len;
        writer->end_off += part.len;
        if (writer->waiting_len == WAITING_LEN && !write_waiting(writer, err))
            return false;
    }
    return true;
}

static void end_block(struct cn_block_writer *writer)
{
    if (writer->checksums_len == writer->checksums_capacity) {
        writer->checksums_capacity = 2 * writer->checksums_capacity + 1024;
        writer->checksums = cn_realloc(writer->checksums, writer->checksums_capacity, 1);
    }
    cn_u32_put(writer->checksums + writer->checksums_len, writer->crc);
    writer->checksums_len += sizeof(uint32_t);
    writer->crc = 0;
    writer->in_block = 0;
}

bool cn_block_writer_add(struct cn_block_writer *writer, const void *data, size_t len,
                         struct cn_error *err)
{
    struct cn_bytes rest = {data, len}, part;

    while (rest.len > 0) {
        size_t room = CN_BLOCK_LEN - writer->in_block;

        if (!cn_bytes_take(&rest, rest.len < room ? rest.len : room, &part))
            break;
        writer->crc = cn_crc32c_add(writer->crc, part);
        writer->in_block += part.len;
        if (writer->in_block == CN_BLOCK_LEN)
            end_block(writer);
    }
    return write_bytes(writer, data, len, err);
}

/* Bytes from `off` to the end of their block, `len` at most. */
static size_t part_len(uint64_t off, uint64_t len)
{
    uint64_t room = CN_BLOCK_LEN - off % CN_BLOCK_LEN;

    return (size_t)(len < room ? len : room);
}

bool cn_block_writer_add_written(struct cn_block_writer *writer,
                                 struct cn_bytes checksums, uint64_t len,
                                 struct cn_error *err)
{
    if (!write_waiting(writer, err))
        return false;
    while (len > 0) {
        size_t part = part_len(writer->end_off, len);
        struct cn_bytes bytes;

        if (!cn_bytes_take(&checksums, sizeof(uint32_t), &bytes))
            return cn_fail(err, CN_ERR_FORMAT, "%s: too few checksums", writer->path);
        writer->crc = cn_crc32c_join(writer->crc, cn_u32_get(bytes.ptr), part);
        writer->in_block += part;
        writer->end_off += part;
        len -= part;
        if (writer->in_block == CN_BLOCK_LEN)
            end_block(writer);
    }
    return checksums.len == 0 ||
           cn_fail(err, CN_ERR_FORMAT, "%s: too many checksums", writer->path);
}

void cn_block_checksums_add(uint64_t first_off, uint64_t off, struct cn_bytes bytes,
                            struct cn_text *crcs)
{
    struct cn_bytes part;

    while (bytes.len > 0 && cn_bytes_take(&bytes, part_len(off, bytes.len), &part)) {
        bool is_new = off == first_off || off % CN_BLOCK_LEN == 0;

        if (is_new)
            cn_text_add(crcs, "\0\0\0\0", sizeof(uint32_t));
        uint8_t *last = (uint8_t *)crcs->chars + crcs->len - sizeof(uint32_t);
        cn_u32_put(last, cn_crc32c_add(cn_u32_get(last), part));
        off += part.len;
    }
}

static void end_section(struct cn_block_writer *writer)
{
    if (writer->section_count == 0)
        return;
    struct cn_block_file_section *last = &writer->sections[writer->section_count - 1];
    last->len = writer->end_off - last->off;
}

static bool pad(struct cn_block_writer *writer, struct cn_error *err)
{
    static const uint8_t zeros[ALIGN];
    uint64_t end = cn_align_up(writer->end_off, ALIGN);

    return cn_block_writer_add(writer, zeros, (size_t)(end - writer->end_off), err);
}

bool cn_block_writer_section(struct cn_block_writer *writer, uint32_t id,
                             struct cn_error *err)
{
    if (writer->section_count == CN_BLOCK_FILE_SECTIONS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%s: more than %d sections", writer->path,
                       CN_BLOCK_FILE_SECTIONS_MAX);
    end_section(writer);
    if (!pad(writer, err))
        return false;
    writer->sections[writer->section_count++] = (struct cn_block_file_section){
        .id = id,
        .off = writer->end_off,
    };
    return true;
}

static bool write_tables(struct cn_block_writer *writer, struct cn_error *err)
{
    struct cn_block_file_footer footer = {
        .checksums_off = writer->end_off,
        .section_count = writer->section_count,
        .magic = writer->header.magic,
    };
    uint8_t header[cn_block_file_header_size], end[cn_block_file_footer_size];
    uint8_t table[CN_BLOCK_FILE_SECTIONS_MAX * cn_block_file_section_size];
    size_t table_len = writer->section_count * (size_t)cn_block_file_section_size;

    cn_block_file_header_encode(&writer->header, header);
    for (uint32_t i = 0; i < writer->section_count; i++)
        cn_block_file_section_encode(&writer->sections[i],
                                     table + i * (size_t)cn_block_file_section_size);
    footer.checksum = cn_crc32c((struct cn_bytes){header, sizeof(header)});
    footer.checksum = cn_crc32c_add(
        footer.checksum, (struct cn_bytes){writer->checksums, writer->checksums_len});
    footer.checksum = cn_crc32c_add(footer.checksum, (struct cn_bytes){table, table_len});
    cn_block_file_footer_encode(&footer, end);
    return write_bytes(writer, writer->checksums, writer->checksums_len, err) &&
           write_bytes(writer, table, table_len, err) &&
           write_bytes(writer, end, sizeof(end), err);
}

static bool sync_folder(const struct cn_block_writer *writer, struct cn_error *err)
{
    char *copy = cn_strdup(writer->path);
    bool ok = writer->disk->sync_dir(writer->disk->arg, dirname(copy), err);

    free(copy);
    return ok;
}

static bool close_file(struct cn_block_writer *writer, struct cn_error *err)
{
    const struct cn_disk *disk = writer->disk;
    bool ok = write_waiting(writer, err) && (disk->sync(disk->arg, writer->fd, err) ||
                                             cn_fail_in(err, "%s", writer->temporary));

    if (!disk->close(disk->arg, writer->fd) && ok)
        ok = cn_fail_errno(err, "%s", writer->temporary);
    writer->fd = -1;
    return ok;
}

bool cn_block_writer_commit(struct cn_block_writer *writer, struct cn_error *err)
{
    const struct cn_disk *disk = writer->disk;
    bool ok;

    end_section(writer);
    ok = pad(writer, err);
    if (ok && writer->in_block > 0)
        end_block(writer);
    ok = ok && write_tables(writer, err) && close_file(writer, err) &&
         disk->rename(disk->arg, writer->temporary, writer->path, err);
    if (ok) {
        free(writer->temporary);
        writer->temporary = NULL;
        ok = sync_folder(writer, err);
    }
    cn_block_writer_abandon(writer);
    return ok;
}

void cn_block_writer_abandon(struct cn_block_writer *writer)
{
    const struct cn_disk *disk = writer->disk;
    struct cn_error ignored;

    if (disk && writer->fd >= 0)
        (void)disk->close(disk->arg, writer->fd);
    if (disk && writer->temporary)
        (void)disk->remove(disk->arg, writer->temporary, &ignored);
    free(writer->waiting);
    free(writer->temporary);
    free(writer->path);
    free(writer->checksums);
    *writer = (struct cn_block_writer){.fd = -1};
}
