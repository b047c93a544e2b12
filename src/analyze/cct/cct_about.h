/* What a database that is made from recordings says about itself, and how the clock
 * of a recording relates to that of the calendar.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_CCT_CCT_ABOUT_H
#define CN_ANALYZE_CCT_CCT_ABOUT_H

#include "analyze/cct/cct_members.h"

struct cn_database;

/* Title and description: programs, hosts, and which thread is which task. `title`
 * may be NULL. */
void cn_cct_describe(struct cn_database *db, const struct cn_call_query *queries,
                     const struct cn_cct_members *members, const char *title);

/* What to add to times of a recording to count from the epoch; 0 when nobody knows.
 * The last record is at `last_ns`. */
int64_t cn_cct_clock_offset(const struct cn_recording *rec, uint64_t last_ns);

#endif
