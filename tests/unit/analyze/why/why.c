/* Slow calls of a function against typical ones. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "analyze/calls/filter.h"
#include "analyze/calls/report.h"
#include "analyze/durations/durations.h"
#include "analyze/why/others.h"
#include "analyze/why/rows.h"
#include "analyze/why/signs.h"
#include "analyze/why/times.h"
#include "analyze/why/why.h"
#include "base/bytes/record.h"
#include "model/calls/recording_memory.h"

enum { HANDLE, WORK, FLUSH, FSYNC, FUNCTIONS };
enum { CALLS = 2000, SPECIAL = 42 };

static const struct cn_why_options usual = {
    .slowest = 0.01, .typical_from = 0.25, .typical_to = 0.75};

struct scene {
    struct cn_memory_recording *memory;
    uint64_t now_ns, random;
    struct cn_recording *rec;
    struct cn_call_filter filter;
    struct cn_call_query query;
    uint32_t tasks[2];
};

static uint32_t draw(struct scene *s, uint32_t limit)
{
    s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((s->random >> 33) % limit);
}

static void put(struct scene *s, uint32_t task, enum cn_call_kind kind, uint32_t function,
                uint16_t depth, struct cn_bytes data)
{
    cn_memory_recording_add_call(
        s->memory, task,
        (struct cn_call){.time_ns = s->now_ns,
                         .address = 64 * function,
                         .function = function,
                         .depth = depth,
                         .kind = (uint8_t)kind,
                         .flags = data.len > 0 ? CN_CALL_HAS_DATA : 0},
        data);
}

static void enter(struct scene *s, uint32_t task, uint32_t function, uint16_t depth)
{
    put(s, task, CN_CALL_ENTER, function, depth, (struct cn_bytes){0});
}

static void leave(struct scene *s, uint32_t task, uint32_t function, uint16_t depth,
                  uint64_t after_ns)
{
    s->now_ns += after_ns;
    put(s, task, CN_CALL_EXIT, function, depth, (struct cn_bytes){0});
}

static void begin(struct scene *s, uint64_t seed)
{
    static const char *const names[FUNCTIONS] = {"handle", "work", "flush", "fsync"};
    static const struct cn_argument_spec specs[] = {
        {.format = 'i', .index = 1, .size = 4, .type_name = "", .text = "arg1/i32"},
        {.format = 'i', .index = 2, .size = 4, .type_name = "", .text = "arg2/i32"},
        {.format = 's', .index = 3, .type_name = "", .text = "arg3/s"},
    };
    uint32_t module, session;

    *s = (struct scene){
        .memory = cn_memory_recording_new(), .now_ns = 1000, .random = seed};
    module = cn_memory_recording_add_module(s->memory, "/bin/server", "");
    session = cn_memory_recording_add_session(s->memory, "1", 1, 0, "server");
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        (void)cn_memory_recording_add_function(
            s->memory,
            (struct cn_call_function){.name = names[i],
                                      .raw_name = names[i],
                                      .module = module,
                                      .type = 'T',
                                      .offset = 64 * i,
                                      .size = 64,
                                      .file = "",
                                      .arguments = {specs, i == HANDLE ? 3 : 0}});
    cn_memory_recording_add_mapping(s->memory, session,
                                    (struct cn_mapping){0, 4096, 0, module, "r-xp"});
    for (uint32_t i = 0; i < 2; i++) {
        s->tasks[i] = cn_memory_recording_add_task(
            s->memory, (struct cn_task){.tid = i + 1, .pid = 1, .name = "server"});
        cn_memory_recording_add_task_session(s->memory, s->tasks[i], 0, session);
    }
}

static void finish(struct scene *s)
{
    s->rec = cn_memory_recording_finish(s->memory);
    cn_call_filter_init(&s->filter, s->rec);
    cn_call_filter_ready(&s->filter);
    s->query = (struct cn_call_query){.rec = s->rec,
                                      .filter = &s->filter,
                                      .range = cn_time_always,
                                      .tasks = s->tasks,
                                      .task_count = 2};
}

static void done(struct scene *s)
{
    cn_call_filter_done(&s->filter);
    cn_recording_close(s->rec);
}

/* A call of handle; a slow one flushes. Its self time is 100 ns and a bit. */
static void handle(struct scene *s, uint32_t task, bool is_slow, uint32_t user,
                   uint32_t size)
{
    uint8_t data[12] = {[8] = 2, [10] = '/', [11] = 'a'}; /* two numbers, a string */

    cn_u32_put(data, user);
    cn_u32_put(data + 4, size);
    put(s, task, CN_CALL_ENTER, HANDLE, 0, (struct cn_bytes){data, sizeof(data)});
    s->now_ns += 100 + draw(s, 20);
    enter(s, task, WORK, 1);
    leave(s, task, WORK, 1, 500 + draw(s, 200));
    if (is_slow) {
        enter(s, task, FLUSH, 1);
        enter(s, task, FSYNC, 2);
        leave(s, task, FSYNC, 2, 20000 + draw(s, 1000));
        leave(s, task, FLUSH, 1, 10);
    }
    leave(s, task, HANDLE, 0, 0);
    s->now_ns += draw(s, 3000);
}

