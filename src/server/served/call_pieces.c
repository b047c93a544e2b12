#include "server/served/call_pieces.h"

#include <stdlib.h>

#include "base/alloc.h"

enum {
    PIECE_LEN = 8 << 20, /* about so many bytes of records */
    PIECES_MAX = 1024,   /* a longer task has longer pieces: each is looked for */
};

void cn_task_pieces_init(struct cn_task_pieces *pieces)
{
    *pieces = (struct cn_task_pieces){0};
    (void)pthread_mutex_init(&pieces->lock, NULL);
}

void cn_task_pieces_done(struct cn_task_pieces *pieces)
{
    for (uint32_t i = 0; i < pieces->task_count; i++)
        free(pieces->tasks[i].parts);
    free(pieces->tasks);
    (void)pthread_mutex_destroy(&pieces->lock);
}

static void find(struct cn_call_pieces *of, const struct cn_recording *rec, uint32_t task)
{
    uint64_t share_len = rec->tasks[task].data_len / PIECES_MAX;
    size_t count = cn_recording_parts(
        rec, task, share_len > PIECE_LEN ? share_len : PIECE_LEN, &of->parts);

    of->count = count > 0 && count < UINT32_MAX ? (uint32_t)count : 1;
    of->is_known = true;
}

const struct cn_call_pieces *cn_task_pieces_of(struct cn_task_pieces *pieces,
                                               const struct cn_recording *rec,
                                               uint32_t task)
{
    (void)pthread_mutex_lock(&pieces->lock);
    if (!pieces->tasks) {
        pieces->tasks = cn_alloc(rec->task_count, sizeof(*pieces->tasks));
        pieces->task_count = rec->task_count;
    }
    if (!pieces->tasks[task].is_known)
        find(&pieces->tasks[task], rec, task);
    (void)pthread_mutex_unlock(&pieces->lock);
    return &pieces->tasks[task];
}
