/* Every rule of a store's files. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/progress.h"
#include "formats/zorka/record.h"
#include "model/traces/trace.h"
#include "store/care/care.h"
#include "store/segment/index.h"
#include "store/segment/log_format.h"
#include "store/segment/segment.h"
#include "store/segment/segment_scan.h"
#include "store/segment/segments.h"
#include "store/segment/text_log.h"

struct check {
    struct cn_findings findings;
    uint32_t number; /* of the segment */
    const struct cn_segment *segment;
    uint8_t *plain;
    size_t capacity;
    struct cn_decompressor *decompressor;
    struct cn_trace trace;
    uint64_t records; /* whole traces found in the data */
};

CN_PRINTF(6, 7)
static void report(struct check *check, bool is_error, const char *file, uint64_t off,
                   const char *rule, const char *fmt, ...)
{
    struct cn_text name = {0};
    va_list args;

    cn_text_printf(&name, "%06x/%s", check->number, file);
    cn_findings_begin(&check->findings, cn_text_str(&name));
    va_start(args, fmt);
    cn_findings_vadd(&check->findings, is_error, rule, off, fmt, args);
    va_end(args);
    cn_findings_begin(&check->findings, NULL);
    cn_text_done(&name);
}

static void check_words_of(struct check *check, uint64_t off)
{
    uint32_t highest = cn_segment_highest_word(&check->trace);
    uint32_t count = cn_segment_words(check->segment)->count;

    if (highest > count)
        report(check, true, CN_TRACES_NAME, off, "word-exists",
               "a record refers to word %u, there are %u", highest, count);
}

static void check_records(struct check *check, uint64_t chunk_off, struct cn_bytes plain)
{
    size_t off = 0;

    while (off < plain.len) {
        struct cn_bytes rest, record;
        struct cn_zorka_part part;
        struct cn_error err = {0};

        if (!cn_bytes_from(plain, off, &rest) ||
            !cn_zorka_record_part(rest, &part, &err) || part.record_len == 0 ||
            !cn_bytes_slice(rest, 0, part.record_len, &record)) {
            report(check, true, CN_TRACES_NAME, chunk_off, "record-head",
                   "at %zu of the chunk: %s", off, err.text);
            return;
        }
        if (part.payload_off == 0) {
            if (cn_zorka_record_decode(record, &check->trace, NULL, &err))
                check_words_of(check, chunk_off);
            else
                report(check, true, CN_TRACES_NAME, chunk_off, "record",
                       "at %zu of the chunk: %s", off, err.text);
        }
        check->records++;
        off += part.record_len;
    }
}

static void check_chunk(struct check *check, const struct cn_chunk *chunk)
{
    struct cn_error err = {0};

    if (chunk->plain_len > check->capacity) {
        check->capacity = chunk->plain_len;
        free(check->plain);
        check->plain = cn_alloc(check->capacity, 1);
    }
    if (cn_chunk_read(cn_segment_chunks(check->segment), chunk, check->decompressor,
                      check->plain, &err))
        check_records(check, chunk->off,
                      (struct cn_bytes){check->plain, chunk->plain_len});
    else
        report(check, true, CN_TRACES_NAME, chunk->off, "chunk", "%s", err.text);
}

static bool check_data(struct check *check, const struct cn_progress *progress,
                       struct cn_error *err)
{
    uint64_t len = check->segment->data.bytes.len;
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;

    cn_chunk_walk_begin(&walk, cn_segment_chunks(check->segment));
    while (!cn_chunk_walk_is_at_end(&walk)) {
        struct cn_error found = {0};
        uint64_t off = walk.off;

        if (cn_chunk_walk_next(&walk, true, &chunk, &found))
            check_chunk(check, &chunk);
        else
            report(check, true, CN_TRACES_NAME, off, "chunk", "%s", found.text);
        if (!cn_progress_report(progress, "verifying traces", walk.off, len, "bytes",
                                err))
            return false;
    }
    return true;
}

static void check_text_log(struct check *check)
{
    struct cn_text_log_state state = {0};
    struct cn_words words = {0};
    struct cn_file file = {0};
    struct cn_error err = {0};

    if (!cn_file_open_at(&file, check->segment->dir, CN_TEXT_LOG_NAME, &err) ||
        !cn_text_log_read(file.bytes, &words, &state, &err))
        report(check, true, CN_TEXT_LOG_NAME, 0, "string-log", "%s", err.text);
    else if (state.bad_count > 0)
        report(check, true, CN_TEXT_LOG_NAME, state.sound_len, "string-batch",
               "%u batches cannot be read, %u words are lost", state.bad_count,
               state.lost_count);
    else if (state.sound_len < file.bytes.len)
        report(check, false, CN_TEXT_LOG_NAME, state.sound_len, "string-log-end",
               "%" PRIu64 " bytes after the last batch",
               file.bytes.len - state.sound_len);
    if (words.count != cn_segment_words(check->segment)->count)
        report(check, true, CN_TEXT_FILE_NAME, 0, "words-equal",
               "%u words, the string log has %u", cn_segment_words(check->segment)->count,
               words.count);
    cn_words_done(&words);
    cn_file_close(&file);
}

