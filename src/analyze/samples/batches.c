#include "analyze/samples/batches.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"

enum {
    BATCH_LEN_MAX = 512 << 10, /* of the files of a batch, unless it is one profile */
    LOOKUP_COUNT = 256,        /* files whose lengths are one job */
};

struct lengths {
    const struct cn_measurements *measurements;
    struct cn_ranks *ranks;
    uint64_t *list; /* by profile */
};

/* Each rank finds the lengths of some files. */
static void find_lengths(void *arg, size_t job, unsigned worker)
{
    const struct lengths *lengths = arg;
    size_t first = job * LOOKUP_COUNT;

    (void)worker;
    if (job % lengths->ranks->size != lengths->ranks->rank)
        return;
    for (size_t i = first;
         i < first + LOOKUP_COUNT && i < lengths->measurements->profile_count; i++)
        lengths->list[i] = cn_measurements_profile_len(lengths->measurements, i);
}

static void divide(struct cn_sampled_batches *batches, const uint64_t *lengths,
                   size_t count, uint64_t *weights)
{
    uint64_t len = 0;

    for (size_t i = 0; i < count; i++) {
        size_t first = batches->count ? batches->starts[batches->count - 1] : 0;

        if (i == 0 || i - first == CN_SAMPLED_BATCH_MAX ||
            len + lengths[i] > BATCH_LEN_MAX) {
            batches->starts[batches->count++] = i;
            len = 0;
        }
        len += lengths[i] < UINT32_MAX ? lengths[i] : UINT32_MAX;
        weights[batches->count - 1] = len;
    }
    batches->starts[batches->count] = count;
}

bool cn_sampled_batches_choose(struct cn_sampled_batches *batches,
                               const struct cn_measurements *measurements,
                               struct cn_ranks *ranks, unsigned workers,
                               struct cn_error *err)
{
    size_t count = measurements->profile_count;
    uint64_t *weights = cn_alloc(count + 1, sizeof(*weights));
    struct lengths lengths = {measurements, ranks,
                              cn_alloc(count + 1, sizeof(*lengths.list))};
    bool ok;

    cn_pool_run(&(struct cn_jobs){.count = count / LOOKUP_COUNT + 1,
                                  .arg = &lengths,
                                  .run = find_lengths},
                workers);
    ok = cn_ranks_combine(ranks, CN_RANKS_MAX, lengths.list, count, err);
    batches->starts = cn_alloc(count + 1, sizeof(*batches->starts));
    divide(batches, lengths.list, count, weights);
    batches->own = cn_ranks_split(ranks, weights, batches->count);
    free(lengths.list);
    free(weights);
    return ok;
}

void cn_sampled_batches_done(struct cn_sampled_batches *batches)
{
    free(batches->starts);
    *batches = (struct cn_sampled_batches){0};
}

static bool has_ranges(const struct cn_sampled_profile *profile)
{
    for (size_t i = 0; i < profile->node_count; i++)
        if (cn_node_is_of_range(profile->nodes[i].kind))
            return true;
    return false;
}

void cn_sampled_slot_read(struct cn_sampled_slot *slot, struct cn_sampled_database *self,
                          const struct cn_sampled_options *options, size_t index)
{
    slot->index = index;
    slot->err = (struct cn_error){0};
    slot->is_read =
        cn_measurements_read(self->measurements, index, &slot->profile, &slot->err);
    slot->is_wanted = slot->is_read && cn_sampled_is_wanted(options, &slot->profile);
    slot->has_ranges = slot->is_read && has_ranges(&slot->profile);
    if (slot->is_wanted)
        cn_sampled_nodes_begin(&slot->nodes, &self->contexts, &slot->profile);
}

void cn_sampled_slot_done(struct cn_sampled_slot *slot,
                          const struct cn_measurements *measurements)
{
    cn_sampled_profile_done(measurements, &slot->profile);
    cn_sampled_nodes_done(&slot->nodes);
    *slot = (struct cn_sampled_slot){0};
}
