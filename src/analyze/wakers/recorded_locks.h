/* Locks that threads of a recording waited for, and who had them: exact, by the calls that took them and gave
 * them back.
 *
 * A call waits if another thread had the lock when it began; what it then takes until it returns is waited. A
 * call that gets its lock at once costs nothing and is not counted.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_WAKERS_RECORDED_LOCKS_H
#define CN_ANALYZE_WAKERS_RECORDED_LOCKS_H

#include <stddef.h>

#include "analyze/wakers/lock_rows.h"

struct cn_recording;

/* Released also after a failure. `call_count`: calls for locks; `without_address`: those of them whose arguments
 * were not recorded, which are left out. */
CN_CHECK bool cn_recorded_locks_build(struct cn_lock_rows *rows,
                                      const struct cn_recording *rec, size_t *call_count,
                                      size_t *without_address, struct cn_error *err);

#endif
