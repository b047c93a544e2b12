/* Memory runs out in a program that uses the library: the program survives every allocation that
 * fails, gets an error that says so, and the library works afterwards.
 *
 * The allocations of the library go through the two functions that this program wraps (see
 * tests/CMakeLists.txt). What a call had allocated until it failed is lost, and so are its files:
 * each batch of trials is a process of its own. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/outdir.h"
#include "cairn.h"
#include "model/traces/trace.h"
#include "store/write/writer.h"
#include "support/effort.h"
#include "support/exchange_inputs.h"
#include "support/made_traces.h"
#include "support/perf_inputs.h"
#include "support/sample.h"
#include "support/sample_recording.h"
#include "support/scratch.h"
#include "support/tiny_meas.h"

enum {
    BATCH = 64,       /* trials of a process */
    PATIENCE_S = 300, /* of a process, on a busy machine */
    FEW = 16,         /* allocations that all fail once; after them, one of so many */
    SEVERAL = 5,      /* workers */
    TRACES = 8,
    THREADS = 3,
};

void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *array, size_t count, size_t size);
unsigned __wrap_cn_pool_default_workers(void);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *array, size_t count, size_t size);
const char *__asan_default_options(void);

/* What is lost is not a mistake here. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0:allocator_may_return_null=1";
}

static atomic_bool is_armed;
static atomic_long left; /* allocations until one fails */
static bool stays_out;   /* all later ones fail as well */
static unsigned workers = 1;

static bool fails(void)
{
    long before;

    if (!is_armed)
        return false;
    before = atomic_fetch_sub(&left, 1);
    return before == 0 || (before < 0 && stays_out);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *array, size_t count, size_t size)
{
    return fails() ? NULL : __real_reallocarray(array, count, size);
}

unsigned __wrap_cn_pool_default_workers(void)
{
    return workers;
}

/* What a program does: false at the first failure, and everything is released. */
typedef bool (*scenario_fn)(struct cairn_error *err);

static bool drop(struct cairn_table *table)
{
    cairn_table_free(table);
    return table != NULL;
}

static bool walk(struct cairn_data *data, struct cairn_error *err)
{
    struct cairn_walk *walk = cairn_walk_new(data, err);
    struct cairn_context context;
    enum cairn_step step = CAIRN_FAIL;

    while (walk && (step = cairn_walk_next(walk, &context, err)) == CAIRN_ITEM)
        if (!cairn_walk_label(walk, err)) {
            step = CAIRN_FAIL;
            break;
        }
    cairn_walk_free(walk);
    return step == CAIRN_END;
}

static bool read_values(struct cairn_data *data, struct cairn_error *err)
{
    struct cairn_values *values = cairn_values_of_thread(data, 1, 0, UINT32_MAX, err);
    const struct cairn_value *batch;
    enum cairn_step step = CAIRN_FAIL;
    uint64_t sample_count;
    size_t count;

    while (values &&
           (step = cairn_values_next(values, &batch, &count, err)) == CAIRN_ITEM)
        continue;
    cairn_values_free(values);
    return step == CAIRN_END && cairn_samples_count(data, 1, &sample_count, err);
}

static bool read_database(const char *path, struct cairn_error *err)
{
    struct cairn_data *data = cairn_open(path, err);
    struct cairn_thread thread;
    struct cairn_function function;
    char identity[80];
    size_t needed;
    bool ok =
        data && cairn_database_thread(data, 0, &thread, err) &&
        cairn_database_identity(data, 1, identity, sizeof(identity), &needed, err) &&
        cairn_database_function(data, 0, &function, err) && walk(data, err) &&
        read_values(data, err) && drop(cairn_database_contexts(data, NULL, err)) &&
        drop(cairn_database_values(data, CAIRN_NONE, err)) &&
        drop(cairn_database_samples(data, CAIRN_NONE, err)) &&
        drop(cairn_database_states(data, CAIRN_NONE, err));

    for (int i = CAIRN_TREE; ok && i <= CAIRN_CALLERS; i++)
        ok = drop(cairn_database_view(data, (enum cairn_view)i, NULL, err));
    cairn_close(data);
    return ok;
}

static bool reads_a_database(struct cairn_error *err)
{
    return read_database("run.db", err);
}

static bool reads_other_databases(struct cairn_error *err)
{
    return read_database("run.xml", err) && read_database("run.proto", err) &&
           read_database("run.folded", err) && read_database("run.pprof", err) &&
           read_database("run.perf.data", err);
}

static bool reads_measurements(struct cairn_error *err)
{
    return read_database("run.m", err);
}

