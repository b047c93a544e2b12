/* The postings of a sealed segment: post.dat, one block (store/index/posting_block.h) for all rows.
 *
 * post.dat is a block file (base/files/blocks.h) with the sections
 *   1 lists   2 entries   3 samples   4 u32 rows, u32 keys
 * Threads: immutable after open.
 */
#ifndef CN_STORE_INDEX_POSTING_FILE_H
#define CN_STORE_INDEX_POSTING_FILE_H

#include "base/files/blocks.h"
#include "store/index/posting_block.h"

#define CN_POSTING_FILE_NAME  "post.dat"
#define CN_POSTING_FILE_MAGIC UINT64_C(0x54534f5054534e43) /* "CNSTPOST" */
enum {
    CN_POSTING_FILE_VERSION = 3,
    CN_POSTING_FILE_VARINTS = 2, /* the version without CN_POSTING_STEPS */
    CN_POSTING_FILE_NESTED =
        1, /* the version whose rows also have keys of spans inside */
};

struct cn_posting_file {
    struct cn_block_file file;
    struct cn_posting_block block;
};

/* Of a source or, if that is NULL, in the folder of a segment. The open file contains pointers to
 * itself: do not move it. */
CN_CHECK bool cn_posting_file_open(struct cn_posting_file *file,
                                   struct cn_file_source *source, const char *dir,
                                   struct cn_error *err);
void cn_posting_file_close(struct cn_posting_file *file); /* safe when never opened */

/* Merge blocks that cover rows 0 to row_count - 1, in the order of their rows. In the version
 * CN_POSTING_FILE_VARINTS or a later one; nested blocks stay as they are. */
CN_CHECK bool cn_posting_file_write(const struct cn_disk *disk, const char *dir,
                                    const struct cn_posting_block *blocks,
                                    size_t block_count, uint32_t row_count,
                                    unsigned version, struct cn_error *err);

#endif
