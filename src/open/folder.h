/* The folder of an analysis as it is shown: the database, calls.db, of `cairn analyze` without
 * options, and what databases do not contain (open/about.h).
 * Threads: any thread, each with a folder of its own.
 */
#ifndef CN_OPEN_FOLDER_H
#define CN_OPEN_FOLDER_H

#include "model/calls/recording.h"
#include "open/analysis.h"

/* Analyse the calls of a time, of one recording or more, into a folder that exists. `is_raw`:
 * recorded times, not corrected ones. A failure may leave files. `progress` may be NULL, here and
 * below. */
CN_CHECK bool cn_folder_of_calls(const char *folder, struct cn_recording *const *recs,
                                 size_t count, bool is_raw, struct cn_time_range range,
                                 const struct cn_progress *progress,
                                 struct cn_error *err);

/* The same for samples, and for a measurement directory. */
CN_CHECK bool cn_folder_of_samples(const char *folder, struct cn_database *samples,
                                   const struct cn_progress *progress,
                                   struct cn_error *err);
CN_CHECK bool cn_folder_of_measurements(const char *folder, const char *directory,
                                        const struct cn_progress *progress,
                                        struct cn_error *err);

#endif
