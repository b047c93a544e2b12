/* The value files of a database of any generation, opened: profiles, values and timelines
 * of struct cn_database.
 *
 * A format opens its files into struct cn_hpc_values and forwards the operations of
 * model/contexts/database.h to the functions below. Messages start with the file's name.
 *
 * Without cct.db, planes of contexts are looked up in profile.db, profile by profile.
 * Everything borrows the bytes of the files.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_READER_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_READER_H

#include "formats/hpctoolkit/values/planes_reader.h"
#include "formats/hpctoolkit/values/traces_reader.h"

struct cn_hpc_values {
    struct cn_hpc_planes profiles;
    struct cn_hpc_planes cct; /* when has_cct */
    bool has_cct;
    struct cn_hpc_traces traces;
    struct cn_error trace_damage; /* of a trace.db that is there but unreadable */
    uint32_t context_limit;       /* contexts of the files are below this */
    /* Metric ids of the files and what the database calls them; zeroed: the same. */
    struct cn_hpc_metric_ids threads, summaries;
    uint32_t idle_context; /* samples there say that a thread does not run; or 0 */
};

/* Set context_limit from the summary, which has all contexts with values. Ids out of
 * proportion to the contexts that the tree may list fail. */
CN_CHECK bool cn_hpc_values_limit(struct cn_hpc_values *values, uint64_t listed_count,
                                  struct cn_error *err);

/* After opening trace.db: `ok`, or trace_damage says why not. Sets has_timelines, begin_ns
 * and end_ns of the database; damage becomes a warning, and fails when timelines are asked
 * for. */
void cn_hpc_values_add_traces(struct cn_hpc_values *values, struct cn_database *db,
                              bool ok);

/* The operations of struct cn_database_ops with these names. */
CN_CHECK bool cn_hpc_values_profile(const struct cn_hpc_values *values, uint32_t index,
                                    struct cn_profile *out, struct cn_error *err);
CN_CHECK bool cn_hpc_values_begin(const struct cn_hpc_values *values,
                                  struct cn_value_cursor *cursor, struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_values_next(const struct cn_hpc_values *values,
                                         struct cn_value_cursor *cursor,
                                         struct cn_value_batch *out,
                                         struct cn_error *err);
CN_CHECK bool cn_hpc_values_timeline(const struct cn_hpc_values *values, uint32_t profile,
                                     struct cn_timeline *out, struct cn_error *err);
CN_CHECK bool cn_hpc_values_samples(const struct cn_hpc_values *values,
                                    const struct cn_timeline *timeline, uint64_t first,
                                    size_t count, struct cn_sample *out,
                                    struct cn_error *err);

/* The plane of a context without cct.db: its values are looked up in profile.db.
 *
 * Each batch costs one pass over all profiles.
 * Threads: any thread, each with cursors of its own.
 */

void cn_hpc_lookup_begin(struct cn_value_cursor *cursor);

/* The next values of context cursor->owner by (metric, profile). */
CN_CHECK enum cn_step cn_hpc_lookup_next(const struct cn_hpc_planes *profiles,
                                         const struct cn_hpc_metric_ids *ids,
                                         struct cn_value_cursor *cursor,
                                         struct cn_value_batch *out,
                                         struct cn_error *err);

#endif
