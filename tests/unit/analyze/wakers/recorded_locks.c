/* Locks of recordings in which records are missing. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/wakers/lock_rows.h"
#include "analyze/wakers/recorded_locks.h"
#include "base/bytes/record.h"
#include "model/calls/recording_memory.h"

enum { LOCK, UNLOCK, WORK, FUNCTIONS };
enum { HOLDER, WAITER, TASKS };

static struct cn_memory_recording *begin(void)
{
    static const struct cn_argument_spec address[] = {
        {.format = 'x', .index = 1, .size = 8, .type_name = "", .text = "arg1/x"}};
    static const char *const names[FUNCTIONS] = {"pthread_mutex_lock",
                                                 "pthread_mutex_unlock", "work"};
    static const char *const threads[TASKS] = {"holder", "waiter"};
    struct cn_memory_recording *m = cn_memory_recording_new();
    uint32_t module = cn_memory_recording_add_module(m, "/bin/locks", "");

    for (uint32_t i = 0; i < FUNCTIONS; i++)
        (void)cn_memory_recording_add_function(
            m, (struct cn_call_function){.name = names[i],
                                         .raw_name = names[i],
                                         .module = module,
                                         .type = 'T',
                                         .offset = 64 * i,
                                         .size = 64,
                                         .file = "",
                                         .arguments = {address, i == WORK ? 0 : 1}});
    for (uint32_t i = 0; i < TASKS; i++)
        (void)cn_memory_recording_add_task(
            m, (struct cn_task){
                   .tid = 7 + i, .pid = 7, .parent = CN_NONE, .name = threads[i]});
    return m;
}

/* Of the lock at 0x1000, or of what has no arguments. */
static void enter(struct cn_memory_recording *m, uint32_t task, uint32_t function,
                  uint64_t time_ns)
{
    uint8_t data[8];

    cn_u64_put(data, 0x1000);
    cn_memory_recording_add_call(
        m, task,
        (struct cn_call){.time_ns = time_ns,
                         .address = UINT64_C(64) * function,
                         .function = function,
                         .kind = CN_CALL_ENTER,
                         .flags = function == WORK ? 0 : CN_CALL_HAS_DATA},
        (struct cn_bytes){data, function == WORK ? 0 : sizeof(data)});
}

static void leave(struct cn_memory_recording *m, uint32_t task, uint32_t function,
                  uint64_t time_ns)
{
    cn_memory_recording_add_call(m, task,
                                 (struct cn_call){.time_ns = time_ns,
                                                  .address = UINT64_C(64) * function,
                                                  .function = function,
                                                  .kind = CN_CALL_EXIT},
                                 (struct cn_bytes){0});
}

static void call(struct cn_memory_recording *m, uint32_t task, uint32_t function,
                 uint64_t begin_ns, uint64_t end_ns)
{
    enter(m, task, function, begin_ns);
    leave(m, task, function, end_ns);
}

static void lose(struct cn_memory_recording *m, uint32_t task, uint64_t time_ns)
{
    cn_memory_recording_add_call(
        m, task,
        (struct cn_call){
            .time_ns = time_ns, .address = 3, .function = CN_NONE, .kind = CN_CALL_LOST},
        (struct cn_bytes){0});
}

/* The only row of the only lock. */
static struct cn_lock_row only_row(struct cn_memory_recording *m,
                                   struct cn_lock_rows *rows)
{
    struct cn_recording *rec = cn_memory_recording_finish(m);
    struct cn_error err = {0};
    size_t calls, without;

    assert_true(cn_recorded_locks_build(rows, rec, &calls, &without, &err));
    assert_int_equal(without, 0);
    assert_int_equal(rows->count, 1);
    cn_recording_close(rec);
    return rows->list[0];
}

static void a_lock_given_back_is_blamed_on_its_holder(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_lock_rows rows;

    (void)state;
    call(m, HOLDER, LOCK, 10, 11);
    call(m, HOLDER, UNLOCK, 29, 30);
    call(m, WAITER, LOCK, 12, 31);
    struct cn_lock_row row = only_row(m, &rows);
    assert_string_equal(row.thread, "holder");
    assert_int_equal(row.time_ns, 19);
    assert_int_equal(row.kept_ns, 18);
    assert_int_equal(row.kept_count, 1);
    cn_lock_rows_done(&rows);
}

