/* The frame of the three files: magic, version, an array of records, a footer.
 *
 * Messages do not name the file.
 * Threads: immutable after open; borrows the file's bytes.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_FRAME_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_FRAME_H

#include "base/error.h"
#include "base/files/content.h"
#include "formats/hpctoolkit/sparse/format.h"
#include "formats/hpctoolkit/table.h"

/* What differs between the files. */
struct cn_hpc_sparse_kind {
    const char *name; /* "profile.db" */
    const char *magic, *early_magic;
    const char *footer, *swapped_footer; /* NULL: the file has none */
    const char *records;                 /* "profiles" */
    uint16_t section_count;
    uint32_t header_len, record_len;
};

extern const struct cn_hpc_sparse_kind cn_hpc_sparse_profile_kind, cn_hpc_sparse_cct_kind,
    cn_hpc_sparse_trace_kind;

enum { CN_HPC_SPARSE_KIND_COUNT = 3 };

struct cn_hpc_sparse_frame {
    struct cn_content file; /* without the footer */
    struct cn_hpc_sparse_header head;
    struct cn_hpc_table records;
};

/* True if the bytes start like a file of this kind, of any version. */
bool cn_hpc_sparse_file_is(struct cn_bytes file, const struct cn_hpc_sparse_kind *kind);

/* The kind of a file; NULL: none of these. */
const struct cn_hpc_sparse_kind *cn_hpc_sparse_kind_of(struct cn_bytes file);

/* True if the file ends with a footer of this kind. */
bool cn_hpc_sparse_has_footer(struct cn_content file,
                              const struct cn_hpc_sparse_kind *kind);

/* Set frame->records from the header. False if they do not lie inside the file. */
bool cn_hpc_sparse_records_find(struct cn_hpc_sparse_frame *frame,
                                const struct cn_hpc_sparse_kind *kind);

/* Check magic, version, footer, and that the records lie inside the file. */
CN_CHECK bool cn_hpc_sparse_frame_open(struct cn_content file,
                                       const struct cn_hpc_sparse_kind *kind,
                                       struct cn_hpc_sparse_frame *out,
                                       struct cn_error *err);

#endif
