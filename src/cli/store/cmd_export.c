/* cairn store export: copy traces into a new store. */

#include <inttypes.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "store/copy.h"
#include "store/search/traces.h"
#include "store/write/writer.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *target = cn_args_value(args, "output");
    struct cn_store_query query;
    struct cn_search_trace_count traces = {0};
    struct cn_store_added added;
    struct cn_error ignored;

    if (!target)
        return cn_fail(err, CN_ERR_USAGE,
                       "-o is missing; give the path of the new store");
    if (!cn_store_query_open_args(&query, args, err))
        return false;
    bool ok = cn_store_copy_new(target, query.search, query.query, &added, err);
    /* A trace may be several records of the store. */
    if ((ok || added.records > 0) &&
        cn_search_count_traces(query.search, query.query, &traces, &ignored))
        cn_cli_say(args, "%" PRIu64 " trace%s written to %s", traces.count,
                   cn_plural(traces.count, "", "s"), target);
    cn_store_query_close(&query);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("output", 'o', "DIR", "path of the new store"),
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store export traces 'errors last 1d' -o failed",
     "the failed traces of a day"},
    {"cairn store export traces 'id starts 19ab14' -o one", "one trace"},
    {0},
};

const struct cn_command cn_cmd_store_export = {
    .name = "store export",
    .operands = "STORE [QUERY]...",
    .operand_min = 1,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "copy traces into a new store",
    .description =
        "Copies the matching traces into a new, sealed store, which can be searched, "
        "packed with tar, or added to another store with cairn store import.",
    .examples = examples,
    .options = options,
    .run = run,
};
