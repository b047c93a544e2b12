#include "store/segment/segment.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/segment/log_format.h"
#include "store/segment/scan.h"
#include "store/segment/segments.h"
#include "store/segment/text_log.h"
#include "store/segment/writer.h"

void cn_segment_close(struct cn_segment *segment)
{
    if (!segment || segment->user_count-- > 0)
        return;
    cn_columns_close(&segment->columns);
    cn_file_close(&segment->data);
    cn_file_close(&segment->rows_log);
    cn_file_close(&segment->text_log);
    if (segment->has_meta)
        cn_block_file_close(&segment->meta);
    if (segment->has_text_file)
        cn_text_file_close(&segment->text_file);
    cn_words_done(&segment->words);
    cn_text_done(&segment->rebuilt);
    if (segment->remote)
        segment->remote->close(segment->remote);
    cn_once_done(&segment->rows_once);
    cn_once_done(&segment->words_once);
    cn_once_done(&segment->chunks_once);
    free(segment->dir);
    free(segment);
}

static struct cn_segment_identity identity_of(const char *dir)
{
    struct stat st;

    if (stat(dir, &st) < 0)
        return (struct cn_segment_identity){0};
    return (struct cn_segment_identity){
        .device = st.st_dev,
        .inode = st.st_ino,
        .changed_ns =
            (uint64_t)st.st_mtim.tv_sec * 1000000000U + (uint64_t)st.st_mtim.tv_nsec,
    };
}

bool cn_segment_has_changed(const struct cn_segment *segment)
{
    struct cn_segment_identity now = identity_of(segment->dir);

    if (segment->remote)
        return false;
    return now.inode == 0 || now.inode != segment->identity.inode ||
           now.device != segment->identity.device ||
           now.changed_ns != segment->identity.changed_ns;
}

struct cn_segment *cn_segment_share(struct cn_segment *segment)
{
    struct cn_error ignored;

    if (!segment->config.is_sealed || cn_segment_has_changed(segment) ||
        (segment->remote && !segment->remote->check(segment->remote, &ignored)))
        return NULL;
    segment->user_count++;
    return segment;
}

/* Only the first loss is reported. */
CN_PRINTF(2, 3)
static void lose(struct cn_segment *segment, const char *fmt, ...)
{
    char text[sizeof(segment->loss.text)];
    va_list args;

    segment->is_damaged = true;
    if (segment->loss.kind != CN_ERR_NONE)
        return;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    (void)cn_fail(&segment->loss, CN_ERR_FORMAT, "%s/%s", segment->dir, text);
}

static uint64_t rows_reach(const struct cn_segment *segment)
{
    struct cn_bytes log = segment->rows_log.bytes;
    uint64_t len;

    return cn_segment_rows_reach(log, cn_segment_scan_rows(log, &len));
}

/* What follows the last sound batch is damaged if records use its words, otherwise torn or just
 * being written. Lost words get their numbers: other words must not. */
static void check_end_of_words(struct cn_segment *segment, uint64_t off)
{
    bool is_data_damaged;
    uint32_t highest = cn_segment_find_highest_word(
        &segment->data, &segment->words, rows_reach(segment), &is_data_damaged);

    if (highest <= segment->words.count)
        return;
    lose(segment, CN_TEXT_LOG_NAME ": batch at 0x%" PRIx64 " is damaged: %u %s lost", off,
         highest - segment->words.count,
         cn_plural(highest - segment->words.count, "string is", "strings are"));
    while (segment->words.count < highest)
        cn_words_append(&segment->words, CN_WORD_LOST, (struct cn_bytes){0});
}

