/* The table `launches`: operations of GPUs, each with the call that started it. */

#include "analyze/timeline/launched.h"
#include "model/calls/query.h"
#include "model/calls/recording.h"
#include "model/gpu/work.h"
#include "sql/table.h"

/* `end_ns` and `context` are null where the timeline of the stream does not tell. */
static const struct cn_table_shape of_database = {
    .name = "launches",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"launch_ns", CN_CELL_INTEGER},
                {"stream", CN_CELL_INTEGER},
                {"begin_ns", CN_CELL_INTEGER},
                {"end_ns", CN_CELL_INTEGER},
                {"context", CN_CELL_INTEGER}},
};

/* `bytes` are those of copies and memsets. */
static const struct cn_table_shape of_recording = {
    .name = "launches",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"launch_ns", CN_CELL_INTEGER},
                {"stream", CN_CELL_INTEGER},
                {"begin_ns", CN_CELL_INTEGER},
                {"end_ns", CN_CELL_INTEGER},
                {"function", CN_CELL_INTEGER},
                {"bytes", CN_CELL_INTEGER}},
};

static bool add_launched(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_launched launched;
    struct cn_rows_table table;

    if (!cn_launched_find(&launched, rows->x->db, err))
        return false;
    cn_rows_begin(&table, rows, &of_database);
    for (size_t i = 0; i < launched.count; i++) {
        const struct cn_launched_op *op = &launched.list[i];

        cn_rows_integer(&table, op->launch.from_profile);
        cn_rows_integer(&table, op->launch.from_ns);
        cn_rows_integer(&table, op->launch.to_profile);
        cn_rows_integer(&table, op->launch.to_ns);
        cn_rows_known(&table, op->end_ns);
        cn_rows_known(&table, op->context);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
    cn_launched_done(&launched);
    return true;
}

static bool add_operations(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_gpu_work *work = rows->x->query->rec->gpu;
    struct cn_rows_table table;

    (void)err;
    cn_rows_begin(&table, rows, &of_recording);
    for (uint32_t i = 0; work && i < work->op_count; i++) {
        const struct cn_gpu_op *op = &work->ops[i];

        if (op->stream == CN_NONE)
            continue;
        cn_rows_index(&table, op->thread);
        cn_rows_known(&table, op->thread != CN_NONE ? op->launch_ns : 0);
        cn_rows_index(&table, work->streams[op->stream].thread);
        cn_rows_integer(&table, op->begin_ns);
        cn_rows_integer(&table, op->end_ns);
        cn_rows_index(&table, op->place);
        cn_rows_integer(&table, op->bytes);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
    return true;
}

const struct cn_sql_table cn_sql_launches = {
    .shape = &of_database, .add = add_launched, CN_SQL_IN_MEMORY};
const struct cn_sql_table cn_sql_recorded_launches = {
    .shape = &of_recording, .add = add_operations, CN_SQL_IN_MEMORY};
