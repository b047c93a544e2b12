#include "server/served/thread_list.h"

#include <stdlib.h>

#include "analyze/views/costs.h"
#include "base/alloc.h"
#include "model/contexts/database.h"
#include "server/api/request.h"

static bool add_profile(struct cn_thread_list *list, const struct cn_costs *costs,
                        uint32_t index, struct cn_error *err)
{
    struct cn_profile profile;
    struct cn_timeline timeline;

    if (!cn_costs_is_selected(costs, index))
        return true;
    if (!cn_database_profile(costs->db, index, &profile, err) ||
        !cn_timeline_open(costs->db, index, &timeline, err))
        return false;
    if (profile.is_summary || timeline.count == 0)
        return true;
    list->profiles =
        cn_grow(list->profiles, list->count, &list->capacity, sizeof(*list->profiles));
    list->profiles[list->count++] = index;
    return true;
}

bool cn_thread_list_build(struct cn_thread_list *list, struct cn_database *db,
                          const struct cn_request *request, struct cn_error *err)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    const char *selection;
    bool ok = true;

    *list = (struct cn_thread_list){0};
    cn_costs_init(costs, db);
    for (size_t i = 0; ok && (selection = cn_request_value_at(request, "thread", i)); i++)
        ok = cn_costs_select(costs, selection, err);
    for (uint32_t i = 0; ok && db->has_timelines && i < db->profile_count; i++)
        ok = add_profile(list, costs, i, err);
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

bool cn_request_range(const struct cn_request *request, const struct cn_database *db,
                      uint64_t *begin_ns, uint64_t *end_ns, struct cn_error *err)
{
    uint64_t span_ns = db->end_ns - db->begin_ns, begin, end;

    if (!db->has_timelines || db->end_ns <= db->begin_ns)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: has no timelines", db->path);
    if (!cn_request_u64(request, "begin", 0, span_ns, 0, &begin, err) ||
        !cn_request_u64(request, "end", 0, span_ns, span_ns, &end, err))
        return false;
    if (begin >= end)
        return cn_fail(err, CN_ERR_USAGE, "the range of time is empty");
    *begin_ns = db->begin_ns + begin;
    *end_ns = db->begin_ns + end;
    return true;
}
