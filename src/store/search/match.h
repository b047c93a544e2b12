/* Which rows of a segment a query matches.
 *
 * Conditions on numbers run over columns. For those on texts, every word is compared at most
 * once; the rows of the words that match come from the postings.
 * Threads: any thread, each with a query of its own.
 */
#ifndef CN_STORE_SEARCH_MATCH_H
#define CN_STORE_SEARCH_MATCH_H

#include "base/error.h"
#include "store/index/rows.h"

struct cn_query;
struct cn_store_index;

/* Make `out` the set of matching rows; the caller releases it with cn_rows_done(). */
CN_CHECK bool cn_match(const struct cn_store_index *index, const struct cn_query *query,
                       struct cn_rows *out, struct cn_error *err);

#endif
