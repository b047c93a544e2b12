#include "store/bucket/remote_segment.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/run/lock.h"
#include "base/run/once.h"
#include "base/text.h"
#include "cache/ranges.h"
#include "store/bucket/bucket.h"
#include "store/index/columns.h"

/* In the cache, each file begins at a block. */
struct segment {
    struct cn_remote_segment remote; /* first */
    struct cn_bucket *bucket;
    uint64_t offs[CN_MANIFEST_FILES_MAX + 1];
    struct cn_once cache_once, rows_once, ends_once;
    struct cn_range_cache *cache; /* NULL: it could not be opened */
    struct cn_lock lock;          /* of the failure */
    struct cn_error failure;
};

static void note_failure(struct segment *segment, const struct cn_error *err)
{
    cn_lock_take(&segment->lock);
    if (segment->failure.kind == CN_ERR_NONE)
        segment->failure = *err;
    cn_lock_release(&segment->lock);
}

/* Bytes of an object, and where they go. */
struct remote_fetch {
    size_t file;
    uint64_t off, len;
    uint8_t *out;
};

struct remote_fetches {
    struct remote_fetch *list;
    size_t count, capacity;
};

/* A range may span files; the space between them stays zero. */
static void split(const struct segment *segment, const struct cn_range *range,
                  struct remote_fetches *fetches)
{
    const struct cn_manifest_entry *entry = segment->remote.entry;

    for (size_t i = 0; i < entry->file_count; i++) {
        uint64_t begin = segment->offs[i], end = begin + entry->files[i].len;
        uint64_t from = range->off > begin ? range->off : begin;
        uint64_t to = range->off + range->len < end ? range->off + range->len : end;

        if (from >= to)
            continue;
        CN_PUSH(fetches->list, fetches->count, fetches->capacity,
                (struct remote_fetch){
                    .file = i,
                    .off = from - begin,
                    .len = to - from,
                    .out = range->out + (from - range->off),
                });
    }
}

static bool fetch_all(struct segment *segment, const struct remote_fetches *fetches,
                      struct cn_error *err)
{
    const struct cn_manifest_entry *entry = segment->remote.entry;
    struct cn_s3_request *requests = cn_alloc(fetches->count, sizeof(*requests));
    struct cn_text *keys = cn_alloc(fetches->count, sizeof(*keys));
    bool ok;

    for (size_t i = 0; i < fetches->count; i++) {
        const struct remote_fetch *fetch = &fetches->list[i];

        cn_text_printf(&keys[i], "segments/%s/%s", entry->id,
                       entry->files[fetch->file].name);
        requests[i] = (struct cn_s3_request){
            .method = CN_S3_GET,
            .key = cn_text_str(&keys[i]),
            .off = fetch->off,
            .len = fetch->len,
            .out = fetch->out,
            .object_len = entry->files[fetch->file].len,
        };
    }
    ok = cn_s3_run(segment->bucket->s3, requests, fetches->count, err);
    for (size_t i = 0; i < fetches->count; i++) {
        if (ok && requests[i].status == 404)
            ok = cn_fail(err, CN_ERR_IO, "%s/%s: there is no such object",
                         segment->bucket->address, requests[i].key);
        cn_text_done(&requests[i].answer);
        cn_text_done(&keys[i]);
    }
    free(requests);
    free(keys);
    return ok;
}

static bool fetch(void *arg, const struct cn_range *ranges, size_t count,
                  struct cn_error *err)
{
    struct segment *segment = arg;
    struct remote_fetches fetches = {0};

    for (size_t i = 0; i < count; i++)
        split(segment, &ranges[i], &fetches);
    bool ok = fetch_all(segment, &fetches, err);
    free(fetches.list);
    return ok;
}

enum { ROWS_WHOLE_MAX = 8 << 20 }; /* of longer files of rows, the ends are fetched */

/* The bytes of a file that opening it reads: the first block, and the last one. Of a short file of
 * rows all of it, which is one request. */
static size_t opening_bytes(const struct segment *segment, size_t i,
                            struct cn_bytes needed[2])
{
    const struct cn_manifest_file *file = &segment->remote.entry->files[i];
    const uint8_t *begin = cn_range_cache_bytes(segment->cache).ptr + segment->offs[i];

    needed[0] = (struct cn_bytes){begin, 1};
    needed[1] = (struct cn_bytes){begin + (size_t)file->len - 1, 1};
    if (strcmp(file->name, CN_META_FILE_NAME) != 0 || file->len > ROWS_WHOLE_MAX)
        return 2;
    needed[0].len = (size_t)file->len;
    return 1;
}

static void fetch_rows(void *arg)
{
    struct segment *segment = arg;
    const struct cn_manifest_entry *entry = segment->remote.entry;
    struct cn_bytes needed[2];
    struct cn_error err;

    for (size_t i = 0; i < entry->file_count; i++)
        if (strcmp(entry->files[i].name, CN_META_FILE_NAME) == 0 &&
            entry->files[i].len > 0 &&
            !cn_range_cache_need(segment->cache, needed,
                                 opening_bytes(segment, i, needed), &err))
            note_failure(segment, &err);
}

