/* Databases that are made of calls, measurements or samples: what `cairn analyze` writes, and what
 * is shown in place of such data.
 *
 * The result of an analysis belongs to the caller, also after a failure: it has the warnings.
 * Threads: one thread at a time, each with a target of its own; starts threads.
 */
#ifndef CN_OPEN_ANALYSIS_H
#define CN_OPEN_ANALYSIS_H

#include "analyze/cct/calls_to_database.h"
#include "analyze/samples/database.h"
#include "base/arena.h"
#include "base/error.h"
#include "formats/hpctoolkit/meas/code/options.h"
#include "model/format.h"
#include "model/warning.h"

struct cn_sources;

/* What is known of an analysis besides its database. All zero: nothing was analysed. */
struct cn_analysis {
    uint64_t context_count, thread_count;
    uint64_t record_count, value_count, sample_count; /* that were read; 0 if unknown */
    uint64_t lost_count;                              /* records that the recorder lost */
    uint64_t profile_count, unreadable_count;         /* of measurements */
    const char *notes; /* lines, see cn_call_clock_explain(); NULL: none */
    struct cn_warning *warnings;
    bool is_damaged; /* a warning is about damage */
    struct cn_arena arena;
};
void cn_analysis_done(struct cn_analysis *analysis);

struct cn_analysis_target {
    const char *path;       /* of the database */
    struct cn_ranks *ranks; /* processes that write it together; NULL: this one alone */
    const char
        *folder; /* for what it does not contain (open/about.h); NULL: that is lost */
    struct cn_write_options write; /* with is_strict, damage is a failure */
};

/* The calls of one recording or more. `options` needs neither locations nor progress. */
struct cn_call_sources {
    const struct cn_call_query *queries;
    size_t count;
    struct cn_calls_options options;
    struct cn_sources *moved; /* source files; NULL: all are where they were */
};
CN_CHECK bool cn_analyze_calls(struct cn_analysis *out,
                               const struct cn_call_sources *from,
                               const struct cn_analysis_target *to, struct cn_error *err);

/* Measurement directories, with debug information of the binaries on this machine. */
struct cn_measured_sources {
    const char *const *paths;
    size_t count;
    struct cn_hpc_meas_options reading;
    struct cn_sampled_options building;
};
CN_CHECK bool cn_analyze_measurements(struct cn_analysis *out,
                                      const struct cn_measured_sources *from,
                                      const struct cn_analysis_target *to,
                                      struct cn_error *err);

CN_CHECK bool cn_analyze_samples(struct cn_analysis *out, struct cn_database *samples,
                                 const struct cn_analysis_target *to,
                                 struct cn_error *err);

/* For analyses: report progress before anything is written, add warnings, and write the database. */
void cn_analysis_begin(struct cn_analysis *out, const struct cn_analysis_target *to);
void cn_analysis_add(struct cn_analysis *analysis, const struct cn_warning *list,
                     const char *prefix);
CN_CHECK bool cn_analysis_write(struct cn_analysis *analysis, struct cn_database *db,
                                const struct cn_analysis_target *to,
                                struct cn_error *err);

#endif