static void open_words(void *arg)
{
    struct cn_segment *segment = arg;
    struct cn_text_log_state state = {0};
    struct cn_error found;

    if (segment->config.is_sealed) {
        segment->has_text_file = cn_text_file_open(
            &segment->text_file, cn_segment_source(segment), segment->dir, &found);
        if (segment->has_text_file)
            return;
        segment->is_damaged = true;
    }
    bool is_read =
        cn_file_open_from(&segment->text_log, cn_segment_source(segment), segment->dir,
                          CN_TEXT_LOG_NAME, &found) &&
        cn_file_need(&segment->text_log, segment->text_log.bytes, &found) &&
        cn_text_log_read(segment->text_log.bytes, &segment->words, &state, &found);
    if (state.bad_count > 0)
        lose(segment, CN_TEXT_LOG_NAME ": batch at 0x%" PRIx64 " is damaged: %u %s lost",
             state.bad_off, state.lost_count,
             cn_plural(state.lost_count, "string is", "strings are"));
    if (!is_read || state.lost_count > 0)
        segment->is_damaged = true;
    if (!is_read || state.sound_len < segment->text_log.bytes.len)
        check_end_of_words(segment, state.sound_len);
}

/* Opening words takes longest, and many searches do not need them. */
static void need_words(const struct cn_segment *segment)
{
    struct cn_segment *opened = (struct cn_segment *)(uintptr_t)segment;

    cn_once_run(&opened->words_once, open_words, opened);
}

static void check_scan(struct cn_segment *segment, const struct cn_segment_scan *scan)
{
    uint64_t reach = segment->config.is_sealed ? UINT64_MAX : rows_reach(segment);

    if (cn_segment_scan_is_damaged(scan, reach))
        lose(segment,
             CN_TRACES_NAME ": chunk at 0x%" PRIx64 " is damaged: its traces are lost",
             scan->bad_off);
    if (scan->bad_records > 0)
        lose(segment, CN_TRACES_NAME ": %u record%s cannot be read", scan->bad_records,
             cn_plural(scan->bad_records, "", "s"));
}

/* Make all rows from the data. */
static void rebuild_rows(struct cn_segment *segment)
{
    struct cn_segment_scan scan = {
        .words = cn_segment_words(segment),
        .rows = &segment->rebuilt,
    };

    segment->logged_rows = 0;
    cn_segment_scan_begin(&scan, &segment->data);
    cn_segment_scan_chunks(&scan, cn_chunk_file_header_size);
    check_scan(segment, &scan);
    cn_segment_scan_done(&scan);
    cn_columns_of_rows(&segment->columns,
                       (struct cn_bytes){(const uint8_t *)cn_text_str(&segment->rebuilt),
                                         segment->rebuilt.len});
}

/* Make rows for chunks whose rows were lost in a power failure, or are just being written. */
static void rebuild_last_rows(struct cn_segment *segment, struct cn_bytes rows)
{
    struct cn_segment_scan scan = {
        .words = cn_segment_words(segment),
        .rows = &segment->rebuilt,
        .row_count = segment->logged_rows,
    };
    struct cn_bytes log = segment->rows_log.bytes;

    cn_text_add(&segment->rebuilt, (const char *)rows.ptr, rows.len);
    cn_segment_scan_begin(&scan, &segment->data);
    cn_segment_scan_know_rows(&scan, log, segment->logged_rows);
    cn_segment_scan_chunks(&scan, cn_segment_rows_end(log, segment->logged_rows));
    check_scan(segment, &scan);
    cn_segment_scan_done(&scan);
    if (scan.row_count > segment->logged_rows)
        rows = (struct cn_bytes){(const uint8_t *)cn_text_str(&segment->rebuilt),
                                 segment->rebuilt.len};
    else
        cn_text_done(&segment->rebuilt);
    cn_columns_of_rows(&segment->columns, rows);
}