/* True for files whose ends opening them does not read. */
static bool is_read_later(const char *name)
{
    static const char *const names[] = {"config.props", "text.log", "traces.dat"};

    return cn_list_has(names, CN_COUNT_OF(names), name);
}

/* What opening the files reads, in one go. */
static void fetch_ends(void *arg)
{
    struct segment *segment = arg;
    const struct cn_manifest_entry *entry = segment->remote.entry;
    struct cn_bytes needed[2 * CN_MANIFEST_FILES_MAX];
    struct cn_error err;
    size_t count = 0;

    for (size_t i = 0; i < entry->file_count; i++)
        if (entry->files[i].len > 0 && !is_read_later(entry->files[i].name))
            count += opening_bytes(segment, i, needed + count);
    if (!cn_range_cache_need(segment->cache, needed, count, &err))
        note_failure(segment, &err);
}

static void open_cache(void *arg)
{
    struct segment *segment = arg;
    const struct cn_manifest_entry *entry = segment->remote.entry;
    struct cn_error err;
    char *path = cn_strprintf("%s/%s", segment->bucket->cache_dir, entry->id);

    if (!cn_range_cache_open(&segment->cache, path, segment->offs[entry->file_count],
                             fetch, segment, &err))
        note_failure(segment, &err);
    free(path);
}

static void expect_all(struct cn_remote_segment *remote)
{
    struct segment *segment = (struct segment *)remote;

    cn_once_run(&segment->cache_once, open_cache, segment);
    if (segment->cache)
        cn_once_run(&segment->ends_once, fetch_ends, segment);
}

static bool check(const struct cn_remote_segment *remote, struct cn_error *err)
{
    struct segment *segment = (struct segment *)(uintptr_t)remote;

    cn_lock_take(&segment->lock);
    bool ok = segment->failure.kind == CN_ERR_NONE;
    if (!ok)
        *err = segment->failure;
    cn_lock_release(&segment->lock);
    return ok;
}

static bool open_file(struct cn_file_source *source, const char *name,
                      struct cn_file *out, struct cn_error *err)
{
    struct segment *segment = (struct segment *)source;
    const struct cn_manifest_entry *entry = segment->remote.entry;

    cn_once_run(&segment->cache_once, open_cache, segment);
    if (!segment->cache)
        return check(&segment->remote, err);
    if (strcmp(name, CN_META_FILE_NAME) == 0)
        cn_once_run(&segment->rows_once, fetch_rows, segment);
    else if (!is_read_later(name))
        cn_once_run(&segment->ends_once, fetch_ends, segment);
    struct cn_bytes all = cn_range_cache_bytes(segment->cache);
    for (size_t i = 0; i < entry->file_count; i++) {
        if (strcmp(entry->files[i].name, name) != 0)
            continue;
        *out = (struct cn_file){
            .bytes = {all.ptr + segment->offs[i], (size_t)entry->files[i].len},
            .source = source,
        };
        return true;
    }
    return cn_fail(err, CN_ERR_NOT_FOUND, "%s: segment %06x has no %s",
                   segment->bucket->address, entry->number, name);
}

static bool need(struct cn_file_source *source, struct cn_bytes bytes,
                 struct cn_error *err)
{
    struct segment *segment = (struct segment *)source;
    struct cn_error found;

    /* Not once more until the segment is opened again: each attempt may take long. */
    if (!check(&segment->remote, err))
        return false;
    if (cn_range_cache_need(segment->cache, &bytes, 1, &found))
        return true;
    note_failure(segment, &found);
    *err = found;
    return false;
}

static void close_segment(struct cn_remote_segment *remote)
{
    struct segment *segment = (struct segment *)remote;

    cn_range_cache_close(segment->cache);
    cn_once_done(&segment->cache_once);
    cn_once_done(&segment->rows_once);
    cn_once_done(&segment->ends_once);
    cn_lock_done(&segment->lock);
    cn_manifest_entry_free(remote->entry);
    cn_bucket_close(segment->bucket);
    free(segment);
}

struct cn_remote_segment *cn_remote_segment_new(struct cn_bucket *bucket,
                                                struct cn_manifest_entry *entry)
{
    struct segment *segment = cn_alloc(1, sizeof(*segment));

    segment->remote = (struct cn_remote_segment){
        .source = {.open = open_file, .need = need},
        .entry = entry,
        .expect_all = expect_all,
        .check = check,
        .close = close_segment,
    };
    segment->bucket = cn_bucket_share(bucket);
    cn_once_init(&segment->cache_once);
    cn_once_init(&segment->rows_once);
    cn_once_init(&segment->ends_once);
    cn_lock_init(&segment->lock);
    for (size_t i = 0; i < entry->file_count; i++)
        segment->offs[i + 1] =
            cn_align_up(segment->offs[i] + entry->files[i].len, CN_RANGE_BLOCK_LEN);
    return &segment->remote;
}
