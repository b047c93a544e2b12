/* Opening what a view shows: a database, or measurements, which are analysed first.
 *
 * The result of an analysis lives in memory and in a nameless file under $TMPDIR; what
 * could not be read of the measurements is among the database's warnings.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_OPEN_DATABASE_H
#define CN_CLI_DATABASE_OPEN_DATABASE_H

#include "base/error.h"
#include "model/contexts/database.h"

struct cn_args;

/* For descriptions of commands. */
#define CN_VIEW_OF_MEASUREMENTS                                                      \
    "\n\nGiven a measurement directory of hpcrun, it shows the database that cairn " \
    "analyze makes of it."

struct cn_opened_database {
    struct cn_database *db;
    struct cn_measured_source *source;      /* of measurements; NULL for a database */
    size_t profile_count, unreadable_count; /* of measurements */
};

/* A zeroed one is safe to close, also after a failure. */
CN_CHECK bool cn_opened_database_open(struct cn_opened_database *opened,
                                      const struct cn_args *args, const char *path,
                                      struct cn_error *err);
void cn_opened_database_close(struct cn_opened_database *opened);

#endif
