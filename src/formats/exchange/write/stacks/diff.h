/* Comparisons for other tools.
 *
 * Folded stacks have two values a line, "main;solve 1200 1500", those of A and B: the input of
 * flamegraph.pl for a differential flame graph. A pprof profile has the samples of B, and those of A
 * with negative values and the label pprof::base, as pprof -diff_base compares them.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_STACKS_DIFF_H
#define CN_FORMATS_EXCHANGE_WRITE_STACKS_DIFF_H

#include <stdbool.h>

#include "base/error.h"

struct cn_comparison;
struct cn_format;

/* True if comparisons can be written in a format. */
bool cn_diff_stacks_has(const struct cn_format *format);

/* Write a finished comparison. On failure the target is as it was before. */
CN_CHECK bool cn_diff_stacks_write(const struct cn_comparison *c,
                                   const struct cn_format *format, const char *path,
                                   bool replace, struct cn_error *err);

#endif
