/* A view for each process: --per-process, --group process; or for all
 * processes of a program: --group program.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_VIEWS_PROCESSES_H
#define CN_CLI_VIEWS_PROCESSES_H

#include "cli/views/options.h"

typedef bool (*cn_process_show)(struct cn_view_setup *setup, void *arg,
                                struct cn_error *err);

/* Show the view; with one of these once for each process or program, the most expensive first, each after a line
 * with its name, its cost and its share of all. Percentages of rows are of the process. */
CN_CHECK bool cn_view_each_process(struct cn_view_setup *setup,
                                   const struct cn_args *args, cn_process_show show,
                                   void *arg, struct cn_error *err);

#endif
