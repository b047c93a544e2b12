/* Read latency.db: the calls of each context by duration.
 *
 * Blocks are checked when they are first read. The bytes must outlive the reader.
 * Threads: immutable after open; any thread may read.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_LATENCY_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_LATENCY_READER_H

#include "base/files/blocks.h"
#include "formats/hpctoolkit/v4/latency_format.h"
#include "model/contexts/database.h"

struct cn_hpc_latency {
    struct cn_block_file file;
    struct cn_bytes buckets, profiles,
        planes;                            /* the sections; the first two are checked */
    uint32_t bucket_count, profile_count;  /* 0 and 0: there is no file */
    uint16_t first_prop_id, first_stat_id; /* of its metrics */
};

/* Whether a file begins like one. */
bool cn_hpc_latency_is(struct cn_bytes file);

/* Check the tables of buckets and profiles. Nothing is left open after a failure. */
CN_CHECK bool cn_hpc_latency_open(struct cn_hpc_latency *latency, struct cn_bytes file,
                                  struct cn_error *err);
void cn_hpc_latency_close(struct cn_hpc_latency *latency); /* safe when never opened */

/* The values of a profile; empty when the file does not have it. */
struct cn_hpc_latency_plane {
    struct cn_bytes counts, contexts;
    uint64_t count_count;
    uint32_t context_count;
};
struct cn_hpc_latency_plane cn_hpc_latency_plane(const struct cn_hpc_latency *latency,
                                                 uint32_t profile);

/* A context of a plane, and its counts from `first` up to `end`. */
struct cn_hpc_latency_row {
    uint32_t context;
    uint64_t first, end;
};
CN_CHECK bool cn_hpc_latency_row(const struct cn_hpc_latency *latency,
                                 const struct cn_hpc_latency_plane *plane, uint32_t index,
                                 struct cn_hpc_latency_row *out, struct cn_error *err);
CN_CHECK bool cn_hpc_latency_count(const struct cn_hpc_latency *latency,
                                   const struct cn_hpc_latency_plane *plane,
                                   uint64_t index, struct cn_hpc_latency_count *out,
                                   struct cn_error *err);

/* The first row of this context or a later one. */
CN_CHECK bool cn_hpc_latency_find(const struct cn_hpc_latency *latency,
                                  const struct cn_hpc_latency_plane *plane,
                                  uint32_t context, uint32_t *row, struct cn_error *err);

/* Append its metrics to those of the database. False, with a reason, if there is no scope or
 * id for them. */
CN_CHECK bool cn_hpc_latency_add_metrics(struct cn_hpc_latency *latency,
                                         struct cn_database *db, struct cn_error *err);

/* Operations of struct cn_database_ops for a v4 database: its own values, with those of
 * latency.db after them in each context. In the plane of a context, the latter are sorted by
 * (profile, metric). */
CN_CHECK bool cn_hpc_v4_values_begin(struct cn_database *db,
                                     struct cn_value_cursor *cursor,
                                     struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_v4_values_next(struct cn_value_cursor *cursor,
                                            struct cn_value_batch *out,
                                            struct cn_error *err);

#endif
