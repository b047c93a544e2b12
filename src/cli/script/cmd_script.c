/* cairn script: run a script in Python or Lua on the calls of a recording. */

#include "cli/record/options.h"
#include "cli/recording/options.h"
#include "cli/recording/script_calls.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"

static bool show(const struct cn_args *args, const struct cn_recording_source *source,
                 struct cn_opened *found, struct cn_script *script, struct cn_error *err)
{
    struct cn_script_run about = {.script = script,
                                  .arguments = args->operands,
                                  .argument_count = args->operand_count};

    return cn_recording_show_found(args, source, found, cn_script_show, &about, err);
}

/* Record the program, then show the recording. */
static bool record_and_show(const struct cn_args *args, struct cn_error *err)
{
    struct cn_recording_source source = {
        .path = cn_args_value(args, "data"), .is_recorded = true, .is_raw = true};
    struct cn_scripted scripted;
    struct cn_opened found;
    int wait_status;

    if (args->operand_count == 0)
        return cn_fail(err, CN_ERR_USAGE, "--record: no program to record");
    if (!source.path)
        source.path = CN_RECORD_DIR;
    bool ok = cn_scripted_open(&scripted, args, err) &&
              cn_record_run(&scripted.args, NULL, &wait_status, err) &&
              cn_recording_find(&found, args, source.path, err) &&
              show(args, &source, &found, scripted.script, err);
    cn_scripted_close(&scripted);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *path = cn_args_value(args, "script");
    struct cn_recording_source source = {.is_raw = true};
    struct cn_script *script = NULL;
    struct cn_opened found;
    bool ok;

    if (!path)
        return cn_fail(err, CN_ERR_USAGE, "no script: use -S FILE");
    if (cn_args_has(args, "record"))
        return record_and_show(args, err);
    if (!cn_data_path(args, NULL, &source.path, err) ||
        !cn_recording_find(&found, args, source.path, err))
        return false;
    ok = cn_cli_check_kinds(args, &found, err) &&
         cn_script_open(path, args->operands, args->operand_count, &script, err);
    if (ok)
        ok = show(args, &source, &found, script, err);
    else
        cn_opened_close(&found);
    cn_script_close(script);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("script", 'S', "FILE",
              "the script: .py is Python 3, .lua is Lua 5.1 (LuaJIT)"),
    CN_OPTION("record", 0, NULL,
              "record a program first: the operands are the program and its arguments"),
    CN_RECORDING_OPTIONS,
    CN_OPTION_FOR(CN_FOR_CALLS, "no-args", 0, NULL,
                  "no arguments and return values in the context"),
    CN_RECORD_ONLY_OPTIONS,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn script -S count.py", "run count.py on the last recording in this folder"},
    {"cairn script -S slow.lua -d run.data -F parse -t 1ms", "only slow calls in parse"},
    {"cairn script -S calls.py --record -- ./server --check",
     "record a program, then run the script"},
    {0},
};

const struct cn_command cn_cmd_script = {
    .name = "script",
    .operands = "[ARGUMENT]...",
    .operand_max = CN_OPERANDS_MAX,
    .program = "",
    .scope = CN_FOR_CALLS | CN_FOR_RECORDED,
    .summary = "run a script in Python or Lua on the calls of a recording",
    .description =
        "Calls functions of a script, with the names and the contexts of uftrace: "
        "uftrace_begin(ctx), then for each entry uftrace_entry(ctx), for each exit "
        "uftrace_exit(ctx), for each event uftrace_event(ctx), and uftrace_end(). Each "
        "of them may be missing. ctx has tid, depth, timestamp, address and name; "
        "duration and retval at an exit; args at an entry or event. uftrace_begin() "
        "gets record, version and cmds, the operands.\n\n"
        "If the script defines a list UFTRACE_FUNCS, only functions that match one of "
        "its patterns are passed on. A comment with 'uftrace-option: OPTIONS' adds "
        "options to recordings for this script.\n\n"
        "A script that fails ends with a message that names the file and the line; the "
        "exit status is 1. Python and Lua are libraries that are loaded only here; "
        "CAIRN_PYTHON_LIBRARY and CAIRN_LUA_LIBRARY name others.",
    .examples = examples,
    .options = options,
    .run = run,
};