static bool explains(struct scene *s, struct cn_why *why, struct cn_why_rows *rows,
                     struct cn_signs *signs)
{
    struct cn_error err;

    assert_true(cn_why_build(why, &s->query, "handle", 2, &usual, &err));
    if (why->groups[CN_WHY_SLOW].count == 0)
        return false;
    cn_why_rows_build(rows, why, "handle");
    cn_why_signs_find(signs, why, s->rec, NULL, NULL);
    return true;
}

static const struct cn_why_row *row_of(const struct cn_why *why,
                                       const struct cn_why_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *of = why->contexts[rows->list[i].context].name;

        if (of && strcmp(of, name) == 0)
            return &rows->list[i];
    }
    fail_msg("no context of %s", name);
    return NULL;
}

/* On a busy machine one of the slow calls was interrupted for longer than all of them flush. */
static void what_happens_once_is_noise(void **state)
{
    struct scene s;
    struct cn_why why;
    struct cn_why_rows rows;
    struct cn_signs signs;
    const struct cn_why_row *work, *fsync;

    (void)state;
    begin(&s, 7);
    for (int i = 0; i < CALLS; i++) {
        handle(&s, s.tasks[0], i % 100 == 7, (uint32_t)i, 100);
        if (i == CALLS / 2) {
            enter(&s, s.tasks[0], HANDLE, 0);
            enter(&s, s.tasks[0], WORK, 1);
            leave(&s, s.tasks[0], WORK, 1, 5000000);
            leave(&s, s.tasks[0], HANDLE, 0, 100);
        }
    }
    finish(&s);
    assert_true(explains(&s, &why, &rows, &signs));
    work = row_of(&why, &rows, "work");
    fsync = row_of(&why, &rows, "fsync");
    assert_true(work->difference_ns > fsync->difference_ns);
    assert_true(work->is_noise && work->error_ns > work->difference_ns);
    assert_false(fsync->is_noise);
    assert_true(fsync->error_ns < fsync->difference_ns);
    assert_ptr_equal(&rows.list[0], fsync);
    assert_int_equal(rows.explaining_count > 0, true);
    for (size_t i = 0; i < rows.explaining_count; i++)
        assert_false(rows.list[i].is_noise);
    cn_signs_done(&signs);
    cn_why_rows_done(&rows);
    cn_why_done(&why);
    done(&s);
}

/* A call of a group in a context, which takes `ns` there. */
static void count(struct cn_why *why, uint32_t context, enum cn_why_group group,
                  uint64_t ns)
{
    struct cn_why_cost *cost = &why->contexts[context].costs[group];

    cost->calls++;
    cost->self_ns += ns;
    cn_call_squares_add(&cost->squares, ns);
    why->groups[group].total_ns += ns;
}

/* 300 contexts in which slow and typical calls do the same, and one in which slow calls take longer:
 * by chance, 15 of them differ by more than their 95 % interval. */
static void many_contexts_are_no_evidence(void **state)
{
    enum { SAME = 300, SEEDS = 40 };
    static const uint64_t calls[CN_WHY_GROUPS] = {200, 20};
    static struct cn_why_context contexts[SAME + 2];
    int wrong = 0, beyond = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct scene s = {.random = seed};
        struct cn_why why = {.contexts = contexts, .context_count = SAME + 2};
        struct cn_why_rows rows;
        int real = 0;

        memset(contexts, 0, sizeof(contexts));
        for (uint32_t at = 1; at < why.context_count; at++)
            contexts[at].name = "f";
        for (int k = 0; k < CN_WHY_GROUPS; k++)
            for (why.groups[k].count = 0; why.groups[k].count < calls[k];
                 why.groups[k].count++)
                for (uint32_t at = 1; at < why.context_count; at++)
                    count(&why, at, (enum cn_why_group)k,
                          1000 + draw(&s, 200) +
                              (at > SAME && k == CN_WHY_SLOW ? 500 : 0));
        cn_why_rows_build(&rows, &why, "handle");
        assert_int_equal(rows.list[0].context, SAME + 1);
        assert_false(rows.list[0].is_noise);
        for (size_t i = 0; i < rows.count; i++) {
            real += !rows.list[i].is_noise && rows.list[i].context > 0;
            beyond += fabs(rows.list[i].difference_ns) > rows.list[i].error_ns;
        }
        wrong += real > 1;
        cn_why_rows_done(&rows);
    }
    assert_in_range(beyond, 10 * SEEDS, 22 * SEEDS);
    assert_in_range(wrong, 0, SEEDS / 4);
}

