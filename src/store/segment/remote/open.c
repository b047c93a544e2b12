/* Opens the segments of a store in object storage. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "cache/directory.h"
#include "store/bucket/bucket.h"
#include "store/bucket/remote_segment.h"
#include "store/bucket/unsealed.h"
#include "store/segment/opened.h"
#include "store/segment/segment.h"

/* The earlier segment with the same objects, else NULL. Numbers ascend. */
static struct cn_segment *find_earlier(const struct cn_store *earlier,
                                       const struct cn_manifest_entry *entry, size_t *at)
{
    while (earlier && *at < earlier->count &&
           earlier->segments[*at]->number < entry->number)
        ++*at;
    if (!earlier || *at == earlier->count)
        return NULL;
    struct cn_segment *found = earlier->segments[*at];
    return found->number == entry->number &&
                   strcmp(found->remote->entry->id, entry->id) == 0
               ? cn_segment_share(found)
               : NULL;
}

static bool open_segments(struct cn_store *store, struct cn_manifest *manifest,
                          const struct cn_store *earlier, struct cn_error *err)
{
    size_t at = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < manifest->count; i++) {
        struct cn_segment *shared = find_earlier(earlier, manifest->entries[i], &at);

        if (shared) {
            store->segments[store->count++] = shared;
            continue;
        }
        char *dir =
            cn_strprintf("%s/%06x", store->bucket->address, manifest->entries[i]->number);
        ok = cn_segment_open_remote(
            &store->segments[store->count],
            cn_remote_segment_new(store->bucket, manifest->entries[i]), dir, err);
        manifest->entries[i] = NULL;
        store->count += ok;
        free(dir);
    }
    return ok;
}

/* True if the manifest names the objects of a fresh segment. */
static bool is_named(const struct cn_manifest *manifest, const char *id)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (strcmp(manifest->entries[i]->id, id) == 0)
            return true;
    for (size_t i = 0; i < manifest->dead_count; i++)
        if (strcmp(manifest->dead[i]->id, id) == 0)
            return true;
    return false;
}

/* Leave out what was uploaded in the meantime. */
static void leave_out_named(struct cn_fresh *fresh, const struct cn_manifest *manifest)
{
    size_t kept = 0;

    for (size_t i = 0; i < fresh->count; i++) {
        struct cn_fresh_segment segment = fresh->segments[i];

        if (is_named(manifest, segment.entry->id)) {
            fresh->segments[i] = fresh->segments[kept];
            fresh->segments[kept++] = segment;
        }
    }
    cn_fresh_drop(fresh, kept);
    CN_SORT(fresh->segments, fresh->count, CN_UP(struct cn_fresh_segment, number));
}

/* The copy of a damaged segment may be what is damaged: it is made again next time. */
static void open_fresh(struct cn_store *store, struct cn_fresh *fresh)
{
    for (size_t i = 0; i < fresh->count; i++) {
        const struct cn_fresh_segment *copy = &fresh->segments[i];
        struct cn_segment **opened = &store->segments[store->count];
        struct cn_error err;

        if (i > 0 && copy->number == fresh->segments[i - 1].number)
            (void)cn_fail(&err, CN_ERR_FORMAT, "two segments have the number %06x",
                          copy->number);
        else if (cn_segment_open(opened, copy->base, copy->number, &err)) {
            store->count++;
            if (!cn_segment_check(*opened, &err))
                cn_cache_dir_remove(copy->base);
            continue;
        }
        cn_fresh_note_missing(fresh, "a segment of a collector", &err);
    }
    store->missing = fresh->missing;
    store->missing_count = fresh->missing_count;
    fresh->missing = NULL;
    fresh->missing_count = 0;
}

bool cn_remote_store_open(struct cn_store *store, const char *address,
                          const struct cn_store *earlier, struct cn_error *err)
{
    static const uint64_t day_s = 86400;
    struct cn_manifest manifest = {0};
    bool ok = true;

    if (earlier && earlier->bucket)
        store->bucket = cn_bucket_share(earlier->bucket);
    else
        ok = cn_bucket_open(&store->bucket, address, err);
    if (!ok)
        return false;
    store->close_bucket = cn_bucket_close;
    store->look = cn_bucket_look;
    uint64_t refresh_s = cn_s3_settings(store->bucket->s3)->refresh_s;
    store->look_ns = (refresh_s < day_s ? refresh_s : day_s) * UINT64_C(1000000000);
    cn_bucket_limit_cache(store->bucket);
    ok = cn_bucket_take_manifest(store->bucket, &manifest, err);
    if (ok && manifest.fresh)
        leave_out_named(manifest.fresh, &manifest);
    if (ok) {
        store->segments =
            cn_alloc(manifest.count + (manifest.fresh ? manifest.fresh->count : 0),
                     sizeof(struct cn_segment *));
        ok = open_segments(store, &manifest, earlier, err);
    }
    if (ok && manifest.fresh)
        open_fresh(store, manifest.fresh);
    cn_manifest_done(&manifest);
    return ok;
}
