/* The structures of a v4 meta.db, for `cairn dump`.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_DUMP_META_H
#define CN_FORMATS_HPCTOOLKIT_V4_DUMP_META_H

#include "formats/hpctoolkit/values/dump.h"

struct cn_hpc_sections;

CN_CHECK bool cn_hpc_v4_dump_meta(struct cn_hpc_dump *dump,
                                  const struct cn_hpc_sections *sections,
                                  struct cn_error *err);

#endif
