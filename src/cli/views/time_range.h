/* --time-range of views: the costs of that time as a database of its own.
 *
 * Zero-initialised, it shows all of the time. cn_view_range_done() releases it, after what uses the database
 * and before what it is a range of.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_VIEWS_TIME_RANGE_H
#define CN_CLI_VIEWS_TIME_RANGE_H

#include "analyze/views/context_index.h"
#include "base/error.h"

struct cn_args;
struct cn_database;

#define CN_VIEW_RANGE_OPTION                                                          \
    CN_OPTION("time-range", 0, "FROM~TO",                                             \
              "only this time, as offsets from the start: 1.5s~2s, 10%~20%, ~300ms; " \
              "metrics are its time and, where allocations are known, what was live " \
              "at its begin and end and by how much that grew")

struct cn_view_range {
    struct cn_context_index index;
    struct cn_database *db; /* NULL: all of the time */
};

/* If --time-range is given, replace *db by the range of it. On failure, release it as well. */
CN_CHECK bool cn_view_range_open(struct cn_view_range *range, const struct cn_args *args,
                                 struct cn_database **db, struct cn_error *err);
void cn_view_range_done(struct cn_view_range *range);

#endif
