/* The structures of files, for `cairn dump`.
 *
 * Structures are counted, so that a file whose structures overlap ends the dump instead of
 * multiplying it. Functions return false at damage, and when the receiver asked to stop:
 * then `is_stopped` is set and the dump is a success.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_DUMP_H

#include "model/format.h"

struct cn_hpc_dump {
    cn_dump_fn emit;
    void *arg;
    const char *file; /* "meta.db" */
    struct cn_bytes bytes;
    uint64_t emitted_len;
    bool is_stopped; /* the receiver has seen enough */
};

/* Emit the structure at `off`; `text` is the string it points at, or NULL. */
CN_CHECK bool cn_hpc_dump_item(struct cn_hpc_dump *dump,
                               const struct cn_record_layout *layout, uint64_t off,
                               uint64_t index, const char *text, struct cn_error *err);

/* Emit `count` structures that follow each other. */
CN_CHECK bool cn_hpc_dump_records(struct cn_hpc_dump *dump,
                                  const struct cn_record_layout *layout, uint64_t off,
                                  uint64_t count, struct cn_error *err);

/* Emit the structures in a part of the file; an empty one may be anywhere. */
CN_CHECK bool cn_hpc_dump_part(struct cn_hpc_dump *dump,
                               const struct cn_record_layout *layout,
                               struct cn_bytes part, struct cn_error *err);

/* The structures of a file. Messages do not name it. */
typedef bool (*cn_hpc_dump_fn)(struct cn_hpc_dump *dump, struct cn_error *err);

/* A file of a format. */
struct cn_hpc_dump_kind {
    const char *name;            /* "meta.db" */
    bool (*is)(struct cn_bytes); /* any file may have another name */
    cn_hpc_dump_fn contents;
    bool is_optional; /* it may be missing */
};

/* Emit the contents of a file in memory. */
CN_CHECK bool cn_hpc_dump_bytes(const char *name, cn_hpc_dump_fn contents,
                                struct cn_bytes file, cn_dump_fn emit, void *arg,
                                struct cn_error *err);

/* Map dir/name and emit its contents, unless the receiver asked to stop. Messages name the
 * file. */
CN_CHECK bool cn_hpc_dump_file(struct cn_hpc_dump *dump, const char *dir,
                               const char *name, bool is_optional,
                               cn_hpc_dump_fn contents, struct cn_error *err);

/* Emit all files of the directory `path`, in this order, or the file `path`. */
CN_CHECK bool cn_hpc_dump_path(const char *path, const struct cn_hpc_dump_kind *kinds,
                               size_t count, cn_dump_fn emit, void *arg,
                               struct cn_error *err);

#endif
