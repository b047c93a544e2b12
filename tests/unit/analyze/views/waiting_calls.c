#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/views/waiting_calls.h"
#include "formats/exchange/read/stacks/import.h"

static uint32_t call(struct cn_import *import, uint32_t parent, const char *module,
                     const char *name)
{
    return cn_import_call(
        import, parent,
        cn_import_frame(import, &(struct cn_import_frame){
                                    .name = name, .module = module, .file = ""}));
}

static void wait_in(struct cn_import *import, uint32_t context, double seconds)
{
    struct cn_error err;
    uint32_t metric, thread;

    assert_true(cn_import_metric(import, CN_BLOCKED_TIME_NAME, &metric, &err));
    assert_true(cn_import_thread(
        import, &(struct cn_import_identity){{"THREAD"}, {1}, ""}, &thread, &err));
    assert_true(cn_import_add(import, thread, context, metric, seconds, &err));
}

/* Two workers wait for a condition along different paths; the main thread is paged in, and a thread
 * of the kernel has no program. */
static struct cn_database *make_database(void)
{
    static const char program[] = "/usr/bin/work", libc[] = "/usr/lib/libc.so.6",
                      kernel[] = "[kernel.kallsyms]";
    struct cn_import *import = cn_import_new("t", "d");
    uint32_t start = call(import, 0, libc, "start_thread");
    uint32_t worker = call(import, start, program, "worker");
    uint32_t condition = call(import, worker, libc, "pthread_cond_wait");
    uint32_t futex =
        call(import, call(import, condition, libc, "futex"), kernel, "futex_wait");
    uint32_t main_function = call(import, 0, program, "main");
    struct cn_database *db;
    struct cn_error err;

    wait_in(import, call(import, futex, kernel, "schedule"), 4);
    wait_in(import, call(import, condition, kernel, "schedule"), 2);
    wait_in(
        import,
        call(import, call(import, main_function, kernel, "fault"), kernel, "schedule"),
        3);
    wait_in(import, call(import, 0, kernel, "schedule"), 1);
    assert_true(cn_import_finish(import, &db, &err));
    return db;
}

static void names_the_program_and_its_library_not_the_kernel(void **state)
{
    static const struct {
        const char *name, *caller;
        double seconds;
    } want[] = {
        {"pthread_cond_wait", "worker", 6}, {"main", NULL, 3}, {"schedule", NULL, 1}};
    size_t columns[CN_WAIT_KINDS] = {0, 1}; /* the second one does not exist */
    struct cn_database *db = make_database();
    static struct cn_costs costs;
    struct cn_waiting_calls calls;
    struct cn_view *view;
    struct cn_error err;

    (void)state;
    cn_costs_init(&costs, db);
    assert_true(cn_costs_add(
        &costs, &(struct cn_cost_request){.side = CN_SELF, .profile = CN_NONE}, &err));
    assert_true(cn_costs_ready(&costs, &err));
    assert_true(cn_view_callers_new(&view, &costs, NULL, &err));
    assert_true(cn_waiting_calls_find(&calls, view, columns, &err));
    assert_int_equal(calls.count, sizeof(want) / sizeof(*want));
    for (size_t i = 0; i < calls.count; i++) {
        const struct cn_waiting_call *found = &calls.list[i];

        assert_string_equal(found->name, want[i].name);
        assert_int_equal(found->caller != NULL, want[i].caller != NULL);
        if (found->caller)
            assert_string_equal(found->caller, want[i].caller);
        assert_float_equal(found->wait, want[i].seconds, 1e-9);
        assert_float_equal(found->row.values[0], want[i].seconds, 1e-9);
    }
    cn_waiting_calls_done(&calls);
    cn_view_free(view);
    cn_costs_done(&costs);
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_program_and_its_library_not_the_kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
