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
    unsigned number, count; /* of the process */
    uint64_t *list;         /* by profile */
};

static void find_lengths(void *arg, size_t job, unsigned worker)
{
    const struct lengths *lengths = arg;
    size_t first = job * LOOKUP_COUNT;

    (void)worker;
    if (job % lengths->count != lengths->number)
        return;
    for (size_t i = first;
         i < first + LOOKUP_COUNT && i < lengths->measurements->profile_count; i++)
        lengths->list[i] = cn_measurements_profile_len(lengths->measurements, i);
}

uint64_t *cn_sampled_lengths(const struct cn_measurements *measurements, unsigned workers,
                             unsigned number, unsigned count)
{
    size_t profile_count = measurements->profile_count;
    struct lengths lengths = {measurements, number, count,
                              cn_alloc(profile_count, sizeof(*lengths.list))};

    cn_pool_run(&(struct cn_jobs){.count = profile_count / LOOKUP_COUNT + 1,
                                  .arg = &lengths,
                                  .run = find_lengths},
                workers);
    return lengths.list;
}

uint64_t *cn_sampled_batches_divide(struct cn_sampled_batches *batches,
                                    const uint64_t *lengths, size_t count)
{
    uint64_t *weights = cn_alloc(count, sizeof(*weights));
    uint64_t len = 0;

    batches->starts = cn_alloc(count + 1, sizeof(*batches->starts));
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
    batches->own_end = batches->count;
    return weights;
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
