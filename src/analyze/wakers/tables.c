#include "analyze/wakers/tables.h"

#include "analyze/wakers/lock_rows.h"
#include "analyze/wakers/recorded_locks.h"
#include "analyze/wakers/study.h"
#include "model/contexts/database.h"

static void list_wait(const struct cn_listed_rows *rows,
                      const struct cn_lock_names *locks, const struct cn_waited *wait)
{
    bool has_lock = wait->lock != 0;
    const struct cn_listed_cell cells[] = {
        cn_listed_number(wait->profile),
        cn_listed_number(wait->begin_ns),
        cn_listed_number_if(wait->is_woken, wait->woken_ns),
        cn_listed_number(wait->end_ns),
        cn_listed_text(cn_wait_kind_names[wait->kind]),
        cn_listed_number_if(wait->context != 0, wait->context),
        cn_listed_number_if(wait->waker != 0, wait->waker),
        cn_listed_number_if(wait->waker_context != 0, wait->waker_context),
        cn_listed_number(wait->is_inferred),
        cn_listed_text(has_lock ? locks->list[wait->lock - 1].name : NULL),
        cn_listed_number_if(has_lock, has_lock ? locks->list[wait->lock - 1].address : 0),
    };

    rows->add(rows->arg, cells);
}

bool cn_list_waits(struct cn_database *db, const struct cn_listed_rows *rows,
                   struct cn_error *err)
{
    struct cn_wait_source source = {0}; /* empty without states of threads */
    bool ok = !db->states || cn_wait_source_build(&source, db, err);

    for (uint32_t profile = 0; ok && profile < source.study.graph.profile_count;
         profile++) {
        struct cn_waited wait;

        for (size_t i = 0; cn_wait_graph_next(&source.study.graph, profile, &i, &wait);)
            list_wait(rows, &source.study.locks, &wait);
    }
    cn_wait_source_done(&source);
    return ok;
}

static void list_locks(const struct cn_listed_rows *rows,
                       const struct cn_lock_rows *locks)
{
    for (size_t i = 0; i < locks->count; i++) {
        const struct cn_lock_row *row = &locks->list[i];
        const struct cn_listed_cell cells[] = {
            cn_listed_text(row->lock),
            cn_listed_number(row->address),
            cn_listed_number(row->process),
            cn_listed_number(row->time_ns),
            cn_listed_number(row->count),
            cn_listed_number(row->waiter_count),
            cn_listed_number(row->longest_ns),
            cn_listed_number(row->longest_at_ns),
            cn_listed_text(row->waits),
            cn_listed_text(row->thread),
            cn_listed_text(row->released_in),
            cn_listed_text(row->meanwhile),
            cn_listed_text(row->taken_in),
            cn_listed_text(row->taken_path),
            cn_listed_number(row->kept_count),
            cn_listed_number(row->kept_ns),
            cn_listed_number(row->longest_kept_ns),
        };

        rows->add(rows->arg, cells);
    }
}

bool cn_list_locks(struct cn_database *db, const struct cn_listed_rows *rows,
                   struct cn_error *err)
{
    struct cn_wait_source source = {0}; /* empty without states of threads */
    struct cn_lock_rows locks = {0};
    bool ok = !db->states ||
              (cn_wait_source_build(&source, db, err) &&
               cn_lock_rows_build(&locks, &source.study, NULL, 0, UINT64_MAX, err));

    if (ok)
        list_locks(rows, &locks);
    cn_lock_rows_done(&locks);
    cn_wait_source_done(&source);
    return ok;
}

bool cn_list_recorded_locks(const struct cn_recording *rec,
                            const struct cn_listed_rows *rows, struct cn_error *err)
{
    struct cn_lock_rows locks = {0};
    size_t call_count, without_address;
    bool ok = cn_recorded_locks_build(&locks, rec, &call_count, &without_address, err);

    if (ok)
        list_locks(rows, &locks);
    cn_lock_rows_done(&locks);
    return ok;
}
