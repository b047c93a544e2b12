/* What the writers of the three files share: the frame of a file, the job.
 * Threads: one thread at a time for each file.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_FILE_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_FILE_WRITER_H

#include "base/files/out.h"
#include "formats/hpctoolkit/sparse/frame.h"
#include "formats/hpctoolkit/sparse/writer.h"
#include "formats/hpctoolkit/values/job.h"
#include "model/contexts/database.h"

/* The job for the engines in values/. */
static inline struct cn_hpc_value_job
cn_hpc_sparse_job(const struct cn_hpc_sparse_writing *w, uint32_t context_count)
{
    return (struct cn_hpc_value_job){.db = w->db,
                                     .options = w->options,
                                     .dir = w->dir,
                                     .workers = w->workers,
                                     .context_count = context_count};
}

/* Create a file of this kind with room for its header area and `count` records. */
CN_CHECK bool cn_hpc_sparse_file_begin(struct cn_out *out,
                                       const struct cn_hpc_sparse_writing *w,
                                       const struct cn_hpc_sparse_kind *kind,
                                       uint32_t count, struct cn_error *err);

/* Encode the fields that all headers have into a header of kind->header_len bytes. */
void cn_hpc_sparse_header_fill(const struct cn_hpc_sparse_kind *kind, uint8_t major,
                               uint32_t count, uint8_t *header);

/* Write the header and the footer, if the kind has one; close the file. */
CN_CHECK bool cn_hpc_sparse_file_end(struct cn_out *out,
                                     const struct cn_hpc_sparse_kind *kind,
                                     const uint8_t *header, struct cn_error *err);

CN_CHECK bool cn_hpc_sparse_profiles_write(const struct cn_hpc_sparse_writing *w,
                                           uint32_t context_count, struct cn_error *err);
CN_CHECK bool cn_hpc_sparse_cct_write(const struct cn_hpc_sparse_writing *w,
                                      uint32_t context_count, struct cn_error *err);
CN_CHECK bool cn_hpc_sparse_traces_write(const struct cn_hpc_sparse_writing *w,
                                         struct cn_error *err);

#endif
