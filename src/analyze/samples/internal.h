/* The internals of a database made from samples, shared by the files that implement it.
 * Threads: see database.h.
 */
#ifndef CN_ANALYZE_SAMPLES_INTERNAL_H
#define CN_ANALYZE_SAMPLES_INTERNAL_H

#include "analyze/samples/contexts.h"
#include "analyze/samples/database.h"
#include "analyze/samples/identity.h"
#include "analyze/samples/metrics.h"
#include "analyze/samples/sum.h"
#include "base/files/file.h"
#include "base/files/spool.h"
#include "model/contexts/database.h"

/* A thread, or the summary. */
struct cn_sampled_thread {
    uint64_t values_off, samples_off; /* in the spool */
    uint64_t value_count, sample_count;
    uint32_t context_count;
    uint32_t id_count;
    struct cn_identity *ids;
};

struct cn_sampled_database {
    struct cn_database db; /* first: operations receive a pointer to it */
    struct cn_measurements *measurements;
    struct cn_sampled_contexts contexts;
    struct cn_sampled_metrics metrics;
    struct cn_sampled_identities identities;
    struct cn_spool spool;
    struct cn_bytes *maps; /* the mapped files of the spool, when complete */
    unsigned map_count;
    struct cn_sampled_thread *threads; /* 0 is the summary */
    struct cn_arena thread_arena;      /* of their identities */
    struct cn_cells cells;

    /* Set when the tree is complete. */
    uint32_t *children;   /* shown ones, by parent */
    uint32_t *child_ends; /* by parent: the end of its children, which begin at the end of
                              those of the context before */
    uint32_t *modules, *files, *functions; /* used ones -> number of the measurements */
    uint32_t *module_numbers, *file_numbers, *function_numbers; /* the reverse */
};

/* When the tree is complete: number the used modules, files and functions, list the children of
 * contexts, and map the files of the spool, which have these lengths. */
CN_CHECK bool cn_sampled_database_complete(struct cn_sampled_database *self,
                                           const uint64_t *lens, struct cn_error *err);

/* True if --only-exe selects a profile. */
bool cn_sampled_is_wanted(const struct cn_sampled_options *options,
                          const struct cn_sampled_profile *profile);

/* Set the identity of a thread. */
void cn_sampled_thread_identify(struct cn_sampled_database *self,
                                struct cn_sampled_thread *thread,
                                const struct cn_identity *ids, size_t count);

/* An empty database with its operations. */
struct cn_sampled_database *cn_sampled_database_new(struct cn_measurements *measurements);
void cn_sampled_database_free(struct cn_sampled_database *self);

/* How many values of each metric the contexts of a database have: the statistics over its
 * threads count them. */

/* Make the list, which the caller releases with free(). Fails if numbers of another
 * process are no counts. */
CN_CHECK bool cn_sampled_cells_list(struct cn_cells *cells,
                                    const struct cn_sampled_sum *sum,
                                    const struct cn_sampled_sum_rules *rules,
                                    struct cn_error *err);

/* In messages to other processes; limits of contexts are not checked. */
void cn_sampled_cells_encode(const struct cn_cells *cells, struct cn_text *message);
CN_CHECK bool cn_sampled_cells_decode(struct cn_cells *cells, struct cn_bytes from,
                                      struct cn_error *err);

#endif
