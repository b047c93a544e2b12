/* Batches of consecutive profiles: the jobs of the passes over measurements.
 *
 * A batch is large enough that handing it out costs nothing, and small enough to be in
 * memory. Which profiles are in a batch depends on the measurements alone, not on the number of
 * workers or processes: results that depend on it are the same everywhere.
 * Threads: immutable after cn_sampled_batches_divide(); a slot from one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_BATCHES_H
#define CN_ANALYZE_SAMPLES_BATCHES_H

#include "analyze/samples/internal.h"
#include "analyze/samples/nodes.h"

enum { CN_SAMPLED_BATCH_MAX = 32 }; /* profiles */

struct cn_sampled_batches {
    size_t *starts; /* by batch, and the end of the last one: profiles */
    size_t count;
    size_t own_first, own_end; /* batches of this process */
};

/* The lengths of the profiles' files, released with free(). Of several processes, each finds
 * some: those of number % count, and 0 for the others. */
uint64_t *cn_sampled_lengths(const struct cn_measurements *measurements, unsigned workers,
                             unsigned number, unsigned count);

/* Divide the profiles, by the lengths of their files. Returns the weights of batches, released
 * with free(). All batches are of this process. A zeroed struct is empty. */
uint64_t *cn_sampled_batches_divide(struct cn_sampled_batches *batches,
                                    const uint64_t *lengths, size_t count);
void cn_sampled_batches_done(struct cn_sampled_batches *batches);

/* A profile of a batch. A zeroed slot is reused for the profiles of other batches. */
struct cn_sampled_slot {
    size_t index; /* of the profile */
    struct cn_sampled_profile profile;
    struct cn_sampled_nodes nodes;
    struct cn_error err;
    bool is_read, is_wanted;
    bool has_ranges; /* GPU work measured in ranges */
};

/* Read a profile and find its known contexts. */
void cn_sampled_slot_read(struct cn_sampled_slot *slot, struct cn_sampled_database *self,
                          const struct cn_sampled_options *options, size_t index);
void cn_sampled_slot_done(struct cn_sampled_slot *slot,
                          const struct cn_measurements *measurements);

#endif
