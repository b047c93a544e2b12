/* The library for other programs: what it answers is what the model has. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "cairn.h"
#include "support/perf_inputs.h"
#include "support/sample.h"
#include "support/sample_recording.h"
#include "support/scratch.h"

static struct cairn_error *err;

static int begin(void **state)
{
    err = cairn_error_new();
    return cn_scratch_setup(state);
}

static int end(void **state)
{
    cairn_error_free(err);
    return cn_scratch_teardown(state);
}

static double f64(const struct cairn_table *table, const char *name, uint64_t row)
{
    struct cairn_column column;

    assert_true(cairn_table_find(table, name) < cairn_table_column_count(table));
    cairn_table_column(table, cairn_table_find(table, name), &column);
    assert_int_equal(column.type, CAIRN_F64);
    return ((const double *)column.values)[row];
}

static uint64_t u64(const struct cairn_table *table, const char *name, uint64_t row)
{
    struct cairn_column column;

    assert_true(cairn_table_find(table, name) < cairn_table_column_count(table));
    cairn_table_column(table, cairn_table_find(table, name), &column);
    return column.type == CAIRN_U64   ? ((const uint64_t *)column.values)[row]
           : column.type == CAIRN_U16 ? ((const uint16_t *)column.values)[row]
                                      : ((const uint32_t *)column.values)[row];
}

static void assert_text(const struct cairn_table *table, const char *name, uint64_t row,
                        const char *expected)
{
    size_t len = 0;
    const char *text = cairn_table_text(table, cairn_table_find(table, name), row, &len);

    assert_non_null(text);
    assert_int_equal(len, strlen(expected));
    assert_memory_equal(text, expected, len);
}

/* main (1 s) calls work (3 s) at a line (0.5 s), in two threads. */
static struct cairn_data *build(double work)
{
    struct cairn_builder *b = cairn_builder_new("example");
    uint32_t metric = cairn_builder_metric(b, "time (sec)", err);
    uint32_t at_main = cairn_builder_call(
        b, 0, cairn_builder_function(b, "main", "a", "a.c", 1, err), err);
    uint32_t at_work = cairn_builder_call(
        b, at_main, cairn_builder_function(b, "work\xff", "a", "a.c", 9, err), err);
    uint32_t line = cairn_builder_line(b, at_work, "a.c", 11, err);

    for (uint32_t i = 0; i < 2; i++) {
        uint32_t thread = cairn_builder_thread(b, i, 0, i ? NULL : "first", err);

        assert_int_equal(thread, i + 1);
        assert_true(cairn_builder_value(b, thread, at_main, metric, 1, err));
        assert_true(cairn_builder_value(b, thread, at_work, metric, work, err));
        assert_true(cairn_builder_value(b, thread, line, metric, 0.5, err));
        assert_true(cairn_builder_sample(b, thread, 1000, at_main, err));
        assert_true(cairn_builder_sample(b, thread, 2000 + i, line, err));
    }
    return cairn_builder_finish(b, err);
}

static void check_contexts(struct cairn_data *db)
{
    struct cairn_table *table = cairn_database_contexts(db, NULL, err);
    struct cairn_column parent, offset;
    uint64_t rows;

    assert_non_null(table);
    rows = cairn_table_row_count(table);
    assert_int_equal(rows, 4); /* the entry point, main, work, a line */
    assert_text(table, "name", 1, "main");
    assert_text(table, "name", 2, "work\\xff");
    assert_text(table, "kind", 3, "line");
    assert_text(table, "file", 3, "a.c");
    assert_int_equal(u64(table, "line", 3), 11);
    assert_int_equal(u64(table, "depth", 3), 3);
    assert_int_equal(u64(table, "parent", 2), u64(table, "id", 1));
    assert_true(fabs(f64(table, "time_sec_inclusive", 1) - 9) < 1e-9);
    assert_true(fabs(f64(table, "time_sec_exclusive", 2) - 7) < 1e-9);
    cairn_table_column(table, cairn_table_find(table, "parent"), &parent);
    assert_int_equal(parent.null_count, 1);
    assert_int_equal(parent.valid[0] & 0xf, 0xe);
    cairn_table_column(table, cairn_table_find(table, "offset"), &offset);
    assert_int_equal(offset.null_count, 4);
    assert_int_equal(offset.valid[0] & 0xf, 0);
    cairn_table_free(table);
}

