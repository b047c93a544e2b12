#include "launcher/files/drain.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/chunks.h"
#include "base/text.h"
#include "formats/uftrace/packed/encode.h"
#include "formats/uftrace/packed/file.h"

struct cn_packed_file {
    uint32_t tid;
    struct cn_chunk_writer writer;
    struct cn_uft_packer *packer;
    /* Copy of the records to pack, contiguous. Copying them at once from the cache of
     * another processor is several times as fast as reading them one by one. */
    uint8_t *straight;
};

static char *path_of(const struct cn_packed_files *files, uint32_t tid)
{
    return cn_strprintf("%s/%u.zts", files->dir, tid);
}

/* Add the file of a task, which the writer has opened. */
static struct cn_packed_file *add_file(struct cn_packed_files *files, uint32_t tid,
                                       struct cn_chunk_writer writer)
{
    CN_GROW(files->list, files->count, files->capacity);
    files->list[files->count] = (struct cn_packed_file){
        .tid = tid,
        .writer = writer,
        /* Columns take 2 to 4 bytes a call; compressing them while the program runs costs
         * more than it saves. */
        .packer = cn_uft_packer_new(false, CN_COMPRESSION_NONE, 0),
        .straight = cn_alloc(1, files->memory->head->ring_lens[0]),
    };
    return &files->list[files->count++];
}

static struct cn_packed_file *find_file(struct cn_packed_files *files, uint32_t tid,
                                        struct cn_error *err)
{
    struct cn_chunk_writer writer;

    for (size_t i = 0; i < files->count; i++) {
        if (files->list[i].tid == tid)
            return &files->list[i];
    }
    char *path = path_of(files, tid);
    bool ok = cn_chunk_writer_create(&writer, path, CN_CHUNK_FLAG_CRC32, 0, err);
    free(path);
    return ok ? add_file(files, tid, writer) : NULL;
}

/* Each step ends its chunk, so that drained records are in the file. */
static bool pack(struct cn_packed_files *files, struct cn_packed_file *file,
                 struct cn_bytes rest, struct cn_error *err)
{
    while (rest.len > 0) {
        uint64_t before = file->writer.end_off;
        struct cn_bytes chunk;

        cn_uft_packer_fill(file->packer, &rest, false);
        if (!cn_uft_packer_take(file->packer, &chunk, err) ||
            !cn_chunk_writer_add(&file->writer, chunk, err))
            return false;
        files->stored_len += file->writer.end_off - before;
    }
    return true;
}

/* Publish the progress atomically, so that a process that takes over neither repeats nor
 * loses records. */
static void note_progress(struct cn_rec_track *track, uint64_t drained,
                          const struct cn_packed_file *file)
{
    uint32_t next = !atomic_load(&track->packed_index);

    track->packed[next] = (struct cn_rec_packed){
        .drained = drained,
        .file_len = file->writer.end_off,
        .data_len = cn_uft_packer_unpacked_len(file->packer),
    };
    atomic_store(&track->packed_index, next);
}

bool cn_packed_files_resume(struct cn_packed_files *files, struct cn_rec_track *track,
                            struct cn_error *err)
{
    struct cn_rec_packed packed = track->packed[atomic_load(&track->packed_index) & 1];
    struct cn_chunk_writer writer;
    uint64_t cut_len;
    bool ok;
    char *path = path_of(files, track->tid);

    if (packed.file_len == 0) {
        (void)unlink(path); /* created, but without valid chunks */
        free(path);
        return true;
    }
    if (truncate(path, (off_t)packed.file_len) != 0)
        ok = cn_fail_errno(err, "%s", path);
    else
        ok = cn_chunk_writer_reopen(&writer, path, 0, &cut_len, err);
    free(path);
    if (!ok)
        return false;
    cn_uft_packer_resume(add_file(files, track->tid, writer)->packer, packed.data_len);
    atomic_store(&track->drained, packed.drained);
    return true;
}

bool cn_packed_files_write(struct cn_packed_files *files, struct cn_rec_track *track,
                           const uint8_t *ring, struct cn_error *err)
{
    uint64_t ring_len = cn_shared_memory_ring_len(files->memory, track);
    uint64_t drained = atomic_load(&track->drained);
    uint64_t len = cn_rec_track_end(track) - drained;
    uint64_t at = drained & (ring_len - 1), to_end = ring_len - at;
    uint64_t first_len = len < to_end ? len : to_end;

    if (len == 0)
        return true;
    if (len > ring_len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%u.zts: the program overwrote the recorder's memory", track->tid);
    struct cn_packed_file *file = find_file(files, track->tid, err);
    if (!file)
        return false;
    memcpy(file->straight, ring + at, first_len);
    memcpy(file->straight + first_len, ring, len - first_len);
    if (!pack(files, file, (struct cn_bytes){file->straight, len}, err))
        return cn_fail_in(err, "%u.zts", track->tid);
    note_progress(track, drained + len, file);
    atomic_store(&track->drained, drained + len);
    atomic_fetch_add(&files->memory->head->byte_count, len);
    return true;
}

bool cn_packed_files_finish(struct cn_packed_files *files, struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; i < files->count && ok; i++)
        ok = cn_chunk_writer_close(&files->list[i].writer, err);
    return ok;
}

void cn_packed_files_done(struct cn_packed_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        cn_chunk_writer_abandon(&files->list[i].writer);
        cn_uft_packer_free(files->list[i].packer);
        free(files->list[i].straight);
    }
    free(files->list);
    files->list = NULL;
    files->count = files->capacity = 0;
}
