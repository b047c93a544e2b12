/* Where the records of a task come from: TID.dat as it is mapped, or TID.zts unpacked chunk
 * by chunk. Either way the reader sees the bytes of TID.dat, in blocks:
 *
 *     cn_uft_records_open(&records, dir, tid, is_big_endian, err)
 *     reader = cn_uft_record_reader_new(&records, range);
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
#ifndef CN_FORMATS_UFTRACE_RECORD_SOURCE_H
#define CN_FORMATS_UFTRACE_RECORD_SOURCE_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "model/step.h"

struct cn_time_range;
struct cn_uft_record_reader;

/* The records of one task. Zero-initialised means "not open". */
struct cn_uft_records {
    struct cn_file file; /* TID.dat or TID.zts */
    bool is_packed;
    bool is_big_endian; /* the records, not the file around packed ones */
    char name[24];      /* of the file in its directory */
};

/* Borrowed until the next call to the reader. */
struct cn_uft_record_block {
    struct cn_bytes bytes;
    uint64_t off;        /* of the first byte, in TID.dat */
    uint64_t stored_off; /* where it is stored: the same, or of the packed chunk */
};

/* Open TID.dat or, where there is none, TID.zts. */
CN_CHECK bool cn_uft_records_open(struct cn_uft_records *records, const char *dir,
                                  uint32_t tid, bool is_big_endian, struct cn_error *err);
void cn_uft_records_close(struct cn_uft_records *records);

/* Blocks that together hold every record of the time range, and perhaps others before and
 * after it. The records must outlive the reader. */
struct cn_uft_record_reader *
cn_uft_record_reader_new(const struct cn_uft_records *records,
                         struct cn_time_range range);

/* The next block. `used_len` bytes of the one before were used; 0 on the first call. Fails
 * at damage, naming the file and the offset; everything before it was delivered. A call after
 * the failure goes on behind the damage. */
CN_CHECK enum cn_step cn_uft_record_reader_next(struct cn_uft_record_reader *reader,
                                                size_t used_len,
                                                struct cn_uft_record_block *out,
                                                struct cn_error *err);
void cn_uft_record_reader_free(struct cn_uft_record_reader *reader); /* NULL is fine */

#endif