static void check_text_file(struct check *check)
{
    const struct cn_text_file *file = cn_segment_text(check->segment);
    struct cn_error err = {0};

    if (!check->segment->config.is_sealed)
        return;
    if (!file)
        report(check, true, CN_TEXT_FILE_NAME, 0, "text-file", "it cannot be read");
    else if (!cn_text_file_check_all(file, &err))
        report(check, true, CN_TEXT_FILE_NAME, 0, "text-file", "%s", err.text);
    else if (!file->has_index)
        report(check, true, CN_TEXT_INDEX_NAME, 0, "text-index", "it cannot be read");
}

static void check_row(struct check *check, struct cn_segment_loader *loader, uint32_t i,
                      const char *file)
{
    struct cn_store_row row;
    struct cn_error err = {0};

    if (!cn_segment_row(check->segment, i, &row, &err))
        report(check, true, file, i, "row", "row %u: %s", i, err.text);
    else if (!cn_segment_load(loader, check->segment, i, &check->trace, &err))
        report(check, true, file, i, "row-data", "row %u: %s", i, err.text);
    else if (row.part == 0 && row.flags & CN_ROW_LAST &&
             row.records != check->trace.node_count)
        report(check, true, file, i, "row-records", "row %u: %u records, its data has %u",
               i, row.records, check->trace.node_count);
}

static bool check_rows(struct check *check, const struct cn_progress *progress,
                       struct cn_error *err)
{
    const char *file =
        check->segment->config.is_sealed ? CN_META_FILE_NAME : CN_ROWS_LOG_NAME;
    struct cn_segment_loader *loader = cn_segment_loader_new();
    uint32_t count = cn_segment_row_count(check->segment);
    uint64_t whole = 0;
    bool ok = true;

    if (check->segment->is_damaged && (check->segment->rebuilt.len > 0 || count == 0))
        report(check, true, file, 0, "rows", "it cannot be read");
    else if (count > check->segment->logged_rows)
        report(check, true, file, 0, "rows-complete", "%u of %u rows are not in it",
               count - check->segment->logged_rows, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        struct cn_store_row row;
        struct cn_error ignored;

        check_row(check, loader, i, file);
        if (cn_segment_row(check->segment, i, &row, &ignored))
            whole += !(row.flags & CN_ROW_EMBEDDED);
        if (i % 4096 == 0)
            ok = cn_progress_report(progress, "verifying rows", i, count, "rows", err);
    }
    cn_segment_loader_free(loader);
    if (ok && whole < check->records)
        report(check, true, file, 0, "rows-complete",
               "%" PRIu64 " traces are in the data, %" PRIu64 " have a row",
               check->records, whole);
    return ok;
}

static void check_postings(struct check *check)
{
    struct cn_store_index index = {0};
    struct cn_error err = {0};

    if (!cn_store_index_open(&index, check->segment, &err))
        report(check, true, CN_POSTING_FILE_NAME, 0, "postings", "%s", err.text);
    else if (check->segment->config.is_sealed && index.built_count > 0)
        report(check, false, CN_POSTING_FILE_NAME, 0, "postings",
               "%u rows have no postings: they are read when searched",
               index.built_count);
    cn_store_index_close(&index);
}

static bool check_segment(struct check *check, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct cn_store_config config;
    struct cn_error found = {0};

    if (!cn_store_config_read(&config, check->segment->dir, &found))
        report(check, true, CN_CONFIG_NAME, 0, "config", "%s", found.text);
    check->records = 0;
    check_text_log(check);
    check_text_file(check);
    if (!check_data(check, progress, err) || !check_rows(check, progress, err))
        return false;
    check_postings(check);
    return true;
}

bool cn_store_verify(const char *path, const struct cn_progress *progress,
                     cn_finding_fn fn, void *arg, struct cn_error *err)
{
    struct check check = {.findings = {.report = fn, .arg = arg}};
    uint32_t *numbers = NULL;
    size_t count = 0;
    bool ok = cn_segments_list(path, &numbers, &count, err);

    check.decompressor = cn_decompressor_new();
    for (size_t i = 0; ok && i < count; i++) {
        struct cn_segment *segment;
        struct cn_error found = {0};

        check.number = numbers[i];
        if (!cn_segment_open(&segment, path, numbers[i], &found)) {
            report(&check, true, CN_TRACES_NAME, 0, "chunk-file", "%s", found.text);
            continue;
        }
        check.segment = segment;
        ok = check_segment(&check, progress, err);
        cn_segment_close(segment);
    }
    free(numbers);
    free(check.plain);
    cn_decompressor_free(check.decompressor);
    cn_trace_done(&check.trace);
    return ok;
}
