/* Measurement directories of hpcrun as a database, with debug information of the binaries on
 * this machine. What could not be read is among the database's warnings.
 * Threads: one thread at a time; starts threads of its own.
 */
#ifndef CN_OPEN_MEASURED_H
#define CN_OPEN_MEASURED_H

#include "analyze/samples/database.h"
#include "base/error.h"
#include "base/text.h"

struct cn_database;
struct cn_hpc_meas_options;
struct cn_measured_source;

struct cn_measured {
    struct cn_measured_source *source; /* NULL while nothing is opened */
    size_t profile_count;              /* readable or not */
    struct cn_sampled_totals totals;
};

/* Analyse directories with these options; debug information and damage are added to them here.
 * The caller closes the database first, then `out`, also on failure. */
CN_CHECK bool cn_measured_open(struct cn_measured *out, const char *const *paths,
                               size_t count, struct cn_hpc_meas_options *reading,
                               struct cn_sampled_options *building,
                               struct cn_database **db, struct cn_error *err);

/* The next text of what could not be read after `text` (NULL: the first), or NULL: for an
 * analysis that failed and has no warnings. */
const char *cn_measured_damage(const struct cn_measured *measured, const char *text);
void cn_measured_close(struct cn_measured *measured);

#endif
