/* A database with profile.db, cct.db and trace.db, of any generation: what all formats share.
 *
 * A format has a struct on the heap that starts with struct cn_hpc_database, opens its files
 * into it, and uses the operations below.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_DATABASE_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_DATABASE_H

#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/values/reader.h"

struct cn_hpc_database {
    struct cn_database base; /* first, so that one points to both */
    struct cn_hpc_values values;
    struct cn_hpc_maps maps; /* none when bytes were given */
};

/* Operations of struct cn_database_ops. `close` releases the struct, its arena and maps. */
CN_CHECK bool cn_hpc_database_profile(struct cn_database *db, uint32_t index,
                                      struct cn_profile *out, struct cn_error *err);
CN_CHECK bool cn_hpc_database_values_begin(struct cn_database *db,
                                           struct cn_value_cursor *cursor,
                                           struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_database_values_next(struct cn_value_cursor *cursor,
                                                  struct cn_value_batch *out,
                                                  struct cn_error *err);
CN_CHECK bool cn_hpc_database_timeline(struct cn_database *db, uint32_t profile,
                                       struct cn_timeline *out, struct cn_error *err);
CN_CHECK bool cn_hpc_database_samples(struct cn_database *db,
                                      const struct cn_timeline *timeline, uint64_t first,
                                      size_t count, struct cn_sample *out,
                                      struct cn_error *err);
void cn_hpc_database_forget(struct cn_database *db);
void cn_hpc_database_close(struct cn_database *db);

/* The database takes over the maps it was opened from, and the damage of its trace.db. */
void cn_hpc_database_take_maps(struct cn_database *db, const struct cn_hpc_maps *maps,
                               const struct cn_hpc_damage *damage);

#endif