static bool open_rows_log(struct cn_segment *segment)
{
    struct cn_bytes log = segment->rows_log.bytes, rows;
    uint64_t len, data_len = cn_file_content(&segment->data).len;
    uint32_t count = cn_segment_scan_rows(log, &len);

    if (len == 0)
        return false;
    /* Rows were opened before the data: their chunks are there. */
    if (cn_segment_rows_end(log, count) > data_len && count > 0)
        lose(segment,
             CN_TRACES_NAME ": ends at 0x%" PRIx64 ", but rows point to 0x%" PRIx64,
             data_len, cn_segment_rows_end(log, count));
    count = cn_segment_rows_of_whole_chunks(log, count, data_len);
    if (!cn_bytes_array(log, cn_store_log_header_size, count, cn_store_row_size, &rows))
        return false;
    segment->logged_rows = count;
    if (cn_segment_rows_end(log, count) < data_len)
        rebuild_last_rows(segment, rows);
    else
        cn_columns_of_rows(&segment->columns, rows);
    return true;
}

static bool open_meta(struct cn_segment *segment)
{
    struct cn_error ignored;

    for (uint32_t version = CN_META_FILE_VERSION;
         version >= CN_META_FILE_PLAIN && !segment->has_meta; version--)
        segment->has_meta =
            cn_block_file_open(&segment->meta, cn_segment_source(segment), segment->dir,
                               CN_META_FILE_NAME, CN_META_FILE_MAGIC, version, &ignored);
    if (!segment->has_meta ||
        !cn_columns_open(&segment->columns, &segment->meta, &segment->data, &ignored))
        return false;
    segment->logged_rows = segment->columns.row_count;
    return true;
}

static void open_rows(struct cn_segment *segment, bool has_log)
{
    struct cn_store_config config;
    struct cn_error ignored;

    if (segment->config.is_sealed && open_meta(segment))
        return;
    if (has_log && open_rows_log(segment))
        return;
    /* The writer may have sealed it after the config was read. */
    if (!segment->config.is_sealed &&
        cn_store_config_read(&config, segment->dir, &ignored) && config.is_sealed) {
        segment->config = config;
        if (open_meta(segment))
            return;
    }
    segment->is_damaged = true;
    rebuild_rows(segment);
}

static bool open_files(struct cn_segment *segment, struct cn_error *err)
{
    struct cn_error ignored;
    bool has_rows = false;

    if (access(segment->dir, X_OK) < 0)
        return cn_fail_errno(err, "%s", segment->dir);
    if (!cn_store_config_read(&segment->config, segment->dir, &ignored)) {
        segment->is_damaged = true;
        segment->config = cn_store_config_of(NULL, 0);
    }
    if (segment->config.damage[0] != '\0')
        lose(segment, "%s", segment->config.damage);
    /* In the reverse order of writing: rows, data, words. A snapshot of an open segment then has
     * the data of all its rows and the words of all its data. */
    if (!segment->config.is_sealed)
        has_rows =
            cn_file_open_at(&segment->rows_log, segment->dir, CN_ROWS_LOG_NAME, &ignored);
    /* A crash may have left a segment without data. */
    if (!cn_file_open_content_at(&segment->data, segment->dir, CN_TRACES_NAME, &ignored))
        segment->is_damaged = true;
    open_rows(segment, has_rows);
    if (!segment->config.is_sealed)
        need_words(segment);
    return true;
}

static struct cn_segment *new_segment(uint32_t number)
{
    struct cn_segment *segment = cn_alloc(1, sizeof(*segment));

    cn_once_init(&segment->rows_once);
    cn_once_init(&segment->words_once);
    cn_once_init(&segment->chunks_once);
    segment->number = number;
    return segment;
}

bool cn_segment_open_remote(struct cn_segment **out, struct cn_remote_segment *remote,
                            const char *dir, struct cn_error *err)
{
    const struct cn_manifest_entry *entry = remote->entry;
    struct cn_segment *segment = new_segment(entry->number);
    struct cn_bytes config = cn_bytes_of(entry->config);

    segment->remote = remote;
    segment->dir = cn_strdup(dir);
    if (!cn_store_config_parse(&segment->config, config, err)) {
        cn_segment_close(segment);
        return cn_fail_in(err, "%s", dir);
    }
    segment->config.is_sealed = true;
    if (segment->config.damage[0] != '\0')
        lose(segment, "%s", segment->config.damage);
    *out = segment;
    return true;
}

