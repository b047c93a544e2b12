/* cairn live: record a program, show what it did, and leave nothing behind. */

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/recording/record_end.h"
#include "cli/recording/record_options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "launcher/launch.h"
#include "launcher/recording_dir.h"

extern const struct cn_command cn_cmd_report, cn_cmd_replay;

static bool show(const struct cn_args *args, const char *dir, struct cn_error *err)
{
    const struct cn_command *command =
        cn_args_has(args, "replay") ? &cn_cmd_replay : &cn_cmd_report;
    const char *words[] = {dir};
    struct cn_args shown;
    bool ok;

    if (!cn_args_parse(&shown, command, 1, words, err))
        return false;
    shown.session = args->session;
    ok = command->run(&shown, err);
    cn_args_done(&shown);
    return ok;
}

static bool record_and_show(const struct cn_args *args, struct cn_launch_options *options,
                            struct cn_launch_result *result, struct cn_error *err)
{
    struct cn_error trouble = {0};
    bool ok = cn_launch_run(options, result, err);

    if (ok) {
        cn_record_tell_stop(args, result);
        ok = show(args, options->dir, err);
    }
    /* Before it ran, there may be no directory at all. */
    if (!cn_recording_dir_remove(options->dir, &trouble) && ok)
        cn_cli_warn(args, "%s", trouble.text);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *folder = getenv("TMPDIR");
    struct cn_text dir = {0};
    struct cn_record_options options;
    struct cn_launch_result result;
    bool ok = cn_record_options_init(&options, args, err);

    folder = folder && folder[0] ? folder : "/tmp";
    cn_text_printf(&dir, "%s/cairn-live-XXXXXX", folder);
    if (ok && !mkdtemp(dir.chars))
        ok = cn_fail_errno(err, "cannot make a directory in %s", folder);
    options.launch.dir = cn_text_str(&dir);
    ok = ok && record_and_show(args, &options.launch, &result, err);
    cn_record_options_done(&options);
    cn_text_done(&dir);
    if (ok)
        cn_record_end_like(result.wait_status);
    return ok;
}

static const struct cn_option options[] = {
    CN_RECORD_OPTIONS,
    {.name = "replay", .help = "show the calls themselves, not a table of functions"},
    {0},
};

static const struct cn_example examples[] = {
    {"cairn live -- ./server --check", "see where a program spends its time"},
    {"cairn live --replay -F parse -D 3 -- ./tool file", "see what parse calls"},
    {0},
};

const struct cn_command cn_cmd_live = {
    .name = "live",
    .section = CN_SECTION_RECORDING,
    .operands = "PROGRAM [ARGUMENT]...",
    .operand_min = 1,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "run a program and show its calls",
    .description =
        "Records a program as cairn record does, prints what cairn report, or "
        "with --replay cairn replay, says about it, and removes the recording. "
        "The exit status is that of the program.",
    .examples = examples,
    .options = options,
    .run = run,
};