static void a_lost_unlock_leaves_the_holder_unknown(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_lock_rows rows;

    (void)state;
    call(m, HOLDER, LOCK, 10, 11);
    call(m, HOLDER, WORK, 13, 15);
    lose(m, HOLDER, 40);
    call(m, HOLDER, WORK, 40, 45);
    call(m, WAITER, LOCK, 12, 31);
    struct cn_lock_row row = only_row(m, &rows);
    assert_null(row.thread);
    assert_null(row.taken_in);
    assert_int_equal(row.time_ns, 19);
    assert_int_equal(row.kept_count, 0);
    cn_lock_rows_done(&rows);
}

static void what_follows_a_loss_is_known(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_lock_rows rows;

    (void)state;
    call(m, HOLDER, LOCK, 10, 11);
    lose(m, HOLDER, 40);
    call(m, HOLDER, LOCK, 50, 51);
    call(m, HOLDER, UNLOCK, 59, 60);
    call(m, WAITER, LOCK, 52, 61);
    struct cn_lock_row row = only_row(m, &rows);
    assert_string_equal(row.thread, "holder");
    assert_int_equal(row.time_ns, 9);
    assert_int_equal(row.kept_ns, 8);
    assert_int_equal(row.kept_count, 1);
    cn_lock_rows_done(&rows);
}

/* It may have been given back and taken again. */
static void an_unlock_after_a_loss_is_known_but_not_since_when_it_was_taken(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_lock_rows rows;

    (void)state;
    call(m, HOLDER, LOCK, 10, 11);
    lose(m, HOLDER, 40);
    call(m, HOLDER, UNLOCK, 50, 51);
    call(m, WAITER, LOCK, 12, 52);
    struct cn_lock_row row = only_row(m, &rows);
    assert_string_equal(row.thread, "holder");
    assert_null(row.taken_in);
    assert_int_equal(row.time_ns, 40);
    assert_int_equal(row.kept_count, 0);
    cn_lock_rows_done(&rows);
}

static void a_wait_before_a_loss_of_its_own_thread_counts(void **state)
{
    struct cn_memory_recording *m = begin();
    struct cn_lock_rows rows;

    (void)state;
    call(m, HOLDER, LOCK, 10, 11);
    call(m, HOLDER, UNLOCK, 29, 30);
    call(m, WAITER, LOCK, 12, 31);
    lose(m, WAITER, 90);
    call(m, WAITER, WORK, 90, 91);
    assert_int_equal(only_row(m, &rows).time_ns, 19);
    cn_lock_rows_done(&rows);
}

/* A wait for a holder in which the waiting thread itself takes the lock and gives it back, as no program does. */
static struct cn_lock_row row_with_own_holds(unsigned count, struct cn_lock_rows *rows)
{
    struct cn_memory_recording *m = begin();
    uint64_t time_ns = 20;

    call(m, HOLDER, LOCK, 10, 11);
    call(m, HOLDER, UNLOCK, 13, 14);
    enter(m, WAITER, LOCK, 12);
    for (unsigned i = 0; i < count; i++, time_ns += 2) {
        call(m, WAITER, LOCK, time_ns, time_ns);
        call(m, WAITER, UNLOCK, time_ns + 1, time_ns + 1);
    }
    leave(m, WAITER, LOCK, time_ns);
    return only_row(m, rows);
}

static void a_wait_with_a_great_many_holds_in_it_is_unknown(void **state)
{
    struct cn_lock_rows rows;

    (void)state;
    assert_string_equal(row_with_own_holds(900, &rows).thread, "holder");
    cn_lock_rows_done(&rows);
    struct cn_lock_row row = row_with_own_holds(1100, &rows);
    assert_null(row.thread);
    assert_int_equal(row.time_ns, 2208);
    cn_lock_rows_done(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_given_back_is_blamed_on_its_holder),
        cmocka_unit_test(a_lost_unlock_leaves_the_holder_unknown),
        cmocka_unit_test(what_follows_a_loss_is_known),
        cmocka_unit_test(an_unlock_after_a_loss_is_known_but_not_since_when_it_was_taken),
        cmocka_unit_test(a_wait_before_a_loss_of_its_own_thread_counts),
        cmocka_unit_test(a_wait_with_a_great_many_holds_in_it_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
