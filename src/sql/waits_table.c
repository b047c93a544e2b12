/* The table `waits` of a database: every time that a thread did not run, with what ended it; and the tables of
 * locks. */

#include "analyze/wakers/lock_rows.h"
#include "analyze/wakers/recorded_locks.h"
#include "analyze/wakers/study.h"
#include "model/contexts/database.h"
#include "sql/table.h"

/* `woken_ns` is null of a wait whose wake-up was not recorded, and of one for nothing but a processor. */
static const struct cn_table_shape waits_shape = {
    .name = "waits",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"begin_ns", CN_CELL_INTEGER},
                {"woken_ns", CN_CELL_INTEGER},
                {"end_ns", CN_CELL_INTEGER},
                {"kind", CN_CELL_TEXT},
                {"context", CN_CELL_INTEGER},
                {"waker", CN_CELL_INTEGER},
                {"waker_context", CN_CELL_INTEGER},
                {"is_inferred", CN_CELL_INTEGER},
                {"lock", CN_CELL_TEXT},
                {"lock_address", CN_CELL_INTEGER}},
};

static void add_wait(struct cn_rows_table *table, const struct cn_lock_names *locks,
                     const struct cn_waited *wait)
{
    cn_rows_integer(table, wait->profile);
    cn_rows_integer(table, wait->begin_ns);
    if (wait->is_woken)
        cn_rows_integer(table, wait->woken_ns);
    else
        cn_rows_null(table);
    cn_rows_integer(table, wait->end_ns);
    cn_rows_text(table, cn_wait_kind_names[wait->kind]);
    cn_rows_known(table, wait->context);
    cn_rows_known(table, wait->waker);
    cn_rows_known(table, wait->waker_context);
    cn_rows_integer(table, wait->is_inferred);
    if (wait->lock != 0) {
        cn_rows_text(table, locks->list[wait->lock - 1].name);
        cn_rows_integer(table, locks->list[wait->lock - 1].address);
    } else {
        cn_rows_null(table);
        cn_rows_null(table);
    }
    cn_rows_row(table);
}

static bool add_waits(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_wait_source source = {0}; /* empty without states of threads */
    struct cn_rows_table table;
    bool ok = !rows->x->db->states || cn_wait_source_build(&source, rows->x->db, err);

    if (ok)
        cn_rows_begin(&table, rows, &waits_shape);
    for (uint32_t profile = 0; ok && profile < source.study.graph.profile_count;
         profile++) {
        struct cn_waited wait;

        for (size_t i = 0; cn_wait_graph_next(&source.study.graph, profile, &i, &wait);)
            add_wait(&table, &source.study.locks, &wait);
    }
    if (ok)
        cn_rows_end(&table);
    cn_wait_source_done(&source);
    return ok;
}

const struct cn_sql_table cn_sql_waits = {
    .shape = &waits_shape, .add = add_waits, CN_SQL_IN_MEMORY};

/* The rows of `cairn waits --locks`. */
static const struct cn_table_shape locks_shape = {
    .name = "locks",
    .columns = {{"lock", CN_CELL_TEXT},
                {"address", CN_CELL_INTEGER},
                {"process", CN_CELL_INTEGER},
                {"time_ns", CN_CELL_INTEGER},
                {"count", CN_CELL_INTEGER},
                {"threads", CN_CELL_INTEGER},
                {"longest_ns", CN_CELL_INTEGER},
                {"longest_at_ns", CN_CELL_INTEGER},
                {"waits_in", CN_CELL_TEXT},
                {"given_by", CN_CELL_TEXT},
                {"given_in", CN_CELL_TEXT},
                {"meanwhile", CN_CELL_TEXT},
                {"taken_in", CN_CELL_TEXT},
                {"taken_path", CN_CELL_TEXT},
                {"kept_count", CN_CELL_INTEGER},
                {"kept_ns", CN_CELL_INTEGER},
                {"longest_kept_ns", CN_CELL_INTEGER}},
};

static void add_lock(struct cn_rows_table *table, const struct cn_lock_row *row)
{
    cn_rows_text(table, row->lock);
    cn_rows_integer(table, row->address);
    cn_rows_integer(table, row->process);
    cn_rows_integer(table, row->time_ns);
    cn_rows_integer(table, row->count);
    cn_rows_integer(table, row->waiter_count);
    cn_rows_integer(table, row->longest_ns);
    cn_rows_integer(table, row->longest_at_ns);
    cn_rows_text(table, row->waits);
    cn_rows_text(table, row->thread);
    cn_rows_text(table, row->released_in);
    cn_rows_text(table, row->meanwhile);
    cn_rows_text(table, row->taken_in);
    cn_rows_text(table, row->taken_path);
    cn_rows_integer(table, row->kept_count);
    cn_rows_integer(table, row->kept_ns);
    cn_rows_integer(table, row->longest_kept_ns);
    cn_rows_row(table);
}

static void add_rows(struct cn_table_rows *rows, const struct cn_lock_rows *locks)
{
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &locks_shape);
    for (size_t i = 0; i < locks->count; i++)
        add_lock(&table, &locks->list[i]);
    cn_rows_end(&table);
}

static bool add_locks(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_wait_source source = {0}; /* empty without states of threads */
    struct cn_lock_rows locks = {0};
    bool ok = !rows->x->db->states ||
              (cn_wait_source_build(&source, rows->x->db, err) &&
               cn_lock_rows_build(&locks, &source.study, NULL, 0, UINT64_MAX, err));

    if (ok)
        add_rows(rows, &locks);
    cn_lock_rows_done(&locks);
    cn_wait_source_done(&source);
    return ok;
}

const struct cn_sql_table cn_sql_locks = {
    .shape = &locks_shape, .add = add_locks, CN_SQL_IN_MEMORY};

static bool add_recorded_locks(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_lock_rows locks = {0};
    size_t call_count, without_address;
    bool ok = cn_recorded_locks_build(&locks, rows->x->query->rec, &call_count,
                                      &without_address, err);

    if (ok)
        add_rows(rows, &locks);
    cn_lock_rows_done(&locks);
    return ok;
}

const struct cn_sql_table cn_sql_recorded_locks = {
    .shape = &locks_shape, .add = add_recorded_locks, CN_SQL_IN_MEMORY};
