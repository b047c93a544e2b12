/* Check the statistics of the summary against the values of the threads.
 *
 * One struct per worker; it borrows the database.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_VERIFY_SUMMARY_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_VERIFY_SUMMARY_H

#include "model/contexts/database.h"

struct cn_verify_summary;

struct cn_verify_summary *cn_verify_summary_new(struct cn_database *db);
void cn_verify_summary_free(struct cn_verify_summary *s); /* NULL is fine */

/* Compare the summary's values of a context with the statistics of its plane, sorted by
 * (metric, profile). If *differs, the text describes the first difference. */
CN_CHECK bool cn_verify_summary_context(struct cn_verify_summary *s, uint32_t context,
                                        struct cn_value_batch plane, bool *differs,
                                        char *text, size_t text_len,
                                        struct cn_error *err);

#endif
