/* Do two databases hold the same? Contexts are compared by their path (the places along
 * it), not by id; values by thread, path, metric and scope; values of contexts without a record
 * as a multiset for each thread and metric.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_COMPARE_H
#define CN_TEST_COMPARE_H

#include "base/error.h"

struct cn_database;

/* Succeeds when they do; else the message says what differs first. With `without_entries`,
 * entry points are no part of a path and have no values. */
CN_CHECK bool cn_compare_databases(struct cn_database *a, struct cn_database *b,
                                   bool without_entries, struct cn_error *err);

/* The planes of contexts hold what the planes of threads hold. */
CN_CHECK bool cn_compare_planes(struct cn_database *db, struct cn_error *err);

#endif
