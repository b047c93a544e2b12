/* meta.db: its sections, and the tables of modules, files and functions.
 *
 * Opening costs the same for tables of any size. Contexts are decoded by context_reader.h,
 * metrics by metrics_reader.h.
 * Threads: immutable after open; strings and tables borrow the file's bytes.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_META_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_META_READER_H

#include "formats/hpctoolkit/v4/read/sections.h"
#include "model/contexts/context.h"

struct cn_arena;
struct cn_kinds;

struct cn_hpc_meta {
    struct cn_hpc_sections sections;
    struct cn_hpc_table modules, files, functions;
    struct cn_hpc_table entries; /* empty in a draft without entry points */
    struct cn_hpc_span roots;    /* of such a draft, otherwise empty */
    bool is_draft;               /* draft A: nested metrics, no entry points */
};

CN_CHECK bool cn_hpc_meta_open(struct cn_bytes file, struct cn_hpc_meta *out,
                               struct cn_error *err);

/* The table in a section of modules, files or functions. */
CN_CHECK bool cn_hpc_meta_table(struct cn_hpc_span section, const char *what,
                                uint64_t least, struct cn_hpc_table *out,
                                struct cn_error *err);

/* Set `*out` if the Metrics section has the layout of draft A. */
CN_CHECK bool cn_hpc_meta_is_draft(const struct cn_hpc_sections *sections, bool *out,
                                   struct cn_error *err);

CN_CHECK bool cn_hpc_meta_title(const struct cn_hpc_meta *meta, const char **title,
                                const char **description, struct cn_error *err);

/* The list of names lives in the arena. */
CN_CHECK bool cn_hpc_meta_kinds(const struct cn_hpc_meta *meta, struct cn_arena *arena,
                                struct cn_kinds *out, struct cn_error *err);

/* One record of a table; the index must exist. */
CN_CHECK bool cn_hpc_meta_module(const struct cn_hpc_meta *meta, uint32_t index,
                                 struct cn_module *out, struct cn_error *err);
CN_CHECK bool cn_hpc_meta_file(const struct cn_hpc_meta *meta, uint32_t index,
                               struct cn_source_file *out, struct cn_error *err);
CN_CHECK bool cn_hpc_meta_function(const struct cn_hpc_meta *meta, uint32_t index,
                                   struct cn_function *out, struct cn_error *err);

#endif
