/* The operations of GPUs that a database has launches of, each with its end and its context, in the
 * order of streams and times.
 *
 *     cn_launched_find(&launched, db, err) ... launched.list[i] ...
 *     cn_launched_done(&launched);
 *
 * The timeline of a stream says which operation ran: where others run at the same time, or follow without
 * a gap in the same context, the end is unknown.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_TIMELINE_LAUNCHED_H
#define CN_ANALYZE_TIMELINE_LAUNCHED_H

#include <stddef.h>

#include "base/error.h"
#include "model/contexts/database.h"

struct cn_launched_op {
    struct cn_launch launch;
    uint64_t end_ns;  /* since the epoch; 0: unknown */
    uint32_t context; /* 0: unknown */
};

struct cn_launched {
    struct cn_launched_op *list;
    size_t count;
};

/* On failure nothing is left to release. */
CN_CHECK bool cn_launched_find(struct cn_launched *launched, struct cn_database *db,
                               struct cn_error *err);
void cn_launched_done(struct cn_launched *launched);

#endif
