/* Is a difference between two single runs real? How much the calls of a function differ among
 * themselves tells.
 *
 * The cost of a row is a sum over calls. Its variance follows from the durations of the calls
 * that each run has counted (latencies of a database), with everything below them: that is the
 * variance of the row where it consists of whole calls, and usually more where it has self costs
 * alone. So a self cost that differs by less is not called noise, but unknown.
 *
 * Calls of one run share its processor, its memory layout and its input: this tells a change from
 * the noise of calls, not from what differs between runs.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_COMPARE_CALL_EVIDENCE_H
#define CN_ANALYZE_COMPARE_CALL_EVIDENCE_H

#include "analyze/compare/comparison.h"
#include "analyze/compare/evidence.h"

struct cn_call_test {
    double value[CN_SIDES]; /* cost of the row */
    double calls[CN_SIDES]; /* that the cost is of */
    bool is_exact;          /* the row consists of whole calls */
};

/* `of_node`: for each node the row that its calls are of; CN_NONE: none. */
void cn_call_evidence_find(struct cn_evidence *out, const struct cn_call_test *tests,
                           size_t count, const uint32_t *of_node,
                           const struct cn_comparison *c);

/* True if self costs are nearly all of total costs, on both sides. */
bool cn_call_test_is_exact(const double self[CN_SIDES], const double total[CN_SIDES]);

#endif
