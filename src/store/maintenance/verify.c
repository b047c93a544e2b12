/* Every rule of a store's files. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/run/progress.h"
#include "formats/zorka/record.h"
#include "model/traces/trace.h"
#include "store/maintenance/maintenance.h"
#include "store/segment/index.h"
#include "store/segment/log_format.h"
#include "store/segment/posting_log.h"
#include "store/segment/scan.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/segment/text_log.h"

struct store_check {
    struct cn_findings findings;
    uint32_t number; /* of the segment */
    const struct cn_segment *segment;
    struct cn_chunk_reader reader;
    struct cn_trace trace;
    uint64_t records; /* whole traces found in the data */
};

CN_PRINTF(6, 7)
static void report(struct store_check *check, bool is_error, const char *file,
                   uint64_t off, const char *rule, const char *fmt, ...)
{
    va_list args;
    char *name = cn_strprintf("%06x/%s", check->number, file);

    cn_findings_begin(&check->findings, name);
    va_start(args, fmt);
    cn_findings_vadd(&check->findings, is_error, rule, off, fmt, args);
    va_end(args);
    cn_findings_begin(&check->findings, NULL);
    free(name);
}

static void check_words_of(struct store_check *check, uint64_t off)
{
    uint32_t highest = cn_segment_highest_word(&check->trace);
    uint32_t count = cn_segment_words(check->segment)->count;

    if (highest > count)
        report(check, true, CN_TRACES_NAME, off, "word-exists",
               "a record refers to word %u, there are %u", highest, count);
}

static void check_records(struct store_check *check, uint64_t chunk_off,
                          struct cn_bytes plain)
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

static void check_chunk(struct store_check *check, const struct cn_chunk *chunk)
{
    struct cn_error err = {0};
    struct cn_bytes plain;

    if (cn_chunk_reader_all(&check->reader, cn_segment_chunks(check->segment), chunk,
                            &plain, &err))
        check_records(check, chunk->off, plain);
    else
        report(check, true, CN_TRACES_NAME, chunk->off, "chunk", "%s", err.text);
}

/* The end of the data that was acknowledged: a commit that a crash or this snapshot cut off may
 * follow, which opening the store for writing removes. */
static uint64_t find_end(const struct store_check *check)
{
    struct cn_bytes log = check->segment->rows_log.bytes;
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;
    struct cn_error ignored;
    uint64_t len, end;

    if (check->segment->config.is_sealed)
        return UINT64_MAX;
    end = cn_segment_rows_reach(log, cn_segment_scan_rows(log, &len));
    cn_chunk_walk_begin(&walk, cn_segment_chunks(check->segment));
    while (!cn_chunk_walk_is_at_end(&walk))
        if (cn_chunk_walk_next(&walk, true, &chunk, &ignored) && walk.off > end)
            end = walk.off;
    return end;
}

static void check_data_header(struct store_check *check, uint64_t end)
{
    struct cn_bytes data = check->segment->data.bytes;
    struct cn_chunk_file ignored;
    struct cn_error found;

    if (cn_chunk_file_init(&ignored, cn_content_of(data), CN_CHUNK_DIALECT_STORE, &found))
        return;
    if (data.len < cn_chunk_file_header_size && end <= cn_chunk_file_header_size)
        report(check, false, CN_TRACES_NAME, 0, "unfinished",
               "the segment was not yet written");
    else
        report(check, true, CN_TRACES_NAME, 0, "chunk-file", "%s", found.text);
}

static bool check_data(struct store_check *check, const struct cn_progress *progress,
                       struct cn_error *err)
{
    uint64_t len = check->segment->data.bytes.len, end = find_end(check);
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;

    check_data_header(check, end);
    cn_chunk_walk_begin(&walk, cn_segment_chunks(check->segment));
    while (!cn_chunk_walk_is_at_end(&walk)) {
        struct cn_error found = {0};
        uint64_t off = walk.off;

        if (cn_chunk_walk_next(&walk, true, &chunk, &found)) {
            check_chunk(check, &chunk);
        } else if (off < end) {
            report(check, true, CN_TRACES_NAME, off, "chunk", "%s", found.text);
        } else {
            report(check, false, CN_TRACES_NAME, off, "unfinished",
                   "%" PRIu64 " bytes of a commit that was not finished", len - off);
            break;
        }
        if (!cn_progress_report(progress, "verifying traces", walk.off, len, "bytes",
                                err))
            return false;
    }
    return true;
}

