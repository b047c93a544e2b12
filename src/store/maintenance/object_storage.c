#include "store/maintenance/maintenance.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/disk.h"
#include "base/map.h"
#include "base/text.h"
#include "store/bucket/bucket.h"
#include "store/maintenance/care.h"
#include "store/maintenance/replica.h"
#include "store/maintenance/upload.h"
#include "store/segment/log_format.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"

static bool sweep(struct cn_bucket *bucket, struct cn_error *err)
{
    struct cn_bucket_swept ignored;

    return cn_bucket_sweep(bucket,
                           cn_s3_settings(bucket->s3)->grace_s * UINT64_C(1000000000),
                           &ignored, err) &&
           cn_bucket_merge(bucket, err) && cn_replica_sweep(bucket, err);
}

static int by_age(const void *a, const void *b)
{
    const struct cn_manifest_entry *const *x = a, *const *y = b;

    if ((*x)->summary.last_ns != (*y)->summary.last_ns)
        return (*x)->summary.last_ns < (*y)->summary.last_ns ? -1 : 1;
    return (*x)->number < (*y)->number ? -1 : 1;
}

/* Mark the oldest segments as gone until the limits are met. */
static bool expire(struct cn_bucket *bucket, struct cn_manifest *manifest,
                   const struct cn_store_limits *limits, struct cn_store_expiry *counts,
                   struct cn_error *err)
{
    uint64_t len = 0, rows = 0;
    bool ok = true;

    if (manifest->count > 0)
        qsort(manifest->entries, manifest->count, sizeof(struct cn_manifest_entry *),
              by_age);
    for (size_t i = 0; i < manifest->count; i++) {
        len += manifest->entries[i]->summary.disk_len;
        rows += manifest->entries[i]->summary.spans;
    }
    for (size_t i = 0; ok && i < manifest->count; i++) {
        const struct cn_segment_summary *oldest = &manifest->entries[i]->summary;

        if ((limits->before_ns == 0 || oldest->last_ns >= limits->before_ns) &&
            (limits->len_max == 0 || len <= limits->len_max) &&
            (limits->count_max == 0 || rows - oldest->spans < limits->count_max))
            continue;
        ok = cn_bucket_mark_gone(bucket, manifest->entries[i], err);
        len -= oldest->disk_len;
        rows -= oldest->spans;
        counts->segments += ok;
        counts->rows += ok ? oldest->spans : 0;
        counts->len += ok ? oldest->disk_len : 0;
    }
    return ok;
}

bool cn_bucket_expire(const char *address, const struct cn_store_limits *limits,
                      struct cn_store_expiry *out, struct cn_error *err)
{
    struct cn_store_expiry counts = {0};
    struct cn_manifest manifest = {0};
    struct cn_bucket *bucket;

    if (!cn_bucket_open(&bucket, address, err))
        return false;
    bool ok = cn_bucket_read_manifest(bucket, &manifest, err) &&
              expire(bucket, &manifest, limits, &counts, err) && sweep(bucket, err);
    cn_manifest_done(&manifest);
    cn_bucket_close(bucket);
    if (ok)
        *out = counts;
    return ok;
}

/* Download a segment into a local store, under its number. */
static bool download(struct cn_bucket *bucket, const struct cn_manifest_entry *entry,
                     const struct cn_store_target *target, struct cn_error *err)
{
    char *dir = cn_segment_dir(target->path, entry->number);
    bool ok =
        cn_bucket_download(bucket, entry, dir, err) &&
        (!entry->config || cn_disk_replace(&cn_disk_files, dir, CN_CONFIG_NAME,
                                           entry->config, strlen(entry->config), err));

    free(dir);
    return ok;
}

/* Join segments, which fit into one. One alone is rewritten, unless it is damaged. */
static bool join(struct cn_bucket *bucket, struct cn_manifest_entry *const *entries,
                 size_t count, struct cn_store_compaction *counts, struct cn_error *err)
{
    uint32_t *replaced = cn_alloc(count, sizeof(*replaced)), *numbers = NULL;
    struct cn_store_compaction done = {0};
    struct cn_store_target target;
    size_t n = 0;
    bool ok = cn_store_target_make(&target, bucket, err);

    for (size_t i = 0; ok && i < count; i++) {
        replaced[i] = entries[i]->number;
        ok = download(bucket, entries[i], &target, err);
    }
    ok = ok && cn_store_compact(target.path, CN_STORE_FORM_SAME, &done, err) &&
         cn_segments_list(target.path, &numbers, &n, err);
    if (done.damaged > 0 && counts->damaged++ == 0)
        counts->damage = done.damage;
    if (ok && n == 1 && done.damaged == 0) {
        ok = cn_upload_replacing(bucket, target.path, numbers[0], replaced, count, err);
        counts->rows += done.rows;
        counts->after -= (uint32_t)count - 1;
        counts->len_after += done.len_after;
        for (size_t i = 0; i < count; i++)
            counts->len_after -= entries[i]->summary.disk_len;
    }
    cn_store_target_done(&target);
    free(numbers);
    free(replaced);
    return ok;
}