static void a_built_database_is_the_same_after_writing(void **state)
{
    struct cairn_data *db = build(3), *again;

    (void)state;
    assert_non_null(db);
    check_contexts(db);
    assert_true(cairn_write(db, "out.db", "hpctoolkit-v4", false, NULL, NULL, err));
    assert_false(cairn_write(db, "out.db", "hpctoolkit-v4", false, NULL, NULL, err));
    assert_int_equal(cairn_error_kind(err), CAIRN_ERR_IO);
    assert_true(cairn_write(db, "out.db", "hpctoolkit-v4", true, NULL, NULL, err));
    again = cairn_open("out.db", err);
    assert_non_null(again);
    assert_string_equal(cairn_data_format(again), "hpctoolkit-v4");
    assert_string_equal(cairn_database_title(again), "example");
    check_contexts(again);
    cairn_close(again);
    cairn_close(db);
}

static void replaces_no_folder_of_other_data(void **state)
{
    struct cairn_data *db = build(3);

    (void)state;
    assert_int_equal(mkdir("folder", 0777), 0);
    cn_scratch_write("folder/precious", "x", 1);
    assert_false(cairn_write(db, "folder", "hpctoolkit-v4", true, NULL, NULL, err));
    assert_true(cn_scratch_exists("folder/precious"));
    cairn_close(db);
}

static void threads_values_and_samples_agree(void **state)
{
    struct cairn_data *db = build(3);
    struct cairn_table *values = cairn_database_values(db, 1, err);
    struct cairn_table *all = cairn_database_values(db, CAIRN_NONE, err);
    struct cairn_table *samples = cairn_database_samples(db, CAIRN_NONE, err);
    struct cairn_values *cursor = cairn_values_of_thread(db, 1, 0, UINT32_MAX, err);
    const struct cairn_value *list;
    struct cairn_thread thread;
    struct cairn_sample sample;
    char identity[64];
    size_t count, needed, row = 0;
    uint64_t sample_count;

    (void)state;
    assert_int_equal(cairn_database_thread_count(db), 3);
    assert_true(cairn_database_thread(db, 1, &thread, err));
    assert_string_equal(thread.name, "first");
    assert_true(cairn_database_identity(db, 2, identity, sizeof(identity), &needed, err));
    assert_string_equal(identity, "RANK 1 THREAD 0");
    assert_int_equal(needed, strlen(identity));
    while (cairn_values_next(cursor, &list, &count, err) == CAIRN_ITEM)
        for (size_t i = 0; i < count; i++, row++) {
            assert_int_equal(list[i].key, u64(values, "context", row));
            assert_int_equal(list[i].metric, u64(values, "metric", row));
            assert_true(list[i].value == f64(values, "value", row));
        }
    assert_int_equal(cairn_table_row_count(values), row);
    assert_int_equal(cairn_table_row_count(all), 2 * row);
    assert_int_equal(u64(all, "thread", row), 2);
    assert_true(cairn_samples_count(db, 2, &sample_count, err));
    assert_int_equal(sample_count, 2);
    assert_true(cairn_samples_read(db, 2, 1, 1, &sample, err));
    assert_int_equal(sample.time_ns, 2001);
    assert_int_equal(u64(samples, "time_ns", 3), 2001);
    assert_false(cairn_samples_read(db, 2, 2, 1, &sample, err));
    assert_null(cairn_database_values(db, 3, err));
    cairn_values_free(cursor);
    cairn_table_free(values);
    cairn_table_free(all);
    cairn_table_free(samples);
    cairn_close(db);
}

