#include "server/served/call_parts.h"

#include <stdlib.h>

#include "base/alloc.h"

enum {
    PART_LEN = 8 << 20, /* bytes of records, about */
    PARTS_MAX = 1024,   /* of a task; a longer task has longer parts */
};

void cn_call_parts_init(struct cn_call_parts *parts)
{
    *parts = (struct cn_call_parts){0};
    (void)pthread_mutex_init(&parts->lock, NULL);
}

void cn_call_parts_done(struct cn_call_parts *parts)
{
    for (uint32_t i = 0; i < parts->task_count; i++) {
        free(parts->tasks[i].list);
        free(parts->tasks[i].depths);
    }
    free(parts->tasks);
    (void)pthread_mutex_destroy(&parts->lock);
}

const struct cn_task_parts *cn_call_parts_of(struct cn_call_parts *parts,
                                             const struct cn_recording *rec,
                                             uint32_t task)
{
    uint64_t part_len = rec->tasks[task].data_len / PARTS_MAX;

    (void)pthread_mutex_lock(&parts->lock);
    if (!parts->tasks) {
        parts->tasks = cn_alloc(rec->task_count, sizeof(*parts->tasks));
        parts->task_count = rec->task_count;
    }
    struct cn_task_parts *of = &parts->tasks[task];
    if (!of->is_known) {
        size_t count = cn_recording_parts(
            rec, task, part_len > PART_LEN ? part_len : PART_LEN, &of->list);

        of->count = count > 0 && count < UINT32_MAX ? (uint32_t)count : 1;
        of->depths = cn_alloc(of->count, sizeof(*of->depths));
        of->is_known = true;
    }
    (void)pthread_mutex_unlock(&parts->lock);
    return of;
}
