#include "analyze/wakers/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/contexts/database.h"
#include "model/thread_states.h"

enum {
    BLOCK_LEN = 1 << 15, /* states */
    STATES_A_ROW = 16,   /* a block has at least so many */
};

static size_t block_end(const struct cn_thread_states *states, size_t first)
{
    return states->count - first > BLOCK_LEN ? first + BLOCK_LEN : states->count;
}

static void build_block(struct cn_wait_blocks *blocks, uint32_t profile, size_t first,
                        struct cn_wait_block *out)
{
    size_t end = block_end(&blocks->graph->db->states[profile], first);
    struct cn_wait_sums *sums = &blocks->sums;
    struct cn_waited wait;

    cn_wait_sums_clear(sums);
    for (size_t at = first; at < end && sums->count * STATES_A_ROW <= end - first; at++)
        if (cn_wait_graph_at(blocks->graph, profile, at, &wait))
            cn_wait_sums_add(sums, &wait, 0, UINT64_MAX);
    if (sums->count * STATES_A_ROW > end - first)
        return;
    out->rows = cn_alloc(sums->count + 1, sizeof(*out->rows));
    out->count = sums->count;
    if (sums->count > 0)
        memcpy(out->rows, sums->list, sums->count * sizeof(*out->rows));
}

bool cn_wait_blocks_build(struct cn_wait_blocks *blocks,
                          const struct cn_wait_graph *graph,
                          const struct cn_wait_sites *sites,
                          const struct cn_lock_names *locks, bool tells_threads,
                          struct cn_error *err)
{
    const struct cn_database *db = graph->db;
    size_t count = 0;

    *blocks =
        (struct cn_wait_blocks){.graph = graph,
                                .first_of = cn_alloc((size_t)graph->profile_count + 1,
                                                     sizeof(*blocks->first_of))};
    if (!cn_wait_sums_init(&blocks->sums, graph->db, sites, tells_threads, err))
        return false;
    blocks->sums.locks = locks;
    for (uint32_t i = 0; i < graph->profile_count; i++) {
        blocks->first_of[i] = count;
        count += (db->states[i].count + BLOCK_LEN - 1) / BLOCK_LEN;
    }
    blocks->first_of[graph->profile_count] = count;
    blocks->list = cn_alloc(count + 1, sizeof(*blocks->list));
    for (uint32_t i = 0; i < graph->profile_count; i++)
        for (size_t at = blocks->first_of[i]; at < blocks->first_of[i + 1]; at++) {
            build_block(blocks, i, (at - blocks->first_of[i]) * BLOCK_LEN,
                        &blocks->list[at]);
            cn_database_forget(graph->db);
        }
    return true;
}

void cn_wait_blocks_done(struct cn_wait_blocks *blocks)
{
    for (size_t i = 0; blocks->list && i < blocks->first_of[blocks->graph->profile_count];
         i++)
        free(blocks->list[i].rows);
    free(blocks->list);
    free(blocks->first_of);
    cn_wait_sums_done(&blocks->sums);
    *blocks = (struct cn_wait_blocks){0};
}

bool cn_wait_blocks_add(const struct cn_wait_blocks *blocks, uint32_t profile,
                        size_t *state, uint64_t begin_ns, uint64_t end_ns,
                        struct cn_wait_sums *sums)
{
    if (!blocks->list || *state % BLOCK_LEN != 0)
        return false;
    const struct cn_thread_states *states = &blocks->graph->db->states[profile];
    const struct cn_wait_block *block =
        &blocks->list[blocks->first_of[profile] + *state / BLOCK_LEN];
    size_t end = block_end(states, *state);
    /* The last wait of a block ends with the state after it. */
    size_t last = end < states->count ? end : end - 1;

    if (!block->rows || cn_thread_states_at(states, *state).time_ns < begin_ns ||
        cn_thread_states_at(states, last).time_ns > end_ns)
        return false;
    for (size_t i = 0; i < block->count; i++)
        cn_wait_sums_merge(sums, &blocks->sums, &block->rows[i]);
    *state = end;
    return true;
}
