/* The database of a recording: what `cairn analyze` writes without options. A folder has the
 * database, calls.db, and a text of what is missing: the number of lost records, then a line for
 * each damage.
 * Threads: any thread, each with a folder of its own.
 */
#ifndef CN_SERVER_SERVED_ANALYSIS_H
#define CN_SERVER_SERVED_ANALYSIS_H

#include "base/error.h"
#include "base/run/progress.h"

struct cn_database;
struct cn_recording;

/* Write the database of all calls below `folder` and open it; its warnings name damage. `is_raw`:
 * recorded times, not corrected ones; `lost`: the number of lost records. The caller closes it and
 * removes the folder, also after a failure. */
CN_CHECK bool cn_analysis_of_calls(struct cn_database **out,
                                   const struct cn_recording *rec, bool is_raw,
                                   const char *folder, uint64_t *lost,
                                   const struct cn_progress *progress,
                                   struct cn_error *err);

/* Open the database that was written below a folder, perhaps elsewhere. */
CN_CHECK bool cn_analysis_open(struct cn_database **out, const char *folder,
                               uint64_t *lost, struct cn_error *err);

#endif
