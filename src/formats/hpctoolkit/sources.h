/* Copies of source files that a database holds below src/.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SOURCES_H
#define CN_FORMATS_HPCTOOLKIT_SOURCES_H

#include "base/error.h"

struct cn_database;
struct cn_write_options;

/* The source files that the database says it holds, copied below src/ in `dir`. Only
 * regular files that really lie inside the database being read; others are counted
 * as lost. */
CN_CHECK bool cn_hpc_sources_copy(struct cn_database *db, const char *dir,
                                  const struct cn_write_options *options,
                                  struct cn_error *err);

#endif
