/* cairn record and cairn live: run a program and record its calls. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/files/outdir.h"
#include "base/path.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/record/options.h"
#include "cli/record/sample.h"
#include "cli/record/syscalls.h"
#include "cli/recording/options.h"
#include "cli/recording/script_calls.h"
#include "cli/replay/print.h"
#include "cli/report/fields.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "formats/memory/format.h"
#include "launcher/code/plan.h"
#include "launcher/elf/command.h"
#include "launcher/files/recording_dir.h"
#include "launcher/launch.h"
#include "record/shared.h"
#include "remote/format.h"
#include "remote/sender.h"

/* Warn if recording stopped before the program ended. */
static void tell_stop(const struct cn_args *args, const struct cn_launch_result *result)
{
    static const char *const reasons[] = {
        [CN_REC_STOP_DISK] = ": the disk is full or cannot be written",
        [CN_REC_STOP_SIZE] = " at --size-limit",
        [CN_REC_STOP_DURATION] = " after --duration",
        [CN_REC_STOP_FINISH] = " by the trigger 'finish'",
    };

    if (result->failure.text[0])
        cn_cli_warn(args, "recording stopped: %s; the program continued",
                    result->failure.text);
    else if (result->stop != CN_REC_RUNNING)
        cn_cli_warn(args, "recording stopped%s; the program continued",
                    reasons[result->stop]);
    if (result->lost_event_count > 0)
        cn_cli_warn(args,
                    "%" PRIu64 " event%s lost: they came faster than they could be "
                    "written",
                    result->lost_event_count,
                    cn_plural(result->lost_event_count, "", "s"));
    if (result->has_dropped_events)
        cn_cli_warn(args, "context switches not recorded: more than 1,024 threads ran at "
                          "the same time");
    if (result->missed_count > 0)
        cn_cli_warn(
            args, "%" PRIu64 " thread%s not recorded: no memory for their buffers%s",
            result->missed_count, cn_plural(result->missed_count, "", "s"),
            result->is_full ? "; choose a smaller --buffer"
                            : " after 5 s: the machine was too busy to give them any");
}

/* Warn if processes restricted themselves, and were recorded only up to there. */
static void tell_sandboxed(const struct cn_args *args,
                           const struct cn_launch_result *result)
{
    if (result->sandboxed_count > 0)
        cn_cli_warn(args,
                    "%u process%s restricted system calls or the clock (seccomp, "
                    "PR_SET_TSC); later calls not recorded",
                    result->sandboxed_count,
                    cn_plural(result->sandboxed_count, "", "es"));
}

/* Warn if the program started others that cannot load the recorder. */
static uint64_t tell_unloaded(const struct cn_args *args,
                              const struct cn_launch_result *result)
{
    static const char *const reasons[] = {
        [CN_REC_EXEC_STATIC] = "linked statically",
        [CN_REC_EXEC_SETUID] = "setuid or setgid",
        [CN_REC_EXEC_FOREIGN] = "built for another processor",
        [CN_REC_EXEC_LIBC] = "linked with another C library than glibc",
    };
    uint64_t all = 0;

    for (int i = CN_REC_EXEC_STATIC; i < CN_REC_EXEC_KINDS; i++) {
        if (result->unloaded[i] > 0)
            cn_cli_warn(args, "%u child%s not recorded: %s", result->unloaded[i],
                        cn_plural(result->unloaded[i], "", "ren"), reasons[i]);
        all += result->unloaded[i];
    }
    return all;
}

/* Warn if calls are missing whose addresses the program also uses (record/code/got.h). */
static void tell_bypassed(const struct cn_args *args,
                          const struct cn_launch_result *result)
{
    if (result->bypassed_count > 0)
        cn_cli_warn(args,
                    "calls of %u library function%s (%s) may be missing: the program was "
                    "built with -fno-plt and uses the address; rebuild it with -fplt",
                    result->bypassed_count, cn_plural(result->bypassed_count, "", "s"),
                    result->bypassed);
}

