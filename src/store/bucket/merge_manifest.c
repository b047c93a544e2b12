/* Merges entries of a manifest. Entries never change, so whatever a merged object has is right; an
 * entry that was removed since does not count, because its own object or the note says so. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/map.h"
#include "base/text.h"
#include "store/bucket/bucket.h"

#define FOLDER "manifest/"
enum { NUMBER_LEN = 6, WORTH = 4 };

static bool note_merged(void *arg, const struct cn_s3_object *object,
                        struct cn_error *err)
{
    const char *name = object->key + strlen(FOLDER);

    (void)err;
    if (cn_hex_begins(name, NUMBER_LEN) &&
        strcmp(name + NUMBER_LEN, CN_MANIFEST_MERGED) == 0)
        *cn_map_at(arg, (uint32_t)strtoul(name, NULL, 16), 0) = 1;
    return true;
}

static bool write_merged(struct cn_bucket *bucket, const char *key,
                         struct cn_manifest_entry *const *entries, size_t count,
                         struct cn_error *err)
{
    struct cn_cbor_out out = {0};
    bool is_written, ok;

    cn_manifest_list_encode("0", entries, count, &out);
    ok = cn_s3_put(bucket->s3, key, (struct cn_bytes){out.bytes, out.len}, &is_written,
                   err);
    cn_cbor_out_done(&out);
    return ok;
}

bool cn_bucket_merge(struct cn_bucket *bucket, struct cn_error *err)
{
    struct cn_manifest manifest = {0};
    struct cn_map merged = {0};
    bool ok = cn_bucket_read_manifest(bucket, &manifest, err) &&
              cn_s3_list(bucket->s3, FOLDER, note_merged, &merged, err);
    size_t at = 0, end;

    for (uint32_t first = 0; ok && first + CN_MANIFEST_TOGETHER <= manifest.next_number;
         first += CN_MANIFEST_TOGETHER, at = end) {
        bool is_merged = cn_map_find(&merged, first, 0) != 0;
        char key[sizeof(FOLDER) + NUMBER_LEN + sizeof(CN_MANIFEST_MERGED)];

        for (end = at; end < manifest.count &&
                       manifest.entries[end]->number - first < CN_MANIFEST_TOGETHER;)
            end++;
        (void)snprintf(key, sizeof(key), FOLDER "%06x" CN_MANIFEST_MERGED, first);
        if (!is_merged && end - at >= WORTH)
            ok = write_merged(bucket, key, manifest.entries + at, end - at, err);
        else if (is_merged && end == at)
            ok = cn_s3_remove(bucket->s3, key, err);
    }
    cn_manifest_done(&manifest);
    cn_map_done(&merged);
    return ok;
}
