/* A time range of a database, as a database of its own: the same contexts, functions and files,
 * of which those without costs in the range are not listed, and as metrics the time of each
 * context in the range, from the samples of timelines, and where allocations are known over time, what
 * was live at its begin and end, and by how much that grew or shrank. Ids of contexts and their `at` are those
 * of the whole database.
 *
 * It borrows the whole database, which must outlive it; cn_database_close() releases it.
 * Threads: as model/contexts/database.h.
 */
#ifndef CN_ANALYZE_TIMELINE_RANGE_DATABASE_H
#define CN_ANALYZE_TIMELINE_RANGE_DATABASE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/run/progress.h"

struct cn_context_index;
struct cn_database;
struct cn_range_request;

/* The metric: running time if a database distinguishes it from waiting, else time. */
const char *cn_range_metric(const struct cn_database *whole);

/* `index` is that of the whole database. `has_threads`: also values and samples of each thread,
 * to be written; else only sums over the threads of the request. On failure nothing is left to
 * release. */
CN_CHECK bool cn_range_database_open(struct cn_database **out, struct cn_database *whole,
                                     const struct cn_context_index *index,
                                     const struct cn_range_request *request,
                                     bool has_threads, const struct cn_progress *progress,
                                     struct cn_error *err);

#endif