/* Segments that were sampled are joined with each other. */
static bool is_sampled(const struct cn_manifest_entry *entry)
{
    struct cn_store_config config;
    struct cn_error ignored;

    return entry->config &&
           cn_store_config_parse(&config, cn_bytes_of(entry->config), &ignored) &&
           config.sampled.is_sampled;
}

static bool is_of_other_form(const struct cn_manifest_entry *entry,
                             const struct cn_store_config *config)
{
    struct cn_store_config own;
    struct cn_error ignored;

    return entry->config &&
           cn_store_config_parse(&own, cn_bytes_of(entry->config), &ignored) &&
           own.form != config->form;
}

/* Note the form of chunks from now on. */
static bool choose_form(struct cn_bucket *bucket, const char *address,
                        enum cn_store_form form, bool *is_new, struct cn_error *err)
{
    struct cn_store_config config;
    struct cn_form_change change;
    struct cn_text text = {0};

    if (!cn_store_config_parse(&config, cn_bytes_of(bucket->config), err) ||
        !cn_store_config_change_form(&config, form, address, &change, err))
        return false;
    *is_new = change.is_new;
    if (!change.is_any)
        return true;
    cn_store_config_print(&config, &text);
    bool ok = cn_bucket_configure(bucket, cn_text_str(&text), err);
    cn_text_done(&text);
    return ok;
}

/* The end of the run of segments from `i` on that fits into one. */
static size_t run_end(const struct cn_manifest *manifest, const struct cn_care_runs *runs,
                      size_t i, uint64_t len_max)
{
    uint64_t len = 0, longest = 0, first_ns = UINT64_MAX, last_ns = 0;
    size_t end = i;

    for (; end < manifest->count; end++) {
        const struct cn_manifest_entry *entry = manifest->entries[end];
        const struct cn_segment_summary *summary = &entry->summary;

        if (summary->first_ns <= summary->last_ns) {
            first_ns = summary->first_ns < first_ns ? summary->first_ns : first_ns;
            last_ns = summary->last_ns > last_ns ? summary->last_ns : last_ns;
        }
        if (end > i && (len + summary->disk_len > len_max ||
                        is_sampled(entry) != is_sampled(manifest->entries[i]) ||
                        (runs->span_max_ns > 0 && last_ns > first_ns &&
                         last_ns - first_ns > runs->span_max_ns)))
            break;
        len += summary->disk_len;
        longest = summary->disk_len > longest ? summary->disk_len : longest;
    }
    return runs->is_even && longest > len - longest ? i + 1 : end;
}

static bool compact(struct cn_bucket *bucket, const struct cn_manifest *manifest,
                    const struct cn_care_runs *runs, struct cn_store_compaction *counts,
                    struct cn_error *err)
{
    struct cn_bytes text = cn_bytes_of(bucket->config);
    struct cn_store_config config;
    bool ok = cn_store_config_parse(&config, text, err);
    size_t joined = 0;

    counts->before = counts->after = (uint32_t)manifest->count;
    for (size_t i = 0; i < manifest->count; i++)
        counts->len_before += manifest->entries[i]->summary.disk_len;
    counts->len_after = counts->len_before;
    for (size_t i = 0, end; ok && i < manifest->count && joined < runs->count_max;
         i = end) {
        end = run_end(manifest, runs, i, config.rotate_len);
        if (end - i < runs->len_min &&
            (!runs->rewrites || !is_of_other_form(manifest->entries[i], &config)))
            continue;
        ok = join(bucket, manifest->entries + i, end - i, counts, err);
        joined++;
    }
    return ok;
}

bool cn_bucket_compact(const char *address, enum cn_store_form form,
                       const struct cn_care_runs *runs, struct cn_store_compaction *out,
                       struct cn_error *err)
{
    struct cn_store_compaction counts = {0};
    struct cn_manifest manifest = {0};
    struct cn_bucket *bucket;

    if (!cn_bucket_open(&bucket, address, err))
        return false;
    bool ok = choose_form(bucket, address, form, &counts.has_new_form, err) &&
              cn_bucket_read_manifest(bucket, &manifest, err) &&
              compact(bucket, &manifest, runs, &counts, err) && sweep(bucket, err);
    cn_manifest_done(&manifest);
    cn_bucket_close(bucket);
    if (ok)
        *out = counts;
    return ok;
}