static bool read_calls(struct cairn_data *data, struct cairn_error *err)
{
    struct cairn_calls *calls = cairn_calls_new(data, 0, 0, 0, err);
    const struct cairn_call *batch;
    enum cairn_step step = CAIRN_FAIL;
    bool ok = calls != NULL;
    size_t count;

    while (ok && (step = cairn_calls_next(calls, &batch, &count, err)) == CAIRN_ITEM)
        for (size_t i = 0; ok && i < count; i++)
            ok = cairn_calls_values(calls, i) != NULL;
    cairn_calls_free(calls);
    return ok && step == CAIRN_END;
}

static bool read_recording(const char *path, struct cairn_error *err)
{
    struct cairn_call_options options = {.size = sizeof(options), .has_values = true};
    struct cairn_data *data = cairn_open(path, err);
    struct cairn_task task;
    struct cairn_function function;
    bool ok = data && cairn_recording_task(data, 0, &task, err) &&
              cairn_recording_function(data, 0, &function, err) &&
              read_calls(data, err) && drop(cairn_recording_calls(data, &options, err)) &&
              drop(cairn_recording_report(data, NULL, err)) &&
              drop(cairn_recording_states(data, NULL, err)) &&
              drop(cairn_recording_flows(data, err));

    cairn_close(data);
    return ok;
}

static bool reads_a_recording(struct cairn_error *err)
{
    return read_recording("run.data", err);
}

static bool reads_other_recordings(struct cairn_error *err)
{
    return read_recording("packed.data", err) && read_recording("run.json", err);
}

static bool searches_a_store(struct cairn_error *err)
{
    struct cairn_search_options spans = {.size = sizeof(spans), .has_spans = true};
    struct cairn_data *data = cairn_open("store", err), *calls = NULL;
    uint64_t count;
    bool ok = data && drop(cairn_store_search(data, "no item", NULL, err)) &&
              drop(cairn_store_search(data, "status > 1", &spans, err)) &&
              drop(cairn_store_groups(data, "", "status", false, err)) &&
              cairn_store_count(data, "errors", &count, err);

    if (ok)
        calls = cairn_store_calls(data, "errors", err);
    ok = ok && calls && drop(cairn_recording_report(calls, NULL, err));
    cairn_close(calls);
    cairn_close(data);
    return ok;
}

static bool analyses(struct cairn_error *err)
{
    struct cairn_data *data = cairn_open("run.data", err), *db = NULL;
    bool ok;

    if (data)
        db = cairn_analyze(data, err);
    ok = db && drop(cairn_database_view(db, CAIRN_TREE, NULL, err));
    cairn_close(db);
    cairn_close(data);
    return ok;
}

static bool compares(struct cairn_error *err)
{
    struct cairn_data *data = cairn_open("run.db", err);
    struct cairn_diff *diff = data ? cairn_diff_new() : NULL;
    bool ok = diff && cairn_diff_add(diff, 0, data, NULL, NULL, err) &&
              cairn_diff_add(diff, 1, data, NULL, "RANK 0", err) &&
              drop(cairn_diff_changes(diff, err)) &&
              drop(cairn_diff_rows(diff, CAIRN_FLAT, err));

    cairn_diff_free(diff);
    cairn_close(data);
    return ok;
}

/* A failure leaves nothing behind. */
static bool write_to(struct cairn_data *data, const char *format, struct cairn_error *err)
{
    bool ok = data && cairn_write(data, "out", format, false, NULL, NULL, err);

    if (ok != cn_scratch_exists("out"))
        _exit(3);
    cn_outdir_remove("out");
    return ok;
}

static bool writes_a_database(struct cairn_error *err)
{
    static const char *const formats[] = {
        "hpctoolkit-v4", "hpctoolkit-proto", "hpctoolkit-xml", "pprof", "folded",
        "csv",           "flamegraph-svg",   "sqlite"};
    struct cairn_data *data = cairn_open("run.db", err);
    bool ok = data != NULL;

    for (size_t i = 0; ok && i < sizeof(formats) / sizeof(*formats); i++)
        ok = write_to(data, formats[i], err);
    cairn_close(data);
    return ok;
}

static bool writes_a_recording(struct cairn_error *err)
{
    static const char *const formats[] = {
        "uftrace",    "uftrace-packed", "chrome",    "perfetto",
        "speedscope", "firefox",        "callgrind", "dot",
        "otlp",       "zipkin",         "ndjson"};
    struct cairn_data *data = cairn_open("run.data", err);
    bool ok = data != NULL;

    for (size_t i = 0; ok && i < sizeof(formats) / sizeof(*formats); i++)
        ok = !cairn_format_is_writable(formats[i]) || write_to(data, formats[i], err);
    cairn_close(data);
    return ok;
}

