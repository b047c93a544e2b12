/* The waits of each thread, added up for blocks of its states: a range of time adds up blocks, and single waits
 * only where it begins and ends.
 *
 *     cn_wait_blocks_build(&blocks, &graph, &sites, &locks, tells_threads, err)
 *     if (cn_wait_blocks_add(&blocks, profile, &state, begin_ns, end_ns, &sums)) ... it went past a block ...
 *     cn_wait_blocks_done(&blocks);
 *
 * Memory: at most 6 bytes a state; of waits that all differ, blocks are left out. Borrows all but the sums.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_WAKERS_BLOCKS_H
#define CN_ANALYZE_WAKERS_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/wakers/sums.h"
#include "base/error.h"

struct cn_wait_block {
    struct cn_wait_row *rows; /* NULL: waits are added up one by one */
    size_t count;
};

struct cn_wait_blocks {
    const struct cn_wait_graph *graph;
    struct cn_wait_block *list; /* NULL: there are none */
    size_t *first_of;           /* by profile: in the list; one more than there are */
    struct cn_wait_sums sums;   /* with the names of the rows */
};

/* `tells_threads` as of the sums that blocks are added to. A failed one is released as well. */
CN_CHECK bool cn_wait_blocks_build(struct cn_wait_blocks *blocks,
                                   const struct cn_wait_graph *graph,
                                   const struct cn_wait_sites *sites,
                                   const struct cn_lock_names *locks, bool tells_threads,
                                   struct cn_error *err);
void cn_wait_blocks_done(struct cn_wait_blocks *blocks); /* a zeroed one is fine */

/* True if a block begins at a state of a thread, and lies in the range: it is added, and `*state` is after it. */
bool cn_wait_blocks_add(const struct cn_wait_blocks *blocks, uint32_t profile,
                        size_t *state, uint64_t begin_ns, uint64_t end_ns,
                        struct cn_wait_sums *sums);

#endif
