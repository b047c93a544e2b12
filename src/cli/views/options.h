/* Options that the views of a database share: which values, threads, order and rows.
 *
 * A command puts CN_VIEW_OPTIONS into its option table and calls cn_view_setup_open().
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_VIEWS_OPTIONS_H
#define CN_CLI_VIEWS_OPTIONS_H

#include "analyze/lens/code.h"
#include "analyze/views/costs.h"
#include "base/name_filter.h"
#include "cli/recording/options.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"
#include "cli/views/lens.h"
#include "cli/views/time_range.h"

/* The same switch as the parameter of the HTTP API and the check box of the viewer. */
#define CN_VIEW_WAITS_OPTION                                                       \
    CN_OPTION("waits", 0, NULL,                                                    \
              "show all time, waiting (blocked, pre-empted) included, instead of " \
              "running time alone; of data with scheduler events")

/* Which metrics, and what of them. */
#define CN_VIEW_METRIC_OPTIONS                                                          \
    CN_OPTION_LIST(                                                                     \
        "metric", 'm', "NAME",                                                          \
        "show this metric; the beginning of its name is enough (default: the "          \
        "first one that has values; of time, running time)"),                           \
        CN_OPTION("scope", 0, "NAME",                                                   \
                  "show the values of one propagation scope of HPCToolkit (point, "     \
                  "function, lex_aware, execution) instead of total and self"),         \
        {                                                                               \
            .name = "cost",                                                             \
            .value = "total|self|both",                                                 \
            .also = "inclusive|exclusive",                                              \
            .help = "show total (with everything called), self (the function alone), "  \
                    "or both (the default)",                                            \
        },                                                                              \
        CN_OPTION_LIST("stat", 0, "sum|mean|min|max|stddev|count",                      \
                       "show this statistic over threads (default: sum); count is the " \
                       "number of threads with a value")

/* `key` is the short name of the option. */
#define CN_VIEW_THREAD_OPTION(key)                                           \
    CN_OPTION_LIST("thread", key, "SELECTION",                               \
                   "only these threads: 'RANK 0-3 THREAD 0', or numbers of " \
                   "profiles: '5-8'")
#define CN_VIEW_THREAD_OPTIONS(key) \
    CN_VIEW_THREAD_OPTION(key),     \
        CN_OPTION("per-thread", 0, NULL, "show one column per thread")

#define CN_VIEW_PROCESS_OPTION                                                          \
    CN_OPTION("per-process", 0, NULL,                                                   \
              "show one view per process, the most expensive first; of samples of all " \
              "programs (sample -a) and of programs that start others")

/* --group of views of call paths; `more` are values of one of them. */
#define CN_VIEW_GROUP_OPTION(more, text)                                             \
    CN_OPTION("group", 'g', "module|language|process|program" more,                  \
              "show consecutive functions of a module or of a language as one row, " \
              "or one view per process, or per program (processes of one name)" text)

#define CN_VIEW_PERCENTILES_OPTION                                            \
    CN_OPTION("percentiles", 0, NULL,                                         \
              "show percentiles of the durations of calls, in seconds: p50, " \
              "p90, p99")

#define CN_VIEW_DERIVE_OPTION                                                       \
    CN_OPTION_LIST("derive", 0, "NAME=FORMULA",                                     \
                   "add columns computed from metrics: 'IPC=instructions/cycles'; " \
                   "names that are not one word in single quotes, a unit as "       \
                   "'NAME [UNIT]=...'")

#define CN_VIEW_OPTIONS                                                                  \
    CN_VIEW_METRIC_OPTIONS, CN_VIEW_THREAD_OPTIONS('t'),                                 \
        CN_OPTION("sort", 's', "COLUMN",                                                 \
                  "sort rows by this column: total, self, name, or the name of a "       \
                  "column in --format csv"),                                             \
        CN_VIEW_PERCENTILES_OPTION, CN_VIEW_DERIVE_OPTION,                               \
        CN_OPTION("by", 0, "p50|p90|p99", "show percentiles and sort rows by this one"), \
        CN_OPTION("reverse", 'r', NULL, "smallest first"), CN_VIEW_WAITS_OPTION,         \
        CN_VIEW_RANGE_OPTION, CN_RECORDING_RAW_OPTION, CN_VIEW_LENS_OPTIONS,             \
        CN_OPTION_LIST("filter", 'F', "PATTERN",                                         \
                       "show only rows whose name matches, and the rows above them"),    \
        CN_OPTION("match", 0, "glob|regex",                                              \
                  "syntax of patterns (default: glob, of the whole name)"),              \
        CN_OPTION_WIDTH

/* For descriptions of commands. */
#define CN_VIEW_OF_MEASUREMENTS                                                    \
    "\n\nA recording, a store, a measurement directory of hpcrun or perf.data is " \
    "analysed first, as by cairn analyze. The result is cached until the data changes."

/* Open the contexts of a path, with --raw and a lens where the command has them, and print warnings. The option
 * `query_option` chooses traces of a store; NULL: all. */
CN_CHECK bool cn_view_open(struct cn_opened *opened, const struct cn_args *args,
                           const char *path, const char *query_option,
                           struct cn_error *err);

struct cn_view_setup {
    struct cn_opened opened;
    struct cn_database *db; /* of `opened`, or the range of it */
    struct cn_view_range range;
    struct cn_costs costs;
    size_t sort_column;
    bool has_order; /* --sort or --by was given */
    bool sorts_by_name, is_reversed;
    struct cn_name_filter filter;
    struct cn_codes own_codes;
    const struct cn_codes *codes; /* of the functions of the database */
};

/* Set up the columns that the options of these macros choose; `metric` overrides
 * --metric unless it is NULL. On failure, release them as well, with cn_costs_done(). */
CN_CHECK bool cn_view_costs_open(struct cn_costs *costs, struct cn_database *db,
                                 const struct cn_args *args, const char *metric,
                                 bool has_percentiles, struct cn_error *err);

/* Show other threads than --thread chooses from now on. On failure, release it as well. */
struct cn_view_setup;
CN_CHECK bool cn_view_setup_select(struct cn_view_setup *setup,
                                   const struct cn_args *args, struct cn_values threads,
                                   struct cn_error *err);

/* Open the database `path` and apply the options; warns about damage. On failure, release it
 * as well. */
CN_CHECK bool cn_view_setup_open(struct cn_view_setup *setup, const struct cn_args *args,
                                 const char *path, struct cn_error *err);
void cn_view_setup_done(struct cn_view_setup *setup);

/* FROM~TO as offsets from the start of data that lasts `span_ns`; 0: unknown, then there are no
 * percentages, and without an end *to_ns is UINT64_MAX. */
CN_CHECK bool cn_view_offsets_parse(const char *option, const char *text,
                                    uint64_t span_ns, uint64_t *from_ns, uint64_t *to_ns,
                                    struct cn_error *err);

/* A range of time, FROM~TO as offsets from the start of the timelines of a database: 1.5s~2s,
 * 10%~20%, ~300ms. `option` is for messages. */
CN_CHECK bool cn_view_time_parse(const struct cn_database *db, const char *option,
                                 const char *text, uint64_t *begin_ns, uint64_t *end_ns,
                                 struct cn_error *err);

/* That of --time-range; without the option, all times, whatever the timelines have. */
CN_CHECK bool cn_view_range_select(const struct cn_args *args,
                                   const struct cn_database *db, uint64_t *begin_ns,
                                   uint64_t *end_ns, struct cn_error *err);

#endif
