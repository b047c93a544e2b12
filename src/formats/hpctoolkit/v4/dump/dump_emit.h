/* Structures on their way to `cairn dump`: counted, so that a file whose structures
 * overlap ends the dump instead of multiplying it.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_DUMP_DUMP_EMIT_H
#define CN_FORMATS_HPCTOOLKIT_V4_DUMP_DUMP_EMIT_H

#include "formats/hpctoolkit/v4/read/sections.h"
#include "model/format.h"

struct cn_hpc_dump {
    const char *file; /* "meta.db" */
    struct cn_bytes bytes;
    cn_dump_fn emit;
    void *arg;
    uint64_t emitted_len;
    bool is_stopped; /* the receiver has seen enough */
};

/* Emit `len` bytes at `off`, laid out as `layout` says. False at damage, and when
 * the receiver asked to stop. */
CN_CHECK bool cn_hpc_dump_item(struct cn_hpc_dump *dump,
                               const struct cn_record_layout *layout, uint64_t off,
                               uint64_t len, uint64_t index, const char *text,
                               struct cn_error *err);

/* Emit a whole array of records. */
CN_CHECK bool cn_hpc_dump_table(struct cn_hpc_dump *dump,
                                const struct cn_record_layout *layout,
                                const struct cn_hpc_table *table, struct cn_error *err);

/* The contents of each file behind its header. */
CN_CHECK bool cn_hpc_dump_meta(struct cn_hpc_dump *dump,
                               const struct cn_hpc_sections *sections,
                               struct cn_error *err);
CN_CHECK bool cn_hpc_dump_profiles(struct cn_hpc_dump *dump, struct cn_error *err);
CN_CHECK bool cn_hpc_dump_cct(struct cn_hpc_dump *dump, struct cn_error *err);
CN_CHECK bool cn_hpc_dump_traces(struct cn_hpc_dump *dump, struct cn_error *err);

#endif
