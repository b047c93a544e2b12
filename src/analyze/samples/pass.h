/* The pass over profiles, a step of the analysis that the driver (ranks.c) puts together.
 *
 * A process analyses some of the batches. What only the first process needs is collected in
 * messages (share.c).
 * Threads: one thread at a time; starts threads of its own.
 */
#ifndef CN_ANALYZE_SAMPLES_PASS_H
#define CN_ANALYZE_SAMPLES_PASS_H

#include "analyze/samples/batches.h"
#include "analyze/samples/contexts.h"
#include "analyze/samples/identity.h"
#include "analyze/samples/internal.h"
#include "analyze/samples/nodes.h"
#include "analyze/samples/sum.h"
#include "analyze/samples/values.h"
#include "base/run/failures.h"
#include "base/text.h"

struct cn_sampled_job;

/* What processes tell each other after each has analysed its profiles. */

/* Messages to the first process, collected during the analysis; zero-initialised. */
struct cn_sampled_messages {
    struct cn_text identities; /* of threads, as measured */
    struct cn_text damages;    /* texts */
};
void cn_sampled_messages_done(struct cn_sampled_messages *messages);

void cn_sampled_messages_add_identity(struct cn_sampled_messages *messages,
                                      const struct cn_sampled_profile *profile);
void cn_sampled_messages_add_damage(struct cn_sampled_messages *messages,
                                    const char *text);

void cn_sampled_messages_encode(const struct cn_sampled_messages *messages,
                                struct cn_text *out);

/* Take the identities of the threads of a process from `*first` on, which advances, and report
 * its damage. */
CN_CHECK bool cn_sampled_messages_take(struct cn_sampled_database *self,
                                       const struct cn_sampled_options *options,
                                       struct cn_bytes message, uint32_t *first,
                                       struct cn_error *err);

/* The threads of all processes, in their order; index 0 is the summary. */
struct cn_sampled_threads {
    struct cn_sampled_thread *list;
    size_t count, capacity;
    struct cn_sampled_totals totals;
    bool has_timelines;
    uint64_t begin_ns, end_ns; /* of the timelines; 0 and 0: no samples */
    const char *title; /* of the first that has one, in the arena of the database */
};

/* The threads of this process, its totals and title; and adding those of a process. */
void cn_sampled_threads_encode(const struct cn_sampled_database *self,
                               uint32_t thread_count,
                               const struct cn_sampled_totals *totals,
                               struct cn_text *message);
CN_CHECK bool cn_sampled_threads_take(struct cn_sampled_threads *threads,
                                      struct cn_sampled_database *self,
                                      struct cn_bytes message, struct cn_error *err);

/* Make these the threads of the database. The first ones, `known_count` with the summary, keep
 * their identities. */
void cn_sampled_threads_use(struct cn_sampled_threads *threads,
                            struct cn_sampled_database *self, uint32_t known_count);

/* The summary, which the first process has written, and the cells, for all. */
void cn_sampled_summary_encode(const struct cn_sampled_database *self,
                               struct cn_text *message);
CN_CHECK bool cn_sampled_summary_decode(struct cn_sampled_database *self,
                                        struct cn_bytes message, struct cn_error *err);

/* GPU work measured in ranges: samples belong to all launches of a GPU context in a range of
 * time, not to a single launch.
 *
 * The values of profiles are noted. At the end each GPU context becomes a profile: the samples
 * of a range are split among its launches. Memory grows with the values in ranges. Zeroed
 * ranges are empty, except for `identities`. */

struct cn_sampled_ranges {
    struct cn_sampled_identities *identities; /* borrowed */
    struct cn_names keys;                     /* of GPU contexts: their identities */
    struct cn_range_context *contexts;
    size_t count, capacity;
    struct cn_sampled_reach reach;
};

/* Check that all nodes of a profile can be noted. */
CN_CHECK bool cn_sampled_ranges_check(const struct cn_sampled_profile *profile,
                                      struct cn_error *err);

/* Note a value of a profile whose nodes are placed; `metric` is the number of its metric over
 * all profiles. */
CN_CHECK bool cn_sampled_ranges_note(struct cn_sampled_ranges *ranges,
                                     const struct cn_sampled_profile *profile,
                                     const struct cn_sampled_nodes *nodes,
                                     const struct cn_sampled_value *value,
                                     uint32_t metric, struct cn_error *err);

/* The identity of GPU context number `index`; and add its values. */
const struct cn_identity *
cn_sampled_ranges_identity(const struct cn_sampled_ranges *ranges, size_t index,
                           size_t *count);
CN_CHECK bool cn_sampled_ranges_add(struct cn_sampled_ranges *ranges, size_t index,
                                    struct cn_sampled_contexts *contexts,
                                    struct cn_sampled_values *values,
                                    struct cn_error *err);

void cn_sampled_ranges_done(struct cn_sampled_ranges *ranges);

/* The scouting pass: several processes agree on contexts and metrics before each analyses its
 * own profiles.
 *
 * Contexts and metrics are numbered in the order of all profiles. So each process first reads
 * its profiles for their contexts and metrics alone, and logs the steps that added contexts
 * (log.c). Logs are combined in the order of processes, which is that of profiles, and all
 * processes replay the whole log: contexts then have the numbers that one process would give,
 * and the analysis meets no new ones. */

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

struct cn_sampled_pass {
    struct cn_sampled_database *self;
    const struct cn_sampled_options *options;
    unsigned workers;
    bool is_first; /* of the processes: set by the driver, like */
    struct cn_sampled_batches batches;
    struct cn_merges sums; /* of batches: struct cn_sampled_sum */
    struct cn_sampled_sum_rules rules;
    struct cn_sampled_sum *gpu_sum;  /* of GPU contexts; NULL: none */
    struct cn_sampled_totals totals; /* of this process */
    struct cn_sampled_ranges ranges;
    struct cn_sampled_scout *scout; /* not NULL: only look for contexts and metrics */
    struct cn_failures failures;
    struct cn_sampled_job *jobs;
    uint32_t thread_count; /* with the summary */
    struct cn_sampled_messages messages;
};

void cn_sampled_pass_init(struct cn_sampled_pass *pass, struct cn_sampled_database *self,
                          const struct cn_sampled_options *options);
void cn_sampled_pass_done(struct cn_sampled_pass *pass);

/* Read the batches of this process for their contexts and metrics. */
CN_CHECK bool cn_sampled_pass_scout(struct cn_sampled_pass *pass,
                                    struct cn_sampled_scout *scout, struct cn_error *err);

/* Analyse the batches of this process: fills in contexts, metrics and threads, writes values
 * and samples to the spool, and puts the statistics of batches into the sums. */
CN_CHECK bool cn_sampled_pass_run(struct cn_sampled_pass *pass, struct cn_error *err);

/* With the sums of all: write the statistics over all threads as the profile of the summary. */
CN_CHECK bool cn_sampled_pass_summarise(struct cn_sampled_pass *pass,
                                        struct cn_error *err);

#endif