static void a_walk_visits_what_the_table_lists(void **state)
{
    struct cn_error failed = {0};
    struct cairn_data *db;
    struct cairn_table *table;
    struct cairn_walk *walk;
    struct cairn_context context;
    enum cairn_step step;
    uint64_t row = 0;

    (void)state;
    assert_true(cn_sample_write("sample", &failed));
    db = cairn_open("sample", err);
    assert_non_null(db);
    table = cairn_database_contexts(db, NULL, err);
    walk = cairn_walk_new(db, err);
    while ((step = cairn_walk_next(walk, &context, err)) == CAIRN_ITEM) {
        assert_int_equal(context.id, u64(table, "id", row));
        assert_int_equal(context.depth, u64(table, "depth", row));
        assert_text(table, "name", row++, cairn_walk_label(walk, err));
    }
    assert_int_equal(step, CAIRN_END);
    assert_int_equal(cairn_table_row_count(table), row);
    cairn_walk_free(walk);
    cairn_table_free(table);
    cairn_close(db);
}

static void views_have_total_and_self(void **state)
{
    struct cairn_cost_options options = {.size = sizeof(options), .threads = "RANK 1"};
    struct cairn_data *db = build(3);
    struct cairn_table *tree = cairn_database_view(db, CAIRN_TREE, &options, err);
    struct cairn_table *callers = cairn_database_view(db, CAIRN_CALLERS, NULL, err);

    (void)state;
    assert_text(tree, "name", 1, "main");
    assert_true(fabs(f64(tree, "time_sec_inclusive", 1) - 4.5) < 1e-9);
    assert_true(fabs(f64(tree, "time_sec_exclusive", 1) - 1) < 1e-9);
    assert_text(callers, "name", 0, "main");
    assert_true(fabs(f64(callers, "time_sec_inclusive", 0) - 9) < 1e-9);
    options.threads = "RANK 7";
    assert_null(cairn_database_view(db, CAIRN_TREE, &options, err));
    assert_int_equal(cairn_error_kind(err), CAIRN_ERR_NOT_FOUND);
    cairn_table_free(tree);
    cairn_table_free(callers);
    cairn_close(db);
}

static void a_comparison_finds_the_change(void **state)
{
    struct cairn_data *a = build(3), *b = build(4);
    struct cairn_diff *diff = cairn_diff_new();
    struct cairn_table *changes, *rows;

    (void)state;
    assert_null(cairn_diff_changes(diff, err));
    assert_true(cairn_diff_add(diff, 0, a, NULL, NULL, err));
    assert_true(cairn_diff_add(diff, 1, b, NULL, NULL, err));
    changes = cairn_diff_changes(diff, err);
    rows = cairn_diff_rows(diff, CAIRN_TREE, err);
    assert_int_equal(cairn_table_row_count(changes), 1);
    assert_text(changes, "name", 0, "work\\xff");
    assert_true(fabs(f64(changes, "difference", 0) - 2) < 1e-9);
    assert_text(rows, "name", 1, "main");
    assert_true(fabs(f64(rows, "b", 1) - 11) < 1e-9);
    assert_false(cairn_diff_add(diff, 1, b, NULL, NULL, err));
    cairn_table_free(changes);
    cairn_table_free(rows);
    cairn_diff_free(diff);
    cairn_close(a);
    cairn_close(b);
}

