#include "formats/uftrace/packed/file.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/chunks.h"
#include "base/files/file.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/sort.h"
#include "formats/uftrace/packed/encode.h"
#include "formats/uftrace/packed/record_source.h"

enum { FORGET_LEN = 1 << 20 }; /* mapped pages are dropped in steps of this size */

/* Records to pack. */
struct input {
    struct cn_bytes bytes;
    bool is_big_endian;
    bool is_mapped; /* packed pages may be dropped */
};

static bool pack_all(struct cn_uft_packer *packer, const struct input *input,
                     struct cn_chunk_writer *writer, struct cn_error *err)
{
    struct cn_bytes rest = input->bytes, mapped = input->bytes, chunk;

    while (rest.len > 0) {
        cn_uft_packer_fill(packer, &rest, input->is_big_endian);
        if (!cn_uft_packer_take(packer, &chunk, err) ||
            !cn_chunk_writer_add(writer, chunk, err))
            return false;
        if (input->is_mapped && mapped.len - rest.len >= FORGET_LEN) {
            cn_file_forget((struct cn_bytes){mapped.ptr, mapped.len - rest.len});
            mapped = rest;
        }
    }
    return true;
}

static bool pack_to(const struct input *input, enum cn_compression method, int level,
                    const char *path, struct cn_error *err)
{
    struct cn_chunk_writer writer;

    if (!cn_chunk_writer_create(&writer, path, CN_CHUNK_FLAG_CRC32, 0, err))
        return false;
    struct cn_uft_packer *packer = cn_uft_packer_new(input->is_big_endian, method, level);
    bool ok = pack_all(packer, input, &writer, err);
    cn_uft_packer_free(packer);
    if (ok)
        return cn_chunk_writer_close(&writer, err);
    cn_chunk_writer_abandon(&writer);
    return false;
}

bool cn_uft_pack_file(struct cn_bytes records, bool is_big_endian,
                      enum cn_compression method, int level, const char *path,
                      struct cn_error *err)
{
    return pack_to(&(struct input){.bytes = records, .is_big_endian = is_big_endian},
                   method, level, path, err);
}

/* A directory whose files are packed. */
struct packing {
    const char *dir;
    bool is_big_endian;
    char **names;
    size_t count, capacity;
    const struct cn_progress *progress;
    struct cn_failures failures;
};

static bool list_files(struct packing *packing, struct cn_error *err)
{
    DIR *dir = opendir(packing->dir);
    struct dirent *entry;
    uint32_t tid;

    if (!dir)
        return cn_fail_errno(err, "%s", packing->dir);
    while ((entry = readdir(dir))) {
        if (cn_uft_task_file(entry->d_name, &tid) != CN_UFT_PLAIN_TASK)
            continue;
        CN_PUSH(packing->names, packing->count, packing->capacity,
                cn_strdup(entry->d_name));
    }
    (void)closedir(dir);
    CN_SORT_VALUES(packing->names, packing->count);
    return true;
}

static bool pack_one(const struct packing *packing, const char *name,
                     struct cn_error *err)
{
    struct cn_file file = {0};
    char from[PATH_MAX], to[PATH_MAX];
    int len = (int)(strlen(name) - strlen(".dat"));

    if (snprintf(from, PATH_MAX, "%s/%s", packing->dir, name) >= PATH_MAX ||
        snprintf(to, PATH_MAX, "%s/%.*s.zts", packing->dir, len, name) >= PATH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%s/%s: path too long", packing->dir, name);
    if (!cn_file_open(&file, from, err))
        return false;
    bool ok = pack_to(&(struct input){file.bytes, packing->is_big_endian, true},
                      CN_UFT_PACK_METHOD, CN_UFT_PACK_LEVEL, to, err);
    cn_file_close(&file);
    if (ok && unlink(from) < 0)
        return cn_fail_errno(err, "%s", from);
    return ok;
}

static void run_job(void *arg, size_t job, unsigned worker)
{
    struct packing *packing = arg;

    if (!cn_failures_stopped(&packing->failures, worker) &&
        !pack_one(packing, packing->names[job],
                  cn_failures_error(&packing->failures, worker)))
        cn_failures_note(&packing->failures, worker, job);
}

static void take_job(void *arg, size_t job, unsigned worker)
{
    struct packing *packing = arg;

    if (cn_failures_share(&packing->failures, worker) &&
        !cn_progress_report(packing->progress, "packing", job + 1, packing->count,
                            "tasks", cn_failures_error(&packing->failures, worker)))
        cn_failures_note(&packing->failures, worker, job);
}

bool cn_uft_pack_directory(const char *dir, bool is_big_endian, unsigned workers,
                           const struct cn_progress *progress, struct cn_error *err)
{
    struct packing packing = {
        .dir = dir, .is_big_endian = is_big_endian, .progress = progress};
    unsigned threads = workers ? workers : cn_pool_default_workers();
    bool ok = list_files(&packing, err);

    if (ok) {
        struct cn_jobs jobs = {
            .count = packing.count, .arg = &packing, .run = run_job, .take = take_job};

        cn_failures_init(&packing.failures, threads);
        cn_pool_run(&jobs, threads);
        ok = cn_failures_result(&packing.failures, err);
        cn_failures_done(&packing.failures);
    }
    for (size_t i = 0; i < packing.count; i++)
        free(packing.names[i]);
    free(packing.names);
    return ok;
}
