/* cairn flat: costs by module, file, function, loop and line. */

#include <stdint.h>

#include "cli/database/view_command.h"

static bool make(struct cn_view **out, struct cn_costs *costs,
                 const struct cn_view_limits *limits, const struct cn_progress *progress,
                 struct cn_error *err)
{
    (void)limits;
    return cn_view_flat_new(out, costs, progress, err);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    return cn_view_command_run(args, make, SIZE_MAX, err);
}

static const struct cn_option options[] = {
    CN_VIEW_OPTIONS,
    CN_VIEW_LIMIT_OPTIONS,
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn flat run.db --depth 3 -s exclusive", "functions by their own cost"},
    {"cairn flat run.db -F 'loop at *'", "loops only, with what holds them"},
    {0},
};

const struct cn_command cn_cmd_flat = {
    .name = "flat",
    .section = CN_SECTION_VIEW,
    .operands = "DB",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "show costs by module, file, function, loop and line",
    .description =
        "Adds up costs over all calling contexts of the same place in the program: load "
        "module, source file, function, loop, line.\n\n"
        "Recursion is counted once: a function that calls itself, directly or through "
        "others, does not have its inclusive cost multiplied. Inlined functions are "
        "functions like others." CN_VIEW_OF_MEASUREMENTS,
    .examples = examples,
    .options = options,
    .run = run,
};
