/* Creates a segment for writing, or opens one and repairs what a crash left. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/chunks.h"
#include "base/files/crc32c.h"
#include "base/files/file.h"
#include "formats/zorka/packed.h"
#include "model/traces/trace.h"
#include "store/segment/java_wal.h"
#include "store/segment/log_format.h"
#include "store/segment/scan.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/segment/text_log.h"
#include "store/segment/writer.h"

static uint32_t chunk_flags(const struct cn_store_config *config)
{
    bool is_lz4 = config->form == CN_STORE_LZ4;

    if (config->form == CN_STORE_COLUMNS)
        return CN_CHUNK_FLAG_CRC32 | CN_CHUNK_FLAG_PACKED;
    /* The original exchanges the two flags. */
    if (config->dialect == CN_STORE_JAVA)
        is_lz4 = !is_lz4;
    return CN_CHUNK_FLAG_CRC32 | (is_lz4 ? CN_CHUNK_FLAG_LZ4 : CN_CHUNK_FLAG_DEFLATE);
}

static struct cn_compressor *new_compressor(const struct cn_store_config *config)
{
    if (config->form == CN_STORE_LZ4)
        return cn_compressor_new(CN_COMPRESSION_LZ4, 0);
    if (config->dialect == CN_STORE_JAVA)
        return cn_compressor_new_unfinished(0);
    return cn_compressor_new(CN_COMPRESSION_DEFLATE, 0);
}

static void init(struct cn_segment_writer *segment, const char *base, uint32_t number,
                 const struct cn_disk *io)
{
    *segment = (struct cn_segment_writer){
        .io = io,
        .dir = cn_segment_dir(base, number),
        .number = number,
    };
    segment->files = (struct cn_segment_files){
        .io = io,
        .dir = segment->dir,
        .text.fd = -1,
        .data.fd = -1,
        .rows.fd = -1,
    };
}

static bool open_append(struct cn_segment_writer *segment, struct cn_store_append *file,
                        const char *name, struct cn_error *err)
{
    char *path = cn_strprintf("%s/%s", segment->dir, name);
    bool ok = segment->io->open(segment->io->arg, path, &file->fd, err);

    free(path);
    return ok;
}

static bool open_files(struct cn_segment_writer *segment, struct cn_error *err)
{
    return open_append(segment, &segment->files.text, CN_TEXT_LOG_NAME, err) &&
           open_append(segment, &segment->files.data, CN_TRACES_NAME, err) &&
           open_append(segment, &segment->files.rows, CN_ROWS_LOG_NAME, err);
}

/* The number of rows, from the first on, that the posting log covers. */
static uint32_t covered_rows(const struct cn_segment_writer *segment)
{
    struct cn_file log = {0};
    struct cn_error ignored;
    uint32_t next_row = 0;
    size_t count;
    uint64_t len;

    if (!cn_file_open_at(&log, segment->dir, CN_POSTING_LOG_NAME, &ignored))
        return 0;
    /* Rows that are not in meta.log may have had other numbers. */
    struct cn_posting_block *blocks =
        cn_posting_log_read(log.bytes, segment->logged_rows, &count, &len);
    for (size_t i = 0; i < count && blocks[i].first_row == next_row; i++)
        next_row += blocks[i].row_count;
    free(blocks);
    cn_file_close(&log);
    return next_row;
}

/* Open what adding traces needs, after words and rows were read. */
static bool get_ready(struct cn_segment_writer *segment, struct cn_error *err)
{
    segment->files.compressor = new_compressor(&segment->config);
    if (segment->config.form == CN_STORE_COLUMNS)
        segment->files.packer = cn_zorka_packer_new();
    segment->files.text_compressor = cn_compressor_new(CN_COMPRESSION_ZSTD, 0);
    segment->posting_words.words = &segment->words;
    segment->posting_words.extra = &segment->words;
    cn_words_index(&segment->words);
    if (segment->config.dialect == CN_STORE_JAVA &&
        !cn_java_wal_open(&segment->wal, segment->dir, &segment->words, segment->io, err))
        return false;
    return cn_posting_log_open(&segment->postings, segment->io, segment->dir,
                               covered_rows(segment), err);
}

