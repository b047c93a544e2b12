/* cairn store pin: traces that do not expire. */

#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "store/maintenance/maintenance.h"
#include "store/search/query.h"

/* Ids are written as in queries. */
static bool parse_id(const char *text, struct cn_query_number *out, struct cn_error *err)
{
    struct cn_query_term term = {.op = CN_QUERY_EQUAL};

    if (!cn_query_term_init(&term, "id", text, 0, err))
        return false;
    *out = term.first;
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    bool is_pinned = !cn_args_has(args, "remove"), is_new;

    for (size_t i = 1; i < cn_args_count(args); i++) {
        struct cn_query_number id;

        if (!parse_id(cn_args_operand(args, i), &id, err) ||
            !cn_store_pin(cn_args_operand(args, 0), id.high, id.low, is_pinned, &is_new,
                          err))
            return false;
        if (!is_new)
            cn_cli_say(args, "%s is %s", cn_args_operand(args, i),
                       is_pinned ? "already pinned" : "not pinned");
    }
    return true;
}

static const struct cn_option options[] = {
    CN_OPTION("remove", 0, NULL, "unpin the traces"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store pin traces 19ab141b2e5875eb1a42d72c2e9360cd", "keep a trace"},
    {"cairn store pin --remove traces 19ab141b2e5875eb1a42d72c2e9360cd",
     "let it expire again"},
    {0},
};

const struct cn_command cn_cmd_store_pin = {
    .name = "store pin",
    .operands = "STORE TRACE-ID...",
    .operand_min = 2,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "keep traces from expiring",
    .description =
        "A pinned trace stays when its segment expires. Traces can be pinned while a "
        "collector writes to the store.",
    .examples = examples,
    .options = options,
    .run = run,
};
