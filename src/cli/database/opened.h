/* Opens what a view shows: a database, or a recording, store or measurements, which are
 * analysed first.
 *
 * The database of a recording or store is cached (cli/database/cached_analysis.h).
 * That of measurements is in memory and in an unnamed file under $TMPDIR. What could
 * not be read of the measurements is among the database's warnings.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_OPENED_H
#define CN_CLI_DATABASE_OPENED_H

#include "base/error.h"
#include "cli/shell/args.h"
#include "model/contexts/database.h"
#include "open/measured.h"

struct cn_hpc_meas_options;

/* For descriptions of commands. */
#define CN_VIEW_OF_MEASUREMENTS                                                         \
    "\n\nA recording, a store or a measurement directory of hpcrun is analysed first, " \
    "as by "                                                                            \
    "cairn analyze. The result of a recording or store is cached until it changes."

struct cn_opened_database {
    struct cn_database *db;
    const char *shown_path;      /* as it was given, borrowed */
    struct cn_measured measured; /* of measurements */
    char *folder;      /* temporary, of a recording that could not be cached; else NULL */
    bool is_of_traces; /* calls of request traces */
    bool is_damaged;   /* not all of it could be read: a warning said so */
};

/* Open a database, or analyse another source with default options and --raw. Print the database's
 * warnings on stderr if `warns`. On failure, close it as well. */
CN_CHECK bool cn_opened_database_open(struct cn_opened_database *opened,
                                      const struct cn_args *args, const char *path,
                                      bool warns, struct cn_error *err);

/* The same for the traces of a store that match a query; NULL: anything, as above. */
CN_CHECK bool cn_opened_database_open_query(struct cn_opened_database *opened,
                                            const struct cn_args *args, const char *path,
                                            const char *query, bool warns,
                                            struct cn_error *err);

/* Fails if it is damaged, after what could be read was shown: exit status 3. */
CN_CHECK bool cn_opened_database_check(const struct cn_opened_database *opened,
                                       struct cn_error *err);

/* Analyse measurements with these options; debug information, progress and damage are
 * added to them here. On failure, close it as well. */
CN_CHECK bool
cn_opened_database_analyse(struct cn_opened_database *opened, const struct cn_args *args,
                           struct cn_values paths, struct cn_hpc_meas_options *reading,
                           struct cn_sampled_options *building, struct cn_error *err);
void cn_opened_database_close(struct cn_opened_database *opened);

#endif