/* The headers of the files are written with the first commit. */
static void begin_text(struct cn_segment_writer *segment)
{
    cn_text_log_header(&segment->files.text.waiting);
}

static void begin_rows(struct cn_segment_writer *segment)
{
    struct cn_store_log_header head = {.magic = CN_ROWS_LOG_MAGIC,
                                       .version = CN_STORE_LOG_VERSION,
                                       .record_len = cn_store_row_size};
    uint8_t bytes[cn_store_log_header_size];

    cn_store_log_header_encode(&head, bytes);
    cn_u32_put(bytes + 12, cn_crc32c((struct cn_bytes){bytes, 12}));
    cn_text_add(&segment->files.rows.waiting, (const char *)bytes, sizeof(bytes));
}

static void begin_data(struct cn_segment_writer *segment)
{
    struct cn_chunk_file_header head = {.magic = CN_CHUNK_FILE_MAGIC,
                                        .flags = chunk_flags(&segment->config)};
    uint8_t bytes[cn_chunk_file_header_size];

    cn_chunk_file_header_encode(&head, bytes);
    cn_text_add(&segment->files.data.waiting, (const char *)bytes, sizeof(bytes));
}

bool cn_segment_writer_create(struct cn_segment_writer *segment, const char *base,
                              uint32_t number, const struct cn_store_config *config,
                              const struct cn_disk *io, struct cn_error *err)
{
    init(segment, base, number, io);
    segment->config = *config;
    segment->config.is_sealed = false;
    begin_text(segment);
    begin_rows(segment);
    begin_data(segment);
    if (!io->make_dir(io->arg, segment->dir, err) ||
        !cn_store_config_write(&segment->config, segment->dir, io, err) ||
        !open_files(segment, err) || !cn_segment_writer_commit(segment, err) ||
        !io->sync_dir(io->arg, segment->dir, err) || !io->sync_dir(io->arg, base, err) ||
        !get_ready(segment, err)) {
        cn_segment_writer_abandon(segment);
        return false;
    }
    return true;
}

static bool cut(struct cn_segment_writer *segment, struct cn_store_append *file,
                uint64_t len, uint64_t was_len, struct cn_error *err)
{
    file->len = len;
    return len == was_len || segment->io->truncate(segment->io->arg, file->fd, len, err);
}

/* What was found in the files of a segment. */
struct open_finds {
    struct cn_bytes text, rows, data;
    struct cn_text_log_state words;
    uint32_t word_count; /* that could be read */
    uint64_t rows_reach; /* traces.dat was sound up to here, at least */
};

/* Remember damage that costs data: searches report it until `recover`. */
CN_PRINTF(2, 3)
static void note_damage(struct cn_segment_writer *segment, const char *fmt, ...)
{
    char text[sizeof(segment->config.damage)];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    segment->has_new_damage |=
        cn_store_config_note_damage(&segment->config, segment->dir, text);
}

static bool open_words(struct cn_segment_writer *segment, struct open_finds *finds,
                       struct cn_error *err)
{
    struct cn_text_log_state *state = &finds->words;
    struct cn_error found;

    if (!cn_text_log_read(finds->text, &segment->words, state, &found)) {
        if (found.kind == CN_ERR_VERSION) {
            *err = found;
            return false;
        }
        *state = (struct cn_text_log_state){.is_header_bad = true};
    }
    finds->word_count = segment->saved_words = segment->words.count;
    segment->lacks_words = state->bad_count > 0 || state->sound_len < finds->text.len ||
                           state->is_header_bad;
    if (state->bad_count > 0)
        note_damage(segment,
                    CN_TEXT_LOG_NAME ": batch at 0x%" PRIx64 " is damaged: %u %s lost",
                    state->bad_off, state->lost_count,
                    cn_plural(state->lost_count, "string is", "strings are"));
    return true;
}

/* What follows the last sound batch is cut off if no record uses its words: it is the torn end of
 * a commit that was not acknowledged. Otherwise it is damaged; later batches follow it. */
