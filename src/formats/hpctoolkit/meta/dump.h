/* The structures of a meta.db, for `cairn dump`.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_META_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_META_DUMP_H

#include "formats/hpctoolkit/values/dump.h"

struct cn_hpc_meta;

/* Everything after the header of the file. */
CN_CHECK bool cn_hpc_meta_dump(struct cn_hpc_dump *dump, const struct cn_hpc_meta *meta,
                               struct cn_error *err);

#endif
