/* What the parts of the verifier share.
 *
 * verify.c runs the parts in order: frames, meta.db, profile.db, cct.db, trace.db,
 * latency.db, the YAML files, and, if nothing was wrong so far, the values of one file against those of the
 * others. Work is linear in the size of the files.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_VERIFY_PARTS_H
#define CN_FORMATS_HPCTOOLKIT_V4_VERIFY_PARTS_H

#include "base/arena.h"
#include "formats/hpctoolkit/check.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/read/sections.h"
#include "model/contexts/metric.h"
#include "model/format.h"

enum { CN_HPC_V4_STRIDE_MAX = 127 }; /* hpcviewer: sizes of records are signed */

struct cn_hpc_v4_check_file {
    const struct cn_hpc_file_kind *kind;
    struct cn_bytes bytes;
    bool is_readable; /* the frame is intact */
    struct cn_hpc_sections sections;
};

struct cn_hpc_v4_check {
    struct cn_hpc_check c;
    const char *dir; /* whose files are mapped; NULL: they are in memory */
    const struct cn_hpc_v4_files *files;
    struct cn_hpc_v4_check_file meta, profile, cct, trace;

    /* What meta.db says. */
    bool is_draft;
    struct cn_arena arena;
    struct cn_metrics metrics;
    struct cn_hpc_set prop_ids, stat_ids, contexts;
    struct cn_zero_ids zero_ids[2]; /* of threads, of the summary */
    uint64_t string_budget;         /* bytes of strings that may still be checked */
};

/* Check header, footer, version and sections of a file. */
void cn_hpc_v4_check_frame(struct cn_hpc_v4_check *v, struct cn_hpc_v4_check_file *file);

/* Check and open an array of records. False if it is not inside `in`. */
bool cn_hpc_v4_check_table(struct cn_hpc_v4_check *v, struct cn_hpc_span in,
                           const struct cn_hpc_array *array, struct cn_hpc_table *out);

/* Check a string: it must end inside `in` and be UTF-8. NULL if it does not end. */
const char *cn_hpc_v4_check_string(struct cn_hpc_v4_check *v, struct cn_hpc_span in,
                                   uint64_t off, const char *what);

/* Report a section that is shorter than its header. Returns true. */
bool cn_hpc_v4_check_too_short(struct cn_hpc_v4_check *v,
                               const struct cn_hpc_v4_check_file *file, size_t section);

void cn_hpc_v4_check_meta(struct cn_hpc_v4_check *v);
void cn_hpc_v4_check_metrics(struct cn_hpc_v4_check *v);
void cn_hpc_v4_check_contexts(struct cn_hpc_v4_check *v,
                              const struct cn_hpc_table *modules,
                              const struct cn_hpc_table *files,
                              const struct cn_hpc_table *functions);

/* These fail only when the user asks to stop. */
CN_CHECK bool cn_hpc_v4_check_profile(struct cn_hpc_v4_check *v, struct cn_error *err);
CN_CHECK bool cn_hpc_v4_check_cct(struct cn_hpc_v4_check *v, struct cn_error *err);
CN_CHECK bool cn_hpc_v4_check_trace(struct cn_hpc_v4_check *v, struct cn_error *err);
void cn_hpc_v4_check_yaml(struct cn_hpc_v4_check *v);

/* Check what hpcviewer and Hatchet expect of the YAML itself. The text must be one that
 * cn_hpc_metrics_yaml_read() reads: nesting and aliases are within its limits. */
void cn_hpc_v4_check_yaml_tree(struct cn_hpc_v4_check *v, struct cn_bytes text);
void cn_hpc_v4_check_latency(struct cn_hpc_v4_check *v);

#endif
