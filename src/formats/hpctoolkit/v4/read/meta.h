/* meta.db of a v4 database, as meta/ reads, verifies and dumps it.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_META_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_META_H

#include "formats/hpctoolkit/meta/meta.h"
#include "formats/hpctoolkit/v4/read/sections.h"

/* What cn_hpc_meta_open() needs: the final layout, or that of draft A. */
struct cn_hpc_meta cn_hpc_v4_meta(const struct cn_hpc_sections *sections);
bool cn_hpc_v4_is_draft(const struct cn_hpc_meta *meta);

#endif