static void a_built_recording_has_its_calls(void **state)
{
    struct cairn_call_options options = {.size = sizeof(options), .is_raw = true};
    struct cairn_recorder *r = cairn_recorder_new("example");
    uint32_t task = cairn_recorder_task(r, 7, 8, "worker", err);
    struct cairn_data *rec, *again, *db;
    struct cairn_table *calls, *report, *contexts, *states, *flows;

    (void)state;
    assert_true(cairn_recorder_call(r, task, "work", 2000, 500, err));
    assert_true(cairn_recorder_enter(r, task, "main", 1000, err));
    assert_true(cairn_recorder_exit(r, task, 4000, err));
    assert_false(cairn_recorder_exit(r, task + 1, 4000, err));
    rec = cairn_recorder_finish(r, err);
    assert_true(cairn_write(rec, "out.data", "uftrace", false, NULL, NULL, err));
    again = cairn_open("out.data", err);
    assert_int_equal(cairn_data_shape(again), CAIRN_RECORDING);
    calls = cairn_recording_calls(again, &options, err);
    report = cairn_recording_report(again, &options, err);
    assert_int_equal(cairn_table_row_count(calls), 2);
    assert_text(calls, "name", 0, "work");
    assert_int_equal(u64(calls, "total_ns", 0), 500);
    assert_int_equal(u64(calls, "self_ns", 1), 2500);
    assert_text(report, "name", 0, "main");
    assert_int_equal(u64(report, "calls", 1), 1);
    states = cairn_recording_states(again, &options, err);
    flows = cairn_recording_flows(again, err);
    assert_int_equal(cairn_table_row_count(states), 0); /* it has no scheduler events */
    assert_int_equal(cairn_table_column_count(states), 5);
    assert_int_equal(cairn_table_row_count(flows), 0);
    cairn_table_free(states);
    cairn_table_free(flows);
    db = cairn_analyze(rec, err);
    assert_non_null(db);
    contexts = cairn_database_contexts(db, NULL, err);
    assert_text(contexts, "name", cairn_table_row_count(contexts) - 1, "work");
    cairn_table_free(contexts);
    cairn_table_free(calls);
    cairn_table_free(report);
    cairn_close(db);
    cairn_close(again);
    cairn_close(rec);
}

static void samples_with_switches_have_states(void **state)
{
    static const char *const names[] = {"running", "blocked", "running", "pre-empted",
                                        "running"};
    struct cairn_table *states;
    struct cairn_data *data;
    size_t len;
    uint8_t *bytes = cn_test_perf_switches(&len);
    uint64_t sum_ns = 0;

    (void)state;
    cn_scratch_write("switches.data", bytes, len);
    data = cairn_open("switches.data", err);
    states = cairn_database_states(data, 1, err);
    assert_int_equal(cairn_table_row_count(states), sizeof(names) / sizeof(*names));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        assert_text(states, "state", i, names[i]);
        sum_ns += u64(states, "end_ns", i) - u64(states, "begin_ns", i);
    }
    assert_int_equal(sum_ns, 110);
    cairn_table_free(states);
    states = cairn_database_states(data, CAIRN_NONE, err);
    assert_int_equal(cairn_table_column_count(states), 4);
    cairn_table_free(states);
    cairn_close(data);
    free(bytes);
}

static void records_have_arguments(void **state)
{
    struct cairn_call_options options = {.size = sizeof(options), .has_values = true};
    struct cn_error failed = {0};
    struct cairn_data *rec;
    struct cairn_table *table;
    struct cairn_calls *calls;
    const struct cairn_call *list;
    size_t count, with_values = 0, exits = 0;

    (void)state;
    assert_true(cn_sample_recording_write("recording", &failed));
    rec = cairn_open("recording", err);
    assert_non_null(rec);
    for (uint32_t task = 0; task < cairn_recording_task_count(rec); task++) {
        calls = cairn_calls_new(rec, task, 0, 0, err);
        while (cairn_calls_next(calls, &list, &count, err) == CAIRN_ITEM)
            for (size_t i = 0; i < count; i++) {
                with_values += cairn_calls_values(calls, i)[0] != '\0';
                exits += list[i].kind == CAIRN_EXIT;
            }
        cairn_calls_free(calls);
    }
    assert_true(with_values > 0);
    table = cairn_recording_calls(rec, &options, err);
    assert_true(cairn_table_row_count(table) >= exits);
    assert_int_equal(cairn_table_column_count(table), 11);
    cairn_table_free(table);
    cairn_close(rec);
}