/* An object that is missing or shorter than the manifest says is a finding. */
static bool verify_segment(struct cn_bucket *bucket,
                           const struct cn_manifest_entry *entry,
                           const struct cn_progress *progress, cn_finding_fn report,
                           void *arg, struct cn_error *err)
{
    struct cn_findings findings = {.report = report, .arg = arg};
    struct cn_store_target target;
    bool ok;

    if (!cn_store_target_make(&target, bucket, err))
        return false;
    ok = download(bucket, entry, &target, err);
    if (ok) {
        ok = cn_store_verify(target.path, progress, report, arg, err);
    } else if (err->kind == CN_ERR_NOT_FOUND) {
        cn_findings_begin(&findings, "manifest");
        cn_findings_error(&findings, "object", entry->number, "%s", err->text);
        ok = true;
    }
    cn_store_target_done(&target);
    return ok;
}

bool cn_bucket_verify(const char *address, const struct cn_progress *progress,
                      cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct cn_manifest manifest = {0};
    struct cn_bucket *bucket;
    bool ok;

    if (!cn_bucket_open(&bucket, address, err))
        return false;
    ok = cn_bucket_read_manifest(bucket, &manifest, err);
    for (size_t i = 0; ok && i < manifest.count; i++)
        ok = verify_segment(bucket, manifest.entries[i], progress, report, arg, err);
    cn_manifest_done(&manifest);
    cn_bucket_close(bucket);
    return ok;
}

/* Segments whose files are all there, by id. */
struct lost {
    struct cn_manifest_entry **list; /* with id and files */
    size_t count, capacity;
};

static bool note_object(void *arg, const struct cn_s3_object *object,
                        struct cn_error *err)
{
    struct lost *lost = arg;
    const char *id = object->key + strlen("segments/"), *name = strchr(id, '/');
    struct cn_manifest_entry *last = lost->count > 0 ? lost->list[lost->count - 1] : NULL;

    (void)err;
    if (!name || name - id != CN_MANIFEST_ID_LEN ||
        strlen(name + 1) >= CN_MANIFEST_NAME_LEN || strchr(name + 1, '/'))
        return true;
    if (!last || strncmp(last->id, id, CN_MANIFEST_ID_LEN) != 0) {
        CN_GROW(lost->list, lost->count, lost->capacity);
        last = lost->list[lost->count++] = cn_alloc(1, sizeof(*last));
        memcpy(last->id, id, CN_MANIFEST_ID_LEN);
    }
    if (last->file_count == CN_MANIFEST_FILES_MAX)
        return true;
    struct cn_manifest_file *file = &last->files[last->file_count++];
    strcpy(file->name, name + 1);
    file->len = object->len;
    return true;
}

static bool is_whole(const struct cn_manifest_entry *entry)
{
    for (size_t i = 0; i < entry->file_count; i++)
        if (strcmp(entry->files[i].name, CN_CONFIG_NAME) == 0)
            return true;
    return false;
}

static bool name_again(struct cn_bucket *bucket, const struct cn_manifest_entry *entry,
                       struct cn_store_recovery *counts, struct cn_error *err)
{
    struct cn_store_target target;
    uint64_t rows = 0;

    if (!cn_store_target_make(&target, bucket, err))
        return false;
    bool ok =
        download(bucket, entry, &target, err) &&
        cn_upload_name_again(bucket, target.path, entry->number, entry->id, &rows, err);
    counts->segments += ok;
    counts->rows += rows;
    cn_store_target_done(&target);
    return ok;
}

bool cn_bucket_recover(const char *address, struct cn_store_recovery *out,
                       struct cn_error *err)
{
    struct cn_store_recovery counts = {0};
    struct cn_names known = {0}, damaged = {0};
    struct cn_bucket *bucket;
    struct lost lost = {0};
    bool ok;

    if (!cn_bucket_open(&bucket, address, err))
        return false;
    ok = cn_bucket_list_ids(bucket, &known, &damaged, err) &&
         cn_s3_list(bucket->s3, "segments/", note_object, &lost, err);
    for (size_t i = 0; i < lost.count; i++) {
        if (ok && is_whole(lost.list[i]) && !cn_names_had(&known, lost.list[i]->id))
            ok = name_again(bucket, lost.list[i], &counts, err);
        cn_manifest_entry_free(lost.list[i]);
    }
    free(lost.list);
    cn_names_done(&known);
    ok = ok && cn_bucket_remove_damaged(bucket, &damaged, err);
    cn_names_done(&damaged);
    ok = ok && cn_replica_recover(bucket, &counts, &counts.alive, err);
    cn_bucket_close(bucket);
    if (ok)
        *out = counts;
    return ok;
}