/* The log of an open segment is that of the snapshot: the writer may have appended to the file. */
static void check_text_log(struct store_check *check)
{
    const struct cn_segment *segment = check->segment;
    bool is_sealed = segment->config.is_sealed, is_read;
    struct cn_text_log_state state = {0};
    struct cn_words words = {0};
    struct cn_file file = {0};
    struct cn_error err = {0};
    uint32_t count = cn_segment_words(segment)->count;
    struct cn_bytes log = segment->text_log.bytes;

    if (is_sealed && cn_file_open_at(&file, segment->dir, CN_TEXT_LOG_NAME, &err))
        log = file.bytes;
    is_read = cn_text_log_read(log, &words, &state, &err);
    if (!is_read && segment->data.bytes.len > cn_chunk_file_header_size)
        report(check, true, CN_TEXT_LOG_NAME, 0, "string-log", "%s", err.text);
    if (is_read && state.is_header_bad)
        report(check, true, CN_TEXT_LOG_NAME, 0, "string-log", "the header is damaged");
    if (state.bad_count > 0)
        report(check, true, CN_TEXT_LOG_NAME, state.bad_off, "string-batch",
               "%u batch%s cannot be read, %u %s lost", state.bad_count,
               cn_plural(state.bad_count, "", "es"), state.lost_count,
               cn_plural(state.lost_count, "string is", "strings are"));
    if (is_read && state.sound_len < log.len) {
        bool is_used = count > words.count;

        report(check, is_used, CN_TEXT_LOG_NAME, state.sound_len,
               is_used ? "string-batch" : "unfinished",
               is_used ? "%" PRIu64 " bytes cannot be read, but records use their strings"
                       : "%" PRIu64 " bytes of a commit that was not finished",
               log.len - state.sound_len);
    } else if (is_read && words.count != count) {
        report(check, true, CN_TEXT_FILE_NAME, 0, "words-equal",
               "%u words, the string log has %u", count, words.count);
    }
    cn_words_done(&words);
    cn_file_close(&file);
}

static void check_text_file(struct store_check *check)
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
    else if (!cn_text_file_check_index(file, &err))
        report(check, true, CN_TEXT_INDEX_NAME, 0, "text-index", "%s", err.text);
}

static void check_row(struct store_check *check, struct cn_segment_loader *loader,
                      uint32_t i, const char *file)
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

/* Rows are not synced: after a power failure any of them may be missing or wrong. They are made
 * again from the data when the store is opened for writing. */
static void check_row_file(struct store_check *check, const char *file, uint32_t count)
{
    const struct cn_segment *segment = check->segment;
    struct cn_bytes log = segment->rows_log.bytes;
    uint64_t len;
    uint32_t scanned = cn_segment_scan_rows(log, &len);
    bool has_header = len > 0;

    if (segment->config.is_sealed) {
        if (segment->rebuilt.len > 0 || (segment->is_damaged && count == 0))
            report(check, true, file, 0, "rows", "it cannot be read");
        return;
    }
    if (!has_header && cn_segment_rows_reach(log, 0) > 0)
        report(check, false, file, 0, "rows", "the header cannot be read");
    else if (has_header &&
             cn_segment_rows_reach(log, scanned) > cn_segment_rows_end(log, scanned))
        report(check, false, file, len, "rows", "row %u cannot be read", scanned);
    else if (cn_segment_rows_end(log, scanned) > segment->data.bytes.len && scanned > 0)
        report(check, true, CN_TRACES_NAME, segment->data.bytes.len, "chunk",
               "the file ends here, but rows point to 0x%" PRIx64,
               cn_segment_rows_end(log, scanned));
    else if (count > segment->logged_rows)
        report(check, false, file, len, "unfinished",
               "%u rows are not in it yet: they are made from the data",
               count - segment->logged_rows);
}

static bool check_rows(struct store_check *check, const struct cn_progress *progress,
                       struct cn_error *err)
{
    const char *file =
        check->segment->config.is_sealed ? CN_META_FILE_NAME : CN_ROWS_LOG_NAME;
    struct cn_segment_loader *loader = cn_segment_loader_new();
    uint32_t count = cn_segment_row_count(check->segment);
    uint64_t whole = 0;
    bool ok = true;

