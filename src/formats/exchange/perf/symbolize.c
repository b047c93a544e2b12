#include "formats/exchange/perf/symbolize.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/compress.h"
#include "base/files/file.h"
#include "formats/exchange/perf/format.h"
#include "formats/exchange/perf/perf.h"
#include "formats/exchange/perf/stored_symbols.h"
#include "formats/exchange/perf/writer.h"

enum { LEVEL = 3, FEATURES_192_OFF = 0x60 };

/* The table of names as a section of the file. */
static bool pack(const struct cn_stored_symbols *symbols, struct cn_text *out,
                 struct cn_error *err)
{
    struct cn_compressor *compressor = cn_compressor_new(CN_COMPRESSION_ZSTD, LEVEL);
    struct cn_text table = {0};
    size_t len;

    cn_stored_symbols_encode(symbols, &table);
    uint8_t *room =
        (uint8_t *)cn_text_room(out, cn_compressor_bound(compressor, table.len));
    bool ok = cn_compress(compressor, cn_wire_view(&table), room, &len, err);
    if (ok)
        cn_text_advance(out, len);
    cn_compressor_free(compressor);
    cn_text_done(&table);
    return ok;
}

static bool find_and_pack(struct cn_bytes bytes, const char *const *folders,
                          size_t folder_count, bool is_offline, struct cn_text *section,
                          struct cn_perf_symbolized *out, struct cn_error *err)
{
    struct cn_stored_symbols symbols = {0};
    struct cn_text hints = {0};
    bool ok = cn_perf_symbols_find(&symbols, bytes, folders, folder_count, is_offline,
                                   &hints, err) &&
              pack(&symbols, section, err);

    *out = (struct cn_perf_symbolized){
        .count = symbols.count,
        .left_out = symbols.left_out,
        .hints = ok ? hints.chars : NULL,
    };
    if (!ok)
        cn_text_done(&hints);
    for (size_t i = 0; i < symbols.count; i++)
        out->line_count += !symbols.list[i].is_partial;
    cn_stored_symbols_done(&symbols);
    return ok;
}

bool cn_perf_writer_add_symbols(struct cn_perf_writer *writer,
                                struct cn_perf_symbolized *out, struct cn_error *err)
{
    struct cn_file file = {0};
    struct cn_text section = {0};
    bool ok = cn_file_open(&file, writer->path, err) &&
              find_and_pack(file.bytes, NULL, 0, true, &section, out, err);

    if (ok && out->count > 0)
        cn_perf_writer_add_section(writer, CN_PERF_FEATURE_SYMBOLS,
                                   cn_wire_view(&section));
    cn_text_done(&section);
    cn_file_close(&file);
    return ok;
}

/* Append the sections of features after the data: those of before, with names instead of earlier
 * ones. */
static bool append_sections(struct cn_bytes bytes, const struct cn_perf_header *header,
                            uint64_t data_end, const struct cn_text *names,
                            struct cn_text *out, struct cn_error *err)
{
    struct cn_text contents = {0};
    uint64_t features[4], at = data_end;
    struct cn_bytes part;
    size_t count = 0;
    bool ok = true;

    cn_perf_features_get(header, features);
    for (unsigned i = 0; i < CN_PERF_FEATURE_COUNT; i++)
        count += features[i / 64] >> i % 64 & 1;
    count +=
        !(features[CN_PERF_FEATURE_SYMBOLS / 64] >> CN_PERF_FEATURE_SYMBOLS % 64 & 1);
    for (unsigned i = 0; i < CN_PERF_FEATURE_COUNT && ok; i++) {
        bool is_there = features[i / 64] >> i % 64 & 1;
        struct cn_perf_section section = {0};

        if (is_there) {
            ok = (cn_bytes_slice(bytes, at, cn_perf_section_size, &part) &&
                  cn_perf_section_decode(part, &section) &&
                  cn_bytes_slice(bytes, section.off, section.len, &part)) ||
                 cn_fail(err, CN_ERR_FORMAT, "the section of feature %u is cut off", i);
            at += cn_perf_section_size;
        }
        if (i == CN_PERF_FEATURE_SYMBOLS)
            part = cn_wire_view(names);
        else if (!is_there)
            continue;
        if (ok) {
            cn_wire_u64(out, data_end + count * cn_perf_section_size + contents.len);
            cn_wire_u64(out, part.len);
            cn_text_add(&contents, (const char *)part.ptr, part.len);
            cn_text_fill(&contents, '\0', (size_t)cn_align_up(part.len, 8) - part.len);
        }
    }
    cn_text_add(out, contents.chars, contents.len);
    cn_text_done(&contents);
    return ok;
}

