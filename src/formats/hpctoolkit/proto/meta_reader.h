/* The prototype's meta.db: its sections, and the tables of modules, files and functions.
 *
 * Contexts are decoded by context_reader.h, metrics by metrics_reader.h.
 * Threads: immutable after open; strings and tables borrow the file's bytes or the arena.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_META_READER_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_META_READER_H

#include "base/arena.h"
#include "base/error.h"
#include "formats/hpctoolkit/proto/format.h"
#include "formats/hpctoolkit/table.h"
#include "model/contexts/context.h"
#include "model/contexts/identity.h"

struct cn_hpc_proto_meta {
    struct cn_bytes file; /* without the footer */
    bool has_footer;
    bool is_unfinished; /* the file stops after the metrics */
    uint16_t section_count;
    struct cn_hpc_span sections[CN_HPC_PROTO_SECTION_COUNT]; /* kinds: may be empty */
    struct cn_hpc_table modules, files, functions;
    struct cn_hpc_span roots;
    const char **copied_paths; /* of copied files, relative to the database; else NULL */
};

extern const char *const cn_hpc_proto_section_names[CN_HPC_PROTO_SECTION_COUNT];

/* True if the bytes start like a prototype's meta.db. */
bool cn_hpc_proto_meta_is(struct cn_bytes file);

/* Read header, sections and footer, but not the contents of sections. */
CN_CHECK bool cn_hpc_proto_frame_open(struct cn_bytes file, struct cn_hpc_proto_meta *out,
                                      struct cn_error *err);

/* Read all of it. Paths of copied files live in the arena. */
CN_CHECK bool cn_hpc_proto_meta_open(struct cn_bytes file, struct cn_arena *arena,
                                     struct cn_hpc_proto_meta *out, struct cn_error *err);

/* Title, description ("" if the layout has none) and kinds. */
CN_CHECK bool cn_hpc_proto_general(const struct cn_hpc_proto_meta *meta,
                                   struct cn_arena *arena, const char **title,
                                   const char **description, struct cn_kinds *kinds,
                                   struct cn_error *err);

/* The table in a section of modules, files or functions. */
CN_CHECK bool cn_hpc_proto_table_open(struct cn_hpc_span section, const char *what,
                                      uint32_t least, struct cn_hpc_table *out,
                                      struct cn_error *err);

/* One record of a table; the index must exist. */
CN_CHECK bool cn_hpc_proto_module_at(const struct cn_hpc_proto_meta *meta, uint32_t index,
                                     struct cn_module *out, struct cn_error *err);
CN_CHECK bool cn_hpc_proto_file_at(const struct cn_hpc_proto_meta *meta, uint32_t index,
                                   struct cn_source_file *out, struct cn_error *err);
CN_CHECK bool cn_hpc_proto_function_at(const struct cn_hpc_proto_meta *meta,
                                       uint32_t index, struct cn_function *out,
                                       struct cn_error *err);

#endif
