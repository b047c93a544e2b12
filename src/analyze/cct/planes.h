/* The values of all profiles of an analysis: those of threads, and the summary.
 * Threads: one thread at a time; starts threads of its own.
 */
#ifndef CN_ANALYZE_CCT_PLANES_H
#define CN_ANALYZE_CCT_PLANES_H

#include "analyze/cct/calls_to_database.h"
#include "analyze/cct/database.h"

/* Write all planes to the spool of the database, and build its metrics. */
CN_CHECK bool cn_cct_planes_make(struct cn_cct_database *self,
                                 const struct cn_calls_options *options,
                                 struct cn_error *err);

#endif
