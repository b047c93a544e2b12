#include "store/bucket/entry_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text.h"

#define CACHED "entry-%06x"

struct cn_manifest_entry *cn_entry_cache_read(const struct cn_bucket *bucket,
                                              uint32_t number)
{
    struct cn_manifest_entry *entry = NULL;
    struct cn_file file = {0};
    struct cn_error ignored;
    char *name = cn_strprintf(CACHED, number);

    if (cn_file_open_at(&file, bucket->cache_dir, name, &ignored) &&
        cn_manifest_entry_decode(file.bytes, &entry, &ignored) &&
        entry->number != number) {
        cn_manifest_entry_free(entry);
        entry = NULL;
    }
    cn_file_close(&file);
    free(name);
    return entry;
}

void cn_entry_cache_write(const struct cn_bucket *bucket, uint32_t number,
                          struct cn_bytes bytes)
{
    char *name = cn_strprintf(CACHED, number);
    char *made = cn_strprintf("%s/.%s.%ld", bucket->cache_dir, name, (long)getpid());
    char *path = cn_strprintf("%s/%s", bucket->cache_dir, name);
    FILE *file = fopen(made, "we");

    if (file) {
        bool ok = fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len;

        ok = fclose(file) == 0 && ok;
        if (!ok || rename(made, path) < 0)
            (void)unlink(made);
    }
    free(name);
    free(made);
    free(path);
}

static void write_all(const struct cn_bucket *bucket, uint32_t first,
                      struct cn_manifest_entry **entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t number = entries[i]->number;
        struct cn_cbor_out out = {0};

        cn_manifest_entry_encode(entries[i], &out);
        if (number >= first && number - first < CN_MANIFEST_TOGETHER)
            cn_entry_cache_write(bucket, number, (struct cn_bytes){out.bytes, out.len});
        cn_cbor_out_done(&out);
        cn_manifest_entry_free(entries[i]);
    }
    free(entries);
}

void cn_entry_cache_merged(struct cn_bucket *bucket, uint32_t first)
{
    char key[40], label[CN_MANIFEST_ID_LEN + 1];
    struct cn_manifest_entry **entries;
    struct cn_text body = {0};
    struct cn_error ignored;
    bool is_found;
    size_t count;

    (void)snprintf(key, sizeof(key), "manifest/%06x" CN_MANIFEST_MERGED, first);
    if (cn_s3_get(bucket->s3, key, &body, &is_found, &ignored) && is_found &&
        cn_manifest_list_decode(
            (struct cn_bytes){(const uint8_t *)cn_text_str(&body), body.len}, label,
            &entries, &count, &ignored))
        write_all(bucket, first, entries, count);
    cn_text_done(&body);
}
