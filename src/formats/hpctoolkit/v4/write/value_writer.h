/* Write profile.db, cct.db and trace.db, each into a file that cn_hpc_file_begin() has begun.
 *
 * Where processes work together, each writes its own profiles, timelines and ranges of
 * contexts; the first one writes the rest and ends the files.
 * Threads: each function works on w->workers threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_VALUE_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_VALUE_WRITER_H

#include "formats/hpctoolkit/v4/write/writing.h"
#include "formats/hpctoolkit/values/trace_lines.h"

/* The length of the identities of all profiles: w->tuples_len. Fails if there is no profile. */
CN_CHECK bool cn_hpc_tuples_measure(struct cn_database *db, uint64_t *len,
                                    struct cn_error *err);

/* Fails on a plane with two values for the same context and metric. A plane that is not
 * sorted is sorted in memory. */
CN_CHECK bool cn_hpc_profiles_write(const struct cn_hpc_writing *w, struct cn_out *out,
                                    struct cn_error *err);

/* Needs w->context_count. The file ends when `out->end_off` is the end of all blocks. */
CN_CHECK bool cn_hpc_cct_write(const struct cn_hpc_writing *w, struct cn_out *out,
                               struct cn_error *err);
CN_CHECK bool cn_hpc_cct_end(const struct cn_hpc_writing *w, struct cn_out *out,
                             struct cn_error *err);

/* The steps before and after processes combine the totals and lengths of their lines. Fails if
 * time runs backwards. */
CN_CHECK bool cn_hpc_traces_encode(const struct cn_hpc_writing *w,
                                   struct cn_hpc_trace_lines *lines, struct cn_out *out,
                                   struct cn_error *err);
CN_CHECK bool cn_hpc_traces_end(const struct cn_hpc_writing *w,
                                struct cn_hpc_trace_lines *lines, struct cn_out *out,
                                struct cn_error *err);

#endif
