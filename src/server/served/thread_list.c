#include "server/served/thread_list.h"

#include <stdlib.h>

#include "analyze/views/costs.h"
#include "base/alloc.h"
#include "model/contexts/database.h"
#include "server/served/question.h"

static bool add_profile(struct cn_thread_list *list, struct cn_database *db,
                        uint32_t index, bool needs_samples, struct cn_error *err)
{
    struct cn_profile profile;
    struct cn_timeline timeline;

    if (!cn_database_profile(db, index, &profile, err) ||
        !cn_timeline_open(db, index, &timeline, err))
        return false;
    if (profile.is_summary || (needs_samples && timeline.count == 0))
        return true;
    CN_PUSH(list->profiles, list->count, list->capacity, index);
    return true;
}

bool cn_thread_list_build(struct cn_thread_list *list, struct cn_database *db,
                          const struct cn_question_list *selections, bool needs_samples,
                          struct cn_error *err)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    bool ok = true;

    *list = (struct cn_thread_list){0};
    cn_costs_init(costs, db);
    for (size_t i = 0; ok && i < selections->count; i++)
        ok = cn_costs_select(costs, selections->list[i], err);
    for (uint32_t i = 0; ok && db->has_timelines && i < db->profile_count; i++)
        ok = !cn_costs_is_selected(costs, i) ||
             add_profile(list, db, i, needs_samples, err);
    cn_costs_done(costs);
    free(costs);
    if (!ok)
        cn_thread_list_done(list);
    return ok;
}

void cn_thread_list_thin(struct cn_thread_list *list, uint64_t first, uint64_t every)
{
    size_t kept = 0;

    for (uint64_t i = first; i < list->count; i += every)
        list->profiles[kept++] = list->profiles[i];
    list->count = kept;
}

void cn_thread_list_done(struct cn_thread_list *list)
{
    free(list->profiles);
    *list = (struct cn_thread_list){0};
}
