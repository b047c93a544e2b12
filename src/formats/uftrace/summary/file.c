/* Files of summaries, in the user's cache: a reader writes nothing into a recording. */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/files/compress.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "cache/directory.h"
#include "formats/uftrace/summary/summary.h"

#define CACHE_FOLDER "/summaries"

enum { CACHE_LEN_MAX = 256 << 20 }; /* bytes of all summaries in the cache */

static void hash_number(XXH3_state_t *state, uint64_t number)
{
    uint8_t bytes[sizeof(number)];

    cn_u64_put(bytes, number);
    (void)XXH3_64bits_update(state, bytes, sizeof(bytes));
}

/* The name of a file in the cache: a hash of the directory and of its files. */
static void cache_name(const char *dir, const struct cn_uft_summary_task *tasks,
                       uint32_t count, char name[static NAME_MAX])
{
    XXH3_state_t *state = XXH3_createState();
    char path[PATH_MAX];

    (void)XXH3_64bits_reset(state);
    if (realpath(dir, path))
        (void)XXH3_64bits_update(state, path, strlen(path));
    for (uint32_t i = 0; i < count; i++) {
        hash_number(state, tasks[i].tid);
        hash_number(state, tasks[i].is_packed);
        hash_number(state, tasks[i].len);
        hash_number(state, tasks[i].mtime_ns);
    }
    (void)snprintf(name, NAME_MAX, "%016" PRIx64 ".summary",
                   (uint64_t)XXH3_64bits_digest(state));
    (void)XXH3_freeState(state);
}

/* Fail when a summary is not about these records, or they have changed since. */
static bool check_fit(const struct cn_uft_summary *summary,
                      const struct cn_uft_summary_task *wanted, uint32_t count,
                      struct cn_error *err)
{
    if (summary->task_count != count)
        return cn_fail(err, CN_ERR_NOT_FOUND, "summary of %u tasks instead of %u",
                       summary->task_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct cn_uft_summary_task *have = &summary->tasks[i];

        if (have->tid != wanted[i].tid || have->is_packed != wanted[i].is_packed ||
            have->len != wanted[i].len || have->mtime_ns != wanted[i].mtime_ns)
            return cn_fail(err, CN_ERR_NOT_FOUND, "summary of other records of task %u",
                           wanted[i].tid);
    }
    return true;
}

static bool open_at(struct cn_uft_summary **out, const char *folder, const char *name,
                    const struct cn_uft_summary_task *wanted, uint32_t count,
                    struct cn_error *err)
{
    struct cn_uft_summary *summary;
    struct cn_file file = {0};

    if (!cn_file_open_at(&file, folder, name, err))
        return false;
    bool ok = cn_uft_summary_decode(file.bytes, &summary, err);
    cn_file_close(&file);
    if (!ok)
        return cn_fail_in(err, "%s/%s", folder, name);
    if (!check_fit(summary, wanted, count, err)) {
        cn_uft_summary_free(summary);
        return cn_fail_in(err, "%s/%s", folder, name);
    }
    *out = summary;
    return true;
}

bool cn_uft_summary_open(struct cn_uft_summary **out, const char *dir,
                         const struct cn_uft_summary_source *sources, uint32_t count,
                         struct cn_error *err)
{
    struct cn_uft_summary_task *wanted = cn_alloc(count, sizeof(*wanted));
    char folder[PATH_MAX], name[NAME_MAX];

    for (uint32_t i = 0; i < count; i++)
        wanted[i] = cn_uft_summary_task_of(&sources[i]);
    cache_name(dir, wanted, count, name);
    bool ok = cn_cache_dir(CACHE_FOLDER, folder)
                  ? open_at(out, folder, name, wanted, count, err)
                  : cn_fail(err, CN_ERR_NOT_FOUND, "no folder for cached files");
    free(wanted);
    return ok;
}

/* Encode a summary with its checksum. The caller frees the bytes. */
static uint8_t *encode(const struct cn_uft_summary *summary, size_t *len)
{
    struct cn_uft_summary_header head = {
        .magic = CN_UFT_SUMMARY_MAGIC,
        .version = CN_UFT_SUMMARY_VERSION,
        .task_count = summary->task_count,
        .block_count = summary->block_count,
        .open_count = summary->open_count,
    };
    size_t tasks_off = cn_uft_summary_header_size;
    size_t blocks_off =
        tasks_off + (size_t)summary->task_count * cn_uft_summary_task_size;
    size_t open_off =
        blocks_off + (size_t)summary->block_count * cn_uft_summary_block_size;

    *len = open_off + (size_t)summary->open_count * sizeof(uint64_t);
    uint8_t *bytes = cn_alloc(*len, 1);
    for (size_t i = 0; i < summary->task_count; i++)
        cn_uft_summary_task_encode(&summary->tasks[i],
                                   bytes + tasks_off + i * cn_uft_summary_task_size);
    for (size_t i = 0; i < summary->block_count; i++)
        cn_uft_summary_block_encode(&summary->blocks[i],
                                    bytes + blocks_off + i * cn_uft_summary_block_size);
    for (size_t i = 0; i < summary->open_count; i++)
        cn_u64_put(bytes + open_off + i * sizeof(uint64_t), summary->open[i]);
    cn_uft_summary_header_encode(&head, bytes);
    head.checksum = cn_crc32((struct cn_bytes){bytes + CN_UFT_SUMMARY_CHECKED_OFF,
                                               *len - CN_UFT_SUMMARY_CHECKED_OFF});
    cn_uft_summary_header_encode(&head, bytes);
    return bytes;
}

bool cn_uft_summary_save(const struct cn_uft_summary *summary, const char *dir,
                         struct cn_error *err)
{
    char folder[PATH_MAX], name[NAME_MAX];
    size_t len;

    if (!cn_cache_dir(CACHE_FOLDER, folder))
        return cn_fail(err, CN_ERR_NOT_FOUND, "no folder for cached files");
    cn_cache_dir_make(folder);
    cache_name(dir, summary->tasks, summary->task_count, name);
    uint8_t *encoded = encode(summary, &len);
    bool ok = cn_out_replace(folder, name, encoded, len, err);
    free(encoded);
    if (ok)
        cn_cache_dir_limit(folder, CACHE_LEN_MAX);
    return ok;
}

bool cn_uft_summary_get(struct cn_uft_summary **out, const char *dir,
                        const struct cn_uft_summary_source *sources, uint32_t count,
                        unsigned workers, const struct cn_progress *progress,
                        struct cn_error *err)
{
    struct cn_error ignored;

    if (cn_uft_summary_open(out, dir, sources, count, &ignored))
        return true;
    if (!cn_uft_summary_build(out, sources, count, workers, progress, err))
        return false;
    bool is_saved = cn_uft_summary_save(*out, dir, &ignored);
    (void)is_saved; /* else it is built again next time */
    return true;
}