static void names_the_cause_first(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct scene s;
        struct cn_why why;
        struct cn_why_rows rows;
        struct cn_signs signs;
        const struct cn_why_context *first;

        begin(&s, seed);
        for (int i = 0; i < CALLS; i++) {
            bool is_slow = draw(&s, 100) == 0;

            handle(&s, s.tasks[0], is_slow, is_slow ? SPECIAL : draw(&s, 40), 7);
        }
        finish(&s);
        assert_true(explains(&s, &why, &rows, &signs));
        first = &why.contexts[rows.list[0].context];
        assert_string_equal(first->name, "fsync");
        assert_string_equal(why.contexts[first->parent].name, "flush");
        assert_int_equal(rows.list[0].kind, CN_WHY_IO);
        assert_int_equal(rows.explaining_count, 1);
        assert_true(rows.list[0].calls[CN_WHY_TYPICAL] == 0);
        assert_string_equal(signs.list[0].key, "arg1");
        assert_string_equal(signs.list[0].value, "42");
        assert_int_equal(signs.list[0].has[CN_WHY_TYPICAL], 0);
        cn_signs_done(&signs);
        cn_why_rows_done(&rows);
        cn_why_done(&why);
        done(&s);
    }
}

/* Arguments have nothing to do with durations: in at most 5 of 100 trials a sign is found. */
static void finds_no_sign_where_there_is_none(void **state)
{
    unsigned found = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct scene s;
        struct cn_why why;
        struct cn_why_rows rows;
        struct cn_signs signs;
        struct cn_why_times times;

        begin(&s, 1000 + seed);
        for (int i = 0; i < CALLS / 4; i++)
            handle(&s, s.tasks[draw(&s, 2)], draw(&s, 50) == 0, draw(&s, 10),
                   draw(&s, 100000));
        finish(&s);
        assert_true(explains(&s, &why, &rows, &signs));
        cn_why_times_find(&times, &why);
        found += signs.count > 0 || times.cluster.slow > 0;
        cn_signs_done(&signs);
        cn_why_rows_done(&rows);
        cn_why_done(&why);
        done(&s);
    }
    assert_true(found <= 5);
}

static void finds_limits_tasks_and_runs(void **state)
{
    struct scene s;
    struct cn_why why;
    struct cn_why_rows rows;
    struct cn_signs signs;
    struct cn_why_times times;

    (void)state;
    begin(&s, 7);
    for (int i = 0; i < CALLS; i++) {
        bool is_slow = i >= 900 && i < 920;

        handle(&s, s.tasks[is_slow], is_slow, draw(&s, 40),
               is_slow ? 5000 + draw(&s, 1000000) : draw(&s, 4096));
    }
    finish(&s);
    assert_true(explains(&s, &why, &rows, &signs));
    assert_int_equal(signs.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(signs.list[i].has[CN_WHY_SLOW], 20);
        if (strcmp(signs.list[i].key, "arg2") == 0)
            assert_int_equal(signs.list[i].relation, '>');
        else
            assert_string_equal(signs.list[i].value, "2 (server)");
    }
    cn_why_times_find(&times, &why);
    assert_int_equal(times.cluster.slow, 20);
    assert_false(times.cluster.is_first);
    assert_int_equal(times.overlapping, 0);
    cn_signs_done(&signs);
    cn_why_rows_done(&rows);
    cn_why_done(&why);
    done(&s);
}

/* The second task flushes whenever a call of the first one is slow, and works otherwise. */
static void names_what_other_tasks_did(void **state)
{
    struct scene s;
    struct cn_why why;
    struct cn_why_rows rows;
    struct cn_signs signs, others;
    struct cn_error err;

    (void)state;
    begin(&s, 11);
    for (int i = 0; i < CALLS; i++) {
        bool is_slow = i % 100 == 13;
        uint32_t other = is_slow ? FLUSH : WORK;

        enter(&s, s.tasks[1], other, 0);
        s.now_ns++;
        handle(&s, s.tasks[0], is_slow, 1, 1);
        leave(&s, s.tasks[1], other, 0, 1);
    }
    finish(&s);
    assert_true(explains(&s, &why, &rows, &signs));
    assert_true(cn_why_others_find(&others, &why, &s.query, 2, &err));
    assert_int_equal(others.count, 1);
    assert_string_equal(others.list[0].value, "flush");
    assert_int_equal(others.list[0].has[CN_WHY_SLOW], CALLS / 100);
    assert_int_equal(others.list[0].has[CN_WHY_TYPICAL], 0);
    assert_int_equal(others.list[0].of[CN_WHY_TYPICAL], 200);
    cn_signs_done(&others);
    cn_signs_done(&signs);
    cn_why_rows_done(&rows);
    cn_why_done(&why);
    done(&s);
}

