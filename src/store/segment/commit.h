/* A commit, and the files of a segment that it is saved to.
 *
 * A commit collects added traces: plain records in chunks, the rows that point to them, and new
 * words. Saving compresses and writes them in an order that makes a crash harmless: words, synced;
 * chunks, synced; then rows, not synced: rows that a power failure takes are made again from the
 * chunks when the segment is opened.
 *
 * One commit can be saved while the next one is filled: they share only the files, which belong
 * to the thread that saves.
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
struct cn_zorka_columns;
struct cn_zorka_packer;

/* A file that is appended to. */
struct cn_store_append {
    int fd;                 /* -1: not open */
    uint64_t len;           /* of the file */
    struct cn_text waiting; /* to be appended */
};

struct cn_segment_files {
    const struct cn_disk *io;
    const char *dir; /* for messages */
    struct cn_store_append text, data, rows;
    struct cn_compressor *compressor, *text_compressor;
    struct cn_zorka_packer *packer; /* NULL: chunks are only compressed */
};

/* The end of a chunk in the records and rows of its commit. */
struct cn_commit_chunk {
    size_t plain_end, row_end;
};

struct cn_store_commit {
    struct cn_segment_files *files; /* set when it is cut from its segment */
    struct cn_cbor_out plain;       /* records, chunk after chunk */
    struct cn_store_row *rows;
    size_t row_count, row_capacity;
    struct cn_commit_chunk *chunks; /* the complete ones */
    size_t chunk_count, chunk_capacity;
    struct cn_zorka_columns **columns; /* by chunk, if chunks are packed */
    size_t column_count, column_capacity;
    struct cn_text words; /* new ones, in the form of cn_text_log_gather() */
    uint32_t first_word, word_count;
};

/* Where the records of the incomplete chunk begin. */
static inline size_t cn_commit_chunk_begin(const struct cn_store_commit *commit)
{
    return commit->chunk_count == 0 ? 0
                                    : commit->chunks[commit->chunk_count - 1].plain_end;
}

/* The columns of the incomplete chunk, for chunks that are packed: ask before each record is
 * added to `plain`, and add it to them, too. */
struct cn_zorka_columns *cn_commit_columns(struct cn_store_commit *commit);

/* Complete the chunk, if it has records. */
void cn_commit_end_chunk(struct cn_store_commit *commit);

/* Add the words from `first` on. */
void cn_commit_add_words(struct cn_store_commit *commit, const struct cn_words *words,
                         uint32_t first);

/* Bytes of its content, uncompressed. */
uint64_t cn_commit_len(const struct cn_store_commit *commit);

/* Append the commit, after anything that waits, to the files. It is empty afterwards and keeps its
 * memory. A failure truncates the files to their previous length, if possible. */
CN_CHECK bool cn_commit_save(struct cn_store_commit *commit,
                             struct cn_segment_files *files, struct cn_error *err);

void cn_commit_done(struct cn_store_commit *commit);
void cn_segment_files_close(struct cn_segment_files *files);

#endif
