#include "store/segment/seal.h"

#include <stdlib.h>

#include "base/text.h"
#include "store/segment/index.h"
#include "store/segment/log_format.h"
#include "store/segment/posting_log.h"
#include "store/segment/segment.h"

/* An index with words of its own, for rows without a block in the log, is not written. */
static bool write_files(const struct cn_segment *segment,
                        const struct cn_store_index *index, const struct cn_disk *io,
                        struct cn_error *err)
{
    const char *dir = cn_segment_path(segment);

    if (index->extra.count == 0 &&
        !cn_posting_file_write(io, dir, index->blocks, index->block_count,
                               cn_segment_row_count(segment), err))
        return false;
    return cn_text_file_write(io, dir, cn_segment_words(segment), err) &&
           cn_columns_write(io, dir, cn_segment_columns(segment),
                            segment->config.version > CN_STORE_VERSION_PLAIN
                                ? CN_META_FILE_VERSION
                                : CN_META_FILE_GROUPS,
                            err);
}

/* A log that cannot be removed does no harm. */
static void remove_log(const struct cn_disk *io, const char *dir, const char *name)
{
    struct cn_error ignored;
    char *path = cn_strprintf("%s/%s", dir, name);

    (void)io->remove(io->arg, path, &ignored);
    free(path);
}

static bool seal(struct cn_segment *segment, const struct cn_disk *io,
                 struct cn_error *err)
{
    struct cn_store_config config = segment->config;
    struct cn_store_index index = {0};
    struct cn_error found;

    if (!cn_store_index_open(&index, segment, err))
        return false;
    bool has_postings = index.extra.count == 0;
    config.is_sealed = true;
    /* The sealed files are sound: what is missing in them is only known here. */
    if (!cn_store_index_check(&index, &found))
        (void)cn_store_config_note_damage(&config, segment->dir, found.text);
    bool ok = write_files(segment, &index, io, err) &&
              io->sync_dir(io->arg, segment->dir, err) &&
              cn_store_config_write(&config, segment->dir, io, err);
    cn_store_index_close(&index);
    if (!ok)
        return false;
    if (has_postings)
        remove_log(io, segment->dir, CN_POSTING_LOG_NAME);
    remove_log(io, segment->dir, CN_ROWS_LOG_NAME);
    return true;
}

bool cn_segment_seal(const char *base, uint32_t number, const struct cn_disk *io,
                     struct cn_error *err)
{
    struct cn_segment *segment;

    if (!cn_segment_open(&segment, base, number, err))
        return false;
    bool ok = segment->config.is_sealed || seal(segment, io, err);
    cn_segment_close(segment);
    return ok;
}
