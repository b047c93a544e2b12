/* The database of an analysis of calls: contexts from the merged tree, values from an
 * unnamed file, timelines from the recordings, which are read again.
 *
 * calls_to_database.c makes and owns it.
 * Threads: immutable once filled in. Any thread may read; each part of a timeline one thread
 * at a time, and fast only from its start on.
 */
#ifndef CN_ANALYZE_CCT_DATABASE_H
#define CN_ANALYZE_CCT_DATABASE_H

#include "analyze/cct/members.h"
#include "analyze/cct/merge.h"
#include "analyze/cct/replay.h"
#include "model/contexts/database.h"

/* The values of a profile. */
struct cn_cct_profile {
    uint64_t off, value_count;
    uint32_t context_count;
};

/* A timeline, or a part of one, being read. */
struct cn_cct_player {
    struct cn_cct_replay replay;
    struct cn_tree tree; /* of a task that was spilled; else empty */
};

struct cn_cct_database {
    struct cn_database db; /* first: operations receive a pointer to it */
    struct cn_cct_merged merged;
    struct cn_cct_members members;   /* of profiles from 1 on */
    struct cn_cct_profile *profiles; /* the summary first */
    struct cn_cct_player *players;   /* by part of a timeline */
    size_t *first_player;            /* by member, and one more for the end */
    int64_t *offsets_ns;             /* by source: to be added to its times, for UTC */
    struct cn_spool spool;
    struct cn_spool *sample_spools; /* by source that stores samples */
    size_t source_count;
    struct cn_heap_history *heap; /* in the arena; NULL: none */
};

extern const struct cn_database_ops cn_cct_database_ops;

/* Prepare reading of timelines, when all tasks are counted. */
void cn_cct_database_make_players(struct cn_cct_database *self);

#endif
