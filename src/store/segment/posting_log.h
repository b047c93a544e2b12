/* The posting log of a store that is written to: blocks of postings, one after the other.
 *
 * When CN_POSTING_LOG_JOINED full blocks have been written, a block of all their rows follows,
 * which takes their place: a search looks into fewer blocks, and the others are never read.
 *
 * It is an index: the writer appends a block when one is full and when the store is closed,
 * never waits for the disk, and drops what a crash left behind. Readers use the blocks that are
 * whole and sound and read the traces of the other rows.
 *
 * Writing: cn_posting_log_open(), cn_posting_log_add() for every row, cn_posting_log_close().
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
    const struct cn_disk *disk; /* NULL when not open */
    int fd;
    uint64_t len;
    char *path;
    struct cn_postings postings;
    struct cn_text block;
    struct cn_text recent; /* the full blocks since the last joined one */
    unsigned recent_count;
};

enum { CN_POSTING_LOG_JOINED = 8 };

/* Go on with the log of the store in `dir`, which has `row_count` rows; made when there is none.
 * Everything that is not a sound block of these rows is cut off. */
CN_CHECK bool cn_posting_log_open(struct cn_posting_log *log, const struct cn_disk *disk,
                                  const char *dir, uint32_t row_count,
                                  struct cn_error *err);

/* The keys of the next row: the span at `node` of a trace whose rows were all numbered so far.
 * Writes a block when one is full. */
CN_CHECK bool cn_posting_log_add(struct cn_posting_log *log, uint32_t row,
                                 const struct cn_trace *trace, uint32_t node,
                                 struct cn_posting_words *words, struct cn_error *err);

/* Write what is not in a block yet. */
CN_CHECK bool cn_posting_log_flush(struct cn_posting_log *log, struct cn_error *err);

CN_CHECK bool cn_posting_log_close(struct cn_posting_log *log, struct cn_error *err);
void cn_posting_log_abandon(struct cn_posting_log *log); /* safe when never opened */

/* The sound blocks at the beginning of a log, in the order of their rows, none of which is
 * `row_count` or above or described twice: of two blocks the later one counts. `len` is how many
 * bytes they all take. The caller frees them. */
struct cn_posting_block *cn_posting_log_read(struct cn_bytes log, uint32_t row_count,
                                             size_t *count, uint64_t *len);

#endif
