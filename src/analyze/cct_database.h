/* The database that an analysis of calls makes, as readers of model/database.h see
 * it: contexts from the merged tree, values from a file without a name, timelines by
 * reading the recordings once more.
 *
 * It belongs to calls_to_database.c, which fills it in.
 * Threads: immutable once filled in; any thread may read, but a timeline only one
 * thread at a time, and fast only from its start on.
 */
#ifndef CN_ANALYZE_CCT_DATABASE_H
#define CN_ANALYZE_CCT_DATABASE_H

#include "analyze/cct_members.h"
#include "analyze/cct_merge.h"
#include "model/database.h"

/* Where the values of a profile are. */
struct cn_cct_profile {
    uint64_t off, value_count;
    uint32_t context_count;
};

struct cn_cct_database {
    struct cn_database db; /* first: operations receive a pointer to it */
    struct cn_cct_merged merged;
    struct cn_cct_members members;   /* of profiles from 1 on */
    struct cn_cct_profile *profiles; /* the summary first */
    struct cn_cct_replay *replays;   /* of members, while their timelines are read */
    int64_t *offsets_ns;             /* by source: from its clock to the epoch */
    struct cn_spool spool;
};

extern const struct cn_database_ops cn_cct_database_ops;

#endif
