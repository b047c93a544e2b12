/* A large database that exists only as arithmetic: whatever is asked for is computed from its
 * number, so that a benchmark measures the writer and not the storage of its input.
 *
 * The context tree is numbered breadth first, with 1.4 children a context on average: a million
 * contexts are 38 levels deep. Every thread has values for contexts spread evenly over the
 * ids, three scopes each; the summary has them for all contexts.
 * Threads: immutable after init.
 */
#ifndef CN_BENCH_SYNTHETIC_H
#define CN_BENCH_SYNTHETIC_H

#include "model/contexts/database.h"

struct cn_synthetic_size {
    uint32_t threads, contexts;
    uint64_t values;  /* of all threads together, summary excluded */
    uint64_t samples; /* of all threads together */
};

struct cn_synthetic {
    struct cn_database db; /* first: operations receive a pointer to it */
    struct cn_synthetic_size size;
    uint32_t thread_contexts; /* that have values, in each thread */
    uint32_t step;            /* ids from one of them to the next, on average */
};

/* Sets up the caller's memory; nothing has to be released. */
void cn_synthetic_init(struct cn_synthetic *s, const struct cn_synthetic_size *size);

#endif
