#include "store/maintenance/upload.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/files/outdir.h"
#include "base/list.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "store/bucket/bucket.h"
#include "store/index/word_filter.h"
#include "store/maintenance/maintenance.h"
#include "store/segment/index.h"
#include "store/segment/log_format.h"
#include "store/segment/seal.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"

#define STATE_NAME "upload"
enum { FILTER_SHARE = 256, FILTER_MIN = 1 << 16 };

/* The file "upload" of a segment. */
struct upload_state {
    char id[CN_MANIFEST_ID_LEN + 1];
    bool has_number; /* an entry may have been written with it */
    bool is_done;
    uint32_t number;
};

static bool read_state(const char *dir, struct upload_state *state, struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_file file = {0};
    char how[8] = "";
    bool ok = cn_file_open_at(&file, dir, STATE_NAME, err);

    *state = (struct upload_state){0};
    if (ok)
        cn_text_add(&text, (const char *)file.bytes.ptr, file.bytes.len);
    ok = ok && ((sscanf(cn_text_str(&text), "%32[0-9a-f] %" SCNx32 " %7s", state->id,
                        &state->number, how) == 3 &&
                 strlen(state->id) == CN_MANIFEST_ID_LEN) ||
                cn_fail(err, CN_ERR_FORMAT, "%s/" STATE_NAME " is damaged", dir));
    state->is_done = strcmp(how, "named") == 0;
    state->has_number = state->is_done || strcmp(how, "naming") == 0;
    cn_text_done(&text);
    cn_file_close(&file);
    return ok;
}

static bool write_state(const char *dir, const struct upload_state *state,
                        struct cn_error *err)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "%s %06" PRIx32 " %s\n", state->id, state->number,
                   state->is_done      ? "named"
                   : state->has_number ? "naming"
                                       : "sending");
    bool ok = cn_disk_replace(&cn_disk_files, dir, STATE_NAME, cn_text_str(&text),
                              text.len, err);
    cn_text_done(&text);
    return ok;
}

/* Choose the id of a segment's objects, unless that was done: two may choose at once. */
static bool make_state(const char *dir, struct upload_state *state, struct cn_error *err)
{
    if (read_state(dir, state, err))
        return true;
    *state = (struct upload_state){0};
    cn_manifest_new_id(state->id);
    char *made = cn_strprintf("%s/." STATE_NAME "-%s", dir, state->id);
    char *path = cn_strprintf("%s/" STATE_NAME, dir);
    FILE *file = fopen(made, "wxe");
    if (file) {
        bool ok = fprintf(file, "%s %06x sending\n", state->id, 0U) > 0;

        ok = fclose(file) == 0 && ok;
        /* Another may be first. */
        if (ok)
            (void)!link(made, path);
        (void)unlink(made);
    }
    free(made);
    free(path);
    /* A power failure may have left it empty. An id that cannot be read now stays: the segment
     * would be uploaded twice. */
    if (read_state(dir, state, err))
        return true;
    if (err->kind != CN_ERR_NOT_FOUND && err->kind != CN_ERR_FORMAT)
        return false;
    cn_manifest_new_id(state->id);
    return write_state(dir, state, err);
}

bool cn_upload_id(const char *dir, char id[CN_MANIFEST_ID_LEN + 1], bool *is_named,
                  struct cn_error *err)
{
    struct upload_state state;

    if (!make_state(dir, &state, err))
        return false;
    memcpy(id, state.id, sizeof(state.id));
    *is_named = state.is_done;
    return true;
}

bool cn_upload_is_done(const char *base, uint32_t number)
{
    char *dir = cn_segment_dir(base, number);
    struct cn_error ignored; /* it is tried again later */
    struct upload_state state;
    bool is_done = read_state(dir, &state, &ignored) && state.is_done;

    free(dir);
    return is_done;
}

/* All files except logs that a sealed segment does not need. */
static bool is_wanted(const char *name)
{
    static const char *const names[] = {
        CN_TRACES_NAME,    CN_TEXT_LOG_NAME,     CN_TEXT_FILE_NAME, CN_TEXT_INDEX_NAME,
        CN_META_FILE_NAME, CN_POSTING_FILE_NAME, CN_CONFIG_NAME};

    return cn_list_has(names, CN_COUNT_OF(names), name);
}

static bool list_files(const char *dir, struct cn_manifest_entry *entry,
                       struct cn_error *err)
{
    DIR *list = opendir(dir);
    const struct dirent *found;

