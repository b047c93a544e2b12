/* What stands behind the struct cn_database of a v4 database: the readers of its
 * files.
 *
 * Made by open.h; for code of this folder that looks beneath the interface.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_DATABASE_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_DATABASE_H

#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/v4/read/cct_reader.h"
#include "formats/hpctoolkit/v4/read/meta_reader.h"
#include "formats/hpctoolkit/v4/read/profile_reader.h"
#include "formats/hpctoolkit/v4/read/trace_reader.h"
#include "model/contexts/database.h"

struct cn_hpc_v4 {
    struct cn_database base; /* first, so that one points to both */
    struct cn_hpc_meta meta;
    struct cn_hpc_profiles profiles;
    struct cn_hpc_cct cct;        /* when base.has_context_values */
    struct cn_hpc_traces traces;  /* when base.has_timelines and no damage */
    struct cn_error trace_damage; /* of a trace.db that is there but unreadable */
    struct cn_hpc_maps maps;      /* none when bytes were given */
};

/* The operations of a v4 database. `close` releases the struct, its arena and
 * maps. */
extern const struct cn_database_ops cn_hpc_v4_ops;

static inline struct cn_hpc_v4 *cn_hpc_v4_of(struct cn_database *db)
{
    return (struct cn_hpc_v4 *)db;
}

#endif
