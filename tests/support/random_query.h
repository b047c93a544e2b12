/* A query made at random that can be printed and, without understanding what was printed,
 * evaluated.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_RANDOM_QUERY_H
#define CN_TEST_RANDOM_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct cn_random_query;
struct cn_store_row;
struct cn_trace_facts;

/* A tree of conditions, at most `depth` of them above each other, about a store of this
 * many random traces. The caller owns it. */
struct cn_random_query *cn_random_query_new(unsigned depth, size_t traces);
void cn_random_query_free(struct cn_random_query *query);

/* As a person would type it. */
void cn_random_query_print(const struct cn_random_query *query, struct cn_text *out);

/* Is it true of this trace? */
bool cn_random_query_holds(const struct cn_random_query *query,
                           const struct cn_trace_facts *facts);

/* True if it holds in a trace: each condition for any of its spans, or for the numbers of the
 * trace. */
bool cn_random_query_holds_in(const struct cn_random_query *query,
                              const struct cn_trace_facts *const *spans, size_t count,
                              const struct cn_store_row *trace);

#endif
