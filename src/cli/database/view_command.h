/* What `cairn tree`, `flat` and `callers` have in common: open, make the view, print it.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_VIEW_COMMAND_H
#define CN_CLI_DATABASE_VIEW_COMMAND_H

#include "analyze/views/view.h"
#include "cli/database/view_options.h"
#include "cli/database/view_print.h"

#define CN_VIEW_LIMIT_OPTIONS                                                          \
    {                                                                                  \
        .name = "depth",                                                               \
        .letter = 'd',                                                                 \
        .value = "N",                                                                  \
        .help = "show at most N levels",                                               \
    },                                                                                 \
    {                                                                                  \
        .name = "min-percent", .letter = 'p', .value = "P",                            \
        .help = "leave out rows below P percent of the whole, and what is below them", \
    }

/* Makes the view; on failure, one of what could be read. */
typedef bool (*cn_view_maker)(struct cn_view **out, struct cn_costs *costs,
                              const struct cn_view_limits *limits,
                              const struct cn_progress *progress, struct cn_error *err);

/* A whole run; `depth_default` holds when --depth is not given. */
CN_CHECK bool cn_view_command_run(const struct cn_args *args, cn_view_maker make,
                                  size_t depth_default, struct cn_error *err);

#endif
