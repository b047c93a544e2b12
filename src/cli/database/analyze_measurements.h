/* `cairn analyze` for measurement directories: what hpcprof does.
 *
 * The command has CN_MEASUREMENT_OPTIONS in its table, beside those for recordings.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_ANALYZE_MEASUREMENTS_H
#define CN_CLI_DATABASE_ANALYZE_MEASUREMENTS_H

#include <stdbool.h>

#include "base/error.h"

struct cn_args;
struct cn_ranks;

/* Rows of an option table. */
#define CN_MEASUREMENT_OPTIONS                                                           \
    {.name = "structure",                                                                \
     .letter = 'S',                                                                      \
     .value = "FILE",                                                                    \
     .is_repeatable = true,                                                              \
     .help = "measurements: also use this .hpcstruct file, or a directory of them"},     \
        {.name = "replace-path",                                                         \
         .letter = 'R',                                                                  \
         .value = "FROM=TO",                                                             \
         .is_repeatable = true,                                                          \
         .help = "measurements: what was below FROM lies below TO here; '*' is any one " \
                 "folder"},                                                              \
        {.name = "only-exe",                                                             \
         .value = "NAME",                                                                \
         .is_repeatable = true,                                                          \
         .help = "measurements: only processes that ran a program of this name"},        \
        {.name = "name",                                                                 \
         .letter = 'n',                                                                  \
         .value = "TEXT",                                                                \
         .help = "measurements: the database's title, as --title"},                      \
        {.name = "metric",                                                               \
         .letter = 'M',                                                                  \
         .value = "sum|normal|extrema|stats|none",                                       \
         .is_repeatable = true,                                                          \
         .help = "measurements: over threads keep the sum (the default), also mean and " \
                 "deviation, also minimum and maximum, all, or show none"},              \
        {.name = "foreign",                                                              \
         .help = "measurements: made on another machine; use no files of this one"},     \
        {.name = "ignore-structs",                                                       \
         .help = "measurements: do not use the directory's structs/"},                   \
        {.name = "no-traces", .help = "measurements: no timelines, as --no-trace"},      \
    {                                                                                    \
        .name = "hpcprof-compatible",                                                    \
        .help =                                                                          \
            "measurements: write the values hpcprof writes, where they are wrong too"    \
    }

/* Whether the sources are measurement directories. Fails when only some are, and
 * when an option was given that does not go with them. */
CN_CHECK bool cn_analyze_finds_measurements(const struct cn_args *args, bool *found,
                                            struct cn_error *err);

/* The whole command. */
CN_CHECK bool cn_analyze_measurements(const struct cn_args *args, struct cn_ranks *ranks,
                                      struct cn_error *err);

#endif
