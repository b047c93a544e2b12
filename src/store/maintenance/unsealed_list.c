#include "store/maintenance/unsealed_list.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/files/chunk_format.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/list.h"
#include "base/text.h"
#include "store/bucket/bucket.h"
#include "store/index/posting_file.h"
#include "store/maintenance/upload.h"
#include "store/segment/config.h"
#include "store/segment/log_format.h"
#include "store/segment/posting_log.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"

#define ID_NAME "collector"

/* In the order in which a commit writes them. */
static const char *const open_files[] = {CN_TEXT_LOG_NAME, CN_TRACES_NAME,
                                         CN_ROWS_LOG_NAME, CN_POSTING_LOG_NAME};
static const char *const sealed_files[] = {CN_TEXT_LOG_NAME,  CN_TRACES_NAME,
                                           CN_TEXT_FILE_NAME, CN_TEXT_INDEX_NAME,
                                           CN_META_FILE_NAME, CN_POSTING_FILE_NAME};
enum {
    OPEN_FILES = CN_COUNT_OF(open_files),
    SEALED_FILES = CN_COUNT_OF(sealed_files),
};

static uint64_t len_of(const char *dir, const char *name)
{
    struct stat st;
    char *path = cn_strprintf("%s/%s", dir, name);
    bool ok = stat(path, &st) == 0;

    free(path);
    return ok ? (uint64_t)st.st_size : 0;
}

/* Lengths are taken in the reverse order of writing. */
static void list_files(struct cn_manifest_entry *entry, const char *dir, bool is_sealed)
{
    const char *const *names = is_sealed ? sealed_files : open_files;
    size_t count = is_sealed ? SEALED_FILES : OPEN_FILES;

    for (size_t i = count; i-- > 0;)
        entry->files[i].len = len_of(dir, names[i]);
    for (size_t i = 0; i < count; i++) {
        struct cn_manifest_file *file = &entry->files[entry->file_count];

        if (entry->files[i].len == 0)
            continue;
        file->len = entry->files[i].len;
        (void)snprintf(file->name, sizeof(file->name), "%s", names[i]);
        entry->file_count++;
    }
}

/* A segment is not listed if it is named, or was just removed. */
static bool describe(const char *dir, struct cn_manifest_entry *entry, bool *is_listed,
                     struct cn_error *err)
{
    struct cn_store_config config;
    struct cn_file file = {0};
    struct cn_error damaged;
    bool is_named = true;
    bool ok = cn_upload_id(dir, entry->id, &is_named, err) &&
              (is_named || cn_file_open_at(&file, dir, CN_CONFIG_NAME, err));

    *is_listed = ok && !is_named && file.bytes.len <= CN_MANIFEST_CONFIG_MAX &&
                 cn_store_config_parse(&config, file.bytes, &damaged);
    if (*is_listed) {
        entry->config = cn_alloc(file.bytes.len + 1, 1);
        memcpy(entry->config, file.bytes.ptr, file.bytes.len);
        list_files(entry, dir, config.is_sealed);
    }
    cn_file_close(&file);
    return ok || err->kind == CN_ERR_NOT_FOUND;
}

bool cn_fresh_list(const char *base, const char *label, struct cn_cbor_out *out,
                   struct cn_error *err)
{
    uint32_t *numbers = NULL;
    size_t count, n = 0;
    bool ok = true;

    if (!cn_segments_list(base, &numbers, &count, err))
        return false;
    struct cn_manifest_entry **entries = cn_alloc(count, sizeof(*entries));
    for (size_t i = 0; ok && i < count; i++) {
        char *dir = cn_segment_dir(base, numbers[i]);
        bool is_listed;

        entries[n] = cn_alloc(1, sizeof(**entries));
        entries[n]->number = numbers[i];
        ok = describe(dir, entries[n], &is_listed, err);
        if (is_listed)
            n++;
        else
            cn_manifest_entry_free(entries[n]);
        free(dir);
    }
    if (ok)
        cn_manifest_list_encode(label, entries, n, out);
    while (n > 0)
        cn_manifest_entry_free(entries[--n]);
    free(entries);
    free(numbers);
    return ok;
}

/* False if the store has none. */
static bool read_id(const char *base, char id[CN_MANIFEST_ID_LEN + 1])
{
    struct cn_file file = {0};
    struct cn_error ignored;
    size_t len = 0;

    if (cn_file_open_at(&file, base, ID_NAME, &ignored)) {
        len = file.bytes.len < CN_MANIFEST_ID_LEN ? file.bytes.len : CN_MANIFEST_ID_LEN;
        if (len > 0)
            memcpy(id, file.bytes.ptr, len);
        cn_file_close(&file);
    }
    id[len] = '\0';
    return cn_hex_begins(id, CN_MANIFEST_ID_LEN);
}

bool cn_collector_id(const char *base, char id[CN_MANIFEST_ID_LEN + 1],
                     struct cn_error *err)
{
    if (read_id(base, id))
        return true;
    cn_manifest_new_id(id);
    return cn_disk_replace(&cn_disk_files, base, ID_NAME, id, strlen(id), err);
}

bool cn_collector_sign_off(struct cn_bucket *bucket, const char *base,
                           struct cn_error *err)
{
    char id[CN_MANIFEST_ID_LEN + 1];
    uint32_t *numbers = NULL;
    bool has_rest = false;
    size_t count;

    if (!cn_segments_list(base, &numbers, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        char *dir = cn_segment_dir(base, numbers[i]);

        has_rest |= !cn_upload_is_done(base, numbers[i]) &&
                    len_of(dir, CN_TRACES_NAME) > cn_chunk_file_header_size;
        free(dir);
    }
    free(numbers);
    return has_rest || !read_id(base, id) || cn_bucket_unregister(bucket, id, err);
}

static bool is_listed(const char *name)
{
    return cn_list_has(open_files, OPEN_FILES, name) ||
           cn_list_has(sealed_files, SEALED_FILES, name);
}

bool cn_fresh_open(const char *base, uint32_t number, const char *name, int *fd,
                   uint64_t *len, struct cn_error *err)
{
    char *dir = cn_segment_dir(base, number);
    struct stat st;
    int opened = -1;
    char *path = cn_strprintf("%s/%s", dir, name);

    if (is_listed(name))
        opened = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    free(dir);
    if (opened >= 0 && fstat(opened, &st) == 0) {
        *fd = opened;
        *len = (uint64_t)st.st_size;
        return true;
    }
    if (opened >= 0)
        (void)close(opened);
    return cn_fail(err, CN_ERR_NOT_FOUND, "segment %06x has no file '%.40s'", number,
                   name);
}
