/* A small database that has one of everything: two processes of two threads, both kinds of
 * entry points, loops, lines, inlined calls, recursion, an unknown and an anonymous function, a
 * name with bytes that need care, contexts without a record, two metrics in four scopes with five
 * statistics, timelines with pauses and an empty one.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_SAMPLE_H
#define CN_TEST_SAMPLE_H

#include "base/error.h"

struct cn_database;

/* In memory; release it with cn_database_close(). */
struct cn_database *cn_sample_database(void);

/* The same as an HPCToolkit v4.0 database in the directory `path`, which must not exist. */
CN_CHECK bool cn_sample_write(const char *path, struct cn_error *err);

#endif
