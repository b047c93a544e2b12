/* Values, samples and states of threads as tables. */

#include <stdlib.h>

#include "base/alloc.h"
#include "lib/frame.h"
#include "lib/lib.h"
#include "model/contexts/database.h"
#include "model/thread_states.h"

enum { SAMPLE_BATCH = 4096 };

/* Fills a table with what one thread has. */
typedef bool (*thread_fn)(struct cairn_table *table, size_t first_column,
                          struct cn_database *db, uint32_t thread, uint64_t *count,
                          struct cn_error *err);

static bool fill(struct cairn_table *table, struct cairn_data *data, uint32_t thread,
                 thread_fn add, struct cn_error *err)
{
    bool is_of_all = thread == CAIRN_NONE;
    uint32_t end = is_of_all ? data->db->profile_count : thread + 1;
    bool ok = true;

    /* Summaries are not threads: their metrics are statistics. */
    for (uint32_t i = is_of_all ? 0 : thread; ok && i < end; i++) {
        struct cn_profile profile = {.is_summary = i == 0};
        uint64_t count = 0;

        if (is_of_all && i > 0)
            ok = cn_database_profile(data->db, i, &profile, err);
        if (!ok || (is_of_all && profile.is_summary))
            continue;
        ok = add(table, is_of_all, data->db, i, &count, err);
        for (; is_of_all && count > 0; count--)
            cn_column_u32(cn_frame_column(table, 0), i);
    }
    cn_database_forget(data->db);
    return ok || cn_fail_in(err, "%s", data->path);
}

/* A table of one thread, or of all, which then has a first column of their numbers. NULL if the
 * data has no such thread. */
static struct cairn_table *begin(struct cairn_data *data, uint32_t thread,
                                 struct cn_error *err)
{
    if (!cn_lib_needs(data, CAIRN_DATABASE, err))
        return NULL;
    if (thread != CAIRN_NONE && thread >= data->db->profile_count) {
        (void)!cn_fail(err, CN_ERR_NOT_FOUND, "%s: no thread %u; there are %u",
                       data->path, (unsigned)thread, (unsigned)data->db->profile_count);
        return NULL;
    }
    struct cairn_table *table = cn_frame_new();
    if (thread == CAIRN_NONE)
        (void)cn_frame_add(table, "thread", CAIRN_U32);
    return table;
}

/* Takes the table over unless filling it succeeds. */
static struct cairn_table *finish(struct cairn_table *table, bool ok)
{
    if (!ok) {
        cairn_table_free(table);
        return NULL;
    }
    cn_frame_finish(table);
    return table;
}

static bool add_values(struct cairn_table *table, size_t first_column,
                       struct cn_database *db, uint32_t thread, uint64_t *count,
                       struct cn_error *err)
{
    struct cn_frame_column *contexts = cn_frame_column(table, first_column);
    struct cn_frame_column *metrics = cn_frame_column(table, first_column + 1);
    struct cn_frame_column *values = cn_frame_column(table, first_column + 2);
    struct cn_value_cursor *cursor = cn_alloc(1, sizeof(*cursor));
    struct cn_value_batch batch;
    enum cn_step step = CN_FAIL;

    if (cn_profile_values(db, thread, 0, UINT32_MAX, cursor, err))
        while ((step = cn_values_next(cursor, &batch, err)) == CN_ITEM) {
            for (size_t i = 0; i < batch.count; i++) {
                cn_column_u32(contexts, batch.values[i].key);
                cn_column_u16(metrics, batch.values[i].metric);
                cn_column_f64(values, batch.values[i].value);
            }
            *count += batch.count;
        }
    free(cursor);
    return step == CN_END;
}

struct cairn_table *cairn_database_values(struct cairn_data *data, uint32_t thread,
                                          struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cairn_table *table = begin(data, thread, e);

    if (!table)
        return NULL;
    (void)cn_frame_add(table, "context", CAIRN_U32);
    (void)cn_frame_add(table, "metric", CAIRN_U16);
    (void)cn_frame_add(table, "value", CAIRN_F64);
    return finish(table, fill(table, data, thread, add_values, e));
}

static bool add_samples(struct cairn_table *table, size_t first_column,
                        struct cn_database *db, uint32_t thread, uint64_t *count,
                        struct cn_error *err)
{
    struct cn_frame_column *times = cn_frame_column(table, first_column);
    struct cn_frame_column *contexts = cn_frame_column(table, first_column + 1);
    struct cn_timeline timeline;
    bool ok = true;

    if (!db->has_timelines)
        return true;
    if (!cn_timeline_open(db, thread, &timeline, err))
        return false;
    struct cn_sample *samples = cn_alloc(SAMPLE_BATCH, sizeof(*samples));
    while (ok && *count < timeline.count) {
        uint64_t left = timeline.count - *count;
        size_t n = left < SAMPLE_BATCH ? (size_t)left : SAMPLE_BATCH;

        ok = cn_timeline_read(db, &timeline, *count, n, samples, err);
        for (size_t i = 0; ok && i < n; i++) {
            cn_column_u64(times, samples[i].time_ns);
            cn_column_u32(contexts, samples[i].context);
        }
        *count += ok ? n : 0;
    }
    free(samples);
    return ok;
}

struct cairn_table *cairn_database_samples(struct cairn_data *data, uint32_t thread,
                                           struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cairn_table *table = begin(data, thread, e);

    if (!table)
        return NULL;
    (void)cn_frame_add(table, "time_ns", CAIRN_U64);
    (void)cn_frame_add(table, "context", CAIRN_U32);
    return finish(table, fill(table, data, thread, add_samples, e));
}

static bool add_states(struct cairn_table *table, size_t first_column,
                       struct cn_database *db, uint32_t thread, uint64_t *count,
                       struct cn_error *err)
{
    const struct cn_thread_states *states = db->states ? &db->states[thread] : NULL;

    (void)err;
    for (size_t i = 0; states && i + 1 < states->count; i++) {
        struct cn_state_change change = cn_thread_states_at(states, i);

        if (change.state == CN_TASK_UNKNOWN)
            continue;
        cn_column_u64(cn_frame_column(table, first_column), change.time_ns);
        cn_column_u64(cn_frame_column(table, first_column + 1),
                      cn_thread_states_at(states, i + 1).time_ns);
        cn_column_text(cn_frame_column(table, first_column + 2),
                       cn_task_state_names[change.state]);
        ++*count;
    }
    return true;
}

struct cairn_table *cairn_database_states(struct cairn_data *data, uint32_t thread,
                                          struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cairn_table *table = begin(data, thread, e);

    if (!table)
        return NULL;
    (void)cn_frame_add(table, "begin_ns", CAIRN_U64);
    (void)cn_frame_add(table, "end_ns", CAIRN_U64);
    (void)cn_frame_add(table, "state", CAIRN_CATEGORY);
    return finish(table, fill(table, data, thread, add_states, e));
}
