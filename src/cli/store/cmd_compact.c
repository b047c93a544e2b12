/* cairn store compact: join small segments. */

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "store/maintenance/maintenance.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_store_compaction done;
    struct cn_text text = {0};

    if (!cn_store_compact(cn_args_operand(args, 0), &done, err))
        return false;
    cn_store_compaction_print(&text, &done);
    cn_cli_say(args, "%s", cn_text_str(&text));
    cn_text_done(&text);
    return true;
}

static const struct cn_option options[] = {CN_OPTION_CACHE_SIZE, {0}};

static const struct cn_example examples[] = {
    {"cairn store compact traces", "join small segments"},
    {"cairn store compact traces && cairn store stats traces",
     "and list those that are left"},
    {0},
};

const struct cn_command cn_cmd_store_compact = {
    .name = "store compact",
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "join small segments of a store",
    .description = "Joins consecutive segments that are small enough to fit into one. "
                   "Strings are then "
                   "stored once, and searches read fewer files.",
    .examples = examples,
    .options = options,
    .run = run,
};
