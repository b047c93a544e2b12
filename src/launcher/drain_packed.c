#include "launcher/drain_packed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/chunk_file.h"
#include "base/text.h"
#include "formats/uftrace/packed_encode.h"
#include "formats/uftrace/packed_file.h"

struct cn_drain_file {
    uint32_t tid;
    struct cn_chunk_writer writer;
    struct cn_uft_packer *packer;
    uint8_t *straight; /* what wraps around in the ring, in one piece */
};

static bool open_file(struct cn_drain *drain, uint32_t tid, struct cn_drain_file *file,
                      struct cn_error *err)
{
    struct cn_text path = {0};
    bool ok;

    cn_text_printf(&path, "%s/%u.zts", drain->dir, tid);
    ok = cn_chunk_writer_create(&file->writer, cn_text_str(&path), CN_CHUNK_FLAG_CRC32, 0,
                                err);
    cn_text_done(&path);
    if (!ok)
        return false;
    file->tid = tid;
    /* Columns alone are 2 to 4 bytes a call; to compress them costs more than that saves
     * while the program runs. */
    file->packer = cn_uft_packer_new(false, CN_COMPRESSION_NONE, 0);
    file->straight = cn_alloc(1, drain->memory->head->ring_len);
    return true;
}

static struct cn_drain_file *find_file(struct cn_drain *drain, uint32_t tid,
                                       struct cn_error *err)
{
    struct cn_drain_file *file;

    for (size_t i = 0; i < drain->file_count; i++) {
        if (drain->files[i].tid == tid)
            return &drain->files[i];
    }
    drain->files = cn_grow(drain->files, drain->file_count, &drain->file_capacity,
                           sizeof(*drain->files));
    file = &drain->files[drain->file_count];
    *file = (struct cn_drain_file){0};
    if (!open_file(drain, tid, file, err))
        return NULL;
    drain->file_count++;
    return file;
}

/* Each step ends its chunk: what has left the ring is in the file. */
static bool pack(struct cn_drain *drain, struct cn_drain_file *file, struct cn_bytes rest,
                 struct cn_error *err)
{
    while (rest.len > 0) {
        uint64_t before = file->writer.end_off;
        struct cn_bytes chunk;

        cn_uft_packer_fill(file->packer, &rest, false);
        if (!cn_uft_packer_take(file->packer, &chunk, err) ||
            !cn_chunk_writer_add(&file->writer, chunk, err))
            return false;
        drain->stored_len += file->writer.end_off - before;
    }
    return true;
}

bool cn_drain_packed_write(struct cn_drain *drain, struct cn_rec_track *track,
                           const uint8_t *ring, struct cn_error *err)
{
    uint64_t ring_len = drain->memory->head->ring_len;
    uint64_t drained = atomic_load(&track->drained);
    uint64_t len = cn_rec_track_end(track) - drained;
    uint64_t at = drained & (ring_len - 1), to_end = ring_len - at;
    struct cn_bytes records = {ring + at, len};
    struct cn_drain_file *file;

    if (len == 0)
        return true;
    if (len > ring_len)
        return cn_fail(err, CN_ERR_FORMAT, "%u.zts: the program overwrote its track",
                       track->tid);
    file = find_file(drain, track->tid, err);
    if (!file)
        return false;
    if (len > to_end) {
        memcpy(file->straight, ring + at, to_end);
        memcpy(file->straight + to_end, ring, len - to_end);
        records.ptr = file->straight;
    }
    if (!pack(drain, file, records, err))
        return cn_fail_in(err, "%u.zts", track->tid);
    atomic_fetch_add(&track->drained, len);
    atomic_fetch_add(&drain->memory->head->byte_count, len);
    return true;
}

bool cn_drain_packed_finish(struct cn_drain *drain, struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; i < drain->file_count && ok; i++)
        ok = cn_chunk_writer_close(&drain->files[i].writer, err);
    return ok;
}

void cn_drain_packed_done(struct cn_drain *drain)
{
    for (size_t i = 0; i < drain->file_count; i++) {
        cn_chunk_writer_abandon(&drain->files[i].writer);
        cn_uft_packer_free(drain->files[i].packer);
        free(drain->files[i].straight);
    }
    free(drain->files);
    drain->files = NULL;
    drain->file_count = drain->file_capacity = 0;
}
