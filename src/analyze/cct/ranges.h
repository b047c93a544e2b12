/* NVTX ranges of a task as the begin of its call paths: which of them are open, over time, and the
 * open calls moved below them.
 *
 *     ranges = cn_cct_ranges_open(query, task);
 *     while (cn_cct_ranges_next_ns(ranges) < before_ns)
 *         cn_cct_ranges_change(ranges, task, follow, now_ns, is_counted);
 *     cn_cct_ranges_close(ranges);
 *
 * What a call did before a change is counted at its path then; it is a call of the path at which it
 * returns. A range that lasts CN_CCT_MARK_NS is a mark, which moves nothing.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_RANGES_H
#define CN_ANALYZE_CCT_RANGES_H

#include "analyze/cct/task.h"

enum { CN_CCT_MARK_NS = 1 };

/* NULL: none of its paths begin with ranges. */
struct cn_cct_ranges *cn_cct_ranges_open(const struct cn_call_query *query,
                                         uint32_t task);
void cn_cct_ranges_close(struct cn_cct_ranges *ranges); /* NULL is fine */

/* The recorded time of the next change; UINT64_MAX: there is none, also of NULL. */
uint64_t cn_cct_ranges_next_ns(struct cn_cct_ranges *ranges);

/* Make the next change: move the open calls of `follow`, at `now_ns` of its clock. */
void cn_cct_ranges_change(struct cn_cct_ranges *ranges, struct cn_cct_task *task,
                          struct cn_cct_follow *follow, uint64_t now_ns, bool is_counted);

#endif
