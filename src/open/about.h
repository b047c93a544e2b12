/* What the database of an analysis does not contain, in files beside it: about.json, and
 * points.json with the costs of instructions, if there are any.
 *
 *     {"lostRecords": 3, "samples": 0, "traces": 0, "profiles": 4, "unreadableProfiles": 0,
 *      "notes": "...", "warnings": ["..."], "damages": ["task 7: ..."], "threadNames": ["", "render"],
 *      "buildIds": ["", "5a41..."], "missing": ["/opt/app"]}
 *     {"points": [module, context, offset, ...], "values": [point, profile, metric, value, ...]}
 *
 * Threads: any thread, each with a folder of its own.
 */
#ifndef CN_OPEN_ABOUT_H
#define CN_OPEN_ABOUT_H

#include "model/contexts/database.h"
#include "model/contexts/points.h"
#include "open/analysis.h"

#define CN_ABOUT_DATABASE "calls.db"
#define CN_ABOUT_POINTS   "points.json"

CN_CHECK bool cn_about_write(const struct cn_analysis *analysis, struct cn_database *db,
                             const char *folder, struct cn_error *err);

/* An analysis that was read. The database uses the rest. */
struct cn_about {
    struct cn_analysis analysis;
    const char **names;
    struct cn_points *points;
    bool is_outdated; /* programs that were missing are there now */
};

/* Open the database of a folder, and add to it what the files say. Close the database first, then
 * this; a failure leaves nothing to close. */
CN_CHECK bool cn_about_open(struct cn_database **out, struct cn_about *about,
                            const char *folder, struct cn_error *err);
void cn_about_close(struct cn_about *about); /* a zeroed one is fine */

#endif
