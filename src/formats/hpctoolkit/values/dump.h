/* The records, indexes and values of profile.db and cct.db, and the samples of trace.db, of
 * any generation, for `cairn dump`.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_DUMP_H

#include "formats/hpctoolkit/dump.h"
#include "formats/hpctoolkit/values/planes_reader.h"
#include "formats/hpctoolkit/values/traces_reader.h"

/* Emit the records of profile.db or cct.db, and for each its identity, index and values. */
CN_CHECK bool cn_hpc_dump_planes(struct cn_hpc_dump *dump,
                                 const struct cn_hpc_planes *planes,
                                 struct cn_error *err);

/* Emit the records of trace.db, and for each its samples. */
CN_CHECK bool cn_hpc_dump_traces(struct cn_hpc_dump *dump,
                                 const struct cn_hpc_traces *traces,
                                 struct cn_error *err);

#endif
