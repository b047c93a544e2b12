/* For whom threads waited, and for which locks, as tables: those of `cairn sql`. */

#include "analyze/wakers/lock_rows.h"
#include "analyze/wakers/study.h"
#include "lib/frame.h"
#include "lib/lib.h"
#include "model/contexts/database.h"

enum { THREAD, BEGIN, WOKEN, END, KIND, CONTEXT, WAKER, WAKER_CONTEXT, INFERRED, LOCK };

static struct cairn_table *begin_waits(void)
{
    struct cairn_table *table = cn_frame_new();

    (void)cn_frame_add(table, "thread", CAIRN_U32);
    (void)cn_frame_add(table, "begin_ns", CAIRN_U64);
    (void)cn_frame_add(table, "woken_ns", CAIRN_U64);
    (void)cn_frame_add(table, "end_ns", CAIRN_U64);
    (void)cn_frame_add(table, "kind", CAIRN_CATEGORY);
    (void)cn_frame_add(table, "context", CAIRN_U32);
    (void)cn_frame_add(table, "waker", CAIRN_U32);
    (void)cn_frame_add(table, "waker_context", CAIRN_U32);
    (void)cn_frame_add(table, "is_inferred", CAIRN_U16);
    (void)cn_frame_add(table, "lock", CAIRN_CATEGORY);
    return table;
}

static void add_wait(struct cairn_table *table, const struct cn_lock_names *locks,
                     const struct cn_waited *wait)
{
    cn_column_u32(cn_frame_column(table, THREAD), wait->profile);
    cn_column_u64(cn_frame_column(table, BEGIN), wait->begin_ns);
    if (wait->is_woken)
        cn_column_u64(cn_frame_column(table, WOKEN), wait->woken_ns);
    else
        cn_column_u64_null(cn_frame_column(table, WOKEN));
    cn_column_u64(cn_frame_column(table, END), wait->end_ns);
    cn_column_text(cn_frame_column(table, KIND), cn_wait_kind_names[wait->kind]);
    cn_column_u32_or(cn_frame_column(table, CONTEXT), wait->context, 0);
    cn_column_u32_or(cn_frame_column(table, WAKER), wait->waker, 0);
    cn_column_u32_or(cn_frame_column(table, WAKER_CONTEXT), wait->waker_context, 0);
    cn_column_u16(cn_frame_column(table, INFERRED), wait->is_inferred);
    cn_column_text(cn_frame_column(table, LOCK),
                   wait->lock != 0 ? locks->list[wait->lock - 1].name : NULL);
}

static bool fill_waits(struct cairn_table *table, struct cn_database *db,
                       struct cn_error *err)
{
    struct cn_wait_source source = {0}; /* empty without states of threads */
    bool ok = !db->states || cn_wait_source_build(&source, db, err);

    for (uint32_t profile = 0; ok && profile < source.study.graph.profile_count;
         profile++) {
        struct cn_waited wait;

        for (size_t i = 0; cn_wait_graph_next(&source.study.graph, profile, &i, &wait);)
            add_wait(table, &source.study.locks, &wait);
    }
    cn_wait_source_done(&source);
    return ok;
}

static const struct {
    const char *name;
    enum cairn_type type;
} lock_columns[] = {
    {"lock", CAIRN_CATEGORY},     {"address", CAIRN_U64},
    {"time_ns", CAIRN_U64},       {"count", CAIRN_U64},
    {"threads", CAIRN_U64},       {"longest_ns", CAIRN_U64},
    {"longest_at_ns", CAIRN_U64}, {"kept_count", CAIRN_U64},
    {"kept_ns", CAIRN_U64},       {"longest_kept_ns", CAIRN_U64},
    {"waits_in", CAIRN_CATEGORY}, {"given_by", CAIRN_CATEGORY},
    {"given_in", CAIRN_CATEGORY}, {"meanwhile", CAIRN_CATEGORY},
    {"taken_in", CAIRN_CATEGORY},
};

enum { LOCK_COLUMNS = sizeof(lock_columns) / sizeof(lock_columns[0]) };

static struct cairn_table *begin_locks(void)
{
    struct cairn_table *table = cn_frame_new();

    for (size_t i = 0; i < LOCK_COLUMNS; i++)
        (void)cn_frame_add(table, lock_columns[i].name, lock_columns[i].type);
    return table;
}

static void add_lock(struct cairn_table *table, const struct cn_lock_row *row)
{
    const uint64_t numbers[] = {row->address,      row->time_ns,    row->count,
                                row->waiter_count, row->longest_ns, row->longest_at_ns,
                                row->kept_count,   row->kept_ns,    row->longest_kept_ns};
    const char *const texts[] = {row->waits, row->thread, row->released_in,
                                 row->meanwhile, row->taken_in};
    size_t column = 0;

    cn_column_text(cn_frame_column(table, column++), row->lock);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        cn_column_u64(cn_frame_column(table, column++), numbers[i]);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        cn_column_text(cn_frame_column(table, column++), texts[i]);
}

static bool fill_locks(struct cairn_table *table, struct cn_database *db,
                       struct cn_error *err)
{
    struct cn_lock_rows rows = {0};
    struct cn_wait_source source = {0}; /* empty without states of threads */
    bool ok = !db->states ||
              (cn_wait_source_build(&source, db, err) &&
               cn_lock_rows_build(&rows, &source.study, NULL, 0, UINT64_MAX, err));

    for (size_t i = 0; ok && i < rows.count; i++)
        add_lock(table, &rows.list[i]);
    cn_lock_rows_done(&rows);
    cn_wait_source_done(&source);
    return ok;
}

static struct cairn_table *finish(struct cairn_table *table, struct cairn_data *data,
                                  bool ok, struct cn_error *err)
{
    if (!ok) {
        (void)cn_fail_in(err, "%s", data->path);
        cairn_table_free(table);
        return NULL;
    }
    cn_frame_finish(table);
    return table;
}

struct cairn_table *cairn_database_waits(struct cairn_data *data, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cairn_table *table;

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return NULL;
    table = begin_waits();
    return finish(table, data, fill_waits(table, data->db, e), e);
}

struct cairn_table *cairn_database_locks(struct cairn_data *data, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cairn_table *table;

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return NULL;
    table = begin_locks();
    return finish(table, data, fill_locks(table, data->db, e), e);
}
