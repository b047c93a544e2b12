/* Reads the records of a task in blocks of TID.dat, which is one block where it is mapped,
 * or unpacked from TID.zts:
 *
 *     reader = cn_uft_record_reader_new(&records, cn_uft_records_find(&records, first_ns));
 *     while ((step = cn_uft_record_reader_next(reader, used_len, &block, &err)) == CN_ITEM)
 *         used_len = decode_whole_records(block.bytes);
 *     cn_uft_record_reader_free(reader);
 *
 * A record that does not end in the block is left unused: the next block begins with it.
 * Data that ends inside a record ends with a block of which nothing can be used.
 * Threads: struct cn_uft_records is immutable after cn_uft_records_init(); one thread at a
 * time for each reader.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_RECORD_SOURCE_H
#define CN_FORMATS_UFTRACE_PACKED_RECORD_SOURCE_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/chunks.h"
#include "model/step.h"

struct cn_uft_record_reader;

/* The records of one task. Name and content are borrowed. */
struct cn_uft_records {
    const char *name; /* "1234.dat" or "1234.zts" */
    struct cn_content content;
    struct cn_chunk_file chunks; /* if packed */
    bool is_packed;
    bool is_big_endian; /* of the records; packed files are always little endian */
    bool is_mapped;     /* set by the caller: readers may drop pages of it */
};

/* Borrowed until the next call to the reader. */
struct cn_uft_record_block {
    struct cn_bytes bytes;
    uint64_t off;        /* in TID.dat */
    uint64_t stored_off; /* in the file: the same, or the offset of the packed chunk */
    /* In the first block of a packed chunk, else NULL: the entry words, without depth, of
     * the functions that are open at its start, outermost first; 0 where unknown. */
    const uint64_t *open_words;
    uint32_t open_count;
};

enum cn_uft_task_file { CN_UFT_NO_TASK, CN_UFT_PLAIN_TASK, CN_UFT_PACKED_TASK };

/* Parse a file name, "TID.dat" or "TID.zts". */
enum cn_uft_task_file cn_uft_task_file(const char *name, uint32_t *tid);

/* Init the records of a file; the name says whether they are packed. Fails when the
 * header of a packed file is invalid. */
CN_CHECK bool cn_uft_records_init(struct cn_uft_records *records, const char *name,
                                  struct cn_content content, bool is_big_endian,
                                  struct cn_error *err);

/* Whether a reader returns all records as one block. */
static inline bool cn_uft_records_are_one_block(const struct cn_uft_records *records)
{
    return !records->is_packed && !records->content.ranges;
}

/* The offset in the file from which a reader sees all records since `time_ns`: 0 for a
 * plain file, that of a chunk for a packed one. Reads the leads of chunks only. */
uint64_t cn_uft_records_find(const struct cn_uft_records *records, uint64_t time_ns);

/* A reader of the records from `stored_off` on: 0, or the offset of a record or packed
 * chunk. The records must outlive the reader. */
struct cn_uft_record_reader *
cn_uft_record_reader_new(const struct cn_uft_records *records, uint64_t stored_off);

/* The next block. `used_len` is how many bytes of the last block were used; 0 on the
 * first call. Fails at damage, after all blocks before it; the next call continues after
 * the damage. */
CN_CHECK enum cn_step cn_uft_record_reader_next(struct cn_uft_record_reader *reader,
                                                size_t used_len,
                                                struct cn_uft_record_block *out,
                                                struct cn_error *err);
void cn_uft_record_reader_free(struct cn_uft_record_reader *reader); /* NULL is fine */

#endif
