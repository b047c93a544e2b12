/* The records of contexts in meta.db.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_CONTEXT_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_CONTEXT_READER_H

#include "formats/hpctoolkit/v4/read/meta_reader.h"

/* The record of a context in either layout, and the flex words after it. `rest` is the
 * part of its list that starts at the record. */
CN_CHECK bool cn_hpc_context_record(const struct cn_hpc_meta *meta, struct cn_bytes rest,
                                    struct cn_hpc_context *out, struct cn_bytes *flex,
                                    struct cn_error *err);

#endif
