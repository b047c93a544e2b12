/* Interposed functions that start programs: exec*() and posix_spawn*(). A program that is
 * started is recorded whatever environment it gets: the recorder's own variables are added
 * to a copy of it.
 *
 * A program that sets CAIRN_RECORD itself keeps its value; an empty one leaves the new
 * program unrecorded.
 * Threads: cn_rec_exec_begin() once, before the program runs.
 */
#ifndef CN_RECORD_START_EXEC_H
#define CN_RECORD_START_EXEC_H

/* Find the true functions, and keep the variables: `path` is that of the shared memory. */
void cn_rec_exec_begin(const char *path);

#endif
