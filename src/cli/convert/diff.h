/* cairn convert --diff: a comparison in the format of another tool.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_CONVERT_DIFF_H
#define CN_CLI_CONVERT_DIFF_H

#include "base/error.h"
#include "cli/shell/args.h"

struct cn_format;

/* Compare the first two operands and write the third. */
CN_CHECK bool cn_convert_diff(const struct cn_args *args, const struct cn_format *format,
                              struct cn_error *err);

#endif
