/* Tracing the kernel, in a folder that looks like tracefs; and the list of events. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/events/chosen.h"
#include "launcher/events/kernel_trace.h"
#include "launcher/events/tracefs.h"
#include "model/calls/recording.h"
#include "support/scratch.h"

enum { PAGE_LEN = 128 };

static const char header_page[] =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: char data;\toffset:16;\tsize:112;\tsigned:0;\n";

static void write_text(const char *name, const char *text)
{
    char path[200];

    (void)snprintf(path, sizeof(path), "tracefs/%s", name);
    cn_scratch_write(path, text, strlen(text));
}

/* The files that are read or written, as in a kernel that is not traced. */
static void make_tracefs(const char *tracers)
{
    static const char *const folders[] = {
        "rec",
        "tracefs",
        "tracefs/events",
        "tracefs/events/ftrace",
        "tracefs/events/ftrace/funcgraph_entry",
        "tracefs/events/ftrace/funcgraph_exit",
        "tracefs/events/sched",
        "tracefs/events/sched/sched_switch",
        "tracefs/per_cpu",
        "tracefs/per_cpu/cpu0",
        "tracefs/options",
    };
    static const char *const files[][2] = {
        {"trace", "# tracer: nop\n"},
        {"tracing_on", "1\n"},
        {"trace_clock", "[local] global mono\n"},
        {"current_tracer", "nop\n"},
        {"set_graph_function", "#### all functions enabled ####\n"},
        {"set_graph_notrace", "#### no functions disabled ####\n"},
        {"max_graph_depth", "7\n"},
        {"set_ftrace_pid", "no pid\n"},
        {"set_event_pid", ""},
        {"options/function-fork", "0\n"},
        {"available_filter_functions", "do_fault\nvfs_read\nvfs_write [fs]\nvfs_fsync\n"},
        {"available_events", "sched:sched_switch\nsyscalls:sys_enter_read\n"},
        {"events/header_page", header_page},
        {"events/header_event", "type_len: 5 bits\n"},
        {"events/ftrace/funcgraph_entry/format", "name: funcgraph_entry\nID: 11\n"},
        {"events/ftrace/funcgraph_exit/format", "name: funcgraph_exit\nID: 10\n"},
        {"events/sched/sched_switch/format", "name: sched_switch\nID: 12\n"},
        {"events/sched/sched_switch/enable", "0\n"},
    };

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        assert_int_equal(mkdir(folders[i], 0700), 0);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        write_text(files[i][0], files[i][1]);
    write_text("available_tracers", tracers);
    cn_scratch_write("tracefs/per_cpu/cpu0/trace_pipe_raw", "0123456789", 10);
}

static void assert_content(const char *path, const char *expected)
{
    char text[1000] = "";
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    (void)fclose(file);
    assert_string_equal(text, expected);
}

static int begin(void **state)
{
    int result = cn_scratch_setup(state);

    make_tracefs("blk function_graph nop\n");
    return result;
}

static void traces_a_process_and_restores_the_settings(void **state)
{
    static const char *const only[] = {"vfs_.*e"}, *const not [] = {"do_fault"};
    static const char *const tracepoints[] = {"sched:sched_switch"};
    struct cn_kernel_choice choice = {
        .depth = 2,
        .only = only,
        .only_count = 1,
        .not = not,
        .not_count = 1,
        .tracepoints = tracepoints,
        .tracepoint_count = 1,
    };
    struct cn_kernel_trace trace;
    struct cn_error err = {0};
    struct stat status;

    (void)state;
    assert_true(cn_kernel_trace_check(&choice, "tracefs", &err));
    assert_true(cn_kernel_trace_open(&trace, "rec", &choice, "tracefs", &err));
    assert_content("tracefs/tracing_on", "0");
    assert_content("tracefs/trace_clock", "mono");
    assert_content("tracefs/current_tracer", "function_graph");
    assert_content("tracefs/max_graph_depth", "2");
    assert_content("tracefs/set_graph_function", "vfs_read\nvfs_write\n");
    assert_content("tracefs/set_graph_notrace", "do_fault\n");
    assert_content("tracefs/events/sched/sched_switch/enable", "1");
    assert_true(cn_kernel_trace_start(&trace, 4711, &err));
    assert_content("tracefs/set_ftrace_pid", "4711");
    assert_content("tracefs/set_event_pid", "4711");
    assert_content("tracefs/options/function-fork", "1");
    assert_content("tracefs/tracing_on", "1");
    assert_true(cn_kernel_trace_drain(&trace, &err));
    assert_true(cn_kernel_trace_finish(&trace, &err));
    cn_kernel_trace_close(&trace);
    assert_content("tracefs/tracing_on", "1");
    assert_content("tracefs/trace_clock", "local");
    assert_content("tracefs/current_tracer", "nop");
    assert_content("tracefs/max_graph_depth", "7");
    assert_content("tracefs/set_graph_function", "");
    assert_content("tracefs/set_ftrace_pid", "");
    assert_content("tracefs/events/sched/sched_switch/enable", "0");
    assert_content("tracefs/options/function-fork", "0");
    assert_int_equal(stat("rec/kernel-cpu0.dat", &status), 0);
    assert_int_equal(status.st_size, PAGE_LEN);
    assert_int_equal(stat("rec/kernel_header", &status), 0);
    assert_int_equal(stat("rec/kallsyms", &status), 0);
}

