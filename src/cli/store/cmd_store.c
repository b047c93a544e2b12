/* cairn store: the commands for trace stores. */

#include "cli/shell/args.h"
#include "cli/shell/command.h"

extern const struct cn_command cn_cmd_store_init, cn_cmd_store_add;
extern const struct cn_command cn_cmd_store_search, cn_cmd_store_show;
extern const struct cn_command cn_cmd_store_seal, cn_cmd_store_verify;
extern const struct cn_command cn_cmd_store_recover, cn_cmd_store_expire;
extern const struct cn_command cn_cmd_store_pin, cn_cmd_store_compact;
extern const struct cn_command cn_cmd_store_stats, cn_cmd_store_export;
extern const struct cn_command cn_cmd_store_import, cn_cmd_store_services;
extern const struct cn_command cn_cmd_store_tail;

static const struct cn_command *const parts[] = {
    &cn_cmd_store_init,    &cn_cmd_store_add,
    &cn_cmd_store_search,  &cn_cmd_store_show,
    &cn_cmd_store_stats,   &cn_cmd_store_seal,
    &cn_cmd_store_verify,  &cn_cmd_store_recover,
    &cn_cmd_store_expire,  &cn_cmd_store_pin,
    &cn_cmd_store_compact, &cn_cmd_store_export,
    &cn_cmd_store_import,  &cn_cmd_store_services,
    &cn_cmd_store_tail,    NULL,
};

static bool run(const struct cn_args *args, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_USAGE, "no command given; for example: %s",
                   args->command->examples[0].command);
}

static const struct cn_example examples[] = {
    {"cairn store search traces 'errors last 2h'", "failed traces of the last two hours"},
    {"cairn help store search", "help for one of the commands"},
    {0},
};

const struct cn_command cn_cmd_store = {
    .name = "store",
    .operands = "COMMAND [OPTION]... [OPERAND]...",
    .operand_max = CN_OPERANDS_MAX,
    .summary = "store, search and show request traces",
    .description =
        "A store is a directory of request traces: the calls of a server for each "
        "request, "
        "with attributes and exceptions. Traces come from agents, tracing systems and "
        "recordings. Everything in them can be searched.",
    .examples = examples,
    .parts = parts,
    .run = run,
};
