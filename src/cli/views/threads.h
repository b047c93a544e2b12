/* --thread: the threads that a command is about.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_VIEWS_THREADS_H
#define CN_CLI_VIEWS_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cn_args;
struct cn_database;

/* By profile whether --thread selects it; without the option, all are selected. The caller frees the list,
 * also after a failure. */
CN_CHECK bool cn_view_threads_select(const struct cn_args *args, struct cn_database *db,
                                     bool **out, struct cn_error *err);

#endif
