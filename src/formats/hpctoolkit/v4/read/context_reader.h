/* The context tree of meta.db, listed one family at a time.
 *
 * A context is found again by its offset in the file; that of an entry point has
 * CN_HPC_AT_ENTRY added, because entry points are records of another kind.
 * Threads: any thread, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_CONTEXT_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_CONTEXT_READER_H

#include "formats/hpctoolkit/v4/read/meta_reader.h"
#include "model/contexts/database.h"

#define CN_HPC_AT_ENTRY (UINT64_C(1) << 63)

/* The entry points (in draft A the root contexts) when `parent` is NULL, else its
 * children. */
CN_CHECK bool cn_hpc_contexts_begin(const struct cn_hpc_meta *meta,
                                    const struct cn_context *parent,
                                    struct cn_context_cursor *out, struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_contexts_next(const struct cn_hpc_meta *meta,
                                           struct cn_context_cursor *cursor,
                                           struct cn_context *out, struct cn_error *err);
CN_CHECK bool cn_hpc_context_at(const struct cn_hpc_meta *meta, uint64_t at,
                                struct cn_context *out, struct cn_error *err);

/* The record of a context, whatever layout holds it, and the flex words behind it.
 * `rest` is the part of its list that starts at the record. */
CN_CHECK bool cn_hpc_context_record(const struct cn_hpc_meta *meta, struct cn_bytes rest,
                                    struct cn_hpc_context *out, struct cn_bytes *flex,
                                    struct cn_error *err);

#endif