/* If nothing can be fetched, the segment has no rows and cn_segment_check() says why. */
static void open_remote_rows(void *arg)
{
    struct cn_segment *segment = arg;
    struct cn_error ignored;

    if (!cn_file_open_from(&segment->data, cn_segment_source(segment), segment->dir,
                           CN_TRACES_NAME, &ignored))
        segment->is_damaged = true;
    if (!open_meta(segment) && segment->remote->check(segment->remote, &ignored)) {
        segment->is_damaged = true;
        rebuild_rows(segment);
    }
}

void cn_segment_expect_all(const struct cn_segment *segment)
{
    if (segment->remote)
        segment->remote->expect_all(segment->remote);
}

static void need_rows(const struct cn_segment *segment)
{
    struct cn_segment *opened = (struct cn_segment *)(uintptr_t)segment;

    if (segment->remote)
        cn_once_run(&opened->rows_once, open_remote_rows, opened);
}

bool cn_segment_open(struct cn_segment **out, const char *base, uint32_t number,
                     struct cn_error *err)
{
    struct cn_segment *segment = new_segment(number);

    segment->dir = cn_segment_dir(base, number);
    segment->identity = identity_of(segment->dir);
    if (!open_files(segment, err)) {
        cn_segment_close(segment);
        return false;
    }
    *out = segment;
    return true;
}

uint32_t cn_segment_number(const struct cn_segment *segment)
{
    return segment->number;
}

bool cn_segment_answers_to(const struct cn_segment *segment, uint32_t number)
{
    return segment->number == number ||
           (segment->remote &&
            cn_manifest_fresh_number(segment->remote->entry->id) == number);
}

const char *cn_segment_path(const struct cn_segment *segment)
{
    return segment->dir;
}

const char *cn_segment_lane(const struct cn_segment *segment)
{
    return segment->config.lane;
}

bool cn_segment_has_replaced(const struct cn_segment *segment, uint32_t *first,
                             uint32_t *last)
{
    *first = segment->config.replaced_first;
    *last = segment->config.replaced_last;
    return segment->config.has_replaced;
}

bool cn_segment_is_sealed(const struct cn_segment *segment)
{
    return segment->config.is_sealed;
}

/* Damage of a remote segment is known after it was read. */
bool cn_segment_is_damaged(const struct cn_segment *segment)
{
    if (!segment->remote)
        need_words(segment);
    return segment->is_damaged;
}

bool cn_segment_check(const struct cn_segment *segment, struct cn_error *err)
{
    if (!segment->remote)
        need_words(segment);
    else if (!segment->remote->check(segment->remote, err))
        return false;
    if (segment->loss.kind == CN_ERR_NONE)
        return true;
    *err = segment->loss;
    return false;
}

void cn_segment_forget(const struct cn_segment *segment)
{
    if (!segment->has_text_file)
        return;
    cn_file_forget(segment->text_file.data.blocks);
    cn_file_forget(segment->text_file.index.blocks);
}

struct cn_file_source *cn_segment_source(const struct cn_segment *segment)
{
    return segment->remote ? &segment->remote->source : NULL;
}

struct cn_bytes cn_segment_data(const struct cn_segment *segment)
{
    return segment->data.bytes;
}

uint32_t cn_segment_row_count(const struct cn_segment *segment)
{
    return segment->remote ? (uint32_t)segment->remote->entry->summary.spans
                           : segment->columns.row_count;
}

void cn_segment_times(const struct cn_segment *segment, uint64_t *first_ns,
                      uint64_t *last_ns)
{
    if (!segment->remote) {
        cn_columns_range(&segment->columns, CN_STORE_FIELD_time_ns, first_ns, last_ns);
        return;
    }
    *first_ns = segment->remote->entry->summary.first_ns;
    *last_ns = segment->remote->entry->summary.last_ns;
}

