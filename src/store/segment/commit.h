/* What one commit writes, and the files of a segment that it goes to.
 *
 * Traces gather in a commit: plain records, cut into chunks, with the rows that point into
 * them, and new words. Saving compresses all that and writes it in the order that makes a
 * crash harmless: words, synced; chunks, synced; then rows, which are not: those that a power
 * failure takes are made again from the chunks when the segment is opened.
 *
 * One commit can be saved while the next one is being filled: they share nothing but the
 * files, which belong to whoever saves.
 *
 * Internal to the store. Threads: one thread at a time for each commit, and for the files.
 */
#ifndef CN_STORE_SEGMENT_COMMIT_H
#define CN_STORE_SEGMENT_COMMIT_H

#include "base/bytes/cbor.h"
#include "base/error.h"
#include "base/files/compress.h"
#include "base/files/disk.h"
#include "base/text.h"
#include "store/index/row.h"

struct cn_words;

/* A file that is appended to. */
struct cn_store_append {
    int fd;       /* -1: not open */
    uint64_t len; /* of what is in the file */
    struct cn_text waiting;
};

struct cn_segment_files {
    const struct cn_disk *io;
    const char *dir; /* for messages */
    struct cn_store_append text, data, rows;
    struct cn_compressor *compressor, *text_compressor;
};

/* Where a chunk ends among the records and rows of its commit. */
struct cn_commit_chunk {
    size_t plain_end, row_end;
};

struct cn_store_commit {
    struct cn_segment_files *files; /* set when it is cut off from its segment */
    struct cn_cbor_out plain;       /* records, chunk after chunk */
    struct cn_store_row *rows;
    size_t row_count, row_capacity;
    struct cn_commit_chunk *chunks; /* that are complete */
    size_t chunk_count, chunk_capacity;
    struct cn_text words; /* the new ones, as cn_text_log_gather() writes them */
    uint32_t first_word, word_count;
};

/* Where the records of the chunk begin that is being filled. */
static inline size_t cn_commit_chunk_begin(const struct cn_store_commit *commit)
{
    return commit->chunk_count == 0 ? 0
                                    : commit->chunks[commit->chunk_count - 1].plain_end;
}

/* The records since the last chunk are a chunk, unless there are none. */
void cn_commit_end_chunk(struct cn_store_commit *commit);

/* Words from `first` on go with it. */
void cn_commit_add_words(struct cn_store_commit *commit, const struct cn_words *words,
                         uint32_t first);

/* Bytes that it holds, not compressed. */
uint64_t cn_commit_len(const struct cn_store_commit *commit);

/* Write it, and what waits in the files before it. Empty afterwards, with its memory kept; on
 * failure the files are as they were, if they can be. */
CN_CHECK bool cn_commit_save(struct cn_store_commit *commit,
                             struct cn_segment_files *files, struct cn_error *err);

void cn_commit_done(struct cn_store_commit *commit);
void cn_segment_files_close(struct cn_segment_files *files);

#endif
