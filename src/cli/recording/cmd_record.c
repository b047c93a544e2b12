/* cairn record: run a program and record its calls. */

#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/recording/record_end.h"
#include "cli/recording/record_options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "launcher/launch.h"
#include "record/shared.h"

static void tell_result(const struct cn_args *args, const struct cn_launch_result *result,
                        const char *dir)
{
    struct cn_text text = {0};

    cn_record_tell_stop(args, result);
    cn_count_print_of(&text, result->call_count, "call");
    cn_text_str_add(&text, " in ");
    cn_size_print(&text, result->stored_len);
    if (result->lost_count > 0) {
        cn_text_str_add(&text, ", ");
        cn_count_print_of(&text, result->lost_count, "record");
        cn_text_str_add(&text, " lost");
    } else {
        cn_text_str_add(&text, ", none lost");
    }
    cn_cli_say(args, "%s; next: cairn report %s", cn_text_str(&text), dir);
    cn_text_done(&text);
}

/* An empty recording has a reason that its reader may not think of. */
static const char *why_empty(const struct cn_args *args, bool is_off)
{
    static const char *const choices[] = {
        "filter", "notrace", "time-filter", "size-filter", "trigger", "patch", "unpatch"};

    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        if (cn_args_has(args, choices[i]))
            return "nothing was recorded: no call is left by the options that choose";
    }
    if (is_off)
        return "nothing was recorded: no trigger switched recording on";
    return "nothing was recorded: build the program with -pg, -finstrument-functions or "
           "-fpatchable-function-entry=5";
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_record_options options;
    struct cn_launch_result result;
    bool ok = cn_record_options_init(&options, args, err);

    if (cn_args_value(args, "data"))
        options.launch.dir = cn_args_value(args, "data");
    ok = ok && cn_launch_run(&options.launch, &result, err);
    if (ok && result.record_len == 0 && result.stop == CN_REC_RUNNING)
        cn_cli_say(args, "%s", why_empty(args, options.launch.is_off));
    if (ok)
        tell_result(args, &result, options.launch.dir);
    cn_record_options_done(&options);
    if (ok)
        cn_record_end_like(result.wait_status);
    return ok;
}

static const struct cn_option options[] = {
    CN_RECORD_OPTIONS,
    {.name = "data",
     .letter = 'd',
     .value = "DIR",
     .help = "record into this directory (default: cairn.data); an earlier recording is "
             "kept as DIR.old"},
    {0},
};

static const struct cn_example examples[] = {
    {"cairn record -- ./server --port 8080", "record a program with its arguments"},
    {"cairn record -d run.data --buffer 1M -- make test", "record all that make starts"},
    {0},
};

const struct cn_command cn_cmd_record = {
    .name = "record",
    .section = CN_SECTION_RECORDING,
    .operands = "PROGRAM [ARGUMENT]...",
    .operand_min = 1,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "run a program and record its calls",
    .description =
        "Runs a program and records when its functions are called and return, in all its "
        "threads and in the programs that it starts. Build it with -pg, "
        "-finstrument-functions or -fpatchable-function-entry=5 (aarch64: =2); of other "
        "programs only the calls of library functions are seen.\n\n"
        "The result is a uftrace data directory: look at it with cairn replay, cairn "
        "report, cairn graph or with uftrace itself. Output and exit status are those of "
        "the program.",
    .examples = examples,
    .options = options,
    .run = run,
};
