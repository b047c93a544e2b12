/* cairn store seal: seal all segments. */

#include <inttypes.h>

#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "store/care/care.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    uint32_t count;

    if (!cn_store_seal(cn_args_operand(args, 0), &count, err))
        return false;
    cn_cli_say(args, "%" PRIu32 " segment%s sealed", count, count == 1 ? "" : "s");
    return true;
}

static const struct cn_example examples[] = {
    {"cairn store seal traces", "after adding traces"},
    {0},
};

const struct cn_command cn_cmd_store_seal = {
    .name = "store seal",
    .section = CN_SECTION_STORE,
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "build the indexes of a store",
    .description =
        "A store can be searched while it is written to. A sealed segment is smaller and "
        "faster to search. Segments are sealed automatically when the next one is "
        "started. "
        "Traces that are added later go into a new segment.",
    .examples = examples,
    .run = run,
};
