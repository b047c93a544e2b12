/* cairn diff --facets: attributes that go with one of two queries of stores.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_DIFF_FACETS_H
#define CN_CLI_DATABASE_DIFF_FACETS_H

#include "cli/database/compare_sides.h"

/* Find and print them. */
CN_CHECK bool cn_diff_facets(const struct cn_sides *sides, const struct cn_args *args,
                             struct cn_error *err);

#endif
