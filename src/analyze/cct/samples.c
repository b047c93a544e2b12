#include "analyze/cct/members.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { CHUNK_COUNT = 1024 };

void cn_cct_samples_init(struct cn_cct_samples *samples, struct cn_spool *spool,
                         unsigned file)
{
    *samples = (struct cn_cct_samples){
        .spool = spool,
        .file = file,
        .chunk = cn_alloc(CHUNK_COUNT, sizeof(*samples->chunk)),
    };
}

void cn_cct_samples_done(struct cn_cct_samples *samples)
{
    free(samples->chunk);
    free(samples->offs);
    *samples = (struct cn_cct_samples){0};
}

static bool write_chunk(struct cn_cct_samples *samples, size_t count,
                        struct cn_error *err)
{
    size_t len = count * sizeof(*samples->chunk);
    uint64_t off = cn_spool_reserve_in(samples->spool, samples->file, len);

    CN_PUSH(samples->offs, samples->off_count, samples->off_capacity, off);
    return cn_spool_write(samples->spool, off, samples->chunk, len, err);
}

bool cn_cct_samples_add(struct cn_cct_samples *samples, struct cn_sample sample,
                        struct cn_error *err)
{
    samples->chunk[samples->count % CHUNK_COUNT] = sample;
    samples->count++;
    return samples->count % CHUNK_COUNT != 0 || write_chunk(samples, CHUNK_COUNT, err);
}

bool cn_cct_samples_end(struct cn_cct_samples *samples, struct cn_error *err)
{
    size_t left = samples->count % CHUNK_COUNT;
    bool ok = left == 0 || write_chunk(samples, left, err);

    free(samples->chunk);
    samples->chunk = NULL;
    return ok;
}

bool cn_cct_samples_read(const struct cn_cct_samples *samples, uint64_t first,
                         size_t count, struct cn_sample *out, struct cn_error *err)
{
    while (count > 0) {
        uint64_t at = first % CHUNK_COUNT;
        size_t more = CHUNK_COUNT - at < count ? (size_t)(CHUNK_COUNT - at) : count;

        if (!cn_spool_read(samples->spool,
                           samples->offs[first / CHUNK_COUNT] + at * sizeof(*out), out,
                           more * sizeof(*out), err))
            return false;
        first += more;
        out += more;
        count -= more;
    }
    return true;
}
