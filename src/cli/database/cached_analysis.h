/* The database of a recording or store that a view is asked for: analysed at the first
 * view, with progress, and cached.
 *
 * The cache is in the user's cache directory (base/host/cache_dir.h), one database for each
 * recording. Its name contains a hash of the names, sizes and times of the recording's
 * files: a changed recording is analysed again, and its earlier database is removed. When all
 * of them take up more than a gibibyte (or CAIRN_CACHE_MIB), those that were not used for
 * longest are removed; databases that a process uses stay. The
 * database of a recording that is damaged or has lost records is not cached, so that each
 * view warns.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_CACHED_ANALYSIS_H
#define CN_CLI_DATABASE_CACHED_ANALYSIS_H

#include "base/error.h"
#include "cli/shell/args.h"
#include "model/contexts/database.h"

struct cn_view_analysis;

/* Open the database of `path`; that of a query is not cached, because it may depend on the time. If
 * it is not cached, `folder` receives a directory: remove and free it after closing the
 * database. */
CN_CHECK bool cn_cached_analysis_open(struct cn_database **out, char **folder,
                                      const struct cn_args *args, const char *path,
                                      struct cn_view_analysis *how, struct cn_error *err);

#endif
