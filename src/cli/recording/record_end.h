/* How the commands that record end: what they tell, and their exit status.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_RECORD_END_H
#define CN_CLI_RECORDING_RECORD_END_H

struct cn_args;
struct cn_launch_result;

/* Why recording stopped before the program did; nothing when it did not. */
void cn_record_tell_stop(const struct cn_args *args,
                         const struct cn_launch_result *result);

/* End as the program did, unless that was with status 0. */
void cn_record_end_like(int wait_status);

#endif
