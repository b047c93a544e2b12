/* The threads of a database or recording: their labels, and those that have timelines.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_THREADS_H
#define CN_SERVER_SERVED_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;
struct cn_profile;
struct cn_question_list;
struct cn_recording;
struct cn_served;
struct cn_text;

/* Profiles in the order of their identities. */
struct cn_thread_list {
    uint32_t *profiles;
    size_t count, capacity;
};

/* The threads with samples among those that `selections` match; all of them if it is
 * empty. The list is empty after a failure. */
CN_CHECK bool cn_thread_list_build(struct cn_thread_list *list, struct cn_database *db,
                                   const struct cn_question_list *selections,
                                   struct cn_error *err);
void cn_thread_list_done(struct cn_thread_list *list);

/* Indices of the tasks that recorded anything: item i has profile i + 1. The caller
 * frees them. */
uint32_t *cn_recording_profiled_tasks(const struct cn_recording *rec, size_t *count);

/* Append "render 4711", name and number of a task, or "RANK 0 THREAD 1", an identity. */
void cn_thread_label(const struct cn_served *served, uint32_t index,
                     const struct cn_profile *profile, struct cn_text *out);

#endif
