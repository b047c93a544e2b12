/* The value files of HPCToolkit's older databases, opened: what experiment.xml and
 * the prototype's meta.db share.
 *
 * Whoever reads the tree embeds a struct cn_hpc_sparse in its database, opens it
 * with cn_hpc_sparse_open(), and forwards the operations of model/contexts/database.h to the
 * functions below. Messages start with the file's name.
 *
 * When cct.db is missing, damaged or zeroed (a bug of its time), the planes of
 * contexts are looked up in profile.db, profile by profile, with a warning.
 * Everything borrows the bytes of the files.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_READER_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_READER_H

#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/sparse/cct_reader.h"
#include "formats/hpctoolkit/sparse/profile_reader.h"
#include "formats/hpctoolkit/sparse/trace_reader.h"
#include "model/contexts/database.h"

struct cn_hpc_sparse_files {
    struct cn_bytes profile, cct, trace;
    bool has_cct, has_trace;
};

/* Those of a directory. */
struct cn_hpc_sparse_files cn_hpc_sparse_mapped(const struct cn_hpc_maps *maps);

struct cn_hpc_sparse_options {
    /* Metric ids of the files and what the database calls them; zeroed: the same. */
    struct cn_hpc_sparse_ids threads, summaries;
    uint64_t
        listed_count; /* contexts that the tree may hold; bounds ids without cct.db */
    uint32_t idle_context;    /* samples there say that a thread does not run; or 0 */
    const char *distrust_cct; /* why cct.db must not be used; NULL: it may */
};

struct cn_hpc_sparse {
    struct cn_hpc_sparse_options options;
    struct cn_hpc_sparse_profiles profiles;
    struct cn_hpc_sparse_cct cct; /* when has_cct; else planes are looked up */
    bool has_cct;
    struct cn_hpc_sparse_traces traces;
    struct cn_error trace_damage; /* of a trace.db that is there but unreadable */
    uint32_t context_limit;
};

/* Also sets the database's profile_count, context_limit, has_context_values,
 * has_timelines, begin_ns and end_ns (0 where trace.db does not say), and adds
 * warnings. profile.db must be readable; a damaged trace.db fails when timelines are
 * asked for. */
CN_CHECK bool cn_hpc_sparse_open(struct cn_hpc_sparse *out, struct cn_database *db,
                                 const struct cn_hpc_sparse_files *files,
                                 const struct cn_hpc_sparse_options *options,
                                 struct cn_error *err);

/* The operations of struct cn_database_ops with these names. */
CN_CHECK bool cn_hpc_sparse_profile_at(const struct cn_hpc_sparse *sparse, uint32_t index,
                                       struct cn_profile *out, struct cn_error *err);
CN_CHECK bool cn_hpc_sparse_values_begin(const struct cn_hpc_sparse *sparse,
                                         struct cn_value_cursor *cursor,
                                         struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_sparse_values_next(const struct cn_hpc_sparse *sparse,
                                                struct cn_value_cursor *cursor,
                                                struct cn_value_batch *out,
                                                struct cn_error *err);
CN_CHECK bool cn_hpc_sparse_timeline(const struct cn_hpc_sparse *sparse, uint32_t profile,
                                     struct cn_timeline *out, struct cn_error *err);
CN_CHECK bool cn_hpc_sparse_samples(const struct cn_hpc_sparse *sparse,
                                    const struct cn_timeline *timeline, uint64_t first,
                                    size_t count, struct cn_sample *out,
                                    struct cn_error *err);

#endif
