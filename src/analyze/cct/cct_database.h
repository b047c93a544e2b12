/* The database that an analysis of calls makes, as readers of model/contexts/database.h see
 * it: contexts from the merged tree, values from a file without a name, timelines by
 * reading the recordings once more.
 *
 * It belongs to calls_to_database.c, which fills it in.
 * Threads: immutable once filled in; any thread may read, but a timeline, or each piece
 * of one, only one thread at a time, and fast only from its start on.
 */
#ifndef CN_ANALYZE_CCT_CCT_DATABASE_H
#define CN_ANALYZE_CCT_CCT_DATABASE_H

#include "analyze/cct/cct_members.h"
#include "analyze/cct/cct_merge.h"
#include "analyze/cct/cct_replay.h"
#include "model/contexts/database.h"

/* Where the values of a profile are. */
struct cn_cct_profile {
    uint64_t off, value_count;
    uint32_t context_count;
};

/* A timeline, or a piece of one, being read. */
struct cn_cct_player {
    struct cn_cct_replay replay;
    struct cn_cct tree; /* of a task that was put aside; else empty */
};

struct cn_cct_database {
    struct cn_database db; /* first: operations receive a pointer to it */
    struct cn_cct_merged merged;
    struct cn_cct_members members;   /* of profiles from 1 on */
    struct cn_cct_profile *profiles; /* the summary first */
    struct cn_cct_player *players;   /* of pieces of timelines, while they are read */
    size_t *first_player;            /* by member, and one more for the end */
    int64_t *offsets_ns;             /* by source: from its clock to the epoch */
    struct cn_spool spool;
    struct cn_spool *sample_spools; /* by source, where samples are kept */
    size_t source_count;
};

extern const struct cn_database_ops cn_cct_database_ops;

/* Get ready for reading timelines: all tasks are counted. */
void cn_cct_database_make_players(struct cn_cct_database *self);

#endif
