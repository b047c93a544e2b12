/* Matches the rows of a segment against a query.
 *
 * Conditions on numbers scan columns. Conditions on texts compare every word at most once; the
 * postings give the rows of the matching words.
 * Threads: any thread, each with a query of its own.
 */
#ifndef CN_STORE_SEARCH_MATCH_H
#define CN_STORE_SEARCH_MATCH_H

#include "base/error.h"
#include "store/index/rows.h"

struct cn_query;
struct cn_store_index;

/* `out` receives the matching rows; the caller releases it with cn_rows_done(). If `is_rough`, rows
 * around one that matches may match as well, as postings of an earlier version have it. */
CN_CHECK bool cn_match(const struct cn_store_index *index, const struct cn_query *query,
                       bool is_rough, struct cn_rows *out, struct cn_error *err);

#endif
