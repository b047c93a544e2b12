/* Counts and sizes for people.
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_CLI_PRINT_QUANTITY_H
#define CN_CLI_PRINT_QUANTITY_H

#include <stdint.h>

#include "base/count.h"
#include "base/size.h"

struct cn_text;

double cn_percent(uint64_t part, uint64_t whole); /* 0 of nothing */

/* "not kept: 3 events of tasks", "not kept: 1 event of tasks"; `many` is the plural. */
void cn_loss_print(struct cn_text *text, uint64_t count, const char *many);

/* The cost of a metric: "1.2 s", or "1,234 cycles". */
void cn_cost_print(struct cn_text *text, const char *metric, double value);

#endif
