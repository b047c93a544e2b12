/* Databases that are made for a source and shown in its place: of a recording or of measurements
 * what `cairn analyze` writes without options, of samples with symbols of this machine all of
 * them. A folder has the database, calls.db, a text of what is missing, the number of lost
 * records, then a line for each warning, and the names of threads, which databases do not have,
 * a line for each.
 * Threads: any thread, each with a folder of its own.
 */
#ifndef CN_OPEN_ANALYSIS_H
#define CN_OPEN_ANALYSIS_H

#include "base/error.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "model/calls/recording.h"

struct cn_database;

/* What an analysis has that its database has not. */
struct cn_analysis_extras {
    uint64_t lost_count;       /* records that the recorder lost */
    struct cn_text names;      /* of threads, one after another, each with a NUL */
    const char **thread_names; /* by profile; "": none */
    size_t thread_name_count;
};
void cn_analysis_extras_done(struct cn_analysis_extras *extras);

/* Write the database of the calls of a time below `folder` and open it; its warnings name damage.
 * `is_raw`: recorded times, not corrected ones. The caller closes it and removes the folder, also
 * after a failure. */
CN_CHECK bool cn_analysis_of_calls(struct cn_database **out,
                                   const struct cn_recording *rec, bool is_raw,
                                   struct cn_time_range range, const char *folder,
                                   struct cn_analysis_extras *extras,
                                   const struct cn_progress *progress,
                                   struct cn_error *err);

/* Write a database of samples below `folder`, to be opened there. */
CN_CHECK bool cn_analysis_of_samples(struct cn_database *samples, const char *folder,
                                     struct cn_error *err);

/* Analyse a measurement directory of hpcrun as views do, and write its database below `folder`, to
 * be opened there. */
CN_CHECK bool cn_analysis_of_measurements(const char *path, const char *folder,
                                          const struct cn_progress *progress,
                                          struct cn_error *err);

/* Open the database that was written below a folder, perhaps elsewhere. */
CN_CHECK bool cn_analysis_open(struct cn_database **out, const char *folder,
                               struct cn_analysis_extras *extras, struct cn_error *err);

#endif