static void assert_refused(const struct cn_kernel_choice *choice, const char *message)
{
    struct cn_kernel_trace trace;
    struct cn_error err = {0};

    assert_false(cn_kernel_trace_check(choice, "tracefs", &err) &&
                 cn_kernel_trace_open(&trace, "rec", choice, "tracefs", &err));
    assert_non_null(strstr(err.text, message));
}

static void says_what_is_missing(void **state)
{
    static const char *const only[] = {"nosuch"};
    struct cn_kernel_choice choice = {.depth = 1};

    (void)state;
    choice.only = only;
    choice.only_count = 1;
    assert_refused(&choice, "no function of the kernel matches 'nosuch'");
    assert_content("tracefs/trace_clock", "local");
    choice.only_count = 0;
    write_text("current_tracer", "function\n");
    assert_refused(&choice, "echo nop > tracefs/current_tracer");
    write_text("events/header_page", "nonsense");
    assert_refused(&choice, "header_page cannot be parsed");
    write_text("available_tracers", "blk function nop\n");
    assert_refused(&choice, "has no function_graph");
    assert_int_equal(unlink("tracefs/trace"), 0);
    assert_refused(&choice, "no permission to read tracefs; run as root");
}

static void chooses_events_by_name(void **state)
{
    static const char *const patterns[] = {"software:.*-faults$", "sched:.*",
                                           "linux:schedule"};
    static const char *const unknown[] = {"no:such"};
    struct cn_chosen_events events = {0};
    struct cn_error err = {0};
    struct cn_text text = {0};

    (void)state;
    assert_true(cn_chosen_events_find(&events, "/proc/self/exe", patterns, 3, false,
                                      "tracefs", &err));
    assert_true(events.has_schedule);
    assert_int_equal(events.count, 6);
    assert_string_equal(events.list[0].name, "software:page-faults");
    assert_int_equal(events.list[0].id, CN_EVENT_USER);
    assert_int_equal(events.list[5].kind, CN_EVENT_KIND_TRACEPOINT);
    cn_chosen_events_print_ids(&events, &text);
    assert_non_null(
        strstr(cn_text_str(&text), "EVENT: 1000004 software:emulation-faults"));
    assert_null(strstr(cn_text_str(&text), "sched"));
    cn_chosen_events_done(&events);
    assert_false(cn_chosen_events_find(&events, "/proc/self/exe", unknown, 1, false,
                                       "tracefs", &err));
    assert_string_equal(err.text, "--event: no event matches 'no:such'; list events with "
                                  "--list-event PROGRAM");
    cn_text_clear(&text);
    cn_chosen_events_print(NULL, "tracefs", &text);
    assert_non_null(strstr(cn_text_str(&text), "[tracepoint] syscalls:sys_enter_read\n"));
    cn_text_clear(&text);
    cn_chosen_events_print(NULL, "nowhere", &text);
    assert_non_null(strstr(cn_text_str(&text), "[tracepoint] none: "));
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(traces_a_process_and_restores_the_settings, begin,
                                        cn_scratch_teardown),
        cmocka_unit_test_setup_teardown(says_what_is_missing, begin, cn_scratch_teardown),
        cmocka_unit_test_setup_teardown(chooses_events_by_name, begin,
                                        cn_scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
