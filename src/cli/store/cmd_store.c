/* cairn store: the commands that keep and search request traces. */

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"

extern const struct cn_command cn_cmd_store_init, cn_cmd_store_add;
extern const struct cn_command cn_cmd_store_search, cn_cmd_store_show;
extern const struct cn_command cn_cmd_store_seal, cn_cmd_store_verify;
extern const struct cn_command cn_cmd_store_recover, cn_cmd_store_expire;
extern const struct cn_command cn_cmd_store_pin, cn_cmd_store_compact;
extern const struct cn_command cn_cmd_store_stats, cn_cmd_store_export;
extern const struct cn_command cn_cmd_store_import;

static const struct cn_command *const parts[] = {
    &cn_cmd_store_init,    &cn_cmd_store_add,
    &cn_cmd_store_search,  &cn_cmd_store_show,
    &cn_cmd_store_stats,   &cn_cmd_store_seal,
    &cn_cmd_store_verify,  &cn_cmd_store_recover,
    &cn_cmd_store_expire,  &cn_cmd_store_pin,
    &cn_cmd_store_compact, &cn_cmd_store_export,
    &cn_cmd_store_import,  NULL,
};

static bool run(const struct cn_args *args, struct cn_error *err)
{
    (void)args;
    return cn_fail(err, CN_ERR_USAGE, "no command given");
}

static const struct cn_example examples[] = {
    {"cairn store search traces 'errors last 2h'", "what failed in the last two hours"},
    {"cairn help store search", "tell more about one of the commands"},
    {0},
};

const struct cn_command cn_cmd_store = {
    .name = "store",
    .section = CN_SECTION_STORE,
    .operands = "COMMAND [OPTION]... [OPERAND]...",
    .operand_max = CN_OPERANDS_MAX,
    .summary = "keep, search and show request traces",
    .description =
        "A store is a directory of request traces: the calls that a server made for each "
        "request, with attributes and exceptions. Traces come from agents, from tracing "
        "systems and from recordings; they are found by anything in them.",
    .examples = examples,
    .parts = parts,
    .run = run,
};
