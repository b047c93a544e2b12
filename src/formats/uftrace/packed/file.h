/* Packs files and directories: TID.dat becomes TID.zts.
 * Threads: any thread, on different files.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_FILE_H
#define CN_FORMATS_UFTRACE_PACKED_FILE_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/compress.h"

struct cn_progress;
struct cn_uft_packer;

/* Add records from the front of `rest`, which shrinks, until the chunk is full or all are
 * added. `rest` is TID.dat, damaged or not: bytes that are not a record are packed
 * verbatim, so unpacking gives the same bytes. */
void cn_uft_packer_fill(struct cn_uft_packer *packer, struct cn_bytes *rest,
                        bool is_big_endian);

/* Pack the bytes of TID.dat into a new file. */
CN_CHECK bool cn_uft_pack_file(struct cn_bytes records, bool is_big_endian,
                               enum cn_compression method, int level, const char *path,
                               struct cn_error *err);

/* Replace each TID.dat of a uftrace directory by TID.zts, on `workers` threads. A TID.dat
 * is removed when its TID.zts is complete. */
CN_CHECK bool cn_uft_pack_directory(const char *dir, bool is_big_endian, unsigned workers,
                                    const struct cn_progress *progress,
                                    struct cn_error *err);

#endif