static bool builds(struct cairn_error *err)
{
    struct cairn_builder *builder = cairn_builder_new("built");
    struct cairn_recorder *recorder = cairn_recorder_new("recorded");
    struct cairn_data *data = NULL;
    bool ok = builder && recorder;

    ok = ok && cairn_builder_metric(builder, "time (sec)", err) == 0 &&
         cairn_builder_thread(builder, 0, 0, "main", err) == 1 &&
         cairn_builder_function(builder, "main", "a.out", "main.c", 1, err) == 0 &&
         cairn_builder_call(builder, 0, 0, err) != CAIRN_NONE &&
         cairn_builder_line(builder, 1, "main.c", 2, err) != CAIRN_NONE &&
         cairn_builder_value(builder, 1, 2, 0, 1.5, err) &&
         cairn_builder_sample(builder, 1, 5, 1, err);
    if (ok)
        data = cairn_builder_finish(builder, err);
    else
        cairn_builder_free(builder);
    ok = ok && data && drop(cairn_database_view(data, CAIRN_FLAT, NULL, err));
    cairn_close(data);
    data = NULL;
    ok = ok && cairn_recorder_task(recorder, 1, 1, "main", err) == 0 &&
         cairn_recorder_call(recorder, 0, "work", 10, 5, err) &&
         cairn_recorder_enter(recorder, 0, "main", 1, err) &&
         cairn_recorder_exit(recorder, 0, 100, err);
    if (ok)
        data = cairn_recorder_finish(recorder, err);
    else
        cairn_recorder_free(recorder);
    ok = ok && data && drop(cairn_recording_calls(data, NULL, err));
    cairn_close(data);
    return ok;
}

static size_t entry_count; /* of the folder with the data */

/* How a trial ended. */
enum { SURVIVED, NEVER_FAILED = 40, WRONG };

static void complain(const char *what, long number, struct cairn_error *err)
{
    (void)fprintf(stderr, "allocation %ld%s, %u threads: %s: %s\n", number,
                  stays_out ? " and later" : "", workers, what, cairn_error_text(err));
}

static int try_one(scenario_fn scenario, long number)
{
    struct cairn_error *err = cairn_error_new(), *after = cairn_error_new();
    int result = SURVIVED;
    bool ok;

    left = number;
    is_armed = true;
    ok = scenario(err);
    is_armed = false;
    if (left >= 0)
        result = ok ? NEVER_FAILED : WRONG;
    /* Some functions have no error. */
    else if (ok || (cairn_error_kind(err) != CAIRN_ERR_NO_MEMORY &&
                    cairn_error_kind(err) != CAIRN_ERR_NONE))
        result = WRONG;
    if (result == WRONG)
        complain(ok ? "it succeeded" : "another error", number, err);
    if (result == SURVIVED && number % BATCH == 0 && !scenario(after)) {
        complain("does not work afterwards", number, after);
        result = WRONG;
    }
    cairn_error_free(err);
    cairn_error_free(after);
    return result;
}

/* The number after which the next allocation fails. */
static long step_of(long number)
{
    return number < FEW || cn_test_is_thorough() ? 1 : 1 + number / FEW;
}

/* Trials from `number` on, in this process; the status of the last, and the next number. */
static int try_some(scenario_fn scenario, long *number)
{
    int result = SURVIVED;

    for (int i = 0; i < BATCH && result == SURVIVED; i++) {
        result = try_one(scenario, *number);
        *number += step_of(*number);
    }
    return result;
}

static void try_all(const char *name, scenario_fn scenario)
{
    long number = 0;
    int status = SURVIVED;

    while (status == SURVIVED) {
        pid_t child = fork();

        if (child == 0) {
            (void)alarm(PATIENCE_S);
            _exit(try_some(scenario, &number));
        }
        for (int i = 0; i < BATCH; i++)
            number += step_of(number);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status))
            fail_msg("%s, about allocation %ld, %u threads: signal %d", name, number,
                     workers, WTERMSIG(status));
        status = WEXITSTATUS(status);
        if (status != SURVIVED && status != NEVER_FAILED)
            fail_msg("%s, about allocation %ld, %u threads: status %d", name, number,
                     workers, status);
    }
    /* Neither under its name nor under a temporary one. */
    assert_int_equal(cn_scratch_count("."), entry_count);
    assert_int_equal(cn_scratch_count("tmp"), 0);
}

/* With one thread and with several, where one allocation fails and where all later ones do. */
static void check(const char *name, scenario_fn scenario)
{
    struct cairn_error *err = cairn_error_new();

    if (!scenario(err))
        fail_msg("%s: %s", name, cairn_error_text(err));
    cairn_error_free(err);
    for (int i = 0; i < 4; i++) {
        workers = i % 2 == 0 ? 1 : SEVERAL;
        stays_out = i >= 2;
        try_all(name, scenario);
    }
}

