/* The pieces of the tasks of a recording, short enough that any record is reached in a moment:
 * found when a task is first asked about, and kept.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_CALL_PIECES_H
#define CN_SERVER_SERVED_CALL_PIECES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/calls/recording.h"

struct cn_call_pieces {
    struct cn_call_part *parts; /* NULL: the task is one piece */
    uint32_t count;             /* at least 1 */
    bool is_known;
};

struct cn_task_pieces {
    pthread_mutex_t lock;
    struct cn_call_pieces *tasks; /* NULL: nobody has asked */
    uint32_t task_count;
};

void cn_task_pieces_init(struct cn_task_pieces *pieces);
void cn_task_pieces_done(struct cn_task_pieces *pieces);

/* Those of a task; they stay. Always with the same recording. */
const struct cn_call_pieces *cn_task_pieces_of(struct cn_task_pieces *pieces,
                                               const struct cn_recording *rec,
                                               uint32_t task);

#endif
