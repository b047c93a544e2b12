/* What threads are called: a thread of a recording by the name and number of its task, as
 * people know it from other tools; one of a database by its identity.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_THREAD_LABEL_H
#define CN_SERVER_SERVED_THREAD_LABEL_H

#include <stddef.h>
#include <stdint.h>

struct cn_profile;
struct cn_recording;
struct cn_served;
struct cn_text;

/* Indices of tasks that have recorded something, in order: item i has profile i + 1. The
 * caller frees the list. */
uint32_t *cn_recording_profiled_tasks(const struct cn_recording *rec, size_t *count);

/* Add "render 4711" or "RANK 0 THREAD 1" to the text. */
void cn_thread_label(const struct cn_served *served, uint32_t index,
                     const struct cn_profile *profile, struct cn_text *out);

#endif
