/* The posting log of an open segment: a sequence of blocks of postings.
 *
 * The writer appends a block when it is full, and when the segment is closed. A commit appends a block of the
 * rows that are in none, if they are many; the full block with the same rows replaces it. Blocks are not
 * synced, and torn ones are dropped after a crash. Readers use the sound blocks and read the traces of all
 * other rows.
 *
 * Writing: cn_posting_log_open(), cn_posting_log_add() for every row, cn_posting_log_commit(),
 * cn_posting_log_close().
 * Reading: cn_posting_log_read() on the bytes of the file.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEGMENT_POSTING_LOG_H
#define CN_STORE_SEGMENT_POSTING_LOG_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/disk.h"
#include "base/text.h"
#include "store/index/posting_block.h"
#include "store/index/posting_trace.h"
#include "store/index/postings.h"

#define CN_POSTING_LOG_NAME "post.log"

struct cn_posting_log {
    const struct cn_disk *disk; /* NULL if not open */
    int fd;
    uint64_t len;
    char *path;
    struct cn_postings postings;
    struct cn_text block;
    uint32_t written_rows; /* those before it are in blocks */
};

/* A commit writes a block of so many rows. */
enum { CN_POSTING_LOG_ROWS = 512 };

/* Open or create the log of the segment in `dir`, which has `row_count` rows. Everything after
 * the sound blocks of these rows is cut off. */
CN_CHECK bool cn_posting_log_open(struct cn_posting_log *log, const struct cn_disk *disk,
                                  const char *dir, uint32_t row_count,
                                  struct cn_error *err);

/* Add the keys of the next row: the span at `node` of a trace. Writes a block when it is full. */
CN_CHECK bool cn_posting_log_add(struct cn_posting_log *log, uint32_t row,
                                 const struct cn_trace *trace, uint32_t node,
                                 struct cn_posting_words *words, struct cn_error *err);

/* The rows so far are committed. */
CN_CHECK bool cn_posting_log_commit(struct cn_posting_log *log, struct cn_error *err);

/* Write the incomplete block and close. */
CN_CHECK bool cn_posting_log_close(struct cn_posting_log *log, struct cn_error *err);
void cn_posting_log_abandon(struct cn_posting_log *log); /* safe when never opened */

/* The sound blocks at the beginning of a log, in the order of their rows, which are below
 * `row_count`. Of blocks with the same rows the later one is returned. `len` receives the bytes of
 * all of them. The caller frees the list. */
struct cn_posting_block *cn_posting_log_read(struct cn_bytes log, uint32_t row_count,
                                             size_t *count, uint64_t *len);

#endif