static bool repair_words(struct cn_segment_writer *segment,
                         const struct open_finds *finds, bool is_used,
                         struct cn_error *err)
{
    struct cn_store_append *file = &segment->files.text;
    uint64_t len = finds->text.len, sound_len = finds->words.sound_len;
    struct cn_text head = {0};
    bool ok = true;

    if (is_used)
        note_damage(segment,
                    CN_TEXT_LOG_NAME ": batch at 0x%" PRIx64
                                     " is damaged: its strings are lost",
                    sound_len > 0 ? sound_len : (uint64_t)cn_store_log_header_size);
    if (len < cn_store_log_header_size || (sound_len == 0 && !is_used)) {
        begin_text(segment);
        return cut(segment, file, 0, len, err);
    }
    if (finds->words.is_header_bad) {
        cn_text_log_header(&head);
        ok = segment->io->write(segment->io->arg, file->fd, 0, cn_text_str(&head),
                                head.len, err);
        cn_text_done(&head);
    }
    return ok && cut(segment, file, is_used ? len : sound_len, len, err);
}

/* Rows without their chunk are dropped, and their numbers used again. */
static bool open_rows(struct cn_segment_writer *segment, struct open_finds *finds,
                      struct cn_error *err)
{
    struct cn_bytes log = finds->rows, data = finds->data;
    uint64_t len;
    uint32_t count = cn_segment_scan_rows(log, &len);
    uint32_t kept = cn_segment_rows_of_whole_chunks(log, count, data.len);

    if (cn_segment_rows_reach(log, count) > finds->rows_reach)
        finds->rows_reach = cn_segment_rows_reach(log, count);
    if (finds->rows_reach > data.len)
        note_damage(segment,
                    CN_TRACES_NAME ": ends at 0x%zx, but rows point to 0x%" PRIx64,
                    data.len, finds->rows_reach);
    segment->row_count = kept;
    len -= (uint64_t)(count - kept) * cn_store_row_size;
    if (len == 0)
        begin_rows(segment);
    return cut(segment, &segment->files.rows, len, log.len, err);
}

/* Reserve the numbers of lost words that records use, so that no other string gets them. */
static void reserve_words(struct cn_segment_writer *segment, uint32_t highest)
{
    while (segment->words.count < highest)
        cn_words_append(&segment->words, CN_WORD_LOST, (struct cn_bytes){0});
    segment->saved_words = segment->words.count;
}

/* A damaged file header is written again from config.props. */
static bool repair_header(struct cn_segment_writer *segment, struct cn_bytes data,
                          struct cn_error *err)
{
    struct cn_chunk_file file;
    struct cn_error ignored;
    struct cn_text head = {0};

    if (cn_chunk_file_init(&file, cn_content_of(data), CN_CHUNK_DIALECT_STORE, &ignored))
        return true;
    begin_data(segment);
    head = segment->files.data.waiting;
    segment->files.data.waiting = (struct cn_text){0};
    bool ok = segment->io->write(segment->io->arg, segment->files.data.fd, 0,
                                 cn_text_str(&head), head.len, err) &&
              segment->io->sync(segment->io->arg, segment->files.data.fd, err);
    cn_text_done(&head);
    return ok;
}

static bool open_data(struct cn_segment_writer *segment, const struct open_finds *finds,
                      bool *uses_lost_words, struct cn_error *err)
{
    struct cn_bytes data = finds->data;
    uint64_t known_len = cn_segment_rows_end(finds->rows, segment->row_count);
    uint64_t kept_len;
    struct cn_segment_scan scan = {
        .words = &segment->words,
        .rows = &segment->files.rows.waiting,
        .row_count = segment->row_count,
    };

    if (data.len < cn_chunk_file_header_size) {
        begin_data(segment);
        return cut(segment, &segment->files.data, 0, data.len, err);
    }
    cn_segment_scan_begin(&scan, &(struct cn_file){.bytes = data});
    cn_segment_scan_know_rows(&scan, finds->rows, segment->row_count);
    cn_segment_scan_chunks(&scan, known_len);
    segment->row_count = scan.row_count;
    kept_len = scan.sound_len;
    if (cn_segment_scan_is_damaged(&scan, finds->rows_reach)) {
        note_damage(segment,
                    CN_TRACES_NAME ": chunk at 0x%" PRIx64
                                   " is damaged: its traces are lost",
                    scan.bad_off);
        if (finds->rows_reach > kept_len)
            kept_len = finds->rows_reach < data.len ? finds->rows_reach : data.len;
    }
    cn_segment_scan_done(&scan);
    if (segment->lacks_words) {
        uint32_t highest = cn_segment_find_highest_word(
            &(struct cn_file){.bytes = data}, &segment->words, finds->rows_reach,
            uses_lost_words);

        *uses_lost_words |= highest > finds->word_count;
        reserve_words(segment, highest);
    }
    return repair_header(segment, data, err) &&
           cut(segment, &segment->files.data, kept_len, data.len, err);
}

