/* cairn script: run a script in Python or Lua on the calls of a recording. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/recording/script_calls.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"

extern const struct cn_command cn_cmd_record;

static bool is_one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

static bool show(const struct cn_args *args, struct cn_script *script,
                 struct cn_error *err)
{
    struct cn_script_run about = {
        .script = script, .words = args->operands, .word_count = args->operand_count};

    return cn_recording_show(args, NULL, cn_script_show, &about, err);
}

/* Record the program, then show the recording without the filters that were applied. */
static bool record_and_show(const struct cn_args *args, struct cn_error *err)
{
    static const char *const applied[] = {"filter",      "notrace",     "depth",
                                          "time-filter", "size-filter", "trigger",
                                          "trace",       NULL};
    struct cn_scripted scripted;
    struct cn_args shown = *args;
    int wait_status;
    bool ok = cn_scripted_open(&scripted, args, &cn_cmd_record, err) &&
              cn_record_run(&scripted.args, NULL, &wait_status, err);

    shown.given = cn_alloc(args->given_count, sizeof(*shown.given));
    shown.values = cn_alloc(args->given_count, sizeof(*shown.values));
    shown.given_count = 0;
    for (size_t i = 0; i < args->given_count; i++)
        if (!is_one_of(args->given[i]->name, applied)) {
            shown.given[shown.given_count] = args->given[i];
            shown.values[shown.given_count++] = args->values[i];
        }
    ok = ok && show(&shown, scripted.script, err);
    free(shown.given);
    free(shown.values);
    cn_scripted_close(&scripted);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    static const char *const while_recording[] = {
        "argument", "retval", "auto-args", "nest-libcall", "patch", "unpatch", NULL};
    const char *path = cn_args_value(args, "script");
    struct cn_script *script = NULL;
    bool ok;

    if (!path)
        return cn_fail(err, CN_ERR_USAGE, "no script: use -S FILE");
    if (cn_args_has(args, "record")) {
        if (args->operand_count == 0)
            return cn_fail(err, CN_ERR_USAGE, "--record: no program to record");
        return record_and_show(args, err);
    }
    for (size_t i = 0; i < args->given_count; i++)
        if (is_one_of(args->given[i]->name, while_recording))
            return cn_fail(err, CN_ERR_USAGE,
                           "--%s is an option of recording; add --record PROGRAM",
                           args->given[i]->name);
    ok = cn_script_open(path, args->operands, args->operand_count, &script, err) &&
         show(args, script, err);
    cn_script_close(script);
    return ok;
}

static const struct cn_option options[] = {
    {.name = "script",
     .letter = 'S',
     .value = "FILE",
     .help = "the script: .py is Python 3, .lua is Lua 5.1 (LuaJIT)"},
    {.name = "record",
     .help = "record a program first: the operands are the program and its arguments"},
    CN_RECORDING_OPTIONS,
    {.name = "no-args", .help = "no arguments and return values in the context"},
    {.name = "argument",
     .letter = 'A',
     .value = "FUNC@SPEC",
     .is_repeatable = true,
     .help = "with --record: record arguments"},
    {.name = "retval",
     .letter = 'R',
     .value = "FUNC@SPEC",
     .is_repeatable = true,
     .help = "with --record: record return values"},
    {.name = "auto-args",
     .letter = 'a',
     .help = "with --record: record arguments and return values of all functions"},
    {.name = "nest-libcall",
     .letter = 'l',
     .help = "with --record: also record calls between library functions"},
    {.name = "patch",
     .letter = 'P',
     .value = "FUNC",
     .is_repeatable = true,
     .help = "with --record: patch these functions"},
    {.name = "unpatch",
     .letter = 'U',
     .value = "FUNC",
     .is_repeatable = true,
     .help = "with --record: do not patch these functions"},
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
    .section = CN_SECTION_RECORDING,
    .operands = "[ARGUMENT]...",
    .operand_max = CN_OPERANDS_MAX,
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
