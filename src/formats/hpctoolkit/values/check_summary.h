/* Check the statistics of the summary against the values of the threads.
 *
 * One struct per worker; it borrows the database.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_CHECK_SUMMARY_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_CHECK_SUMMARY_H

#include "model/contexts/database.h"

struct cn_hpc_summary_check;

struct cn_hpc_summary_check *cn_hpc_summary_check_new(struct cn_database *db);
void cn_hpc_summary_check_free(struct cn_hpc_summary_check *s); /* NULL is fine */

/* Compare the summary's values of a context with the statistics of its plane, sorted by
 * (metric, profile). If *differs, the text describes the first difference. */
enum { CN_HPC_SUMMARY_TEXT_LEN = 160 };
CN_CHECK bool cn_hpc_summary_check_context(struct cn_hpc_summary_check *s,
                                           uint32_t context, struct cn_value_batch plane,
                                           bool *differs,
                                           char text[CN_HPC_SUMMARY_TEXT_LEN],
                                           struct cn_error *err);

#endif
