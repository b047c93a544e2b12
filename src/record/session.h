/* The text that goes with a recording: task.txt, and the map of what a process has
 * mapped. Lines are appended with one write each.
 * Threads: any thread.
 */
#ifndef CN_RECORD_SESSION_H
#define CN_RECORD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

/* Begin the session of this process image: its map, then its line in task.txt. */
bool cn_rec_session_begin(uint64_t time_ns);

/* Tell of a thread, of a process that a fork made, and of libraries mapped since. */
void cn_rec_session_task(uint64_t time_ns, uint32_t tid, uint32_t pid);
void cn_rec_session_fork(uint64_t time_ns, uint32_t pid, uint32_t parent_pid);

/* True when there were any. */
bool cn_rec_session_libraries(uint64_t time_ns, uint32_t tid);

#endif