    check_row_file(check, file, count);
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

/* The writer appends blocks while it is verified: those of later rows are none of this snapshot. */
static void check_posting_log(struct store_check *check)
{
    struct cn_file file = {0};
    struct cn_posting_block block;
    struct cn_error err = {0};
    struct cn_bytes rest;
    uint64_t len = 0;
    size_t count;

    if (check->segment->config.is_sealed ||
        !cn_file_open_at(&file, check->segment->dir, CN_POSTING_LOG_NAME, &err))
        return;
    free(cn_posting_log_read(file.bytes, check->segment->logged_rows, &count, &len));
    if (cn_bytes_from(file.bytes, len, &rest) && rest.len > 0 &&
        !cn_posting_block_take(&rest, &block, &err))
        report(check, false, CN_POSTING_LOG_NAME, len, "postings",
               "%s: the rows after it are read when searched", err.text);
    cn_file_close(&file);
}

static void check_postings(struct store_check *check)
{
    struct cn_store_index index = {0};
    struct cn_error err = {0};

    if (!cn_store_index_open(&index, check->segment, &err) ||
        !cn_store_index_postings(&index, &err))
        report(check, true, CN_POSTING_FILE_NAME, 0, "postings", "%s", err.text);
    else if (check->segment->config.is_sealed && index.built_count > 0)
        report(check, false, CN_POSTING_FILE_NAME, 0, "postings",
               "%u rows have no postings: they are read when searched",
               index.built_count);
    cn_store_index_close(&index);
}

static bool check_segment(struct store_check *check, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct cn_store_config config;
    struct cn_error found = {0};

    if (!cn_store_config_read(&config, check->segment->dir, &found))
        report(check, check->segment->data.bytes.len > 0, CN_CONFIG_NAME, 0, "config",
               "%s", found.text);
    else if (config.damage[0] != '\0')
        report(check, true, CN_CONFIG_NAME, 0, "damage", "found earlier: %s",
               config.damage);
    check->records = 0;
    check_text_log(check);
    check_text_file(check);
    if (!check_data(check, progress, err) || !check_rows(check, progress, err))
        return false;
    check_posting_log(check);
    check_postings(check);
    return true;
}

/* Findings about one segment. */
struct verify_found {
    struct cn_finding *list; /* owns its texts */
    size_t count, capacity;
    bool has_error;
};

static void keep_finding(void *arg, const struct cn_finding *finding)
{
    struct verify_found *found = arg;
    struct cn_finding *copy;

    CN_GROW(found->list, found->count, found->capacity);
    copy = &found->list[found->count++];
    *copy = *finding;
    copy->file = cn_strdup(finding->file);
    copy->text = cn_strdup(finding->text);
    found->has_error |= finding->is_error;
}

/* Hand the findings over, or drop them. */
static void end_findings(struct verify_found *found, cn_finding_fn fn, void *arg)
{
    for (size_t i = 0; i < found->count; i++) {
        if (fn)
            fn(arg, &found->list[i]);
        free((void *)(uintptr_t)found->list[i].file);
        free((void *)(uintptr_t)found->list[i].text);
    }
    free(found->list);
    *found = (struct verify_found){0};
}

static bool verify_once(struct store_check *check, const char *path,
                        const struct cn_progress *progress, bool *has_changed,
                        struct cn_error *err)
{
    struct cn_segment *segment;
    struct cn_error found = {0};

    *has_changed = false;
    if (!cn_segment_open(&segment, path, check->number, &found)) {
        report(check, true, CN_TRACES_NAME, 0, "chunk-file", "%s", found.text);
        *has_changed = true; /* if it was just removed, it is not listed any more */
        return true;
    }
    check->segment = segment;
    bool ok = check_segment(check, progress, err);
    *has_changed = cn_segment_has_changed(segment);
    cn_segment_close(segment);
    return ok;
}

static bool is_listed(const char *path, uint32_t number)
{
    uint32_t *numbers = NULL;
    struct cn_error ignored;
    size_t count = 0;
    bool is_found = false;

    if (!cn_segments_list(path, &numbers, &count, &ignored))
        return true;
    for (size_t i = 0; i < count; i++)
        is_found |= numbers[i] == number;
    free(numbers);
    return is_found;
}

/* The writer may seal or remove a segment meanwhile: then it is verified again, or not at all. */
static bool verify_segment(struct store_check *check, const char *path,
                           const struct cn_progress *progress, cn_finding_fn fn,
                           void *arg, struct cn_error *err)
{
    enum { TRIES = 3 };
    struct verify_found found = {0};
    bool ok = true, has_changed = true;

    for (int i = 0; ok && has_changed && i < TRIES; i++) {
        end_findings(&found, NULL, NULL);
        check->findings = (struct cn_findings){.report = keep_finding, .arg = &found};
        ok = verify_once(check, path, progress, &has_changed, err);
        has_changed = has_changed && found.has_error;
        if (has_changed && !is_listed(path, check->number)) {
            end_findings(&found, NULL, NULL);
            return true;
        }
    }
    end_findings(&found, fn, arg);
    return ok;
}

bool cn_store_verify(const char *path, const struct cn_progress *progress,
                     cn_finding_fn fn, void *arg, struct cn_error *err)
{
    struct store_check check = {0};
    uint32_t *numbers = NULL;
    size_t count = 0;
    bool ok;

    if (cn_path_is_address(path))
        return cn_bucket_verify(path, progress, fn, arg, err);
    ok = cn_segments_check_store(path, err) &&
         cn_segments_list(path, &numbers, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        check.number = numbers[i];
        ok = verify_segment(&check, path, progress, fn, arg, err);
    }
    free(numbers);
    cn_chunk_reader_done(&check.reader);
    cn_trace_done(&check.trace);
    return ok;
}
