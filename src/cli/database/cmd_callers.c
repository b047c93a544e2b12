/* cairn callers: functions, and below each the callers that led to it. */

#include <stdint.h>

#include "cli/database/view_command.h"

enum { DEPTH_DEFAULT = 5 };

static bool make(struct cn_view **out, struct cn_costs *costs,
                 const struct cn_view_limits *limits, const struct cn_progress *progress,
                 struct cn_error *err)
{
    return cn_view_bottom_up_new(out, costs, limits->depth_max, progress, err);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    return cn_view_command_run(args, make, DEPTH_DEFAULT, err);
}

static const struct cn_option options[] = {
    CN_VIEW_OPTIONS,
    CN_VIEW_LIMIT_OPTIONS,
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn callers run.db -s exclusive --min-percent 5", "what is hot, and who asks"},
    {"cairn callers run.db -F malloc --depth 3", "who calls malloc"},
    {0},
};

const struct cn_command cn_cmd_callers = {
    .name = "callers",
    .section = CN_SECTION_VIEW,
    .operands = "DB",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "show functions with their callers, bottom-up",
    .description =
        "Each function at the top is followed by its callers, their callers and so on: "
        "how much of its cost came along which way. Five levels are shown unless "
        "--depth says otherwise.\n\n"
        "Recursion is counted once: a row counts each moment once, however often the "
        "function is on the stack." CN_VIEW_OF_MEASUREMENTS,
    .examples = examples,
    .options = options,
    .run = run,
};
