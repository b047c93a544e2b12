/* Opens a database for a test that takes it: one that needs no analysis.
 * Threads: any thread.
 */
#ifndef CN_TEST_OPEN_DATABASE_H
#define CN_TEST_OPEN_DATABASE_H

#include "base/error.h"

struct cn_database;

CN_CHECK bool cn_open_database(const char *path, struct cn_database **out,
                               struct cn_error *err);

#endif
