/* Waits added up: by where the thread waited and for whom; and the critical path, by thread and by what
 * was done there.
 *
 *     cn_wait_sums_init(&sums, db, &sites, false, err)
 *     cn_wait_sums_add(&sums, &wait, begin_ns, end_ns);     each wait
 *     cn_wait_sums_add_chain(&sums, &graph, profile, begin_ns, end_ns, err)   or a path
 *     cn_wait_sums_finish(&sums);
 *     ... sums.list[i], sums.total_ns ...
 *     cn_wait_sums_done(&sums);
 *
 * The times of all rows add up to total_ns, which is the sum of what was added.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_WAKERS_SUMS_H
#define CN_ANALYZE_WAKERS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/wakers/chain.h"
#include "analyze/wakers/graph.h"
#include "analyze/wakers/sites.h"
#include "base/error.h"
#include "base/map.h"

struct cn_lock_names;
struct cn_text;

struct cn_wait_row {
    uint32_t kind; /* enum cn_wait_kind, or CN_CHAIN_RUNS */
    bool is_ending, is_inferred;
    struct cn_wait_site site; /* where the thread waits, or runs */
    struct cn_wait_site by;   /* where it was woken */
    uint32_t name, by_name;   /* of the threads, in `names`; CN_NONE: none */
    uint32_t lock;            /* its name there; CN_NONE: none */
    uint64_t time_ns, longest_ns, count;
    uint64_t longest_at_ns;       /* when the longest one began */
    uint32_t context, by_context; /* of the longest one */
    uint32_t profile;             /* likewise */
};

/* What decides to which row a time belongs. */
struct cn_wait_key {
    uint32_t context, by_context; /* of the wait, or of what runs; of the waker */
    uint32_t profile, waker;      /* 0: none */
    uint32_t lock;                /* as in a wait */
    uint8_t kind;
    bool is_ending, is_inferred;
};

struct cn_wait_recent {
    struct cn_wait_key key;
    uint32_t row;
    uint32_t round; /* in which that was its row */
};

struct cn_wait_sums {
    struct cn_database *db;
    const struct cn_wait_sites *sites;
    const struct cn_lock_names *locks; /* NULL: waits have none */
    struct cn_wait_row *list;
    size_t count, capacity;
    struct cn_map row_of;          /* by a hash of what rows differ in */
    struct cn_wait_recent *recent; /* by a hash of the key, the last one that was added */
    uint32_t round; /* from 1; the next one begins when the rows are cleared */
    struct cn_names names;
    uint32_t *name_of; /* by profile */
    uint64_t total_ns;
};

/* `tells_threads`: threads of one name are told apart by their numbers. */
CN_CHECK bool cn_wait_sums_init(struct cn_wait_sums *sums, struct cn_database *db,
                                const struct cn_wait_sites *sites, bool tells_threads,
                                struct cn_error *err);
void cn_wait_sums_done(struct cn_wait_sums *sums); /* a zeroed one is fine */

/* Forget the rows, and keep the names. */
void cn_wait_sums_clear(struct cn_wait_sums *sums);

/* Add a row of other sums of the database, in which threads are told apart in the same way. */
void cn_wait_sums_merge(struct cn_wait_sums *sums, const struct cn_wait_sums *from,
                        const struct cn_wait_row *row);

/* Add what a wait has of a range of time. */
void cn_wait_sums_add(struct cn_wait_sums *sums, const struct cn_waited *wait,
                      uint64_t begin_ns, uint64_t end_ns);

/* Add the parts of a critical path (chain.h); running parts by the samples of their thread. */
CN_CHECK bool cn_wait_sums_add_chain(struct cn_wait_sums *sums,
                                     const struct cn_wait_graph *graph, uint32_t profile,
                                     uint64_t begin_ns, uint64_t end_ns,
                                     struct cn_error *err);

/* Put the rows in order, those with the most time first. */
void cn_wait_sums_finish(struct cn_wait_sums *sums);

/* Append "end of worker", "worker: take → pthread_mutex_unlock"; nothing if there is no waker. */
void cn_wait_row_print_waker(const struct cn_wait_sums *sums,
                             const struct cn_wait_row *row, struct cn_text *out);

#endif
