/* cairn info for databases: what is in one.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_INFO_DATABASE_H
#define CN_CLI_DATABASE_INFO_DATABASE_H

#include "base/error.h"

struct cn_args;

CN_CHECK bool cn_info_database(const struct cn_args *args, const char *path,
                               struct cn_error *err);

#endif
