#include "store/segment/commit.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/chunk_format.h"
#include "formats/zorka/packed.h"
#include "model/traces/words.h"
#include "store/segment/chunk_data.h"
#include "store/segment/log_format.h"
#include "store/segment/text_log.h"

struct cn_zorka_columns *cn_commit_columns(struct cn_store_commit *commit)
{
    while (commit->column_count <= commit->chunk_count)
        CN_PUSH(commit->columns, commit->column_count, commit->column_capacity,
                cn_zorka_columns_new());
    struct cn_zorka_columns *columns = commit->columns[commit->chunk_count];
    if (commit->plain.len == cn_commit_chunk_begin(commit))
        cn_zorka_columns_clear(columns);
    return columns;
}

void cn_commit_end_chunk(struct cn_store_commit *commit)
{
    if (commit->plain.len == cn_commit_chunk_begin(commit))
        return;
    CN_PUSH(commit->chunks, commit->chunk_count, commit->chunk_capacity,
            (struct cn_commit_chunk){commit->plain.len, commit->row_count});
}

void cn_commit_add_words(struct cn_store_commit *commit, const struct cn_words *words,
                         uint32_t first)
{
    commit->first_word = first;
    commit->word_count = words->count - first + 1;
    cn_text_log_gather(words, first, &commit->words);
}

uint64_t cn_commit_len(const struct cn_store_commit *commit)
{
    return commit->plain.len + commit->row_count * cn_store_row_size + commit->words.len;
}

void cn_commit_done(struct cn_store_commit *commit)
{
    cn_cbor_out_done(&commit->plain);
    free(commit->rows);
    free(commit->chunks);
    for (size_t i = 0; i < commit->column_count; i++)
        cn_zorka_columns_free(commit->columns[i]);
    free(commit->columns);
    cn_text_done(&commit->words);
    *commit = (struct cn_store_commit){0};
}

void cn_segment_files_close(struct cn_segment_files *files)
{
    struct cn_store_append *all[] = {&files->text, &files->data, &files->rows};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (files->io && all[i]->fd >= 0)
            (void)files->io->close(files->io->arg, all[i]->fd);
        cn_text_done(&all[i]->waiting);
    }
    cn_compressor_free(files->compressor);
    cn_compressor_free(files->text_compressor);
    cn_zorka_packer_free(files->packer);
    *files = (struct cn_segment_files){.text.fd = -1, .data.fd = -1, .rows.fd = -1};
}

/* Append the rows of a chunk, with its offset. */
static void put_rows(struct cn_segment_files *files, struct cn_store_row *rows,
                     size_t count, uint64_t chunk_off, uint32_t chunk_len)
{
    struct cn_text *out = &files->rows.waiting;

    for (size_t i = 0; i < count; i++) {
        uint8_t *at = (uint8_t *)cn_text_room(out, cn_store_row_size);

        rows[i].data_off = chunk_off;
        rows[i].data_len = chunk_len;
        rows[i].flags |= i + 1 < count ? CN_ROW_MORE : 0;
        cn_store_row_put(&rows[i], at);
        cn_text_advance(out, cn_store_row_size);
    }
}

/* Of few records, the names of the columns take more bytes than they save. */
enum { PACKED_FROM = 8192 };

static bool put_deflated(struct cn_segment_files *files, struct cn_bytes plain,
                         struct cn_error *err)
{
    struct cn_text *out = &files->data.waiting;
    size_t bound = cn_compressor_bound(files->compressor, plain.len), len;
    uint8_t *at = (uint8_t *)cn_text_room(out, bound);

    if (!cn_compress(files->compressor, plain, at, &len, err))
        return false;
    cn_text_advance(out, len);
    return true;
}

/* Append the records of a chunk in the shorter of the two forms, after its head. */
static bool put_packed(struct cn_segment_files *files, struct cn_bytes plain,
                       const struct cn_zorka_columns *columns, struct cn_error *err)
{
    struct cn_text *out = &files->data.waiting;
    struct cn_chunk_data_head head = {.form = CN_CHUNK_DATA_PACKED,
                                      .plain_len = (uint32_t)plain.len};
    size_t begin = out->len;

    cn_text_fill(out, '\0', cn_chunk_data_head_size);
    bool is_packed = cn_zorka_pack(files->packer, columns, plain.len, out);
    size_t packed_end = out->len;
    if (!is_packed || plain.len < PACKED_FROM) {
        if (!put_deflated(files, plain, err))
            return false;
        size_t len = out->len - packed_end;

        if (!is_packed || len < packed_end - begin - cn_chunk_data_head_size) {
            memmove(out->chars + begin + cn_chunk_data_head_size, out->chars + packed_end,
                    len);
            head.form = CN_CHUNK_DATA_DEFLATE;
            packed_end = begin + cn_chunk_data_head_size + len;
        }
    }
    out->len = packed_end;
    cn_chunk_data_head_encode(&head, (uint8_t *)out->chars + begin);
    return true;
}