/* Groups that have all calls add up to what the report says about them. */
static void sums_are_those_of_the_report(void **state)
{
    struct cn_why_options options = usual;
    struct cn_call_report report;
    struct cn_error err;
    struct scene s;
    struct cn_why why;
    uint64_t self_ns = 0, flushes = 0;

    (void)state;
    begin(&s, 3);
    for (int i = 0; i < CALLS; i++)
        handle(&s, s.tasks[i % 2], i % 100 == 3, 1, 2);
    finish(&s);
    options.typical_from_ns = 0;
    options.typical_to_ns = 10000;
    options.slow_from_ns = 10001;
    assert_true(cn_why_build(&why, &s.query, "handle", 2, &options, &err));
    assert_true(cn_call_report_build(&report, &s.query, 2,
                                     (struct cn_call_report_options){0}, &err));
    assert_int_equal(why.groups[CN_WHY_SLOW].count, CALLS / 100);
    assert_int_equal(why.groups[CN_WHY_SLOW].count + why.groups[CN_WHY_TYPICAL].count,
                     CALLS);
    for (size_t i = 0; i < why.context_count; i++) {
        self_ns += why.contexts[i].costs[CN_WHY_SLOW].self_ns +
                   why.contexts[i].costs[CN_WHY_TYPICAL].self_ns;
        if (why.contexts[i].name && strcmp(why.contexts[i].name, "flush") == 0)
            flushes += why.contexts[i].costs[CN_WHY_SLOW].calls;
    }
    assert_int_equal(flushes, CALLS / 100);
    for (size_t i = 0; i < report.row_count; i++)
        if (strcmp(report.rows[i].name, "handle") == 0) {
            assert_int_equal(report.rows[i].cost.total_ns, self_ns);
            assert_int_equal(report.rows[i].cost.total_ns,
                             why.groups[CN_WHY_SLOW].total_ns +
                                 why.groups[CN_WHY_TYPICAL].total_ns);
        }
    cn_call_report_done(&report);
    cn_why_done(&why);
    done(&s);
}

static void counts_durations_finely(void **state)
{
    struct cn_durations durations = {0};
    struct cn_duration_range range;

    (void)state;
    for (uint64_t ns = 0; ns < 10000; ns++)
        cn_durations_add(&durations, ns);
    cn_durations_add(&durations, UINT64_MAX);
    range = cn_durations_at(&durations, 8191);
    assert_int_equal(range.low_ns, 8191);
    assert_int_equal(range.high_ns, 8191);
    range = cn_durations_at(&durations, 8193);
    assert_int_equal(range.low_ns, 8192);
    assert_int_equal(range.high_ns, 8193);
    range = cn_durations_at(&durations, 10000);
    assert_true(range.high_ns == UINT64_MAX);
    assert_int_equal(cn_durations_from(&durations, 9000), 1001);
    cn_durations_done(&durations);
}

/* 3 of 4 from 4 of 8: (4 * 4 + 1) / 70. */
static void tails_are_exact(void **state)
{
    (void)state;
    assert_true(fabs(exp(cn_traits_log_tail(3, 4, 4, 8)) - 17.0 / 70) < 1e-12);
    assert_true(fabs(exp(cn_traits_log_tail(0, 4, 4, 8)) - 1) < 1e-12);
    assert_true(isinf(cn_traits_log_tail(5, 4, 4, 8)));
}

static void knows_what_functions_wait_for(void **state)
{
    (void)state;
    assert_int_equal(cn_why_kind_of("pthread_mutex_lock"), CN_WHY_LOCK);
    assert_int_equal(cn_why_kind_of("__pthread_mutex_lock"), CN_WHY_LOCK);
    assert_int_equal(cn_why_kind_of("__x64_sys_fsync"), CN_WHY_IO);
    assert_int_equal(cn_why_kind_of("read"), CN_WHY_IO);
    assert_int_equal(cn_why_kind_of("reader"), CN_WHY_RUNNING);
    assert_int_equal(cn_why_kind_of("sendmail"), CN_WHY_RUNNING);
    assert_int_equal(cn_why_kind_of(""), CN_WHY_RUNNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_cause_first),
        cmocka_unit_test(finds_no_sign_where_there_is_none),
        cmocka_unit_test(finds_limits_tasks_and_runs),
        cmocka_unit_test(names_what_other_tasks_did),
        cmocka_unit_test(sums_are_those_of_the_report),
        cmocka_unit_test(counts_durations_finely),
        cmocka_unit_test(tails_are_exact),
        cmocka_unit_test(what_happens_once_is_noise),
        cmocka_unit_test(many_contexts_are_no_evidence),
        cmocka_unit_test(knows_what_functions_wait_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