static void write_store(void)
{
    struct cn_store_writer *writer = NULL;
    struct cn_store_added added = {0};
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_words *words;

    assert_true(cn_store_init("store", NULL, &err) &&
                cn_store_writer_open(&writer, "store", NULL, &err));
    for (uint32_t i = 0; i < TRACES; i++) {
        assert_true(cn_store_writer_begin(writer, &words, &err));
        cn_made_trace(&trace, words, i);
        assert_true(cn_store_writer_add(writer, &trace, &added, &err));
        if (i == TRACES / 2)
            assert_true(cn_store_writer_rotate(writer, &err));
    }
    assert_true(cn_store_writer_close(writer, &err));
    cn_trace_done(&trace);
}

static void convert(const char *from, const char *to, const char *format)
{
    struct cairn_error *err = cairn_error_new();
    struct cairn_data *data = cairn_open(from, err);

    if (!data || !cairn_write(data, to, format, false, NULL, NULL, err))
        fail_msg("%s", cairn_error_text(err));
    cairn_close(data);
    cairn_error_free(err);
}

static int write_data(void **state)
{
    struct cn_error err = {0};
    uint8_t *bytes;
    size_t len;

    if (cn_scratch_setup(state) != 0)
        return -1;
    assert_int_equal(mkdir("tmp", 0700), 0);
    assert_int_equal(setenv("TMPDIR", "tmp", 1), 0);
    assert_true(cn_sample_write("run.db", &err));
    assert_true(cn_sample_recording_write("run.data", &err));
    convert("run.db", "run.xml", "hpctoolkit-xml");
    convert("run.db", "run.proto", "hpctoolkit-proto");
    convert("run.data", "packed.data", "uftrace-packed");
    cn_scratch_write("run.folded", cn_test_folded, strlen(cn_test_folded));
    cn_scratch_write("run.json", cn_test_chrome, strlen(cn_test_chrome));
    bytes = cn_test_pprof(&len);
    cn_scratch_write("run.pprof", bytes, len);
    free(bytes);
    bytes = cn_test_perf(CN_TEST_PERF_FILE, &len);
    cn_scratch_write("run.perf.data", bytes, len);
    free(bytes);
    for (uint32_t i = 0; i < THREADS; i++)
        cn_tiny_meas_write(&(struct cn_tiny_meas_options){.thread = i}, "run.m");
    write_store();
    entry_count = cn_scratch_count(".");
    return 0;
}

#define SCENARIO(scenario)                    \
    static void test_##scenario(void **state) \
    {                                         \
        (void)state;                          \
        check(#scenario, scenario);           \
    }
SCENARIO(reads_a_database)
SCENARIO(reads_other_databases)
SCENARIO(reads_measurements)
SCENARIO(reads_a_recording)
SCENARIO(reads_other_recordings)
SCENARIO(searches_a_store)
SCENARIO(analyses)
SCENARIO(compares)
SCENARIO(writes_a_database)
SCENARIO(writes_a_recording)
SCENARIO(builds)

/* Data outlives a call that failed, unless what others share was half changed. */
static void data_stays_usable(void **state)
{
    struct cairn_error *err = cairn_error_new();
    struct cairn_data *data = cairn_open("run.db", err);
    struct cairn_builder *builder = cairn_builder_new("b");

    (void)state;
    assert_non_null(data);
    left = 20;
    is_armed = true;
    assert_null(cairn_database_contexts(data, NULL, err));
    assert_int_equal(cairn_error_kind(err), CAIRN_ERR_NO_MEMORY);
    assert_string_equal(cairn_error_text(err), "out of memory");
    is_armed = false;
    assert_true(drop(cairn_database_contexts(data, NULL, err)));
    cairn_close(data);

    /* What a call was changing can only be released. */
    left = 0;
    is_armed = true;
    assert_int_equal(cairn_builder_metric(builder, "m", err), CAIRN_NONE);
    is_armed = false;
    assert_int_equal(cairn_builder_metric(builder, "m", NULL), CAIRN_NONE);
    assert_int_equal(cairn_builder_metric(builder, "m", err), CAIRN_NONE);
    assert_int_equal(cairn_error_kind(err), CAIRN_ERR_NO_MEMORY);
    cairn_builder_free(builder);
    cairn_error_free(err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_stays_usable),
        cmocka_unit_test(test_reads_a_database),
        cmocka_unit_test(test_reads_other_databases),
        cmocka_unit_test(test_reads_measurements),
        cmocka_unit_test(test_reads_a_recording),
        cmocka_unit_test(test_reads_other_recordings),
        cmocka_unit_test(test_searches_a_store),
        cmocka_unit_test(test_analyses),
        cmocka_unit_test(test_compares),
        cmocka_unit_test(test_writes_a_database),
        cmocka_unit_test(test_writes_a_recording),
        cmocka_unit_test(test_builds),
    };

    return cmocka_run_group_tests(tests, write_data, cn_scratch_teardown);
}
