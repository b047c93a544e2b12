/* Open the value files of HPCToolkit's older databases: those that experiment.xml and the
 * prototype's meta.db share.
 *
 * If cct.db is missing, damaged or zeroed (a bug of its time), planes of contexts are
 * looked up in profile.db, with a warning.
 * Threads: immutable after open; everything borrows the bytes of the files.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_OPEN_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_OPEN_H

#include "formats/hpctoolkit/dump.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/sparse/frame.h"
#include "formats/hpctoolkit/values/checks.h"
#include "formats/hpctoolkit/values/reader.h"

struct cn_hpc_sparse_files {
    struct cn_bytes profile, cct, trace;
    /* In place of the bytes of those that are read by range; else NULL. */
    struct cn_ranges *profile_ranges, *cct_ranges, *trace_ranges;
    bool has_cct, has_trace;
};

/* Those of a directory. */
struct cn_hpc_sparse_files cn_hpc_sparse_mapped(const struct cn_hpc_maps *maps);

struct cn_hpc_sparse_options {
    /* Metric ids of the files and what the database calls them; zeroed: the same. */
    struct cn_hpc_metric_ids threads, summaries;
    uint64_t listed_count;    /* contexts that the tree may list; bounds ids */
    uint32_t idle_context;    /* samples there say that a thread does not run; or 0 */
    const char *distrust_cct; /* why cct.db must not be used; NULL: it may */
};

/* Also sets the database's profile_count, context_limit, has_context_values,
 * has_timelines, begin_ns and end_ns (0 if trace.db does not say), and adds warnings.
 * profile.db must be readable; a damaged trace.db fails when timelines are asked for. */
CN_CHECK bool cn_hpc_sparse_open(struct cn_hpc_values *out, struct cn_database *db,
                                 const struct cn_hpc_sparse_files *files,
                                 const struct cn_hpc_sparse_options *options,
                                 struct cn_error *err);

/* The structures of the older value files, in the order in which they refer to each other,
 * for `cairn dump`. */

/* The files of a directory, in their order. */
extern const struct cn_hpc_dump_kind cn_hpc_sparse_dumps[CN_HPC_SPARSE_KIND_COUNT];

/* Dump all files of a directory, or the file `path`: those of `tree` and the value files. At
 * damage the dump fails, after what comes before it. */
CN_CHECK bool cn_hpc_sparse_dump(const char *path, const struct cn_hpc_dump_kind *tree,
                                 cn_dump_fn emit, void *arg, struct cn_error *err);

/* Check every rule of the older value files; report each violation.
 *
 * The verifier of the tree first says in struct cn_hpc_check what the tree knows. */

struct cn_hpc_sparse_verify {
    struct cn_hpc_check *c;
    const struct cn_hpc_sparse_files *files;
    bool has_time_range;      /* trace.db has to declare it */
    const char *distrust_cct; /* why cct.db is not checked; NULL: it is */
};

/* Fails only when the user asks to stop. */
CN_CHECK bool cn_hpc_sparse_verify(const struct cn_hpc_sparse_verify *v,
                                   struct cn_error *err);

#endif
