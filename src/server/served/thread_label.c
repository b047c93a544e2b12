#include "server/served/thread_label.h"

#include "base/alloc.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "server/served/served.h"

uint32_t *cn_recording_profiled_tasks(const struct cn_recording *rec, size_t *count)
{
    uint32_t *list = cn_alloc(rec->task_count, sizeof(*list));

    *count = 0;
    for (uint32_t i = 0; i < rec->task_count; i++)
        if (rec->tasks[i].data_len > 0)
            list[(*count)++] = i;
    return list;
}

void cn_thread_label(const struct cn_served *served, uint32_t index,
                     const struct cn_profile *profile, struct cn_text *out)
{
    const struct cn_task *task;

    if (index == 0 || index > served->profiled_count) {
        cn_identity_print(&profile->identity, &served->db->kinds, out);
        return;
    }
    task = &served->recording->tasks[served->profiled_tasks[index - 1]];
    if (task->name && *task->name)
        cn_text_printf(out, "%s ", task->name);
    cn_text_printf(out, "%u", (unsigned)task->tid);
}
