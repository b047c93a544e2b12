/* The operations of GPUs with the calls that launched them, as tables. */

#include "analyze/timeline/launched.h"
#include "lib/frame.h"
#include "lib/lib.h"
#include "model/calls/recording.h"
#include "model/gpu/work.h"

enum { THREAD, LAUNCH, STREAM, BEGIN, END, CONTEXT, FUNCTION = CONTEXT, BYTES };

static struct cairn_table *begin(const char *thread)
{
    struct cairn_table *table = cn_frame_new();

    (void)cn_frame_add(table, thread, CAIRN_U32);
    (void)cn_frame_add(table, "launch_ns", CAIRN_U64);
    (void)cn_frame_add(table, "stream", CAIRN_U32);
    (void)cn_frame_add(table, "begin_ns", CAIRN_U64);
    (void)cn_frame_add(table, "end_ns", CAIRN_U64);
    return table;
}

static void add_time(struct cn_frame_column *column, uint64_t time_ns, bool is_known)
{
    if (is_known)
        cn_column_u64(column, time_ns);
    else
        cn_column_u64_null(column);
}

struct cairn_table *cairn_database_launches(struct cairn_data *data,
                                            struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cn_launched launched;

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return NULL;
    if (!cn_launched_find(&launched, data->db, e)) {
        (void)cn_fail_in(e, "%s", data->path);
        return NULL;
    }
    struct cairn_table *table = begin("thread");
    (void)cn_frame_add(table, "context", CAIRN_U32);
    for (size_t i = 0; i < launched.count; i++) {
        const struct cn_launched_op *op = &launched.list[i];

        cn_column_u32(cn_frame_column(table, THREAD), op->launch.from_profile);
        cn_column_u64(cn_frame_column(table, LAUNCH), op->launch.from_ns);
        cn_column_u32(cn_frame_column(table, STREAM), op->launch.to_profile);
        cn_column_u64(cn_frame_column(table, BEGIN), op->launch.to_ns);
        add_time(cn_frame_column(table, END), op->end_ns, op->end_ns != 0);
        cn_column_u32_or(cn_frame_column(table, CONTEXT), op->context, 0);
    }
    cn_launched_done(&launched);
    cn_frame_finish(table);
    return table;
}

struct cairn_table *cairn_recording_launches(struct cairn_data *data,
                                             struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);

    if (!cn_lib_needs(data, CAIRN_RECORDING, e))
        return NULL;
    const struct cn_gpu_work *work = data->rec->gpu;
    struct cairn_table *table = begin("task");
    (void)cn_frame_add(table, "function", CAIRN_U32);
    (void)cn_frame_add(table, "bytes", CAIRN_U64);
    for (uint32_t i = 0; work && i < work->op_count; i++) {
        const struct cn_gpu_op *op = &work->ops[i];

        if (op->stream == CN_NONE)
            continue;
        cn_column_u32_or(cn_frame_column(table, THREAD), op->thread, CN_NONE);
        add_time(cn_frame_column(table, LAUNCH), op->launch_ns, op->thread != CN_NONE);
        cn_column_u32_or(cn_frame_column(table, STREAM), work->streams[op->stream].thread,
                         CN_NONE);
        cn_column_u64(cn_frame_column(table, BEGIN), op->begin_ns);
        cn_column_u64(cn_frame_column(table, END), op->end_ns);
        cn_column_u32_or(cn_frame_column(table, FUNCTION), op->place, CN_NONE);
        cn_column_u64(cn_frame_column(table, BYTES), op->bytes);
    }
    cn_frame_finish(table);
    return table;
}
