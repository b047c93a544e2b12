/* Databases that a test writes as HPCToolkit v4.0 and reads again.
 *
 * Each fails the test with the message of what went wrong.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_V4_WRITING_H
#define CN_TEST_V4_WRITING_H

#include "open/formats.h"

struct cn_database;

/* Release it with cn_database_close(). */
struct cn_database *cn_v4_must_open(const char *path);

void cn_v4_must_write(struct cn_database *db, const char *path,
                      struct cn_write_options options);

/* What was written equals `from`, and its two files of values agree. */
void cn_v4_must_hold_the_same(struct cn_database *from, struct cn_database *written);

#endif
