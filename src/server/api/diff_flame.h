/* The differential flame graph of a comparison, as JSON: the nodes in depth-first order, each with
 * the values of both sides.
 *
 *     "isCut": false, "names": ["main"], "nodes": [[depth, name, a, b, self a, self b, id], ...]
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_DIFF_FLAME_H
#define CN_SERVER_API_DIFF_FLAME_H

#include "analyze/compare/rows.h"
#include "base/bytes/json.h"

/* Write the members of the object that `json` is in: rows below `top` (CN_NONE: all), down to
 * `depth_max` levels, of which a side has more than `min_share` of the larger side. The rows have
 * those in which nothing changed. */
void cn_diff_flame_add(struct cn_json *json, const struct cn_comparison *c,
                       const struct cn_compare_rows *rows, uint32_t top, double min_share,
                       size_t depth_max);

#endif
