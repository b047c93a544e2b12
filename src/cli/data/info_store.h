/* cairn info for trace stores: how much is in them, since when, and what it takes.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATA_INFO_STORE_H
#define CN_CLI_DATA_INFO_STORE_H

#include "base/error.h"

struct cn_args;

CN_CHECK bool cn_info_store(const struct cn_args *args, const char *path,
                            struct cn_error *err);

#endif
