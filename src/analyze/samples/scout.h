/* The scouting pass: several processes agree on contexts and metrics before each analyses its
 * own profiles.
 *
 * Contexts and metrics are numbered in the order of all profiles. So each process first reads
 * its profiles for their contexts and metrics alone, and logs the steps that added contexts
 * (log.h). Logs are combined in the order of processes, which is that of profiles, and all
 * processes replay the whole log: contexts then have the numbers that one process would give,
 * and the analysis meets no new ones.
 * Threads: one thread at a time; starts threads of its own.
 */
#ifndef CN_ANALYZE_SAMPLES_SCOUT_H
#define CN_ANALYZE_SAMPLES_SCOUT_H

#include "analyze/samples/batches.h"
#include "analyze/samples/log.h"
#include "base/text.h"

struct cn_sampled_scout {
    struct cn_sampled_database *self;
    struct cn_sampled_log log;         /* of the contexts */
    struct cn_sampled_metrics metrics; /* of the own profiles */
    struct cn_sampled_identities identities;
    uint64_t has_ranges;   /* a profile has GPU work in ranges: nothing is complete */
    struct cn_text tables; /* a message: the profiles with new metrics */
};

void cn_sampled_scout_init(struct cn_sampled_scout *scout,
                           struct cn_sampled_database *self);
void cn_sampled_scout_done(struct cn_sampled_scout *scout);

/* Add the contexts and metrics of a profile that was read. */
void cn_sampled_scout_add(struct cn_sampled_scout *scout, struct cn_sampled_slot *slot);

/* Read the metrics of the profiles in the tables of a process, for all in their order. */
CN_CHECK bool cn_sampled_scout_add_metrics(void *scout, unsigned from,
                                           struct cn_bytes tables, struct cn_error *err);

#endif
