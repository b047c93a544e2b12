/* Small databases in memory, written as indented call paths: for tests of comparisons.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_MADE_PROFILE_H
#define CN_TEST_MADE_PROFILE_H

#include "model/contexts/database.h"

/* A function at a depth below the one before it: 0 is called by nothing. */
struct cn_made_call {
    unsigned depth;
    const char *name;
    double self, calls; /* calls 0: the number is unknown */
};

enum { CN_MADE_DEPTH_MAX = 16 };

/* The list ends with a NULL name. `metric` is the first metric, "calls" the second if a call
 * has some. Every function contains a loop, which has half of its self cost. */
struct cn_database *cn_made_profile(const struct cn_made_call *calls, const char *metric);

#endif
