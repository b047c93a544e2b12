/* Tables of cairn report, laid out like those of uftrace report.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_REPORT_PRINT_H
#define CN_CLI_RECORDING_REPORT_PRINT_H

#include "cli/recording/report_fields.h"

struct cn_args;
struct cn_call_tasks;
struct cn_recording_setup;
struct cn_text;

/* One row for each function, as --format wants it. */
void cn_report_print(const struct cn_args *args, const struct cn_report_layout *layout,
                     const struct cn_recording *rec, const struct cn_call_report *report,
                     bool has_srcline);

/* --task: one row for each task. */
CN_CHECK bool cn_report_print_tasks(const struct cn_args *args,
                                    const struct cn_recording *rec,
                                    struct cn_call_tasks *tasks, struct cn_error *err);

/* --histogram: how the times of one function are distributed. */
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
