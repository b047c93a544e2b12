/* A timeline with fewer samples: of the samples in a cell of `resolution_ns`, the last is kept, so
 * that no two have the same time and the context at the end of every cell is right.
 *
 * With a limit of samples, cells are doubled until there are no more. Cells nest, so the result
 * does not depend on how a timeline is divided into parts, nor on whether it was thinned before
 * with the same limit and origin.
 *
 *     struct cn_thinner thinner = {.resolution_ns = 1, .sample_max = max};
 *     cn_thinner_put(&thinner, sample) ...
 *     cn_thinner_end(&thinner);
 *     free(thinner.list);
 *
 * Threads: one thread at a time for each.
 */
#ifndef CN_MODEL_CONTEXTS_THINNER_H
#define CN_MODEL_CONTEXTS_THINNER_H

#include "model/contexts/database.h"

/* Set the first three and zero the rest; free the list. */
struct cn_thinner {
    uint64_t resolution_ns; /* at least 1 */
    uint64_t sample_max;    /* no limit: 0 */
    uint64_t origin_ns;     /* a time at which a cell begins */
    struct cn_sample *list;
    size_t count, capacity;
    uint64_t cell_last_ns; /* of the last sample's cell */
};

/* For cn_thinner_put(). */
void cn_thinner_open_cell(struct cn_thinner *thinner, struct cn_sample sample);

/* Add a sample, not before the last one: up to the end of its cell, it replaces that. */
static inline void cn_thinner_put(struct cn_thinner *thinner, struct cn_sample sample)
{
    if (thinner->count > 0 && sample.time_ns <= thinner->cell_last_ns)
        thinner->list[thinner->count - 1] = sample;
    else
        cn_thinner_open_cell(thinner, sample);
}

/* Add samples; fails if they run backwards in time. */
CN_CHECK bool cn_thinner_add(struct cn_thinner *thinner, const struct cn_sample *samples,
                             size_t count, struct cn_error *err);

/* Cells of at least `resolution_ns`, which is a multiple of what it was, or the reverse. */
void cn_thinner_coarsen(struct cn_thinner *thinner, uint64_t resolution_ns);

/* Make cells larger until the limit holds. */
void cn_thinner_end(struct cn_thinner *thinner);

/* Start again, with another resolution and origin; the memory is kept. */
void cn_thinner_reset(struct cn_thinner *thinner, uint64_t resolution_ns,
                      uint64_t origin_ns);

#endif
