/* What the statistics of a summary should be, from the values of the threads.
 *
 * One per worker; borrows the database.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_VERIFY_SUMMARY_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_VERIFY_SUMMARY_H

#include "model/contexts/database.h"

struct cn_verify_summary;

struct cn_verify_summary *cn_verify_summary_new(struct cn_database *db);
void cn_verify_summary_free(struct cn_verify_summary *s); /* NULL is fine */

/* Compare the summary's values of a context with what its plane of threads, sorted
 * by (metric, profile), gives. *differs comes with a text that says where first. */
CN_CHECK bool cn_verify_summary_context(struct cn_verify_summary *s, uint32_t context,
                                        struct cn_value_batch plane, bool *differs,
                                        char *text, size_t text_len,
                                        struct cn_error *err);

#endif