    if (!list)
        return cn_fail_errno(err, "%s", dir);
    while ((found = readdir(list)) && entry->file_count < CN_MANIFEST_FILES_MAX) {
        struct cn_manifest_file *file = &entry->files[entry->file_count];
        struct stat st;

        if (!is_wanted(found->d_name) ||
            fstatat(dirfd(list), found->d_name, &st, 0) < 0 || st.st_size == 0)
            continue;
        (void)snprintf(file->name, sizeof(file->name), "%.*s", CN_MANIFEST_NAME_LEN - 1,
                       found->d_name);
        file->len = (uint64_t)st.st_size;
        entry->file_count++;
    }
    (void)closedir(list);
    return true;
}

/* Of all words and trace ids, if that does not take more than a small share of the segment. */
static bool make_filter(const struct cn_segment *segment, struct cn_manifest_entry *entry,
                        struct cn_error *err)
{
    const struct cn_words *words = cn_segment_words(segment);
    const struct cn_columns *columns = cn_segment_columns(segment);
    struct cn_store_index index = {0};
    uint64_t max = entry->summary.disk_len / FILTER_SHARE;
    struct cn_store_column high, low;

    if (!cn_segment_check_words(segment, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_trace_high, &high, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_trace_low, &low, err))
        return false;
    /* Without post.dat, values are words of an index that is built when it is searched. */
    if (!cn_store_index_open(&index, segment, err))
        return false;
    bool has_words = index.extra.count == 0;
    cn_store_index_close(&index);
    if (!has_words)
        return true;
    entry->filter_len = (size_t)cn_word_filter_len(
        (uint64_t)words->count + columns->row_count, max > FILTER_MIN ? max : FILTER_MIN);
    entry->filter = cn_alloc(entry->filter_len, 1);
    for (uint32_t word = 1; word <= words->count; word++)
        if (cn_word_kind(words, word) < CN_WORD_VALUE) /* others are made of words */
            cn_word_filter_add(entry->filter, entry->filter_len,
                               cn_word_bytes(words, word));
    for (uint32_t row = 0; row < columns->row_count; row++)
        cn_word_filter_add_id(entry->filter, entry->filter_len,
                              cn_store_column_at(&high, row),
                              cn_store_column_at(&low, row));
    return true;
}

static bool describe(const char *base, uint32_t number, struct cn_manifest_entry *entry,
                     struct cn_error *err)
{
    struct cn_text config = {0};
    struct cn_store_config own;
    struct cn_segment *segment;

    if (!cn_segment_open(&segment, base, number, err))
        return false;
    own = segment->config;
    own.has_replaced =
        false; /* numbers of the local store; the entry has those that count */
    cn_store_config_print(&own, &config);
    entry->config = cn_strdup(cn_text_str(&config));
    bool ok = (segment->config.is_sealed ||
               cn_fail(err, CN_ERR_USAGE, "%s is not sealed", segment->dir)) &&
              cn_segment_summarize(segment, &entry->summary, err) &&
              make_filter(segment, entry, err) && list_files(segment->dir, entry, err);
    cn_segment_close(segment);
    cn_text_done(&config);
    return ok;
}

/* Files that are sent together. */
struct sending {
    struct cn_text keys[CN_MANIFEST_FILES_MAX];
    struct cn_file files[CN_MANIFEST_FILES_MAX];
    struct cn_s3_request requests[CN_MANIFEST_FILES_MAX];
    size_t count;
};

static bool add_file(struct sending *sending, const char *dir,
                     const struct cn_manifest_entry *entry, const char *name,
                     struct cn_error *err)
{
    struct cn_text *key = &sending->keys[sending->count];
    struct cn_file *file = &sending->files[sending->count];

    cn_text_printf(key, "segments/%s/%s", entry->id, name);
    sending->requests[sending->count++] =
        (struct cn_s3_request){.method = CN_S3_PUT, .key = cn_text_str(key)};
    if (!cn_file_open_at(file, dir, name, err))
        return false;
    sending->requests[sending->count - 1].body = file->bytes;
    return true;
}

static void sending_done(struct sending *sending)
{
    for (size_t i = 0; i < sending->count; i++) {
        cn_file_close(&sending->files[i]);
        cn_text_done(&sending->keys[i]);
        cn_text_done(&sending->requests[i].answer);
    }
    sending->count = 0;
}

