#include "analyze/calls/flows.h"

#include "model/calls/recording.h"
#include "model/contexts/context.h"
#include "model/gpu/work.h"

uint32_t cn_call_flow_count(const struct cn_recording *rec)
{
    return rec->flow_count + (rec->gpu ? rec->gpu->launch_count : 0);
}

bool cn_call_flow_at(const struct cn_recording *rec, uint32_t number, struct cn_flow *out)
{
    const struct cn_gpu_work *work = rec->gpu;

    if (number < rec->flow_count) {
        *out = rec->flows[number];
        /* Launches say where streams are led to. */
        return !work || !rec->tasks[out->to_task].is_stream;
    }
    const struct cn_gpu_op *op = &work->ops[work->by_launch[number - rec->flow_count]];
    if (op->stream == CN_NONE || op->launch_ns == 0 || op->begin_ns < op->launch_ns)
        return false;
    *out = (struct cn_flow){.from_task = op->thread,
                            .to_task = work->streams[op->stream].thread,
                            .from_ns = op->launch_ns,
                            .to_ns = op->begin_ns,
                            .name = "launch"};
    return true;
}
