/* States of tasks, and flows between calls, of a recording. */

#include "analyze/timeline/task_states.h"
#include "lib/frame.h"
#include "lib/lib.h"
#include "model/calls/recording.h"

static void add_state(struct cairn_table *table, const struct cn_task_states *states,
                      const struct cn_recording *rec, uint32_t task, unsigned state)
{
    const struct cn_state_sums *sums = &states->list[task];
    struct cn_frame_column *outside = cn_frame_column(table, 4);

    cn_column_u32(cn_frame_column(table, 0), task);
    cn_column_u32(cn_frame_column(table, 1), rec->tasks[task].tid);
    cn_column_text(cn_frame_column(table, 2), cn_task_state_names[state]);
    cn_column_u64(cn_frame_column(table, 3), sums->ns[state]);
    if (state == CN_TASK_UNKNOWN)
        cn_column_u64_null(outside);
    else
        cn_column_u64(outside, sums->outside_ns[state]);
}

static struct cairn_table *states_table(const struct cn_task_states *states,
                                        const struct cn_call_query *query)
{
    struct cairn_table *table = cn_frame_new();

    (void)cn_frame_add(table, "task", CAIRN_U32);
    (void)cn_frame_add(table, "tid", CAIRN_U32);
    (void)cn_frame_add(table, "state", CAIRN_CATEGORY);
    (void)cn_frame_add(table, "ns", CAIRN_U64);
    (void)cn_frame_add(table, "outside_ns", CAIRN_U64);
    for (uint32_t i = 0; states->is_known && i < query->task_count; i++)
        for (unsigned state = 0; state < CN_TASK_STATES; state++)
            add_state(table, states, query->rec, query->tasks[i], state);
    cn_frame_finish(table);
    return table;
}

struct cairn_table *cairn_recording_states(struct cairn_data *data,
                                           const struct cairn_call_options *options,
                                           struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cairn_table *table = NULL;
    struct cn_task_states states = {0};
    struct cn_all_calls calls;

    if (!cn_lib_needs(data, CAIRN_RECORDING, e))
        return NULL;
    if (cn_lib_calls_init(&calls, data->rec, options, e)) {
        if (cn_task_states_build(&states, data->rec, calls.query.range, 0, NULL, e))
            table = states_table(&states, &calls.query);
        else
            (void)cn_fail_in(e, "%s", data->path);
        cn_task_states_done(&states);
    }
    cn_all_calls_done(&calls);
    return table;
}

struct cairn_table *cairn_recording_flows(struct cairn_data *data,
                                          struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);

    if (!cn_lib_needs(data, CAIRN_RECORDING, e))
        return NULL;
    struct cairn_table *table = cn_frame_new();
    (void)cn_frame_add(table, "from_task", CAIRN_U32);
    (void)cn_frame_add(table, "from_ns", CAIRN_U64);
    (void)cn_frame_add(table, "from_depth", CAIRN_U32);
    (void)cn_frame_add(table, "to_task", CAIRN_U32);
    (void)cn_frame_add(table, "to_ns", CAIRN_U64);
    (void)cn_frame_add(table, "name", CAIRN_CATEGORY);
    for (uint32_t i = 0; i < data->rec->flow_count; i++) {
        const struct cn_flow *flow = &data->rec->flows[i];

        cn_column_u32(cn_frame_column(table, 0), flow->from_task);
        cn_column_u64(cn_frame_column(table, 1), flow->from_ns);
        /* Depths of calls count from 0. */
        cn_column_u32_or(cn_frame_column(table, 2), flow->from_depth - 1u, CN_NONE);
        cn_column_u32(cn_frame_column(table, 3), flow->to_task);
        cn_column_u64(cn_frame_column(table, 4), flow->to_ns);
        cn_column_text(cn_frame_column(table, 5), *flow->name ? flow->name : NULL);
    }
    cn_frame_finish(table);
    return table;
}
