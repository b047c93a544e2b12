/* Does a database hold what another program made of the same measurements? Ids, the
 * order of profiles and that of tables may differ, and values in the last digits.
 *
 * Contexts are compared by path; profiles are matched by identity; values of one
 * path, metric and scope as a set, because instructions that are left out make
 * contexts that look the same.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_COMPARE_MEASURED_H
#define CN_TEST_COMPARE_MEASURED_H

#include <stdbool.h>

#include "base/error.h"

struct cn_database;

/* Values may differ by 1e-12 of themselves. The message says what differs first. */
CN_CHECK bool cn_compare_measured(struct cn_database *got, struct cn_database *expected,
                                  struct cn_error *err);

#endif
