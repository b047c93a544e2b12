/* Every structure of the older value files, in the order in which they refer to each
 * other, for `cairn dump`.
 *
 * Structures are counted, so that a file whose structures overlap ends the dump
 * instead of multiplying it.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_DUMP_H

#include "formats/hpctoolkit/sparse/frame.h"
#include "model/format.h"

struct cn_hpc_sparse_dump {
    const char *file; /* "profile.db" */
    struct cn_bytes bytes;
    cn_dump_fn emit;
    void *arg;
    uint64_t emitted_len;
    bool is_stopped; /* the receiver has seen enough */
};

/* Emit the bytes at `off`, laid out as `layout` says. False at damage, and when the
 * receiver asked to stop. */
CN_CHECK bool cn_hpc_sparse_dump_item(struct cn_hpc_sparse_dump *dump,
                                      const struct cn_record_layout *layout, uint64_t off,
                                      uint64_t index, const char *text,
                                      struct cn_error *err);

/* Emit `count` records of layout->size bytes. */
CN_CHECK bool cn_hpc_sparse_dump_records(struct cn_hpc_sparse_dump *dump,
                                         const struct cn_record_layout *layout,
                                         uint64_t off, uint64_t count,
                                         struct cn_error *err);

/* The structures of one file of the given kind. A receiver that stops it makes it
 * succeed; *is_stopped tells. Messages do not name the file. */
CN_CHECK bool cn_hpc_sparse_dump_bytes(const struct cn_hpc_sparse_kind *kind,
                                       struct cn_bytes file, cn_dump_fn emit, void *arg,
                                       bool *is_stopped, struct cn_error *err);

/* The three files of a directory, of which only profile.db must be there. */
CN_CHECK bool cn_hpc_sparse_dump_directory(const char *dir, cn_dump_fn emit, void *arg,
                                           struct cn_error *err);

#endif