struct cn_bytes cn_segment_filter(const struct cn_segment *segment)
{
    const struct cn_manifest_entry *entry =
        segment->remote ? segment->remote->entry : NULL;

    return entry ? (struct cn_bytes){entry->filter, entry->filter_len}
                 : (struct cn_bytes){0};
}

const struct cn_columns *cn_segment_columns(const struct cn_segment *segment)
{
    need_rows(segment);
    return &segment->columns;
}

bool cn_segment_row(const struct cn_segment *segment, uint32_t row,
                    struct cn_store_row *out, struct cn_error *err)
{
    need_rows(segment);
    if (row >= segment->columns.row_count)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: row %u of %u", segment->dir, row,
                       segment->columns.row_count);
    return cn_columns_row(&segment->columns, row, out, err);
}

static void open_chunks(void *arg)
{
    struct cn_segment *segment = arg;

    cn_segment_open_chunks(&segment->chunks, &segment->data);
}

const struct cn_chunk_file *cn_segment_chunks(const struct cn_segment *segment)
{
    struct cn_segment *opened = (struct cn_segment *)(uintptr_t)segment;

    need_rows(segment);
    cn_once_run(&opened->chunks_once, open_chunks, opened);
    return &segment->chunks;
}

const struct cn_words *cn_segment_words(const struct cn_segment *segment)
{
    need_words(segment);
    return segment->has_text_file ? &segment->text_file.words : &segment->words;
}

const struct cn_text_file *cn_segment_text(const struct cn_segment *segment)
{
    need_words(segment);
    return segment->has_text_file ? &segment->text_file : NULL;
}

bool cn_segment_check_words(const struct cn_segment *segment, struct cn_error *err)
{
    const struct cn_text_file *file = cn_segment_text(segment);

    return !file || cn_text_file_check_all(file, err);
}

bool cn_segment_summarize(const struct cn_segment *segment,
                          struct cn_segment_summary *out, struct cn_error *err)
{
    const struct cn_columns *columns = &segment->columns;
    struct cn_store_column records, errors, flags, part;

    if (segment->remote) {
        *out = segment->remote->entry->summary;
        return true;
    }
    *out = (struct cn_segment_summary){
        .spans = columns->row_count,
        .words = cn_segment_words(segment)->count,
        .disk_len = cn_segment_disk_len(segment->dir),
    };
    cn_columns_range(columns, CN_STORE_FIELD_time_ns, &out->first_ns, &out->last_ns);
    if (!cn_columns_field(columns, CN_STORE_FIELD_records, &records, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_errors, &errors, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_flags, &flags, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_part, &part, err))
        return false;
    for (uint32_t row = 0; row < columns->row_count; row++) {
        bool is_embedded = cn_store_column_at(&flags, row) & CN_ROW_EMBEDDED;
        bool is_trace = !is_embedded && cn_store_column_at(&part, row) == 0;
        bool has_errors = cn_store_column_at(&errors, row) > 0;

        out->failed_spans += has_errors;
        out->traces += is_trace;
        out->failed_traces += is_trace && has_errors;
        /* The calls of a span inside of another are counted there. */
        out->records += is_embedded ? 0 : cn_store_column_at(&records, row);
    }
    return true;
}

void cn_segment_summary_add(struct cn_segment_summary *sum,
                            const struct cn_segment_summary *summary)
{
    if (summary->first_ns < sum->first_ns)
        sum->first_ns = summary->first_ns;
    if (summary->last_ns > sum->last_ns && summary->spans > 0)
        sum->last_ns = summary->last_ns;
    sum->spans += summary->spans;
    sum->failed_spans += summary->failed_spans;
    sum->traces += summary->traces;
    sum->failed_traces += summary->failed_traces;
    sum->records += summary->records;
    sum->words += summary->words;
    sum->disk_len += summary->disk_len;
}