/* Small files together, large ones alone, because they are sent in parts. */
static bool send_some(struct cn_bucket *bucket, const char *dir,
                      const struct cn_manifest_entry *entry, bool is_large,
                      struct cn_error *err)
{
    enum { SMALL = 16 << 20 };
    struct sending sending = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < entry->file_count; i++) {
        const struct cn_manifest_file *file = &entry->files[i];

        if (strcmp(file->name, CN_CONFIG_NAME) == 0 || (file->len > SMALL) != is_large)
            continue;
        ok = add_file(&sending, dir, entry, file->name, err);
        if (ok && is_large) {
            ok = cn_s3_put(bucket->s3, sending.requests[0].key, sending.files[0].bytes,
                           NULL, err);
            sending_done(&sending);
        }
    }
    ok = ok && (is_large || cn_s3_run(bucket->s3, sending.requests, sending.count, err));
    for (size_t i = 0; ok && i < sending.count; i++)
        ok = sending.requests[i].status != 404 ||
             cn_fail(err, CN_ERR_NOT_FOUND, "%s: the bucket is gone", bucket->address);
    sending_done(&sending);
    return ok;
}

/* The config is the last one: with it, all files of the segment are there. */
static bool send_files(struct cn_bucket *bucket, const char *dir,
                       const struct cn_manifest_entry *entry, struct cn_error *err)
{
    struct sending last = {0};
    bool ok = send_some(bucket, dir, entry, true, err) &&
              send_some(bucket, dir, entry, false, err) &&
              add_file(&last, dir, entry, CN_CONFIG_NAME, err) &&
              cn_s3_put(bucket->s3, last.requests[0].key, last.files[0].bytes, NULL, err);

    sending_done(&last);
    return ok;
}

/* Called before an entry is written with a number. */
struct claim {
    const char *dir;
    struct upload_state *state;
    const uint32_t *replaced;
    size_t replaced_count;
};

static bool note_number(void *arg, uint32_t number, struct cn_error *err)
{
    struct claim *claim = arg;

    claim->state->number = number;
    claim->state->has_number = true;
    return write_state(claim->dir, claim->state, err);
}

static bool send(struct cn_bucket *bucket, const char *base, uint32_t number,
                 struct claim *claim, struct cn_error *err)
{
    struct cn_manifest_entry *entry = cn_alloc(1, sizeof(*entry));

    memcpy(entry->id, claim->state->id, sizeof(entry->id));
    entry->replaced = cn_alloc(claim->replaced_count, sizeof(*entry->replaced));
    entry->replaced_count = claim->replaced_count;
    for (size_t i = 0; i < claim->replaced_count; i++)
        entry->replaced[i] = claim->replaced[i];
    bool ok = cn_segment_gather_ids(base, number, &cn_disk_files, err) &&
              describe(base, number, entry, err) &&
              send_files(bucket, claim->dir, entry, err) &&
              cn_bucket_add_entry(bucket, entry, note_number, claim, err);
    cn_manifest_entry_free(entry);
    return ok;
}

bool cn_upload_replacing(struct cn_bucket *bucket, const char *base, uint32_t number,
                         const uint32_t *replaced, size_t replaced_count,
                         struct cn_error *err)
{
    char *dir = cn_segment_dir(base, number);
    struct upload_state state;
    struct claim claim = {dir, &state, replaced, replaced_count};
    bool ok = make_state(dir, &state, err);

    if (ok && state.has_number && !state.is_done)
        ok = cn_bucket_has_entry(bucket, state.number, state.id, &state.is_done, err);
    if (ok && !state.is_done)
        ok = send(bucket, base, number, &claim, err);
    if (ok) {
        state.is_done = true;
        ok = write_state(dir, &state, err);
    }
    if (!ok)
        (void)cn_fail_in(err, "%s", dir);
    free(dir);
    return ok;
}

bool cn_upload_with_id(struct cn_bucket *bucket, const char *base, uint32_t number,
                       const char *id, struct cn_error *err)
{
    char *dir = cn_segment_dir(base, number);
    struct upload_state state = {0};

    (void)snprintf(state.id, sizeof(state.id), "%s", id);
    bool ok = write_state(dir, &state, err);
    free(dir);
    return ok && cn_upload_replacing(bucket, base, number, NULL, 0, err);
}

bool cn_upload_name_again(struct cn_bucket *bucket, const char *base, uint32_t number,
                          const char *id, uint64_t *rows, struct cn_error *err)
{
    struct cn_manifest_entry *entry = cn_alloc(1, sizeof(*entry));

    (void)snprintf(entry->id, sizeof(entry->id), "%s", id);
    bool ok = describe(base, number, entry, err) &&
              cn_bucket_add_entry(bucket, entry, NULL, NULL, err);
    *rows = entry->summary.spans;
    cn_manifest_entry_free(entry);
    return ok;
}

/* Segments that are uploaded together: while one waits for an answer, others are sent. */
struct uploads {
    struct cn_bucket *bucket;
    const char *base;
    uint32_t *numbers;
    bool *is_sent;
    const struct cn_progress *progress;
    struct cn_failures failures;
};

