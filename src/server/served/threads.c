#include "server/served/threads.h"

#include <stdlib.h>

#include "analyze/views/costs.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "server/served/question.h"
#include "server/served/served.h"

static bool add_profile(struct cn_thread_list *list, struct cn_database *db,
                        uint32_t index, struct cn_error *err)
{
    struct cn_profile profile;
    struct cn_timeline timeline;

    if (!cn_database_profile(db, index, &profile, err) ||
        !cn_timeline_open(db, index, &timeline, err))
        return false;
    if (profile.is_summary || timeline.count == 0)
        return true;
    list->profiles =
        cn_grow(list->profiles, list->count, &list->capacity, sizeof(*list->profiles));
    list->profiles[list->count++] = index;
    return true;
}

bool cn_thread_list_build(struct cn_thread_list *list, struct cn_database *db,
                          const struct cn_question_list *selections, struct cn_error *err)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    bool ok = true;

    *list = (struct cn_thread_list){0};
    cn_costs_init(costs, db);
    for (size_t i = 0; ok && i < selections->count; i++)
        ok = cn_costs_select(costs, selections->list[i], err);
    for (uint32_t i = 0; ok && db->has_timelines && i < db->profile_count; i++)
        ok = !cn_costs_is_selected(costs, i) || add_profile(list, db, i, err);
    cn_costs_done(costs);
    free(costs);
    if (!ok)
        cn_thread_list_done(list);
    return ok;
}

void cn_thread_list_done(struct cn_thread_list *list)
{
    free(list->profiles);
    *list = (struct cn_thread_list){0};
}

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
