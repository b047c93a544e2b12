/* Title and description of a database made from recordings, and the offset of their clocks.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_CCT_ABOUT_H
#define CN_ANALYZE_CCT_ABOUT_H

#include "analyze/cct/members.h"

/* Set title and description: the program, and the task of each profile. `title` may be
 * NULL. */
void cn_cct_describe(struct cn_database *db, const struct cn_call_query *queries,
                     const struct cn_cct_members *members, const char *title);

/* Nanoseconds to add to the times of a recording for the time since the epoch; 0 when
 * unknown. The last record is at `last_ns`. */
int64_t cn_cct_clock_offset(const struct cn_recording *rec, uint64_t last_ns);

#endif
