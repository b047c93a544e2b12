/* Counters that triggers read become metrics of contexts. */

#include "analyze/cct/readings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/cct/calls_to_database.h"
#include "base/alloc.h"
#include "base/bytes/record.h"
#include "model/calls/recording_memory.h"
#include "model/contexts/database.h"

enum { OUTER, INNER, PLAIN, FUNCTIONS };

/* A recording under construction: time goes on with each record. */
struct maker {
    struct cn_memory_recording *m;
    uint64_t time_ns;
    uint16_t depth;
    bool is_big_endian;
};

static void add(struct maker *maker, enum cn_call_kind kind, uint32_t function)
{
    struct cn_call call = {
        .time_ns = maker->time_ns += 100,
        .address = 0x1000 + UINT64_C(64) * function,
        .function = function,
        .kind = (uint8_t)kind,
        .depth = kind == CN_CALL_ENTER ? maker->depth++ : --maker->depth,
    };

    cn_memory_recording_add_call(maker->m, 0, call, (struct cn_bytes){0});
}

static void add_counters(struct maker *maker, uint64_t event, int64_t first,
                         int64_t second)
{
    uint8_t data[16];
    struct cn_call call = {
        .time_ns = maker->time_ns += 1,
        .address = event,
        .function = CN_NONE,
        .kind = CN_CALL_EVENT,
        .flags = CN_CALL_HAS_DATA,
    };

    if (maker->is_big_endian) {
        cn_u64_be_put(data, (uint64_t)first);
        cn_u64_be_put(data + 8, (uint64_t)second);
    } else {
        cn_u64_put(data, (uint64_t)first);
        cn_u64_put(data + 8, (uint64_t)second);
    }
    cn_memory_recording_add_call(maker->m, 0, call,
                                 (struct cn_bytes){data, sizeof(data)});
}

static void begin(struct maker *maker, bool is_big_endian)
{
    static const char *const names[FUNCTIONS] = {"outer", "inner", "plain"};
    struct cn_task task = {.tid = 100, .pid = 100, .name = "t", .has_file = true};
    uint32_t module, session;

    *maker =
        (struct maker){.m = cn_memory_recording_new(), .is_big_endian = is_big_endian};
    if (is_big_endian)
        cn_memory_recording_set_big_endian(maker->m);
    module = cn_memory_recording_add_module(maker->m, "/bin/t", "");
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        (void)cn_memory_recording_add_function(
            maker->m, (struct cn_call_function){.name = names[i],
                                                .raw_name = names[i],
                                                .file = "",
                                                .module = module,
                                                .type = 'T',
                                                .offset = UINT64_C(64) * i,
                                                .size = 64});
    session = cn_memory_recording_add_session(maker->m, "s", 100, 0, "/bin/t");
    (void)cn_memory_recording_add_task(maker->m, task);
    cn_memory_recording_add_task_session(maker->m, 0, 0, session);
}

/* outer: 500 faults, of which inner took 100 and 300, the second through plain, which
 * reads nothing; inner's memory shrank. */
static void add_calls(struct maker *maker)
{
    add(maker, CN_CALL_ENTER, OUTER);
    add_counters(maker, CN_EVENT_READ_PAGE_FAULT, 7, 1000);
    add(maker, CN_CALL_ENTER, INNER);
    add_counters(maker, CN_EVENT_READ_PAGE_FAULT, 7, 1020);
    add_counters(maker, CN_EVENT_DIFF_PAGE_FAULT, 0, 100);
    add(maker, CN_CALL_EXIT, INNER);
    add(maker, CN_CALL_ENTER, PLAIN);
    add(maker, CN_CALL_ENTER, INNER);
    add_counters(maker, CN_EVENT_READ_PAGE_FAULT, 7, 1150);
    add_counters(maker, CN_EVENT_READ_CYCLE, 5000, 6000);
    add_counters(maker, CN_EVENT_DIFF_CYCLE, 70, -9);
    add_counters(maker, CN_EVENT_DIFF_PAGE_FAULT, 0, 300);
    add(maker, CN_CALL_EXIT, INNER);
    add(maker, CN_CALL_EXIT, PLAIN);
    add_counters(maker, CN_EVENT_DIFF_PAGE_FAULT, 1, 500);
    add(maker, CN_CALL_EXIT, OUTER);
}

struct subject {
    struct cn_recording *rec;
    struct cn_call_filter filter;
    struct cn_database *db;
    struct cn_calls_result result;
};

static void analyse(struct subject *s, struct cn_recording *rec)
{
    static const uint32_t task = 0;
    struct cn_calls_options options = {
        .workers = 1, .folder = ".", .has_all_statistics = true};
    struct cn_call_query query;
    struct cn_error err = {0};

    *s = (struct subject){.rec = rec};
    cn_call_filter_init(&s->filter, rec);
    s->filter.depth = UINT32_MAX;
    cn_call_filter_ready(&s->filter);
    query =
        (struct cn_call_query){rec, &s->filter, cn_time_always, &task, 1, false, NULL};
    options.without_timelines = true;
    if (!cn_calls_to_database(&s->db, &query, 1, &options, &s->result, &err))
        fail_msg("%s", err.text);
}

static void close_subject(struct subject *s)
{
    cn_calls_result_done(&s->result);
    cn_database_close(s->db);
    cn_call_filter_done(&s->filter);
    cn_recording_close(s->rec);
}

