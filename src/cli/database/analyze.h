/* The three kinds of `cairn analyze`: recordings, measurements and files of samples, and
 * the options and steps that they share.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_ANALYZE_H
#define CN_CLI_DATABASE_ANALYZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/shell/progress.h"

struct cn_args;
struct cn_database;
struct cn_ranks;

struct cn_analysis {
    const struct cn_args *args;
    struct cn_ranks *ranks; /* the processes that analyse together */
    const char *title;      /* NULL: not given */
    const char *target;
    struct cn_text folder; /* that contains the target */
    struct cn_text default_target;
    unsigned workers;
    bool is_forced, is_strict, without_timelines, without_sources;
    bool is_silent;     /* does not print what was written */
    bool is_damaged;    /* set if the source is damaged */
    bool is_incomplete; /* set if it is damaged or has lost records */
    uint64_t timeline_resolution_ns, timeline_sample_max; /* as for writers */
    struct cn_bar bar;
    uint64_t begin_ns;
};

/* Set the target and check it. NULL: the name of the first source with .db instead of
 * .data. */
CN_CHECK bool cn_analysis_set_target(struct cn_analysis *a, const char *target,
                                     struct cn_error *err);

/* True if a step succeeded in all processes; if not, all have the same error. */
CN_CHECK bool cn_analysis_agree(const struct cn_analysis *a, bool ok,
                                struct cn_error *err);

/* Write the target, with progress on a->bar, which the caller begins and ends. `memory_len`
 * is for sorting; 0: the default. */
CN_CHECK bool cn_analysis_write(struct cn_analysis *a, struct cn_database *db,
                                size_t memory_len, struct cn_error *err);

/* Print what was written; with -v also "`items` in 1.2 s" and `rate`. */
void cn_analysis_tell(const struct cn_analysis *a, uint64_t context_count,
                      uint64_t thread_count, const char *items, const char *rate);

/* The analysis of a recording or store for a view. */
struct cn_view_analysis {
    bool is_raw;       /* recorded times, not corrected ones */
    const char *query; /* of a store: only traces that match; NULL: all */
    /* Set. A recording that has lost records is incomplete, but not damaged. */
    bool is_complete, is_damaged;
};

/* Analyse a recording or store for a view whose arguments are given: warnings and progress are
 * printed, unless it is quiet. */
CN_CHECK bool cn_analyze_for_view(const struct cn_args *view, const char *path,
                                  const char *target, struct cn_view_analysis *how,
                                  struct cn_error *err);

CN_CHECK bool cn_analyze_recordings(struct cn_analysis *a, struct cn_error *err);
CN_CHECK bool cn_analyze_measurements(struct cn_analysis *a, struct cn_error *err);
CN_CHECK bool cn_analyze_samples(struct cn_analysis *a, struct cn_error *err);

#endif