/* Say how many functions without hooks were patched, and why others were not. */
static void tell_patched(const struct cn_args *args,
                         const struct cn_launch_result *result)
{
    const uint64_t *left = result->patch_counts.left;
    struct cn_text text = {0};
    uint64_t all = result->unpatched_count;

    for (int i = CN_CODE_PATCHED + 1; i < CN_CODE_LEFT_COUNT; i++)
        all += left[i];
    if (left[CN_CODE_PATCHED] + all == 0)
        return;
    cn_text_str_add(&text, "patched ");
    cn_count_print_of(&text, left[CN_CODE_PATCHED], "function");
    if (all > 0)
        cn_text_printf(&text, "; left %" PRIu64, all);
    for (int i = CN_CODE_PATCHED + 1, count = 0; i < CN_CODE_LEFT_COUNT; i++) {
        if (left[i] > 0)
            cn_text_printf(&text, "%s %" PRIu64 " %s", count++ > 0 ? "," : ":", left[i],
                           cn_code_left_text((enum cn_code_left)i));
    }
    if (result->unpatched_count > 0)
        cn_text_printf(&text, "%s %u changed, in use or out of reach",
                       all > result->unpatched_count ? "," : ":",
                       result->unpatched_count);
    cn_cli_say(args, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

static void tell_pattern(void *arg, const char *option, const char *text,
                         const char *what)
{
    cn_cli_warn(arg, "--%s '%s': %s", option, text, what);
}

/* Warn of patterns that matched nothing. */
static void tell_patterns(const struct cn_args *args,
                          const struct cn_launch_options *launch)
{
    void *arg = (void *)(uintptr_t)args;

    cn_rules_report(&launch->rules, tell_pattern, arg);
    cn_arguments_report(launch->arguments, tell_pattern, arg);
}

/* Say why the recording is empty. */
static void tell_empty(const struct cn_args *args, const struct cn_launch_result *result,
                       const struct cn_launch_options *launch)
{
    struct cn_text list = {0};

    for (size_t i = 0; i < args->given_count; i++)
        if (args->given[i]->is_filter && (i == 0 || args->given[i] != args->given[i - 1]))
            cn_text_printf(&list, "%s--%s", list.len > 0 ? ", " : "",
                           args->given[i]->name);
    if (result->kind == CN_REC_EXEC_LIBC)
        cn_cli_say(
            args,
            "%s ran, but was not recorded: its loader is not that of glibc, which the "
            "recorder needs; sample it: cairn sample -- %s",
            launch->words[0], launch->words[0]);
    else if (result->kind == CN_REC_EXEC_SETUID)
        cn_cli_say(args,
                   "%s ran, but was not recorded: it is setuid or setgid, so its loader "
                   "ignores the recorder; record a copy of it, or record it as its owner",
                   launch->words[0]);
    else if (list.len > 0)
        cn_cli_say(args, "nothing recorded: no call passed %s", cn_text_str(&list));
    else if (launch->is_off)
        cn_cli_say(args, "nothing recorded: no trigger switched recording on");
    else if (result->is_python)
        cn_cli_say(args,
                   "nothing recorded: functions of Python need Python 3.9 or later; "
                   "--no-python records library calls of the interpreter");
    else
        cn_cli_say(args, "nothing recorded: build the program with -pg, "
                         "-finstrument-functions or -fpatchable-function-entry=5");
    cn_text_done(&list);
}

/* Functions of most interpreters are not recorded: say what shows them. */
static bool tell_interpreter(const struct cn_args *args,
                             const struct cn_launch_options *launch)
{
    const struct cn_command_language *interpreter = cn_command_language_of(launch->words);
    struct cn_text command = {0};

    if (!interpreter || interpreter->is_recorded)
        return false;
    for (size_t i = 0; launch->words[i]; i++)
        cn_text_word(&command, launch->words[i]);
    cn_cli_say(args,
               "calls of %s functions are not recorded, only those of its run-time to "
               "library functions; sample it: cairn sample -- %s",
               interpreter->language, cn_text_str(&command));
    cn_text_done(&command);
    return true;
}

/* Say of which programs memory is missing. */
static void tell_memory(const struct cn_args *args, const struct cn_launch_result *result)
{
    if (result->own_malloc_count > 0)
        cn_cli_say(
            args, "%u program%s malloc() of %s own: what %s not recorded",
            result->own_malloc_count,
            cn_plural(result->own_malloc_count, " contains a", "s contain a"),
            cn_plural(result->own_malloc_count, "its", "their"),
            cn_plural(result->own_malloc_count, "it allocates is", "they allocate is"));
    if (result->lost_memory_count > 0)
        cn_cli_warn(args, "%" PRIu64 " record%s of memory lost",
                    result->lost_memory_count,
                    cn_plural(result->lost_memory_count, "", "s"));
}

/* Say what leaked, and of how many programs it is unknown. */
static void tell_leaks(const struct cn_args *args, const struct cn_launch_leaks *leaks)
{
    struct cn_text text = {0};

    if (leaks->checked_count > 0) {
        cn_count_print_of(&text, leaks->leaked_count, "allocation");
        cn_text_str_add(&text, " leaked, ");
        cn_size_print(&text, (uint64_t)leaks->leaked_bytes);
        cn_text_printf(&text, " of the %" PRIu64 " (", leaks->live_count);
        cn_size_print(&text, (uint64_t)leaks->live_bytes);
        cn_text_str_add(&text, ") that were live at the end: no pointer leads to them");
        cn_cli_say(args, "%s", cn_text_str(&text));
    }
    cn_record_tell_unchecked(args, leaks->program_count, leaks->checked_count,
                             leaks->failure);
    cn_text_done(&text);
}

static void print_lost(struct cn_text *text, const struct cn_launch_result *result,
                       const struct cn_record_syscalls *syscalls, uint64_t unloaded)
{
    size_t begin = text->len;

    if (result->lost_count > 0) {
        cn_count_print_of(text, result->lost_count, "record");
        cn_text_str_add(text, " lost");
    }
    if (result->missed_count > 0) {
        cn_text_str_add(text, text->len > begin ? ", " : "");
        cn_count_print_of(text, result->missed_count, "thread");
        cn_text_str_add(text, " not recorded");
    }
    if (result->kind == CN_REC_EXEC_LIBC || result->kind == CN_REC_EXEC_SETUID)
        cn_text_printf(text, "%sthe program not recorded", text->len > begin ? ", " : "");
    if (unloaded > 0) {
        cn_text_str_add(text, text->len > begin ? ", " : "");
        cn_text_printf(text, "%" PRIu64 " child%s not recorded", unloaded,
                       cn_plural(unloaded, "", "ren"));
    }
    if (result->stop != CN_REC_RUNNING || result->failure.text[0] ||
        result->sandboxed_count > 0)
        cn_text_printf(text, "%slater calls not recorded", text->len > begin ? ", " : "");
    if (syscalls->is_incomplete)
        cn_text_printf(text, "%ssystem calls missing", text->len > begin ? ", " : "");
    if (text->len == begin)
        cn_text_str_add(text, "none lost");
}

static void tell_result(const struct cn_args *args, const struct cn_launch_result *result,
                        const struct cn_launch_options *launch,
                        const struct cn_record_syscalls *syscalls)
{
    struct cn_text text = {0};

    tell_patterns(args, launch);
    if (result->record_len == 0 && result->stop == CN_REC_RUNNING)
        tell_empty(args, result, launch);
    tell_stop(args, result);
    tell_sandboxed(args, result);
    tell_bypassed(args, result);
    tell_patched(args, result);
    uint64_t unloaded = tell_unloaded(args, result);
    if (launch->has_memory)
        tell_memory(args, result);
    if (launch->has_leaks)
        tell_leaks(args, &result->leaks);
    if (launch->has_gpu)
        cn_record_tell_gpu(args, result->gpu.is_used, result->gpu.notes.chars);
    if (launch->has_ranges)
        cn_record_tell_ranges(args, result->gpu.range_count);
    cn_count_print_of(&text, result->call_count, "call");
    if (syscalls->count > 0) {
        cn_text_str_add(&text, " and ");
        cn_count_print_of(&text, syscalls->count, "system call");
    }
    if (result->gpu.op_count > 0) {
        cn_text_str_add(&text, " and ");
        cn_count_print_of(&text, result->gpu.op_count, "GPU operation");
    }
    if (result->gpu.range_count > 0) {
        cn_text_str_add(&text, " and ");
        cn_count_print_of(&text, result->gpu.range_count, "NVTX range");
    }
    if (launch->has_memory) {
        cn_text_str_add(&text, " and ");
        cn_count_print_of(&text, result->memory_len / cn_memory_record_size, "record");
        cn_text_str_add(&text, " of memory");
    }
    cn_text_str_add(&text, " in ");
    cn_size_print(&text, result->stored_len);
    cn_text_str_add(&text, ", ");
    print_lost(&text, result, syscalls, unloaded);
    if (cn_args_has(args, "host"))
        cn_cli_say(args, "%s", cn_text_str(&text));
    else if (launch->rank)
        cn_cli_say(args, "rank %" PRIu64 ": %s; next: cairn analyze %s -o DB",
                   launch->rank->number, cn_text_str(&text), launch->dir);
    else
        cn_cli_say(args, "%s; next: cairn report %s", cn_text_str(&text), launch->dir);
    if (!tell_interpreter(args, launch) && result->has_only_libcalls &&
        result->call_count > 0)
        cn_cli_say(
            args,
            "%s is not instrumented: of its own code only calls to library "
            "functions were recorded; build it with -pg, -finstrument-functions or "
            "-fpatchable-function-entry=5, or sample it: cairn sample -- %s",
            launch->words[0], launch->words[0]);
    cn_text_done(&text);
}

/* Where a recording goes with --host: it is local until it has been sent. */
struct destination {
    struct cn_sender_target target;
    int connection;
    const char *name; /* there */
    struct cn_text local;
};

/* Connect before the program starts. */
static bool find_receiver(struct destination *to, const struct cn_args *args,
                          struct cn_launch_options *launch, struct cn_error *err)
{
    static const char *const needing[] = {"port", "token"};
    uint64_t port;

    if (!cn_args_u64(args, "port", 1, UINT16_MAX, CN_REMOTE_PORT, &port, err))
        return false;
    for (size_t i = 0; i < sizeof(needing) / sizeof(needing[0]); i++)
        if (cn_args_has(args, needing[i]) && !to->target.host)
            return cn_fail(err, CN_ERR_USAGE, "--%s needs --host", needing[i]);
    if (!to->target.host)
        return true;
    if (launch->rank)
        return cn_fail(err, CN_ERR_USAGE, "--host: not for each process of a job");
    to->target.port = (uint16_t)port;
    to->target.token = cn_record_token(args);
    to->name = cn_path_name(launch->dir);
    cn_text_printf(&to->local, "%s.unsent", to->name);
    launch->dir = cn_text_str(&to->local);
    return cn_sender_connect(&to->target, to->name, &to->connection, err);
}

static bool send_recording(struct destination *to, const struct cn_args *args,
                           struct cn_error *err)
{
    const char *local = cn_text_str(&to->local), *host = to->target.host;
    int connection = to->connection;

    to->connection = -1;
    if (!cn_sender_send(&to->target, connection, to->name, local, err))
        return cn_fail_in(err, "not sent to %s; the recording is in %s", host, local);
    cn_cli_say(args, "sent to %s, port %u, as %s", host, to->target.port, to->name);
    return cn_recording_dir_remove(local, err);
}

/* A recording without them is complete as well. */
static void add_syscalls(struct cn_record_syscalls *syscalls, const struct cn_args *args,
                         const struct cn_launch_options *launch)
{
    struct cn_error err = {0};
    struct cn_text dir = {0};

    cn_text_str_add(&dir, launch->dir);
    if (launch->rank)
        cn_text_printf(&dir, "/rank.%" PRIu64, launch->rank->number);
    if (!cn_record_syscalls_end(syscalls, cn_text_str(&dir), &err))
        cn_cli_warn(args, "%s", err.text);
    cn_text_done(&dir);
}

bool cn_record_run(const struct cn_args *args, struct cn_script *script, int *wait_status,
                   struct cn_error *err)
{
    const char *dir = cn_args_value(args, "data");
    struct cn_record_options options;
    struct cn_launch_result result;
    struct cn_launch_rank rank = {0};
    struct cn_record_syscalls syscalls = {0};
    struct destination to = {.target = {.host = cn_args_value(args, "host")},
                             .connection = -1};
    uint64_t start_ns = cn_clock_ns();
    bool ok;

    if (cn_args_has(args, "pid"))
        return cn_record_change(args, err);
    if (cn_args_has(args, "list-event"))
        return cn_record_list_events(args, err);
    ok = cn_record_options_init(&options, args, err);
    if (dir)
        options.launch.dir = dir;
    if (cn_launch_rank_find(&rank))
        options.launch.rank = &rank;
    if (ok && script && options.launch.rank)
        ok = cn_fail(err, CN_ERR_USAGE,
                     "--script: not for each process of a job; run cairn script -d "
                     "%s/rank.0 later",
                     options.launch.dir);
    ok = ok && find_receiver(&to, args, &options.launch, err) &&
         cn_record_syscalls_begin(&syscalls, args, &options.launch, err) &&
         cn_launch_run(&options.launch, &result, err);
    if (ok && cn_args_has(args, "time"))
        cn_record_print_time(start_ns);
    if (ok) {
        add_syscalls(&syscalls, args, &options.launch);
        tell_result(args, &result, &options.launch, &syscalls);
        cn_text_done(&result.gpu.notes);
        *wait_status = result.wait_status;
        if (script)
            ok = cn_script_show_recorded(args, options.launch.dir, script, err);
        ok = ok && (!to.target.host || send_recording(&to, args, err));
    }
    if (to.connection >= 0)
        (void)close(to.connection);
    cn_text_done(&to.local);
    cn_record_syscalls_close(&syscalls);
    cn_record_options_done(&options);
    cn_text_done(&rank.job);
    return ok;
}

/* Record with the options of the command line and of the script. */
static bool run_record(const struct cn_args *args, struct cn_error *err)
{
    struct cn_scripted scripted;
    int wait_status = 0;
    bool ok;

    if (!cn_args_exclusive(args, "calls", "sample", err))
        return false;
    if (cn_record_samples(args)) {
        ok = cn_record_sample(args, &wait_status, err);
        if (ok)
            cn_end_like(wait_status);
        return ok;
    }
    ok = cn_scripted_open(&scripted, args, err) &&
         cn_record_run(&scripted.args, scripted.script, &wait_status, err);

    cn_scripted_close(&scripted);
    /* The failure of a script or a receiver is not that of the program. */
    if (!ok && wait_status != 0)
        cn_cli_warn(args, "%s", err->text);
    if (ok || wait_status != 0)
        cn_end_like(wait_status);
    return ok;
}

/* What live shows: the report, the calls, or with titles like those of uftrace both; and
 * --output-fields of each. */
struct views {
    bool has_report, has_calls;
    const char *report_fields, *call_fields;
};

/* A view that does not have the fields shows its own if the other one has them. */
static bool choose_views(const struct cn_args *args, struct views *out,
                         struct cn_error *err)
{
    const char *fields = cn_args_value(args, "output-fields");
    struct cn_replay_printer printer = {0};
    struct cn_report_layout layout;
    struct cn_error ignored;

    *out = (struct views){.has_calls = cn_args_has(args, "replay")};
    out->has_report = !out->has_calls || cn_args_has(args, "report");
    if (!fields)
        return true;
    if (out->has_report &&
        (cn_args_has(args, "task") ||
         cn_report_layout_parse(&layout, fields, NULL, false, false, err)))
        out->report_fields = fields;
    if (out->has_calls &&
        cn_replay_fields_parse(&printer, fields, out->report_fields ? &ignored : err))
        out->call_fields = fields;
    return out->report_fields || out->call_fields;
}

static bool show_views(const struct cn_args *args, const struct views *views,
                       const char *dir, struct cn_error *err)
{
    struct cn_recording_source source = {.path = dir, .is_recorded = true};
    bool has_both = views->has_calls && views->has_report;

    cn_cli_page(args);
    if (has_both)
        (void)printf("#\n# report\n#\n");
    if (views->has_report &&
        !cn_recording_show(args, &source, cn_report_show,
                           (void *)(uintptr_t)views->report_fields, err))
        return false;
    if (has_both)
        (void)printf("\n#\n# replay\n#\n");
    source.is_raw = true;
    return !views->has_calls ||
           cn_recording_show(args, &source, cn_replay_show,
                             (void *)(uintptr_t)views->call_fields, err);
}

static bool run_live(const struct cn_args *args, struct cn_error *err)
{
    struct cn_record_options options = {0};
    struct cn_launch_result result;
    struct cn_error ignored = {0};
    const char *kept = cn_args_value(args, "data");
    char *dir = NULL;
    uint64_t start_ns = cn_clock_ns();
    struct cn_scripted scripted;
    struct views views;
    bool ok;

    if (cn_args_has(args, "pid"))
        return cn_record_change(args, err);
    if (cn_args_has(args, "list-event"))
        return cn_record_list_events(args, err);
    if (cn_args_has(args, "sample"))
        return cn_live_sample(args, err);
    if (!choose_views(args, &views, err))
        return false;
    ok = cn_scripted_open(&scripted, args, err) &&
         cn_record_options_init(&options, &scripted.args, err) &&
         (kept || (dir = cn_temporary_make("live", err)) != NULL);

    options.launch.dir = kept ? kept : dir;
    ok = ok && cn_launch_run(&options.launch, &result, err);
    if (ok && cn_args_has(args, "time"))
        cn_record_print_time(start_ns);
    if (ok) {
        tell_patterns(args, &options.launch);
        tell_stop(args, &result);
        ok = (!scripted.script ||
              cn_script_show_recorded(args, options.launch.dir, scripted.script, err)) &&
             show_views(args, &views, options.launch.dir, err);
    }
    if (dir && !cn_recording_dir_remove(dir, &ignored) && ok)
        cn_cli_warn(args, "%s", ignored.text);
    cn_record_options_done(&options);
    cn_scripted_close(&scripted);
    free(dir);
    if (ok)
        cn_end_like(result.wait_status);
    return ok;
}

static const struct cn_option record_options[] = {
    CN_RECORD_OPTIONS,
    CN_OPTION_FOR(CN_FOR_RECORDED, "calls", 0, NULL,
                  "record calls, also of a program that is not instrumented: those to "
                  "library functions"),
    CN_OPTION(
        "sample", 0, NULL,
        "sample the program instead, as cairn sample does; the default for programs "
        "that are not instrumented, unless an option asks for calls"),
    CN_OPTION("data", 'd', "DIR",
              "record into DIR (default: cairn.data); an earlier recording is renamed to "
              "DIR.old. Samples go to a file of this name (default: " CN_SAMPLE_FILE
              "). Each process of mpirun or srun records into DIR/rank.N; cairn "
              "analyze DIR reads them together"),
    CN_OPTION_FOR(CN_FOR_RECORDED, "syscalls", 0, NULL,
                  "also record system calls about files and sockets, as functions that "
                  "contain their file or peer, for cairn io. Needs root"),
    CN_OPTION_FOR(CN_FOR_RECORDED, "host", 0, "HOST",
                  "send the recording to cairn recv (or uftrace recv) on HOST when the "
                  "program has ended; DIR is its name there, here it is removed"),
    CN_OPTION_FOR(CN_FOR_RECORDED, "port", 0, "PORT",
                  "with --host: the port (default: 8090)"),
    CN_OPTION_FOR(
        CN_FOR_RECORDED, "token", 0, "TOKEN",
        "with --host: the token that the receiver asks for (default: " CN_RECORD_TOKEN
        " of the environment)"),
    CN_OPTION_FOR(
        CN_FOR_RECORDED, "with-syms", 0, "DIR",
        "use the .sym files of this recording first: names of a program that was "
        "stripped, for patterns and in the new recording"),
    {0},
};

static const struct cn_example record_examples[] = {
    {"cairn record -- ./server --port 8080", "record a program with its arguments"},
    {"cairn record -d run.data --buffer 1M -- make test",
     "record all programs that make starts"},
    {0},
};

const struct cn_command cn_cmd_record = {
    .name = "record",
    .operands = "[PROGRAM [ARGUMENT]...]",
    .operand_max = CN_OPERANDS_MAX,
    .program = "",
    .scope = CN_FOR_RECORDED | CN_FOR_SAMPLED,
    .summary = "run a program and record its calls",
    .description =
        "Runs a program and records the entries and exits of its functions, in all its "
        "threads and child processes. Build it with -pg, -finstrument-functions or "
        "-fpatchable-function-entry=5 (aarch64: =2). Other programs are sampled (cairn "
        "sample) into " CN_SAMPLE_FILE "; with --calls, their calls to library functions "
        "are recorded.\n\n"
        "The result is a uftrace data directory: use cairn replay, report, graph, "
        "analyze "
        "or view, or uftrace itself. The output and the exit status are those of the "
        "program.",
    .examples = record_examples,
    .options = record_options,
    .run = run_record,
};

static const struct cn_option live_options[] = {
    CN_RECORD_OPTIONS,
    CN_OPTION_FOR(CN_FOR_CALLS, "replay", 0, NULL,
                  "show the calls, not a table of functions"),
    CN_OPTION("sample", 0, NULL,
              "sample any program (cairn sample) and show its hottest contexts, on a "
              "terminal while it runs"),
    CN_OPTION_FOR(CN_FOR_CALLS, "report", 0, NULL,
                  "with --replay: show the table before the calls"),
    CN_OPTION("data", 'd', "DIR",
              "record into DIR and do not remove it (default: a temporary folder)"),
    CN_RECORDING_VIEW_FILTER_OPTIONS,
    CN_RECORDING_FIELDS_OPTION("columns, as in cairn report or with --replay in cairn "
                               "replay"),
    CN_RECORDING_REPLAY_OPTIONS,
    CN_RECORDING_REPORT_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    CN_RECORDING_HTML_OPTION,
    {0},
};

static const struct cn_example live_examples[] = {
    {"cairn live -- ./server --check", "show where a program spends its time"},
    {"cairn live --replay -F parse -D 3 -- ./tool file", "show what parse calls"},
    {"cairn live --sample -- python3 script.py", "watch where any program spends time"},
    {0},
};

const struct cn_command cn_cmd_live = {
    .name = "live",
    .operands = "[PROGRAM [ARGUMENT]...]",
    .operand_max = CN_OPERANDS_MAX,
    .program = "",
    .scope = CN_FOR_RECORDED | CN_FOR_SAMPLED | CN_FOR_RECORDINGS,
    .summary = "run a program and show its calls",
    .description =
        "Records a program like cairn record, prints what cairn report (with --replay: "
        "cairn replay) prints, and removes the recording. Filters that record has act "
        "while "
        "recording, the other options when the calls are shown. The exit status is that "
        "of the program.",
    .examples = live_examples,
    .options = live_options,
    .run = run_live,
};