/* The context that a path of functions leads to, below the entry point. */
static uint32_t context_of(struct cn_database *db, const uint32_t *path, size_t count)
{
    struct cn_context_cursor cursor;
    struct cn_context at;
    struct cn_error err;

    assert_true(cn_context_children(db, NULL, &cursor, &err));
    assert_int_equal(cn_context_next(db, &cursor, &at, &err), CN_ITEM);
    for (size_t i = 0; i < count; i++) {
        struct cn_function function;

        assert_true(cn_context_children(db, &at, &cursor, &err));
        do {
            static const char *const names[FUNCTIONS] = {"outer", "inner", "plain"};

            assert_int_equal(cn_context_next(db, &cursor, &at, &err), CN_ITEM);
            assert_true(cn_database_function(db, at.function, &function, &err));
            if (strcmp(function.name, names[path[i]]) == 0)
                break;
        } while (true);
    }
    return at.id;
}

static double value_of(struct cn_database *db, uint32_t context, const char *metric,
                       const char *scope)
{
    int m = cn_metrics_find(&db->metrics, metric);
    int id = cn_metric_prop_id(&db->metrics.list[m],
                               (unsigned)cn_metrics_find_scope(&db->metrics, scope));
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    struct cn_error err;
    double value = 0;

    assert_true(cn_profile_values(db, 1, context, context, &cursor, &err));
    while (cn_values_next(&cursor, &batch, &err) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.values[i].metric == id)
                value = batch.values[i].value;
    return value;
}

static void check_faults(struct cn_database *db)
{
    static const char name[] = "minor page faults";
    uint32_t outer = context_of(db, (const uint32_t[]){OUTER}, 1);
    uint32_t inner = context_of(db, (const uint32_t[]){OUTER, INNER}, 2);
    uint32_t plain = context_of(db, (const uint32_t[]){OUTER, PLAIN}, 2);
    uint32_t below = context_of(db, (const uint32_t[]){OUTER, PLAIN, INNER}, 3);

    assert_float_equal(value_of(db, outer, name, "execution"), 500, 0);
    assert_float_equal(value_of(db, outer, name, "point"), 100, 0);
    assert_float_equal(value_of(db, inner, name, "execution"), 100, 0);
    assert_float_equal(value_of(db, inner, name, "function"), 100, 0);
    assert_float_equal(value_of(db, plain, name, "execution"), 300, 0);
    assert_float_equal(value_of(db, plain, name, "point"), 0, 0);
    assert_float_equal(value_of(db, below, name, "lex_aware"), 300, 0);
    assert_float_equal(value_of(db, outer, "major page faults", "execution"), 1, 0);
    assert_float_equal(value_of(db, outer, "cycles", "execution"), 70, 0);
    assert_float_equal(value_of(db, below, "instructions", "point"), -9, 0);
}

static void differences_are_shared_among_those_who_read(void **state)
{
    for (int is_big_endian = 0; is_big_endian < 2; is_big_endian++) {
        struct maker maker;
        struct subject s;

        begin(&maker, is_big_endian != 0);
        add_calls(&maker);
        analyse(&s, cn_memory_recording_finish(maker.m));
        check_faults(s.db);
        close_subject(&s);
    }
    (void)state;
}

static void a_counter_that_was_not_read_is_no_metric(void **state)
{
    struct maker maker;
    struct subject s;

    (void)state;
    begin(&maker, false);
    add_calls(&maker);
    analyse(&s, cn_memory_recording_finish(maker.m));
    assert_true(cn_metrics_find(&s.db->metrics, "instructions") >= 0);
    assert_true(cn_metrics_find(&s.db->metrics, "branches") < 0);
    assert_true(cn_metrics_find(&s.db->metrics, "resident memory (KB)") < 0);
    close_subject(&s);
}

static struct cn_counters faults(bool is_difference, uint64_t minor)
{
    return (struct cn_counters){
        .source = 1,
        .first = CN_COUNTER_MAJOR_FAULTS,
        .count = 2,
        .is_difference = is_difference,
        .values = {0, minor},
    };
}

static uint64_t minor_of(const struct cn_cct_readings *readings, cn_cct_id node)
{
    const uint64_t *values = cn_cct_readings_find(readings, node);

    return values ? values[CN_COUNTER_MINOR_FAULTS] : 0;
}

/* A call that was left by longjmp() never says what it took: its caller does. */
static void calls_that_never_end_are_forgotten(void **state)
{
    struct cn_cct_readings readings = {0};
    struct cn_counters start = faults(false, 0), end = faults(true, 10);

    (void)state;
    cn_cct_readings_add(&readings, &start, 1, 1);
    cn_cct_readings_add(&readings, &start, 2, 2);
    cn_cct_readings_add(&readings, &start, 3, 3);
    cn_cct_readings_add(&readings, &end, 3, 3);
    end.values[1] = 25;
    cn_cct_readings_add(&readings, &end, 1, 1);
    assert_int_equal(minor_of(&readings, 3), 10);
    assert_int_equal(minor_of(&readings, 2), 0);
    assert_int_equal(minor_of(&readings, 1), 25 - 10);
    assert_int_equal(readings.open[1].count, 0);
    /* A difference whose start was lost counts as it is. */
    cn_cct_readings_add(&readings, &end, 4, 4);
    assert_int_equal(minor_of(&readings, 4), 25);
    cn_cct_readings_done(&readings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_shared_among_those_who_read),
        cmocka_unit_test(a_counter_that_was_not_read_is_no_metric),
        cmocka_unit_test(calls_that_never_end_are_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
