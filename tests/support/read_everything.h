/* Every question a database answers, asked: for tests with damaged and with real
 * data.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_READ_EVERYTHING_H
#define CN_TEST_READ_EVERYTHING_H

#include <stdint.h>

#include "base/error.h"

struct cn_database;

/* How much was found. Damage ends the part it is in; the others go on. */
struct cn_read_totals {
    uint64_t contexts, entries, max_id;
    uint64_t values, context_values, samples, empty_timelines;
    uint64_t failures;
};

/* `err` holds the first failure, if there are any. At most about `limit` values
 * and as many samples are read. */
void cn_read_everything(struct cn_database *db, uint64_t limit,
                        struct cn_read_totals *out, struct cn_error *err);

#endif
