#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/block_file.h"
#include "base/crc32c.h"

enum { ALIGN = 8 };

bool cn_block_writer_open(struct cn_block_writer *writer, const char *path,
                          uint64_t magic, uint32_t version, struct cn_error *err)
{
    struct cn_block_writer opened = {
        .header = {.magic = magic, .version = version, .block_len = CN_BLOCK_LEN},
    };
    uint8_t header[cn_block_file_header_size];
    char temporary[PATH_MAX];

    if (snprintf(temporary, sizeof(temporary), "%s.tmp", path) >= (int)sizeof(temporary))
        return cn_fail(err, CN_ERR_LIMIT, "%s: path too long", path);
    /* What a crash left behind is nobody's. */
    (void)unlink(temporary);
    if (!cn_out_open(&opened.out, temporary, err))
        return false;
    opened.path = cn_strdup(path);
    opened.temporary = cn_strdup(temporary);
    *writer = opened;
    cn_block_file_header_encode(&opened.header, header);
    if (!cn_block_writer_add(writer, header, sizeof(header), err)) {
        cn_block_writer_abandon(writer);
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
    return cn_out_write(&writer->out, data, len, err);
}

static void end_section(struct cn_block_writer *writer)
{
    struct cn_block_file_section *last;

    if (writer->section_count == 0)
        return;
    last = &writer->sections[writer->section_count - 1];
    last->len = writer->out.end_off - last->off;
}

static bool pad(struct cn_block_writer *writer, struct cn_error *err)
{
    static const uint8_t zeros[ALIGN];
    uint64_t end = cn_align_up(writer->out.end_off, ALIGN);

    return cn_block_writer_add(writer, zeros, (size_t)(end - writer->out.end_off), err);
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
        .off = writer->out.end_off,
    };
    return true;
}

static bool write_tables(struct cn_block_writer *writer, struct cn_error *err)
{
    struct cn_block_file_footer footer = {
        .checksums_off = writer->out.end_off,
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
    return cn_out_write(&writer->out, writer->checksums, writer->checksums_len, err) &&
           cn_out_write(&writer->out, table, table_len, err) &&
           cn_out_write(&writer->out, end, sizeof(end), err);
}

static bool sync_folder(const char *path, struct cn_error *err)
{
    char *copy = cn_strdup(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;

    if (!ok)
        ok = cn_fail_errno(err, "%s", copy);
    if (fd >= 0)
        (void)close(fd);
    free(copy);
    return ok;
}

bool cn_block_writer_commit(struct cn_block_writer *writer, struct cn_error *err)
{
    bool ok;

    end_section(writer);
    ok = pad(writer, err);
    if (ok && writer->in_block > 0)
        end_block(writer);
    ok = ok && write_tables(writer, err) && cn_out_sync(&writer->out, err) &&
         cn_out_close(&writer->out, err);
    if (ok && rename(writer->temporary, writer->path) < 0)
        ok = cn_fail_errno(err, "%s", writer->path);
    if (ok) {
        free(writer->temporary);
        writer->temporary = NULL;
        ok = sync_folder(writer->path, err);
    }
    cn_block_writer_abandon(writer);
    return ok;
}

void cn_block_writer_abandon(struct cn_block_writer *writer)
{
    cn_out_abandon(&writer->out);
    if (writer->temporary)
        (void)unlink(writer->temporary);
    free(writer->temporary);
    free(writer->path);
    free(writer->checksums);
    *writer = (struct cn_block_writer){0};
}
