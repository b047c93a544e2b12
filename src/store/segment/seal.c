#include "store/segment/seal.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/segment/chunk_data.h"
#include "store/segment/index.h"
#include "store/segment/log_format.h"
#include "store/segment/posting_log.h"
#include "store/segment/segment.h"

/* Where the chunks of a segment have ids. Of a chunk that cannot be read it is unknown. */
static void find_places(const struct cn_segment *segment, struct cn_chunk_places *out)
{
    const struct cn_chunk_file *file = cn_segment_chunks(segment);
    const struct cn_store_column *offs =
        &cn_segment_columns(segment)->fields[CN_STORE_FIELD_data_off];
    struct cn_chunk_reader reader = {0};

    *out = (struct cn_chunk_places){.data = file->content};
    for (uint32_t row = 0; row < cn_segment_row_count(segment); row++) {
        struct cn_chunk chunk;
        struct cn_error ignored;

        if (!cn_store_column_is_new(offs, row))
            continue;
        CN_GROW(out->places, out->count, out->capacity);
        struct cn_chunk_place *places = out->places[out->count++];
        for (unsigned i = 0; i < CN_CHUNK_FIELDS; i++)
            places[i] = (struct cn_chunk_place){0};
        if (cn_chunk_file_at(file, cn_store_column_at(offs, row), &chunk, &ignored) &&
            cn_chunk_reader_open(&reader, file, &chunk, &ignored))
            cn_chunk_reader_places(&reader, &chunk, places);
    }
    cn_chunk_reader_done(&reader);
}

static bool write_columns(const struct cn_segment *segment, const struct cn_disk *io,
                          struct cn_error *err)
{
    const struct cn_columns *columns = cn_segment_columns(segment);
    const char *dir = cn_segment_path(segment);
    struct cn_chunk_places places;

    if (segment->config.version <= CN_STORE_VERSION_PLAIN)
        return cn_columns_write(io, dir, columns, CN_META_FILE_GROUPS, NULL, err);
    find_places(segment, &places);
    bool ok = cn_columns_write(io, dir, columns, CN_META_FILE_VERSION, &places, err);
    free(places.places);
    return ok;
}

/* An index with words of its own, for rows without a block in the log, is not written. */
static bool write_files(const struct cn_segment *segment,
                        const struct cn_store_index *index, const struct cn_disk *io,
                        struct cn_error *err)
{
    const char *dir = cn_segment_path(segment);

    if (index->extra.count == 0 &&
        !cn_posting_file_write(
            io, dir, index->blocks, index->block_count, cn_segment_row_count(segment),
            segment->config.version > CN_STORE_VERSION_PLAIN ? CN_POSTING_FILE_VERSION
                                                             : CN_POSTING_FILE_VARINTS,
            err))
        return false;
    return cn_text_file_write(io, dir, cn_segment_words(segment), err) &&
           write_columns(segment, io, err);
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

bool cn_segment_gather_ids(const char *base, uint32_t number, const struct cn_disk *io,
                           struct cn_error *err)
{
    struct cn_segment *segment;

    if (!cn_segment_open(&segment, base, number, err))
        return false;
    const struct cn_columns *columns = cn_segment_columns(segment);
    bool is_needed = false;
    for (unsigned i = 0; i < CN_STORE_FIELD_COUNT; i++)
        is_needed |= columns->fields[i].chunks != NULL;
    bool ok = !is_needed || (cn_columns_write(io, segment->dir, columns,
                                              CN_META_FILE_ALONE, NULL, err) &&
                             io->sync_dir(io->arg, segment->dir, err));
    cn_segment_close(segment);
    return ok;
}