static bool write_file(const char *target, struct cn_bytes data, uint8_t *head,
                       size_t head_len, const struct cn_text *tail, mode_t mode,
                       struct cn_error *err)
{
    char *temporary = cn_strprintf("%s.%d.new", target, (int)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    bool ok = file && fwrite(head, 1, head_len, file) == head_len &&
              fwrite(data.ptr + head_len, 1, data.len - head_len, file) ==
                  data.len - head_len &&
              fwrite(tail->chars, 1, tail->len, file) == tail->len;
    ok = (!file || fclose(file) == 0) && ok && rename(temporary, target) == 0;
    if (!ok) {
        (void)cn_fail_errno(err, "cannot write %s", target);
        if (fd >= 0)
            (void)unlink(temporary);
    }
    free(temporary);
    return ok;
}

static bool rewrite(struct cn_bytes bytes, const char *target, mode_t mode,
                    const char *const *folders, size_t folder_count,
                    struct cn_perf_symbolized *out, struct cn_error *err)
{
    uint8_t head[cn_perf_header_size];
    struct cn_text names = {0}, tail = {0};
    struct cn_perf_header header;
    uint64_t data_end;
    struct cn_bytes data;

    if (bytes.len >= CN_PERF_PIPE_HEADER_LEN && memcmp(bytes.ptr, CN_PERF_MAGIC, 8) != 0)
        return cn_fail(err, CN_ERR_USAGE, "not a perf.data file");
    if (!cn_perf_header_decode(bytes, &header) ||
        header.size == CN_PERF_PIPE_HEADER_LEN || header.data_len == 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "its writer did not complete it: names cannot be added");
    if (!cn_u64_add(header.data_off, header.data_len, &data_end) ||
        data_end < cn_perf_header_size || !cn_bytes_slice(bytes, 0, data_end, &data))
        return cn_fail(err, CN_ERR_FORMAT, "%" PRIu64 " bytes of data are cut off",
                       header.data_len);
    bool ok = find_and_pack(bytes, folders, folder_count, false, &names, out, err) &&
              append_sections(bytes, &header, data_end, &names, &tail, err);
    if (ok) {
        memcpy(head, bytes.ptr, sizeof(head));
        cn_u64_put(head + FEATURES_192_OFF,
                   header.features_192 | UINT64_C(1) << CN_PERF_FEATURE_SYMBOLS % 64);
        ok = write_file(target, data, head, sizeof(head), &tail, mode, err);
    }
    cn_text_done(&names);
    cn_text_done(&tail);
    return ok;
}

bool cn_perf_symbolize(const char *path, const char *target, const char *const *folders,
                       size_t folder_count, struct cn_perf_symbolized *out,
                       struct cn_error *err)
{
    struct cn_file file = {0};
    struct stat status = {.st_mode = 0600};

    *out = (struct cn_perf_symbolized){0};
    (void)stat(path, &status);
    if (!cn_file_open(&file, path, err))
        return false;
    bool ok =
        rewrite(file.bytes, target, status.st_mode, folders, folder_count, out, err) ||
        cn_fail_in(err, "%s", path);
    cn_file_close(&file);
    if (!ok) {
        free(out->hints);
        out->hints = NULL;
    }
    return ok;
}
