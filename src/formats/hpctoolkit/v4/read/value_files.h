/* profile.db, cct.db and trace.db of a v4 database, as planes_reader.h and traces_reader.h
 * read them.
 * Threads: immutable after open; everything borrows the file's bytes.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_VALUE_FILES_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_VALUE_FILES_H

#include "formats/hpctoolkit/v4/read/sections.h"
#include "formats/hpctoolkit/values/planes_reader.h"
#include "formats/hpctoolkit/values/traces_reader.h"

/* profile.db, where there is at least one profile, the summary; or cct.db, where records are
 * indexed by context id. */
CN_CHECK bool cn_hpc_v4_planes_open(struct cn_content file,
                                    const struct cn_hpc_file_kind *kind,
                                    struct cn_hpc_planes *out, struct cn_error *err);

CN_CHECK bool cn_hpc_v4_traces_open(struct cn_content file, struct cn_hpc_traces *out,
                                    struct cn_error *err);

/* The same of opened sections, without records. */
struct cn_hpc_planes cn_hpc_v4_planes(const struct cn_hpc_sections *sections);
struct cn_hpc_traces cn_hpc_v4_traces(const struct cn_hpc_sections *sections);

#endif