/* Read words and rows, cut torn ends off, and make rows for chunks without them. */
static bool repair(struct cn_segment_writer *segment, uint64_t reach,
                   struct cn_error *err)
{
    struct cn_file text = {0}, rows = {0}, data = {0};
    struct open_finds finds = {.rows_reach = reach};
    bool uses_lost_words = false;
    bool ok = cn_file_open_at(&text, segment->dir, CN_TEXT_LOG_NAME, err) &&
              cn_file_open_at(&rows, segment->dir, CN_ROWS_LOG_NAME, err) &&
              cn_file_open_at(&data, segment->dir, CN_TRACES_NAME, err);

    finds.text = text.bytes;
    finds.rows = rows.bytes;
    finds.data = data.bytes;
    ok = ok && open_words(segment, &finds, err) && open_rows(segment, &finds, err);
    segment->logged_rows = segment->row_count;
    ok = ok && open_data(segment, &finds, &uses_lost_words, err) &&
         repair_words(segment, &finds, uses_lost_words, err);
    cn_file_close(&text);
    cn_file_close(&rows);
    cn_file_close(&data);
    return ok;
}

/* A crash may have cost the postings of the last rows. */
static bool add_postings(struct cn_segment_writer *segment, const char *base,
                         struct cn_error *err)
{
    uint32_t row = segment->postings.postings.first_row;
    struct cn_trace trace = {0};
    struct cn_segment *reader;
    bool ok = true;

    if (row == segment->row_count)
        return true;
    if (!cn_segment_open(&reader, base, segment->number, err))
        return false;
    struct cn_segment_loader *loader = cn_segment_loader_new();
    for (; ok && row < segment->row_count; row++) {
        struct cn_error found;

        /* A row whose data is damaged has no keys. */
        if (cn_segment_load(loader, reader, row, &trace, &found)) {
            ok = cn_posting_log_add(&segment->postings, row, &trace, 0,
                                    &segment->posting_words, err);
        } else {
            if (found.kind != CN_ERR_NOT_FOUND)
                note_damage(segment, "%s", found.text);
            cn_postings_end_row(&segment->postings.postings);
        }
    }
    cn_trace_done(&trace);
    cn_segment_loader_free(loader);
    cn_segment_close(reader);
    return ok;
}

bool cn_segment_writer_open(struct cn_segment_writer *segment, const char *base,
                            uint32_t number, const struct cn_disk *io,
                            struct cn_error *err)
{
    return cn_segment_writer_recover(segment, base, number, 0, io, err);
}

bool cn_segment_writer_recover(struct cn_segment_writer *segment, const char *base,
                               uint32_t number, uint64_t reach, const struct cn_disk *io,
                               struct cn_error *err)
{
    init(segment, base, number, io);
    if (!cn_store_config_read(&segment->config, segment->dir, err) ||
        !open_files(segment, err) || !repair(segment, reach, err) ||
        !get_ready(segment, err) || !cn_segment_writer_commit(segment, err) ||
        !add_postings(segment, base, err) ||
        (segment->has_new_damage &&
         !cn_store_config_write(&segment->config, segment->dir, io, err))) {
        cn_segment_writer_abandon(segment);
        return false;
    }
    return true;
}
