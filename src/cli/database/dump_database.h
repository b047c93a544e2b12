/* cairn dump for databases: every structure of their files, from the tables that
 * describe them.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_DUMP_DATABASE_H
#define CN_CLI_DATABASE_DUMP_DATABASE_H

#include "base/error.h"

struct cn_args;

CN_CHECK bool cn_dump_database(const struct cn_args *args, const char *path,
                               struct cn_error *err);

#endif
