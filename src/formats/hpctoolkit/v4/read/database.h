/* The struct of an opened v4 database, for the code of this format.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_DATABASE_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_DATABASE_H

#include "formats/hpctoolkit/meta/database.h"
#include "formats/hpctoolkit/v4/read/latency_reader.h"

struct cn_hpc_v4 {
    struct cn_hpc_meta_database tree; /* first, so that one points to both */
    struct cn_database_ops ops;
    struct cn_hpc_latency latency; /* zeroed without a latency.db */
};

static inline struct cn_hpc_v4 *cn_hpc_v4_of(struct cn_database *db)
{
    return (struct cn_hpc_v4 *)db;
}

#endif
