/* Sampling for cairn sample, record and live: from options to a file and a line about it.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORD_SAMPLE_H
#define CN_CLI_RECORD_SAMPLE_H

#include "base/error.h"
#include "cli/shell/args.h"
#include "sampler/sampler.h"

/* Sample as `options` describe, whose messages are printed for `args`, and print the
 * result; what to do with the file only if it is kept. */
CN_CHECK bool cn_sample_and_tell(const struct cn_args *args,
                                 struct cn_sample_options *options, bool is_kept,
                                 int *wait_status, struct cn_error *err);

/* Set the program, which the caller releases with free(), and the duration. */
CN_CHECK bool cn_sample_choose(const struct cn_args *args,
                               struct cn_sample_options *options, struct cn_error *err);

/* Sample the program of cairn record or live; the caller chooses the path, and what it sees
 * of the samples. */
CN_CHECK bool cn_sample_program(const struct cn_args *args,
                                struct cn_sample_options *options, bool is_kept,
                                int *wait_status, struct cn_error *err);

/* True if cairn record samples the program instead of recording its calls: with --sample, or
 * if it has no calls to record and no option asks for any, which is then said. */
bool cn_record_samples(const struct cn_args *args);

/* Sample with the options of cairn record. */
CN_CHECK bool cn_record_sample(const struct cn_args *args, int *wait_status,
                               struct cn_error *err);

/* cairn live --sample. */
CN_CHECK bool cn_live_sample(const struct cn_args *args, struct cn_error *err);

/* Show what cairn top shows of `path`: the first `count` contexts. In
 * cli/views/cmd_top.c. */
CN_CHECK bool cn_top_show(const struct cn_args *args, const char *path, uint64_t count,
                          struct cn_error *err);

/* End with the status or signal of the program, so that our parent sees the same. */
void cn_end_like(int wait_status);

#endif