static void upload_job(void *arg, size_t i, unsigned worker)
{
    struct uploads *uploads = arg;
    struct cn_error *err = cn_failures_error(&uploads->failures, worker);

    if (cn_failures_stopped(&uploads->failures, worker))
        return;
    if (cn_progress_check(uploads->progress, "uploading segments", err) &&
        cn_upload_replacing(uploads->bucket, uploads->base, uploads->numbers[i], NULL, 0,
                            err))
        uploads->is_sent[i] = true;
    else
        cn_failures_note(&uploads->failures, worker, i);
}

static void share_failure(void *arg, size_t i, unsigned worker)
{
    struct uploads *uploads = arg;

    (void)i;
    (void)cn_failures_share(&uploads->failures, worker);
}

static bool is_due(const char *base, uint32_t number)
{
    char *dir = cn_segment_dir(base, number);
    struct cn_store_config config;
    struct cn_error ignored;
    bool is_sealed = cn_store_config_read(&config, dir, &ignored) && config.is_sealed;

    free(dir);
    return is_sealed && !cn_upload_is_done(base, number);
}

bool cn_upload_segments(struct cn_bucket *bucket, const char *base,
                        const uint32_t *numbers, size_t count,
                        const struct cn_progress *progress, uint32_t *sent,
                        struct cn_error *err)
{
    enum { TOGETHER = 8 };
    struct uploads uploads = {
        bucket,   base, cn_alloc(count, sizeof(*numbers)), cn_alloc(count, sizeof(bool)),
        progress, {0}};
    struct cn_jobs jobs = {.arg = &uploads, .run = upload_job, .take = share_failure};

    for (size_t i = 0; i < count; i++)
        if (is_due(base, numbers[i]))
            uploads.numbers[jobs.count++] = numbers[i];
    cn_failures_init(&uploads.failures, TOGETHER);
    cn_pool_run(&jobs, TOGETHER);
    *sent = 0;
    for (size_t i = 0; i < jobs.count; i++)
        *sent += uploads.is_sent[i];
    bool ok = cn_failures_result(&uploads.failures, err);
    cn_failures_done(&uploads.failures);
    free(uploads.numbers);
    free(uploads.is_sent);
    return ok;
}

bool cn_upload_store(struct cn_bucket *bucket, const char *base, uint32_t *count,
                     struct cn_error *err)
{
    uint32_t *numbers = NULL;
    size_t n;
    bool ok = cn_segments_list(base, &numbers, &n, err) &&
              cn_upload_segments(bucket, base, numbers, n, NULL, count, err);

    free(numbers);
    return ok;
}

/* A local store with the settings of the one in object storage. */
static bool make_spool(struct cn_store_target *target, struct cn_error *err)
{
    struct cn_bytes text = {(const uint8_t *)target->bucket->config,
                            strlen(target->bucket->config)};
    struct cn_store_config config;
    struct cn_text path = {0};

    /* A hidden entry of the cache is removed a day after its process was killed. */
    cn_text_printf(&path, "%s/.spool-XXXXXX", target->bucket->cache_dir);
    if (!mkdtemp(path.chars)) {
        (void)cn_fail_errno(err, "%s", path.chars);
        cn_text_done(&path);
        return false;
    }
    target->path = path.chars;
    return cn_store_config_parse(&config, text, err) &&
           cn_store_config_write(&config, target->path, &cn_disk_files, err);
}

bool cn_store_target_make(struct cn_store_target *target, struct cn_bucket *bucket,
                          struct cn_error *err)
{
    *target = (struct cn_store_target){.bucket = cn_bucket_share(bucket)};
    if (make_spool(target, err))
        return true;
    cn_store_target_done(target);
    return false;
}

bool cn_store_target_open(struct cn_store_target *target, const char *path,
                          struct cn_error *err)
{
    *target = (struct cn_store_target){0};
    if (!cn_path_is_address(path)) {
        target->path = cn_strdup(path);
        return true;
    }
    if (cn_bucket_open(&target->bucket, path, err) && make_spool(target, err))
        return true;
    cn_store_target_done(target);
    return false;
}

bool cn_store_target_finish(struct cn_store_target *target, struct cn_error *err)
{
    uint32_t count;

    return !target->bucket ||
           (cn_store_seal(target->path, &count, err) &&
            cn_upload_store(target->bucket, target->path, &count, err));
}

void cn_store_target_done(struct cn_store_target *target)
{
    if (target->bucket && target->path)
        cn_outdir_remove(target->path);
    cn_bucket_close(target->bucket);
    free(target->path);
    *target = (struct cn_store_target){0};
}
