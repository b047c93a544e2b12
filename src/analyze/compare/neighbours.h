/* Functions that one side has under another name, or not at all: matched by what is around
 * them.
 *
 * Only among the unmatched callees of the same matched caller, and only if one partner is
 * clearly more likely than all others:
 *   renamed:  no function of the old name is left, none of the new name was there, and what
 *             it calls (of a function that calls nothing: its cost) is similar
 *   a level inserted or removed: the callees are found one level further down or up
 *   inlined, split: the caller's self cost grew or shrank by what the callee cost
 * Work is linear in nodes, except for callers with hundreds of unmatched callees, which are
 * skipped.
 */
#ifndef CN_ANALYZE_COMPARE_NEIGHBOURS_H
#define CN_ANALYZE_COMPARE_NEIGHBOURS_H

#include "analyze/compare/comparison.h"

/* Means of both sides are known; totals are approximate afterwards. Returns how many nodes
 * were merged. */
size_t cn_neighbours_match(struct cn_comparison *c);

#endif
