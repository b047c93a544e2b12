/* Sampling for cairn sample, record and live: from options to a file and a line about it.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_SAMPLE_RUN_H
#define CN_CLI_RECORDING_SAMPLE_RUN_H

#include "base/error.h"
#include "cli/shell/args.h"
#include "sampler/sampler.h"

#define CN_SAMPLE_FILE "cairn.perf.data"

/* Sample as `options` describe, whose messages are printed for `args`. Fills in path and
 * rank, prints the result. */
CN_CHECK bool cn_sample_and_tell(const struct cn_args *args,
                                 struct cn_sample_options *options, int *wait_status,
                                 struct cn_error *err);

/* End with the status or signal of the program, so that our parent sees the same. */
void cn_end_like(int wait_status);

#endif
