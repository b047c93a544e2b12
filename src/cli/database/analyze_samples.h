/* `cairn analyze` for files of samples that other tools have written: perf.data, pprof,
 * folded stacks and the like.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_ANALYZE_SAMPLES_H
#define CN_CLI_DATABASE_ANALYZE_SAMPLES_H

#include <stdbool.h>

#include "base/error.h"

struct cn_args;
struct cn_ranks;

/* Whether the sources are such files. Fails when only some are, when there are several,
 * and when an option was given that does not go with them. */
CN_CHECK bool cn_analyze_finds_samples(const struct cn_args *args, bool *found,
                                       struct cn_error *err);

/* The whole command. */
CN_CHECK bool cn_analyze_samples(const struct cn_args *args, struct cn_ranks *ranks,
                                 struct cn_error *err);

#endif
