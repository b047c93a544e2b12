/* cairn store seal: make the indexes that are searched fastest. */

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
    {"cairn store seal traces", "nothing will be added for a while"},
    {0},
};

const struct cn_command cn_cmd_store_seal = {
    .name = "store seal",
    .section = CN_SECTION_STORE,
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "make the indexes of everything in a store",
    .description =
        "A store is searched while it is written to; a segment that is sealed takes less "
        "room and is searched faster. Segments are sealed by themselves when the next "
        "one "
        "begins. What is added afterwards goes into a new segment.",
    .examples = examples,
    .run = run,
};
