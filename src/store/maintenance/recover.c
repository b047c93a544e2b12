/* Seals segments, and rebuilds indexes from traces.dat and text.log. */

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/run/pool.h"
#include "base/text.h"
#include "store/index/posting_file.h"
#include "store/maintenance/maintenance.h"
#include "store/segment/log_format.h"
#include "store/segment/posting_log.h"
#include "store/segment/scan.h"
#include "store/segment/seal.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/segment/text_log.h"
#include "store/segment/writer.h"
#include "store/write/lock.h"

/* False if a crash left a segment before anything was written to it. */
static bool has_data(const char *dir)
{
    struct stat st;
    char *path = cn_strprintf("%s/" CN_TRACES_NAME, dir);
    bool has_data = stat(path, &st) == 0 && st.st_size > 0;

    free(path);
    return has_data;
}

enum { SEAL_WORKERS_MAX = 8 }; /* each has the index of a segment in memory */

struct sealing {
    const char *path;
    const uint32_t *numbers;
    struct seal_job {
        struct cn_error err;
        bool is_failed, is_sealed;
    } * jobs; /* by segment */
};

/* Seal a segment that has rows. `is_sealed` receives true if it was not sealed before. */
static bool seal_segment(const char *path, uint32_t number, bool *is_sealed,
                         struct cn_error *err)
{
    struct cn_segment_writer segment;
    struct cn_store_config config = {0};
    char *dir = cn_segment_dir(path, number);
    bool is_begun = has_data(dir), ok = cn_store_config_read(&config, dir, err);

    free(dir);
    if (!is_begun || (ok && config.is_sealed))
        return true;
    /* Opening it for writing repairs it. */
    if (!ok || !cn_segment_writer_open(&segment, path, number, &cn_disk_files, err))
        return false;
    if (segment.row_count == 0) {
        cn_segment_writer_abandon(&segment);
        return true;
    }
    *is_sealed = cn_segment_writer_close(&segment, err) &&
                 cn_segment_seal(path, number, &cn_disk_files, err);
    return *is_sealed;
}

static void seal_job(void *arg, size_t job, unsigned worker)
{
    struct sealing *sealing = arg;
    struct seal_job *one = &sealing->jobs[job];

    (void)worker;
    one->is_failed =
        !seal_segment(sealing->path, sealing->numbers[job], &one->is_sealed, &one->err);
}

bool cn_store_seal(const char *path, uint32_t *count, struct cn_error *err)
{
    unsigned workers = cn_pool_default_workers();
    uint32_t *numbers = NULL, sealed = 0;
    size_t n = 0;
    int lock;

    if (!cn_segments_check_store(path, err) || !cn_store_lock(path, &lock, err))
        return false;
    bool ok = cn_segments_list(path, &numbers, &n, err);
    struct sealing sealing = {
        .path = path, .numbers = numbers, .jobs = cn_alloc(n, sizeof(*sealing.jobs))};
    cn_pool_run(&(struct cn_jobs){.count = n, .arg = &sealing, .run = seal_job},
                workers < SEAL_WORKERS_MAX ? workers : SEAL_WORKERS_MAX);
    for (size_t i = 0; i < n; i++) {
        sealed += sealing.jobs[i].is_sealed;
        if (ok && sealing.jobs[i].is_failed) {
            *err = sealing.jobs[i].err;
            ok = false;
        }
    }
    free(sealing.jobs);
    free(numbers);
    cn_store_unlock(lock);
    if (ok)
        *count = sealed;
    return ok;
}

static bool log_is_whole(const char *dir)
{
    struct cn_text_log_state state = {0};
    struct cn_words words = {0};
    struct cn_file file = {0};
    struct cn_error ignored;
    bool ok = cn_file_open_at(&file, dir, CN_TEXT_LOG_NAME, &ignored) &&
              cn_text_log_read(file.bytes, &words, &state, &ignored);

    ok = ok && state.lost_count == 0 && state.bad_count == 0 && !state.is_header_bad &&
         state.sound_len == file.bytes.len;
    cn_words_done(&words);
    cn_file_close(&file);
    return ok;
}

static bool write_text_log(const char *dir, const struct cn_words *words,
                           struct cn_error *err)
{
    struct cn_compressor *compressor = cn_compressor_new(CN_COMPRESSION_ZSTD, 0);
    struct cn_text text = {0}, plain = {0};

    cn_text_log_header(&text);
    cn_text_log_gather(words, 1, &plain);
    bool ok =
        (words->count == 0 ||
         cn_text_log_encode((struct cn_bytes){(const uint8_t *)plain.chars, plain.len}, 1,
                            words->count, compressor, &text, err)) &&
        cn_disk_replace(&cn_disk_files, dir, CN_TEXT_LOG_NAME, cn_text_str(&text),
                        text.len, err);
    cn_compressor_free(compressor);
    cn_text_done(&plain);
    cn_text_done(&text);
    return ok;
}

/* Write a damaged string log again from text.dat, if that is sound. */
static bool save_words(const char *dir, struct cn_error *err)
{
    struct cn_text_file file = {0};
    struct cn_error ignored;
    bool ok = true;

    if (log_is_whole(dir) || !cn_text_file_open(&file, NULL, dir, &ignored))
        return true;
    if (cn_text_file_check_all(&file, &ignored))
        ok = write_text_log(dir, &file.words, err);
    cn_text_file_close(&file);
    return ok;
}

