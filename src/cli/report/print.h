/* Tables of cairn report, laid out as uftrace report does.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_REPORT_PRINT_H
#define CN_CLI_REPORT_PRINT_H

#include "cli/report/fields.h"

struct cn_args;
struct cn_call_tasks;
struct cn_recording_setup;

/* One row per function, as --format says. */
void cn_report_print(const struct cn_args *args, const struct cn_report_layout *layout,
                     const struct cn_recording *rec, const struct cn_call_report *report,
                     bool has_srcline);

/* --task: one row per task. */
CN_CHECK bool cn_report_print_tasks(const struct cn_recording_setup *setup,
                                    struct cn_call_tasks *tasks, struct cn_error *err);

/* --histogram: the distribution of the total times of one function. */
CN_CHECK bool cn_report_print_histogram(const struct cn_args *args,
                                        const struct cn_call_report *report,
                                        const char *function, struct cn_error *err);

/* --diff: what changed from one report to another. */
CN_CHECK bool cn_report_print_diff(const struct cn_recording_setup *setup,
                                   const struct cn_report_layout *layout,
                                   const struct cn_call_report *base,
                                   const struct cn_recording *other_rec,
                                   const struct cn_call_report *other,
                                   struct cn_error *err);

#endif
