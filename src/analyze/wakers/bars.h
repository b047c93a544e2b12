/* The parts of a critical path as bars of a picture: what is shorter than a column, and near others of its
 * thread, becomes one bar with them.
 *
 *     cn_wait_bars_build(&bars, &path, begin_ns, end_ns, column_ns);
 *     for (size_t i = 0; i < bars.count; i++) ... bars.list[i] ...
 *     cn_wait_bars_done(&bars);
 *
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_WAKERS_BARS_H
#define CN_ANALYZE_WAKERS_BARS_H

#include <stddef.h>
#include <stdint.h>

struct cn_wait_chain;

struct cn_wait_bar {
    uint64_t begin_ns, end_ns;
    uint64_t path_ns; /* of its time that is in parts */
    uint64_t longest_ns;
    uint32_t profile;
    uint32_t kind; /* of the longest part: enum cn_wait_kind, or CN_CHAIN_RUNS */
    size_t parts;
};

struct cn_wait_bars {
    struct cn_wait_bar *list; /* by begin */
    size_t count, capacity;
};

/* Bars of the parts between two times, cut to these. */
void cn_wait_bars_build(struct cn_wait_bars *out, const struct cn_wait_chain *path,
                        uint64_t begin_ns, uint64_t end_ns, uint64_t column_ns);
void cn_wait_bars_done(struct cn_wait_bars *bars);

#endif
