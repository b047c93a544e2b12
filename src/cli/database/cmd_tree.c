/* cairn tree: the calling contexts of a database, top-down. */

#include <stdint.h>

#include "cli/database/view_command.h"

static bool make(struct cn_view **out, struct cn_costs *costs,
                 const struct cn_view_limits *limits, const struct cn_progress *progress,
                 struct cn_error *err)
{
    (void)limits;
    (void)progress;
    (void)err;
    *out = cn_view_top_down_new(costs);
    return true;
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
    {"cairn tree run.db --depth 6 --min-percent 1", "the outline of where time goes"},
    {"cairn tree run.db -t 'RANK 0' --cost inclusive", "of the first process only"},
    {"cairn tree run.db -F 'MPI_*'", "the paths that lead into MPI"},
    {"cairn tree run.db --stat mean --stat max", "how threads differ"},
    {0},
};

const struct cn_command cn_cmd_tree = {
    .name = "tree",
    .section = CN_SECTION_VIEW,
    .operands = "DB",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "show calling contexts top-down",
    .description =
        "Prints the calling contexts of a database, callers above callees, each with "
        "its costs. Inclusive values (I) hold everything a context called, exclusive "
        "values (E) what was spent in the function itself. Percentages are of the whole "
        "program, or of the selected threads.\n\n"
        "Contexts are read as they are shown, so the first levels of a large database "
        "appear at once." CN_VIEW_OF_MEASUREMENTS,
    .examples = examples,
    .options = options,
    .run = run,
};