/* `columns` are those of its records; NULL: they are not packed. */
static bool put_chunk(struct cn_segment_files *files, struct cn_bytes plain,
                      const struct cn_zorka_columns *columns, uint32_t *chunk_len,
                      struct cn_error *err)
{
    struct cn_text *out = &files->data.waiting;
    size_t begin = out->len;

    cn_text_fill(out, '\0', cn_chunk_header_size);
    if (!(columns ? put_packed(files, plain, columns, err)
                  : put_deflated(files, plain, err)))
        return false;
    struct cn_bytes stored = {(const uint8_t *)out->chars + begin + cn_chunk_header_size,
                              out->len - begin - cn_chunk_header_size};
    struct cn_chunk_header head = {
        .magic = CN_CHUNK_MAGIC,
        .stored_len = (uint32_t)stored.len,
        .plain_len = (uint32_t)(columns ? stored.len : plain.len),
        .checksum = cn_crc32(stored),
    };
    cn_chunk_header_encode(&head, (uint8_t *)out->chars + begin);
    *chunk_len = (uint32_t)(cn_chunk_header_size + stored.len);
    return true;
}

static bool put_chunks(struct cn_segment_files *files, struct cn_store_commit *commit,
                       struct cn_error *err)
{
    struct cn_bytes all = {commit->plain.bytes, commit->plain.len};
    struct cn_commit_chunk from = {0, 0};

    for (size_t i = 0; i < commit->chunk_count; i++) {
        struct cn_commit_chunk to = commit->chunks[i];
        uint64_t off = files->data.len + files->data.waiting.len;
        struct cn_bytes plain;
        uint32_t len;

        if (!cn_bytes_slice(all, from.plain_end, to.plain_end - from.plain_end, &plain) ||
            !put_chunk(files, plain, files->packer ? commit->columns[i] : NULL, &len,
                       err))
            return false;
        put_rows(files, commit->rows + from.row_end, to.row_end - from.row_end, off, len);
        from = to;
    }
    return true;
}

static bool append(struct cn_segment_files *files, struct cn_store_append *file,
                   const char *name, bool is_synced, struct cn_error *err)
{
    const struct cn_disk *io = files->io;

    if (file->waiting.len == 0)
        return true;
    if (!io->write(io->arg, file->fd, file->len, cn_text_str(&file->waiting),
                   file->waiting.len, err) ||
        (is_synced && !io->sync(io->arg, file->fd, err)))
        return cn_fail_in(err, "%s/%s", files->dir, name);
    file->len += file->waiting.len;
    cn_text_clear(&file->waiting);
    return true;
}

/* Remove what a failed commit has written: the files show it, but it may not be on the disk. */
static void cut_back(struct cn_segment_files *files)
{
    struct cn_store_append *all[] = {&files->rows, &files->data, &files->text};
    struct cn_error ignored;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        (void)files->io->truncate(files->io->arg, all[i]->fd, all[i]->len, &ignored);
        cn_text_clear(&all[i]->waiting);
    }
}

bool cn_commit_save(struct cn_store_commit *commit, struct cn_segment_files *files,
                    struct cn_error *err)
{
    struct cn_bytes words = {(const uint8_t *)commit->words.chars, commit->words.len};
    bool ok = (commit->word_count == 0 ||
               cn_text_log_encode(words, commit->first_word, commit->word_count,
                                  files->text_compressor, &files->text.waiting, err)) &&
              append(files, &files->text, CN_TEXT_LOG_NAME, true, err) &&
              put_chunks(files, commit, err) &&
              append(files, &files->data, CN_TRACES_NAME, true, err) &&
              append(files, &files->rows, CN_ROWS_LOG_NAME, false, err);

    commit->plain.len = 0;
    commit->row_count = commit->chunk_count = 0;
    commit->first_word = commit->word_count = 0;
    cn_text_clear(&commit->words);
    if (!ok)
        cut_back(files);
    return ok;
}
