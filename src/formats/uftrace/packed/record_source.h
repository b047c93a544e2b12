/* Where the records of a task come from: TID.dat as it is mapped, or TID.zts unpacked chunk
 * by chunk. Either way the reader sees the bytes of TID.dat, in blocks:
 *
 *     cn_uft_records_init(&records, "1234.zts", mapped_bytes, is_big_endian, err)
 *     reader = cn_uft_record_reader_new(&records, cn_uft_records_find(&records, first_ns));
 *     while ((step = cn_uft_record_reader_next(reader, used_len, &block, err)) == CN_ITEM)
 *         used_len = ... decode block.bytes, whole records only ...
 *     cn_uft_record_reader_free(reader);
 *
 * A record whose end is not in the block is left unused: the next block begins with it. Data
 * that ends inside a record ends with a last block of which nothing can be used.
 *
 * Threads: struct cn_uft_records is immutable after open; each reader belongs to one thread
 * at a time.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_RECORD_SOURCE_H
#define CN_FORMATS_UFTRACE_PACKED_RECORD_SOURCE_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/chunk_file.h"
#include "model/step.h"

struct cn_uft_record_reader;

/* The records of one task. Name and bytes are borrowed. */
struct cn_uft_records {
    const char *name; /* "1234.dat" or "1234.zts" */
    struct cn_bytes bytes;
    struct cn_chunk_file chunks; /* of a packed file */
    bool is_packed;
    bool is_big_endian; /* the records, not the file around packed ones */
    bool is_mapped;     /* false unless set: readers give back pages of `bytes` */
};

/* Borrowed until the next call to the reader. */
struct cn_uft_record_block {
    struct cn_bytes bytes;
    uint64_t off;        /* of the first byte, in TID.dat */
    uint64_t stored_off; /* where it is stored: the same, or of the packed chunk */
    /* In the first block of a packed chunk, else NULL: the entries of functions that are open
     * at the start of the chunk, outermost first, as the second word of a record without
     * depth; 0 where unknown. */
    const uint64_t *open_words;
    uint32_t open_count;
};

enum cn_uft_task_file { CN_UFT_NO_TASK, CN_UFT_PLAIN_TASK, CN_UFT_PACKED_TASK };

/* Whether a file name is "TID.dat" or "TID.zts", and which task that is. */
enum cn_uft_task_file cn_uft_task_file(const char *name, uint32_t *tid);

/* Records in a file of a recording, packed if the name says so. Fails when a packed file has
 * no header that can be understood. */
CN_CHECK bool cn_uft_records_init(struct cn_uft_records *records, const char *name,
                                  struct cn_bytes bytes, bool is_big_endian,
                                  struct cn_error *err);

/* Where in the file to begin to see all records from a time on: 0 for a plain file, a chunk
 * for a packed one. Looks at the start of each chunk only. */
uint64_t cn_uft_records_find(const struct cn_uft_records *records, uint64_t time_ns);

/* All records from `stored_off` on, which is 0 or where a record or packed chunk begins. The
 * records must outlive the reader. */
struct cn_uft_record_reader *
cn_uft_record_reader_new(const struct cn_uft_records *records, uint64_t stored_off);

/* The next block. `used_len` bytes of the one before were used; 0 on the first call. Fails
 * at damage, naming the file and the offset; everything before it was delivered. A call after
 * the failure goes on behind the damage. */
CN_CHECK enum cn_step cn_uft_record_reader_next(struct cn_uft_record_reader *reader,
                                                size_t used_len,
                                                struct cn_uft_record_block *out,
                                                struct cn_error *err);
void cn_uft_record_reader_free(struct cn_uft_record_reader *reader); /* NULL is fine */

#endif
