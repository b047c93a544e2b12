/* cairn store recover: rebuild all indexes from the data. */

#include <inttypes.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "store/maintenance/maintenance.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_store_recovery found;

    if (!cn_store_recover(cn_args_operand(args, 0), &found, err))
        return false;
    cn_cli_say(args, "recovered %" PRIu64 " traces and spans in %" PRIu32 " segment%s",
               found.rows, found.segments, cn_plural(found.segments, "", "s"));
    if (found.alive > 0)
        cn_cli_say(
            args, "%" PRIu32 " %s to collectors that are alive or were a minute ago",
            found.alive, cn_plural(found.alive, "segment belongs", "segments belong"));
    if (found.bad_chunks > 0 || found.bad_records > 0)
        cn_cli_warn(args, "%" PRIu64 " chunk%s and %" PRIu64 " record%s cannot be read",
                    found.bad_chunks, cn_plural(found.bad_chunks, "", "s"),
                    found.bad_records, cn_plural(found.bad_records, "", "s"));
    if (found.lost_words > 0)
        cn_cli_warn(args, "%" PRIu64 " %s lost; shown as #NUMBER", found.lost_words,
                    cn_plural(found.lost_words, "string is", "strings are"));
    if (found.cut_len > 0)
        cn_cli_warn(args, "cut off %" PRIu64 " byte%s after the last sound chunk",
                    found.cut_len, cn_plural(found.cut_len, "", "s"));
    return true;
}

static const struct cn_option options[] = {CN_OPTION_CACHE_SIZE, {0}};

static const struct cn_example examples[] = {
    {"cairn store recover traces", "after files were lost or damaged"},
    {"cairn store recover traces && cairn store verify traces", "and check the result"},
    {0},
};

const struct cn_command cn_cmd_store_recover = {
    .name = "store recover",
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "rebuild all indexes of a store",
    .description = "Scans traces.dat of every segment for traces, also after damaged "
                   "parts, and text.log "
                   "for strings, and rebuilds all other files. A lost string is shown as "
                   "#NUMBER; its "
                   "trace remains.",
    .examples = examples,
    .options = options,
    .run = run,
};