/* Read a config. One that is missing or damaged is made anew; one that cannot be read now, or
 * that a newer version wrote, must stay. */
static bool read_or_make_config(struct cn_store_config *config, const char *dir,
                                bool *is_new, struct cn_error *err)
{
    *is_new = !cn_store_config_read(config, dir, err);
    if (*is_new)
        *config = cn_store_config_of(NULL, cn_clock_date_ns());
    return !*is_new || err->kind == CN_ERR_NOT_FOUND || err->kind == CN_ERR_FORMAT;
}

static bool remove_indexes(const char *dir, bool *was_sealed, struct cn_error *err)
{
    static const char *const names[] = {
        CN_ROWS_LOG_NAME,     CN_META_FILE_NAME,  CN_POSTING_LOG_NAME,
        CN_POSTING_FILE_NAME, CN_TEXT_INDEX_NAME, CN_TEXT_FILE_NAME,
    };
    struct cn_store_config config;
    bool is_new;

    if (!read_or_make_config(&config, dir, &is_new, err))
        return false;
    *was_sealed = config.is_sealed;
    config.is_sealed = false;
    config.damage[0] = '\0';
    if (!cn_store_config_write(&config, dir, &cn_disk_files, err))
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = cn_strprintf("%s/%s", dir, names[i]);

        (void)unlink(path);
        free(path);
    }
    return true;
}

static void count_damage(const char *dir, struct cn_store_recovery *counts)
{
    struct cn_segment_scan scan = {0};
    struct cn_text rows = {0};
    struct cn_file file = {0};
    struct cn_error ignored;

    scan.rows = &rows;
    if (cn_file_open_at(&file, dir, CN_TRACES_NAME, &ignored)) {
        cn_segment_scan_begin(&scan, &file);
        cn_segment_scan_chunks(&scan, cn_chunk_file_header_size);
        counts->rows += scan.row_count;
        counts->bad_chunks += scan.bad_chunks;
        counts->bad_records += scan.bad_records;
    }
    cn_segment_scan_done(&scan);
    cn_file_close(&file);
    cn_text_done(&rows);
}

/* The end of the data that was acknowledged, as far as rows are left to tell. */
static bool find_reach(const char *base, uint32_t number, uint64_t *reach,
                       uint64_t *data_len, struct cn_error *err)
{
    struct cn_segment *segment;
    uint64_t len;

    if (!cn_segment_open(&segment, base, number, err))
        return false;
    *data_len = segment->data.bytes.len;
    if (segment->config.is_sealed)
        *reach = *data_len;
    else
        *reach = cn_segment_rows_reach(
            segment->rows_log.bytes, cn_segment_scan_rows(segment->rows_log.bytes, &len));
    cn_segment_close(segment);
    return true;
}

static uint64_t count_lost(const struct cn_words *words)
{
    uint64_t count = 0;

    for (uint32_t word = 1; word <= words->count; word++)
        count += cn_word_kind(words, word) == CN_WORD_LOST;
    return count;
}

static bool recover_segment(const char *base, uint32_t number, bool is_newest,
                            struct cn_store_recovery *counts, struct cn_error *err)
{
    char *dir = cn_segment_dir(base, number);
    struct cn_segment_writer segment;
    uint64_t data_len = 0, reach = 0;
    bool was_sealed, ok = find_reach(base, number, &reach, &data_len, err);

    count_damage(dir, counts);
    ok = ok && save_words(dir, err) && remove_indexes(dir, &was_sealed, err);
    free(dir);
    if (!ok ||
        !cn_segment_writer_recover(&segment, base, number, reach, &cn_disk_files, err))
        return false;
    counts->lost_words += count_lost(&segment.words);
    if (data_len > segment.files.data.len)
        counts->cut_len += data_len - segment.files.data.len;
    if (!cn_segment_writer_close(&segment, err))
        return false;
    counts->segments++;
    return (is_newest && !was_sealed) ||
           cn_segment_seal(base, number, &cn_disk_files, err);
}

/* Create a missing config of the store. */
static bool make_config(const char *path, struct cn_error *err)
{
    struct cn_store_config config;
    bool is_new;

    return read_or_make_config(&config, path, &is_new, err) &&
           (!is_new || cn_store_config_write(&config, path, &cn_disk_files, err));
}

bool cn_store_recover(const char *path, struct cn_store_recovery *out,
                      struct cn_error *err)
{
    struct cn_store_recovery counts = {0};
    uint32_t *numbers = NULL;
    size_t count = 0;
    int lock;
    bool ok;

    if (cn_path_is_address(path))
        return cn_bucket_recover(path, out, err);
    if (!cn_segments_check_store(path, err) || !cn_store_lock(path, &lock, err))
        return false;
    ok = make_config(path, err) && cn_segments_list(path, &numbers, &count, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = recover_segment(path, numbers[i], i + 1 == count, &counts, err);
    free(numbers);
    cn_store_unlock(lock);
    if (ok)
        *out = counts;
    return ok;
}
