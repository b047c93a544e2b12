/* The kinds of `cairn analyze`, and what they share. Each reads its options, and calls a function
 * of open/analysis.h.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_ANALYZE_ANALYZE_H
#define CN_CLI_ANALYZE_ANALYZE_H

#include "base/text.h"
#include "cli/shell/open.h"

struct cn_analyze {
    const struct cn_args *args;
    struct cn_ranks *ranks;    /* the processes that analyse together */
    struct cn_values paths;    /* as they were given, or the data that was not named */
    const char *unnamed;       /* that data */
    struct cn_opened *sources; /* found, nothing is loaded */
    size_t source_count;
    struct cn_error unknown; /* why a source was not found; CN_ERR_NONE: all were */
    const char *title;       /* NULL: not given */
    struct cn_analysis_target to;
    struct cn_text folder; /* that contains the target */
    struct cn_text default_target;
    uint64_t begin_ns;
};

/* Set the target and check it. NULL: the name of the first source with .db instead of .data. */
CN_CHECK bool cn_analyze_set_target(struct cn_analyze *a, const char *target,
                                    struct cn_error *err);

/* Set the target, and write it. */
CN_CHECK bool cn_analyze_recordings(struct cn_analyze *a, struct cn_analysis *out,
                                    struct cn_error *err);
CN_CHECK bool cn_analyze_directories(struct cn_analyze *a, struct cn_analysis *out,
                                     struct cn_error *err);

/* True if a step succeeded in all processes; if not, all have the same error. */
CN_CHECK bool cn_analyze_agree(const struct cn_analyze *a, bool ok, struct cn_error *err);

#endif
