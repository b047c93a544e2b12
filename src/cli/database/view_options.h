/* What all views of a database share on the command line: which numbers, for which threads,
 * in which order, which rows.
 *
 * A command puts CN_VIEW_OPTIONS into its option table and calls cn_view_setup_open().
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_VIEW_OPTIONS_H
#define CN_CLI_DATABASE_VIEW_OPTIONS_H

#include "analyze/views/costs.h"
#include "base/name_filter.h"
#include "cli/database/open_database.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"

#define CN_VIEW_OPTIONS                                                                 \
    {                                                                                   \
        .name = "metric",                                                               \
        .letter = 'm',                                                                  \
        .value = "NAME",                                                                \
        .is_repeatable = true,                                                          \
        .help = "show this metric; the beginning of its name is enough (default: the "  \
                "first one that has values)",                                           \
    },                                                                                  \
        {                                                                               \
            .name = "scope",                                                            \
            .value = "NAME",                                                            \
            .help = "show the values of one propagation scope (point, function, "       \
                    "lex_aware, execution) instead of inclusive and exclusive ones",    \
        },                                                                              \
        {                                                                               \
            .name = "cost",                                                             \
            .value = "inclusive|exclusive|both",                                        \
            .help = "show inclusive values (with everything called), exclusive values " \
                    "(without), or both (the default)",                                 \
        },                                                                              \
        {                                                                               \
            .name = "stat",                                                             \
            .value = "sum|mean|min|max|stddev|count",                                   \
            .is_repeatable = true,                                                      \
            .help = "show this statistic over threads (default: sum); count is the "    \
                    "number of threads that have a value",                              \
        },                                                                              \
        {                                                                               \
            .name = "thread",                                                           \
            .letter = 't',                                                              \
            .value = "SELECTION",                                                       \
            .is_repeatable = true,                                                      \
            .help = "count only these threads: 'RANK 0-3 THREAD 0', or numbers of "     \
                    "profiles: '5-8'",                                                  \
        },                                                                              \
        {                                                                               \
            .name = "per-thread",                                                       \
            .help = "one column for each selected thread",                              \
        },                                                                              \
        {                                                                               \
            .name = "sort",                                                             \
            .letter = 's',                                                              \
            .value = "COLUMN",                                                          \
            .help = "order rows by this column: inclusive, exclusive, name, or a "      \
                    "column's name as --format csv shows it",                           \
        },                                                                              \
        {                                                                               \
            .name = "percentiles",                                                      \
            .help = "show how long calls took: p50, p90 and p99, in seconds",           \
        },                                                                              \
        {                                                                               \
            .name = "by",                                                               \
            .value = "p50|p90|p99",                                                     \
            .help = "show percentiles, and the rows with the largest first",            \
        },                                                                              \
        {.name = "reverse", .letter = 'r', .help = "smallest first"},                   \
        {                                                                               \
            .name = "filter",                                                           \
            .letter = 'F',                                                              \
            .value = "PATTERN",                                                         \
            .is_repeatable = true,                                                      \
            .help = "show only rows whose name matches, and what leads to them",        \
        },                                                                              \
    {                                                                                   \
        .name = "match", .value = "glob|regex",                                         \
        .help = "how patterns are meant (default: glob, over the whole name)",          \
    }

struct cn_view_setup {
    struct cn_opened_database opened;
    struct cn_database *db; /* of `opened` */
    struct cn_costs costs;
    size_t sort_column;
    bool has_order; /* --sort or --by was given */
    bool sorts_by_name, is_reversed;
    struct cn_name_filter filter;
};

/* Open the database of operand 0 and set up what the options ask for; tells the user what
 * opening found odd. Release it either way. */
CN_CHECK bool cn_view_setup_open(struct cn_view_setup *setup, const struct cn_args *args,
                                 struct cn_error *err);
void cn_view_setup_done(struct cn_view_setup *setup);

#endif
