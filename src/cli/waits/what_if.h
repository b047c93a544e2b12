/* cairn waits --what-if: how long a run would take if parts of it were shorter.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_WAITS_WHAT_IF_H
#define CN_CLI_WAITS_WHAT_IF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct cn_args;
struct cn_database;
struct cn_frames;
struct cn_wait_graph;

/* The option. */
#define CN_WAITS_WHAT_IF "what-if"

/* Fails on changes that are no changes, and on options that are for tables. */
CN_CHECK bool cn_waits_check_what_if(const struct cn_args *args, struct cn_error *err);

/* Print the answer for a thread as --format says. */
CN_CHECK bool cn_waits_print_what_if(const struct cn_args *args, struct cn_database *db,
                                     const struct cn_wait_graph *graph,
                                     const struct cn_frames *frames, uint32_t profile,
                                     const char *thread, struct cn_error *err);

#endif
