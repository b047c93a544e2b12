/* The structures of a database of any generation, for `cairn dump`.
 *
 * Structures are counted, so that a file whose structures overlap ends the dump instead of
 * multiplying it. Functions return false at damage, and when the receiver asked to stop:
 * then `is_stopped` is set and the dump is a success.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_DUMP_H

#include "formats/hpctoolkit/values/planes_reader.h"
#include "formats/hpctoolkit/values/traces_reader.h"
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

/* Emit an array of records. With `field` ("name_off"), each with the string in `strings`
 * that this field points at; 0 points at nothing. */
CN_CHECK bool cn_hpc_dump_table(struct cn_hpc_dump *dump,
                                const struct cn_record_layout *layout,
                                const struct cn_hpc_table *table,
                                struct cn_hpc_span strings, const char *field,
                                struct cn_error *err);

/* Emit the records of profile.db or cct.db, and for each its identity, index and values. */
CN_CHECK bool cn_hpc_dump_planes(struct cn_hpc_dump *dump,
                                 const struct cn_record_layout *layout,
                                 const struct cn_hpc_planes *planes,
                                 struct cn_error *err);

/* Emit the records of trace.db, and for each its samples. */
CN_CHECK bool cn_hpc_dump_traces(struct cn_hpc_dump *dump,
                                 const struct cn_record_layout *layout,
                                 const struct cn_record_layout *sample,
                                 const struct cn_hpc_traces *traces,
                                 struct cn_error *err);

/* Map dir/name and emit its contents, unless the receiver asked to stop. Messages name the
 * file; an optional one may be missing. */
typedef bool (*cn_hpc_dump_fn)(struct cn_hpc_dump *dump, struct cn_error *err);
CN_CHECK bool cn_hpc_dump_file(struct cn_hpc_dump *dump, const char *dir,
                               const char *name, bool is_optional,
                               cn_hpc_dump_fn contents, struct cn_error *err);

#endif
