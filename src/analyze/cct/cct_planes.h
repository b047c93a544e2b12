/* The values of all profiles of an analysis: of each thread, and the summary over
 * them.
 * Threads: one thread at a time; uses threads of its own.
 */
#ifndef CN_ANALYZE_CCT_CCT_PLANES_H
#define CN_ANALYZE_CCT_CCT_PLANES_H

#include "analyze/cct/calls_to_database.h"
#include "analyze/cct/cct_database.h"

/* Write all planes to the database's spool, and decide on its metrics. */
CN_CHECK bool cn_cct_planes_make(struct cn_cct_database *self,
                                 const struct cn_calls_options *options,
                                 struct cn_error *err);

#endif
