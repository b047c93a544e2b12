/* An open segment.
 *
 * Internal to the store: others use store/segment/reader.h.
 * Threads: any thread; words and chunks are opened once, when first needed.
 */
#ifndef CN_STORE_SEGMENT_SEGMENT_H
#define CN_STORE_SEGMENT_SEGMENT_H

#include "base/files/chunks.h"
#include "base/files/file.h"
#include "base/run/once.h"
#include "base/text.h"
#include "model/traces/words.h"
#include "store/bucket/remote_segment.h"
#include "store/index/columns.h"
#include "store/index/text_file.h"
#include "store/segment/config.h"
#include "store/segment/reader.h"

/* Identifies the state of a directory: creating or renaming a file in it changes its time. */
struct cn_segment_identity {
    uint64_t device, inode, changed_ns;
};

struct cn_segment {
    uint32_t number;
    struct cn_remote_segment *remote; /* NULL: in a local directory */
    unsigned user_count;              /* stores that share it, minus one */
    struct cn_segment_identity identity;
    char *dir;
    struct cn_store_config config;
    struct cn_file data, rows_log, text_log;
    struct cn_block_file meta;
    struct cn_text_file text_file;
    struct cn_chunk_file chunks;
    struct cn_columns columns;
    struct cn_words words;  /* of text.log, unless has_text_file */
    struct cn_text rebuilt; /* rows made from traces.dat */
    uint32_t logged_rows;   /* in meta.log or meta.dat; others are rebuilt */
    bool has_meta, has_text_file, is_damaged;
    struct cn_error loss;     /* the first damage that costs data */
    struct cn_once rows_once; /* of a remote segment: its rows are opened when needed */
    struct cn_once words_once, chunks_once;
};

/* Fails only if the directory does not exist. */
CN_CHECK bool cn_segment_open(struct cn_segment **out, const char *base, uint32_t number,
                              struct cn_error *err);

/* A segment in object storage, which is taken over. `dir` names it in messages. Nothing is fetched
 * yet. */
CN_CHECK bool cn_segment_open_remote(struct cn_segment **out,
                                     struct cn_remote_segment *remote, const char *dir,
                                     struct cn_error *err);
void cn_segment_close(struct cn_segment *segment); /* NULL is fine */

/* Share a segment with one more store: it is closed by the last one. Stores that share segments
 * are opened and closed by one thread at a time. NULL if it may have changed. */
struct cn_segment *cn_segment_share(struct cn_segment *segment);

/* Where its files are read from; NULL: its directory. */
struct cn_file_source *cn_segment_source(const struct cn_segment *segment);

/* The chunks of its traces.dat. */
const struct cn_chunk_file *cn_segment_chunks(const struct cn_segment *segment);

#endif
