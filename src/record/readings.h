/* Counters that triggers ask for (`-T FUNC@read=page-fault`): read when a call begins,
 * and once more when it ends, which tells the difference.
 *
 * What they were lies among the thread's values for as long as the call is open.
 * Threads: any thread, its own calls.
 */
#ifndef CN_RECORD_READINGS_H
#define CN_RECORD_READINGS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_thread;

/* Read what the actions of a rule ask for, and keep it behind the values that are in use.
 * False when there is nothing to read, or no room. */
bool cn_rec_readings_keep(struct cn_rec_thread *self, uint32_t actions);

/* Record what was kept at `at`, as of `time_ns`; 0: now. */
void cn_rec_readings_record(struct cn_rec_thread *self, uint32_t actions, uint32_t at,
                            uint64_t time_ns);

/* Record what has changed since. */
void cn_rec_readings_record_changes(struct cn_rec_thread *self, uint32_t actions,
                                    uint32_t at);

#endif
