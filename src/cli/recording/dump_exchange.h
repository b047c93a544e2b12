/* cairn dump --format chrome and the like: a recording as uftrace dump writes it for
 * other tools.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_DUMP_EXCHANGE_H
#define CN_CLI_RECORDING_DUMP_EXCHANGE_H

#include "base/error.h"

struct cn_args;
struct cn_format;

/* The format that --format names; NULL when it is one of dump's own. */
const struct cn_format *cn_dump_exchange_format(const struct cn_args *args);

CN_CHECK bool cn_dump_exchange(const struct cn_args *args, const char *path,
                               const struct cn_format *format, struct cn_error *err);

/* Options that only these formats know: fails when one is given without them. */
CN_CHECK bool cn_dump_exchange_check(const struct cn_args *args, struct cn_error *err);

#endif
