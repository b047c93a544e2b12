/* Report, graph and slow calls of tasks in parts are those of the whole tasks.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_SAME_VIEWS_H
#define CN_TEST_SAME_VIEWS_H

#include "model/calls/query.h"

/* Fails the test if a number, a name or the order of something differs between whole tasks on
 * one thread and parts of `part_len` bytes on `workers` threads. */
void cn_assert_same_views(const struct cn_call_query *query, unsigned workers,
                          uint64_t part_len);

#endif
