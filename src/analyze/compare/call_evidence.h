/* Is a difference between two single runs real? What each run tells about its own noise does.
 *
 * The cost of a row is a sum of self costs of nodes. Its error has three parts:
 *   calls: how much the calls of a node differ among themselves. Their durations (latencies of a
 *          database) are cut to the cost that is compared: running time has no waiting in it. What
 *          the callees do not explain is of the node itself. Samples have the error of counting:
 *          the square root of their number.
 *   correction: the recorder's own cost, which was subtracted from each call, is known to a quarter,
 *          or as well as the two runs agree on it. This is the same error for all calls of a run.
 *   speed: a run is faster or slower than another one, by what else the machine does. How much
 *          the nodes that are called as often differ between the runs tells; of samples, the middle one of
 *          the changes of all nodes. Speeds are ratios: the
 *          chance of a difference is that of the ratio of the two costs, so that a cost beside nothing is no
 *          difference in speed.
 *
 * Numbers of calls have no error: rows with new, gone, more or fewer calls are certain.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_COMPARE_CALL_EVIDENCE_H
#define CN_ANALYZE_COMPARE_CALL_EVIDENCE_H

#include "analyze/compare/comparison.h"
#include "analyze/compare/evidence.h"

/* Set the errors of all nodes: for cn_comparison_finish(). */
void cn_call_evidence_prepare(struct cn_comparison *c);

/* The error of a sum of nodes; zeroed: of nothing. */
struct cn_cost_error {
    double variance[CN_SIDES], rest[CN_SIDES], correction[CN_SIDES];
    double unknown[CN_SIDES]; /* sizes of costs of nodes whose noise is unknown */
};

void cn_cost_error_add(struct cn_cost_error *sum, const struct cn_comparison *c,
                       uint32_t node);
void cn_cost_error_merge(struct cn_cost_error *into, const struct cn_cost_error *from);

/* Test value[B] against `factor` times value[A], and `more`. Unknown if nodes of unknown noise
 * matter. */
struct cn_difference cn_cost_error_test(const struct cn_cost_error *error,
                                        const struct cn_comparison *c,
                                        const double value[CN_SIDES], double factor,
                                        double more);

struct cn_call_test {
    double value[CN_SIDES]; /* cost of the row */
    double calls[CN_SIDES]; /* that the cost is of; NAN: unknown */
    struct cn_cost_error error;
};

void cn_call_evidence_find(struct cn_evidence *out, const struct cn_call_test *tests,
                           size_t count, const struct cn_comparison *c);

#endif
