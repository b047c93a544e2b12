/* Write meta.db.
 *
 * Sections are in the order of real files:
 *   General, IdNames, Metrics, Strings, Modules, Files, Functions, Context
 * The first three contain their strings; all others are in Strings.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_META_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_META_WRITER_H

#include "formats/hpctoolkit/v4/write/writing.h"

/* Also sets w->context_count. */
CN_CHECK bool cn_hpc_meta_write(struct cn_hpc_writing *w, struct cn_error *err);

/* The offsets of records that others point to. */
struct cn_hpc_meta_layout {
    uint64_t modules_off, files_off, functions_off; /* record 0 of each table */
    struct cn_hpc_strings strings;                  /* the Strings section */
};

/* The Metrics section, at the end of the file. */
CN_CHECK bool cn_hpc_metrics_write(struct cn_out *out, const struct cn_metrics *metrics,
                                   struct cn_error *err);

/* The Context section, at the end of the file. Sets w->context_count. */
CN_CHECK bool cn_hpc_contexts_write(struct cn_out *out, struct cn_hpc_writing *w,
                                    struct cn_hpc_meta_layout *layout,
                                    struct cn_error *err);

#endif
