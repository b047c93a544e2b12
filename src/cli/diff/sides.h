/* The two sides of a comparison, from operands and options: "A B" or "A1 A2 -- B1 B2".
 *
 * A command puts CN_COMPARE_OPTIONS into its option table.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DIFF_SIDES_H
#define CN_CLI_DIFF_SIDES_H

#include "analyze/compare/comparison.h"
#include "cli/shell/args.h"
#include "cli/views/options.h"

#define CN_COMPARE_OPTIONS                                                              \
    CN_OPTION("metric", 'm', "NAME",                                                    \
              "compare this metric; the beginning of its name is enough (default: the " \
              "first one of A that has values; of time, running time)"),                \
        CN_VIEW_WAITS_OPTION, CN_RECORDING_RAW_OPTION, CN_VIEW_LENS_OPTIONS,            \
        CN_OPTION("critical-path", 0, NULL,                                             \
                  "compare what the ends of the runs waited for, as cairn waits says "  \
                  "it, in place of costs: 'worker in compress', 'for the disk'"),       \
        CN_OPTION_LIST(                                                                 \
            "threads-a", 0, "SELECTION",                                                \
            "of side A, only these threads: 'RANK 0-3 THREAD 0', or numbers of "        \
            "profiles: '5-8'"),                                                         \
        CN_OPTION_LIST("threads-b", 0, "SELECTION", "of side B, only these threads"),   \
        CN_OPTION("time-a", 0, "FROM~TO",                                               \
                  "of side A, only this time, as offsets from the start: 1.5s~2s, "     \
                  "10%~20%, ~300ms"),                                                   \
        CN_OPTION("time-b", 0, "FROM~TO", "of side B, only this time"),                 \
        CN_OPTION_FOR(CN_FOR_STORES, "query-a", 0, "QUERY",                             \
                      "of side A, only traces that match, as of cairn store search"),   \
        CN_OPTION_FOR(CN_FOR_STORES, "query-b", 0, "QUERY",                             \
                      "of side B, only traces that match")

struct cn_sides {
    const char *const *paths[CN_SIDES];
    size_t count[CN_SIDES];
    bool has_threads_as_runs; /* one run on each side: its threads are the runs */
    const char *damaged;      /* set: the first run that could not be read to its end */
};

/* The paths of the operands. One operand is both sides, if a side is a selection of it. */
CN_CHECK bool cn_sides_parse(struct cn_sides *out, const struct cn_args *args,
                             struct cn_error *err);

/* Called with the database of each run, after it was added. */
typedef bool (*cn_sides_visit)(void *arg, struct cn_database *db,
                               const struct cn_progress *progress, struct cn_error *err);

/* Open the runs of both sides, one after the other, and add them. `visit` may be NULL. */
CN_CHECK bool cn_sides_add(struct cn_comparison *c, struct cn_sides *sides,
                           const struct cn_args *args, cn_sides_visit visit, void *arg,
                           struct cn_error *err);

/* Fails if the runs are damaged: what could be read was compared. */
CN_CHECK bool cn_sides_check(const struct cn_sides *sides, struct cn_error *err);

#endif