static void errors_have_causes(void **state)
{
    struct cairn_data *db = build(3);
    FILE *file;
    size_t count;

    (void)state;
    assert_int_equal(cairn_error_cause_count(err), 0);
    assert_null(cairn_open("/nothing/here", err));
    assert_int_equal(cairn_error_kind(err), CAIRN_ERR_NOT_FOUND);
    assert_null(cairn_open("/nothing/here", NULL));
    assert_null(cairn_recording_calls(db, NULL, err));
    assert_int_equal(cairn_error_kind(err), CAIRN_ERR_USAGE);
    assert_true(cairn_write(db, "out.db", "hpctoolkit-v4", false, NULL, NULL, err));
    file = fopen("out.db/meta.db", "r+");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), 100), 0);
    (void)fclose(file);
    assert_null(cairn_open("out.db", err));
    count = cairn_error_cause_count(err);
    assert_true(count >= 2);
    assert_string_equal(cairn_error_cause(err, 0), cairn_error_text(err));
    for (size_t i = 1; i < count; i++) {
        const char *outer = cairn_error_cause(err, i - 1);
        const char *inner = cairn_error_cause(err, i);

        assert_true(inner > outer);
        assert_memory_equal(inner - 2, ": ", 2);
    }
    assert_null(cairn_error_cause(err, count));
    cairn_close(db);
}

static void note_loss(void *arg, const char *what, uint64_t count)
{
    (void)count;
    (void)snprintf(arg, CN_ERROR_LEN, "%s", what);
}

/* Calls are written up to the damage, which is not lost. */
static void damage_is_a_loss(void **state)
{
    char loss[CN_ERROR_LEN] = "";
    struct cn_error failure = {0};
    struct cairn_data *data;
    uint32_t tid;
    char path[40];

    (void)state;
    assert_true(cn_sample_recording_write("run.data", &failure));
    data = cairn_open("run.data", err);
    {
        struct cairn_task task;

        assert_true(cairn_recording_task(data, 0, &task, err));
        tid = task.tid;
    }
    cairn_close(data);
    (void)snprintf(path, sizeof(path), "run.data/%u.dat", (unsigned)tid);
    assert_int_equal(truncate(path, 20), 0);
    data = cairn_open("run.data", err);
    assert_true(cairn_write(data, "copy.data", "uftrace", false, note_loss, loss, err));
    assert_non_null(strstr(loss, strchr(path, '/') + 1));
    cairn_close(data);
}

static void wrong_numbers_are_refused(void **state)
{
    struct cairn_builder *b = cairn_builder_new("example");
    uint32_t metric = cairn_builder_metric(b, "time (sec)", err);
    uint32_t thread = cairn_builder_thread(b, 0, 0, NULL, err);

    (void)state;
    assert_int_equal(cairn_builder_call(b, 0, 0, err), CAIRN_NONE);
    assert_int_equal(cairn_builder_call(b, 5, 0, err), CAIRN_NONE);
    assert_false(cairn_builder_value(b, 0, 1, metric, 1, err));
    assert_false(cairn_builder_value(b, thread, 0, metric, 1, err));
    assert_false(cairn_builder_value(b, thread, 1, metric, 1, err));
    assert_false(cairn_builder_sample(b, thread + 1, 0, 0, err));
    assert_int_equal(cairn_error_kind(err), CAIRN_ERR_USAGE);
    cairn_builder_free(b);
    b = cairn_builder_new("example");
    assert_null(cairn_builder_finish(b, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_built_database_is_the_same_after_writing, begin,
                                        end),
        cmocka_unit_test_setup_teardown(replaces_no_folder_of_other_data, begin, end),
        cmocka_unit_test_setup_teardown(threads_values_and_samples_agree, begin, end),
        cmocka_unit_test_setup_teardown(a_walk_visits_what_the_table_lists, begin, end),
        cmocka_unit_test_setup_teardown(views_have_total_and_self, begin, end),
        cmocka_unit_test_setup_teardown(a_comparison_finds_the_change, begin, end),
        cmocka_unit_test_setup_teardown(a_built_recording_has_its_calls, begin, end),
        cmocka_unit_test_setup_teardown(samples_with_switches_have_states, begin, end),
        cmocka_unit_test_setup_teardown(records_have_arguments, begin, end),
        cmocka_unit_test_setup_teardown(errors_have_causes, begin, end),
        cmocka_unit_test_setup_teardown(damage_is_a_loss, begin, end),
        cmocka_unit_test_setup_teardown(wrong_numbers_are_refused, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
