#include "formats/hpctoolkit/values/database.h"

#include <stdlib.h>

static struct cn_hpc_database *self_of(struct cn_database *db)
{
    return (struct cn_hpc_database *)db;
}

bool cn_hpc_database_profile(struct cn_database *db, uint32_t index,
                             struct cn_profile *out, struct cn_error *err)
{
    return cn_hpc_values_profile(&self_of(db)->values, index, out, err);
}

bool cn_hpc_database_values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                                  struct cn_error *err)
{
    return cn_hpc_values_begin(&self_of(db)->values, cursor, err);
}

enum cn_step cn_hpc_database_values_next(struct cn_value_cursor *cursor,
                                         struct cn_value_batch *out, struct cn_error *err)
{
    return cn_hpc_values_next(&self_of(cursor->db)->values, cursor, out, err);
}

bool cn_hpc_database_timeline(struct cn_database *db, uint32_t profile,
                              struct cn_timeline *out, struct cn_error *err)
{
    return cn_hpc_values_timeline(&self_of(db)->values, profile, out, err);
}

bool cn_hpc_database_samples(struct cn_database *db, const struct cn_timeline *timeline,
                             uint64_t first, size_t count, struct cn_sample *out,
                             struct cn_error *err)
{
    return cn_hpc_values_samples(&self_of(db)->values, timeline, first, count, out, err);
}

void cn_hpc_database_forget(struct cn_database *db)
{
    cn_hpc_maps_forget(&self_of(db)->maps);
}

void cn_hpc_database_close(struct cn_database *db)
{
    cn_hpc_maps_close(&self_of(db)->maps);
    cn_arena_done(&db->arena);
    free(db);
}

void cn_hpc_database_take_maps(struct cn_database *db, const struct cn_hpc_maps *maps,
                               const struct cn_hpc_damage *damage)
{
    self_of(db)->maps = *maps;
    if (damage->trace.kind != CN_ERR_NONE) {
        db->has_timelines = true;
        self_of(db)->values.trace_damage = damage->trace;
    }
}
