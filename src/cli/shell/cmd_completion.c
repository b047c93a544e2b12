/* cairn completion: print a completion script for a shell. */

#include <string.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/help.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *shell = cn_args_operand(args, 0);
    struct cn_text text = {0};

    (void)err;
    if (strcmp(shell, "bash") == 0)
        cn_completion_print_bash(&text);
    else if (strcmp(shell, "zsh") == 0)
        cn_completion_print_zsh(&text);
    else
        cn_completion_print_fish(&text);
    cn_cli_print(args, &text);
    cn_text_done(&text);
    return true;
}

static const struct cn_example examples[] = {
    {"source <(cairn completion bash)", "complete in this bash session"},
    {"cairn completion zsh > ~/.zfunc/_cairn",
     "complete in every zsh session, where ~/.zfunc is in fpath"},
    {"cairn completion fish > ~/.config/fish/completions/cairn.fish",
     "complete in every fish session"},
    {0},
};

const struct cn_command cn_cmd_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "print a completion script for a shell",
    .description =
        "The script completes the names of commands, their options, the words that an "
        "option accepts, and files and directories where they are expected.",
    .examples = examples,
    .run = run,
};
