/* Tasks so long that one thread would keep all others waiting: they are counted in
 * pieces by all threads together, before the others.
 * Threads: one thread at a time; uses threads of its own.
 */
#ifndef CN_ANALYZE_CCT_CCT_LONG_TASKS_H
#define CN_ANALYZE_CCT_CCT_LONG_TASKS_H

#include "analyze/cct/cct_members.h"

/* Count those of these members that are too long for one of the workers; they have
 * parts then. */
CN_CHECK bool cn_cct_long_tasks_count(struct cn_cct_member *members, size_t count,
                                      unsigned workers,
                                      const struct cn_progress *progress,
                                      struct cn_error *err);

#endif
