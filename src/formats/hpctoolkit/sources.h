/* Copies of source files that a database contains below src/.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SOURCES_H
#define CN_FORMATS_HPCTOOLKIT_SOURCES_H

#include "base/error.h"

struct cn_database;
struct cn_write_options;

/* Copy the source files that the database lists as copied to src/ in `dir`. Only regular
 * files inside the database are copied; others are reported as lost. */
CN_CHECK bool cn_hpc_sources_copy(struct cn_database *db, const char *dir,
                                  const struct cn_write_options *options,
                                  struct cn_error *err);

#endif
