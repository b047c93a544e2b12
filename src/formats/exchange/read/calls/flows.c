#include "formats/exchange/read/calls/flows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "model/calls/recording.h"
#include "model/gpu/work.h"

void cn_call_flows_add(struct cn_call_flows *flows, struct cn_flow_point point)
{
    if (flows->count == CN_FLOW_MAX) {
        flows->excess_count++;
        return;
    }
    point.order = (uint32_t)flows->count;
    CN_PUSH(flows->list, flows->count, flows->capacity, point);
}

static struct cn_flow flow_between(const struct cn_recording *rec,
                                   const struct cn_flow_point *from,
                                   const struct cn_flow_point *to, uint64_t base_ns)
{
    uint32_t name = from->name < rec->function_count ? from->name : to->name;

    return (struct cn_flow){
        .from_task = cn_recording_find_task(rec, from->track),
        .to_task = cn_recording_find_task(rec, to->track),
        .from_ns = from->time_ns + base_ns,
        .to_ns = to->time_ns + base_ns,
        .name = name < rec->function_count ? rec->functions[name].name : "",
    };
}

void cn_call_flows_join(struct cn_call_flows *flows, uint64_t base_ns,
                        struct cn_recording *rec)
{
    const struct cn_flow_point *from = NULL; /* of the id; NULL: none yet */
    bool has_flow = true;                    /* one that leads away from it */
    uint64_t single_count = 0;

    if (flows->count == 0)
        return;
    CN_SORT(flows->list, flows->count, CN_UP(struct cn_flow_point, id),
            CN_UP(struct cn_flow_point, time_ns), CN_UP(struct cn_flow_point, step),
            CN_UP(struct cn_flow_point, order));
    struct cn_flow *list = cn_arena_alloc(&rec->arena, flows->count, sizeof(*list));
    rec->flows = list;
    for (size_t i = 0; i < flows->count; i++) {
        const struct cn_flow_point *point = &flows->list[i];
        bool is_joined = from && from->id == point->id && point->step != CN_FLOW_START;

        if (is_joined)
            list[rec->flow_count++] = flow_between(rec, from, point, base_ns);
        /* Several ends may follow the same point. */
        if (is_joined && point->step == CN_FLOW_END) {
            has_flow = true;
            continue;
        }
        single_count += !is_joined && !has_flow;
        single_count += !is_joined && point->step == CN_FLOW_END;
        from = point->step == CN_FLOW_END ? NULL : point;
        has_flow = !from || is_joined;
    }
    single_count += !has_flow;
    CN_SORT(list, rec->flow_count, CN_UP(struct cn_flow, from_ns),
            CN_UP(struct cn_flow, to_ns), CN_UP(struct cn_flow, from_task),
            CN_UP(struct cn_flow, to_task), CN_UP(struct cn_flow, name));
    if (single_count > 0)
        cn_recording_warn(rec, false, "%" PRIu64 " ends of flows have no other end",
                          single_count);
    if (flows->excess_count > 0)
        cn_recording_warn(rec, false,
                          "%" PRIu64 " ends of flows after the first %d are skipped",
                          flows->excess_count, CN_FLOW_MAX);
}

void cn_call_flows_of_launches(struct cn_recording *rec)
{
    const struct cn_gpu_work *work = rec->gpu;
    struct cn_flow *list;

    if (!work || rec->flow_count > 0)
        return;
    list = cn_arena_alloc(&rec->arena, work->op_count, sizeof(*list));
    rec->flows = list;
    for (uint32_t i = 0; i < work->op_count && rec->flow_count < CN_FLOW_MAX; i++) {
        const struct cn_gpu_op *op = &work->ops[i];

        if (op->thread == CN_NONE || op->stream == CN_NONE || op->launch_ns == 0 ||
            work->streams[op->stream].thread == CN_NONE)
            continue;
        list[rec->flow_count++] =
            (struct cn_flow){.from_task = op->thread,
                             .to_task = work->streams[op->stream].thread,
                             .from_ns = op->launch_ns,
                             .to_ns = op->begin_ns,
                             .name = "launch"};
    }
}

void cn_call_flows_done(struct cn_call_flows *flows)
{
    free(flows->list);
    *flows = (struct cn_call_flows){0};
}
