/* Do the two ways to the numbers of views agree: one context at a time, and all in one pass?
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_CHECK_COSTS_H
#define CN_TEST_CHECK_COSTS_H

#include <stdbool.h>

#include "base/error.h"

struct cn_costs;

/* Both absent, or equal but for rounding. */
bool cn_same_value(double a, double b);

/* Compares every column of a database whose costs are ready: of every context, or of hundreds
 * spread over a large one. The message names the first that differs. */
CN_CHECK bool cn_check_costs(struct cn_costs *costs, struct cn_error *err);

#endif
