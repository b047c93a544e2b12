/* Counters for triggers such as `-T FUNC@read=page-fault`: read when a call begins and when
 * it ends. The first readings are stored with the thread's values while the call is open.
 * Threads: any thread, its own calls.
 */
#ifndef CN_RECORD_CALLS_READINGS_H
#define CN_RECORD_CALLS_READINGS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_thread;

/* Read the counters of a rule's actions, and append them to the values of the thread.
 * False when there are none, or there is no room. */
bool cn_rec_readings_begin(struct cn_rec_thread *self, uint32_t actions);

/* Record the readings at `at`, with the time `time_ns`; 0: now. */
void cn_rec_readings_record(struct cn_rec_thread *self, uint32_t actions, uint32_t at,
                            uint64_t time_ns);

/* Read the counters again, and record the differences. */
void cn_rec_readings_record_changes(struct cn_rec_thread *self, uint32_t actions,
                                    uint32_t at);

#endif
