/* What the parts of the verifier share.
 *
 * verify.c runs the parts in order: frames, meta.db, profile.db, cct.db, trace.db,
 * latency.db, the YAML files, and, if nothing was wrong so far, the values of one file against those of the
 * others. Work is linear in the size of the files.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_VERIFY_PARTS_H
#define CN_FORMATS_HPCTOOLKIT_V4_VERIFY_PARTS_H

#include "formats/hpctoolkit/meta/verify.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/read/sections.h"
#include "model/format.h"

enum { CN_HPC_V4_STRIDE_MAX = 127 }; /* hpcviewer: sizes of records are signed */

struct cn_hpc_v4_check_file {
    const struct cn_hpc_file_kind *kind;
    struct cn_bytes bytes;
    bool is_readable; /* the frame is intact */
    struct cn_hpc_sections sections;
};

struct cn_hpc_v4_check {
    struct cn_hpc_meta_check m;
    const struct cn_hpc_v4_files *files;
    struct cn_hpc_v4_check_file meta, profile, cct, trace;
};

/* Check header, footer, version and sections of a file. */
void cn_hpc_v4_check_frame(struct cn_hpc_v4_check *v, struct cn_hpc_v4_check_file *file);

/* Check and open an array of records. False if it is not inside `in`. */
bool cn_hpc_v4_check_table(struct cn_hpc_v4_check *v, struct cn_hpc_span in,
                           const struct cn_hpc_array *array, struct cn_hpc_table *out);

/* These fail only when the user asks to stop. */
CN_CHECK bool cn_hpc_v4_check_planes(struct cn_hpc_v4_check *v,
                                     const struct cn_hpc_v4_check_file *file,
                                     struct cn_error *err);
CN_CHECK bool cn_hpc_v4_check_trace(struct cn_hpc_v4_check *v, struct cn_error *err);
void cn_hpc_v4_check_yaml(struct cn_hpc_v4_check *v);

/* Check what hpcviewer and Hatchet expect of the YAML itself. The text must be one that
 * cn_hpc_metrics_yaml_read() reads: nesting and aliases are within its limits. */
void cn_hpc_v4_check_yaml_tree(struct cn_hpc_v4_check *v, struct cn_bytes text);
void cn_hpc_v4_check_latency(struct cn_hpc_v4_check *v);

#endif
