/* The critical path of a run as a database: a context for each of its causes (causes.h), whose cost is the
 * time that it took. So what compares costs compares what runs waited for, and all costs add up to the time
 * of the run.
 *
 *     cn_wait_path_database_new(&path, db, begin_ns, end_ns, err)
 *     ... cn_comparison_add(..., path, ...) ...
 *     cn_database_close(path);
 *
 * The path is that of the thread that began first. Threads: any thread.
 */
#ifndef CN_ANALYZE_WAKERS_PATH_DATABASE_H
#define CN_ANALYZE_WAKERS_PATH_DATABASE_H

#include <stdint.h>

#include "base/error.h"

struct cn_database;

#define CN_WAIT_PATH_NAME "critical path (sec)"

/* Fails if it is not known when threads wait, or what for. The caller closes the database, which borrows
 * nothing. */
CN_CHECK bool cn_wait_path_database_new(struct cn_database **out, struct cn_database *db,
                                        uint64_t begin_ns, uint64_t end_ns,
                                        struct cn_error *err);

#endif
