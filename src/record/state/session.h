/* Text files of a recording: task.txt, and the memory map of the process. Each line is
 * appended with one write.
 * Threads: any thread.
 */
#ifndef CN_RECORD_STATE_SESSION_H
#define CN_RECORD_STATE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

/* Begin the session of this process image: write its map, then its line in task.txt. */
bool cn_rec_session_begin(uint64_t time_ns);

/* Add a line to task.txt: for a thread, or for a forked process. False when the file
 * cannot be written. */
bool cn_rec_session_task(uint64_t time_ns, uint32_t tid, uint32_t pid);
bool cn_rec_session_fork(uint64_t time_ns, uint32_t pid, uint32_t parent_pid);

/* Add lines for libraries mapped since the last call; true if there were any. */
bool cn_rec_session_libraries(uint64_t time_ns, uint32_t tid);

#endif
