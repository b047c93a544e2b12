/* The plane of a context without cct.db: its values are looked up in profile.db.
 *
 * Each batch costs one pass over all profiles.
 * Threads: any thread, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_LOOKUP_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_LOOKUP_H

#include "formats/hpctoolkit/values/planes_reader.h"

void cn_hpc_lookup_begin(struct cn_value_cursor *cursor);

/* The next values of context cursor->owner by (metric, profile). */
CN_CHECK enum cn_step cn_hpc_lookup_next(const struct cn_hpc_planes *profiles,
                                         const struct cn_hpc_metric_ids *ids,
                                         struct cn_value_cursor *cursor,
                                         struct cn_value_batch *out,
                                         struct cn_error *err);

#endif
