/* The rows that satisfy one condition of a query, one function for each kind of field.
 * Threads: any thread, each with a query of its own.
 */
#ifndef CN_STORE_SEARCH_MATCH_TERMS_H
#define CN_STORE_SEARCH_MATCH_TERMS_H

#include "base/error.h"
#include "store/index/columns.h"
#include "store/index/postings.h"
#include "store/index/rows.h"

struct cn_query_term;
struct cn_store_index;

/* Add to `rows` the rows that match; is_negated is left to the caller. */
CN_CHECK bool cn_match_number(const struct cn_store_index *index,
                              const struct cn_query_term *term, struct cn_rows *rows,
                              struct cn_error *err);
CN_CHECK bool cn_match_column(const struct cn_store_index *index,
                              const struct cn_query_term *term, enum cn_store_field field,
                              struct cn_rows *rows, struct cn_error *err);
CN_CHECK bool cn_match_method(const struct cn_store_index *index,
                              const struct cn_query_term *term, struct cn_rows *rows,
                              struct cn_error *err);
CN_CHECK bool cn_match_exception(const struct cn_store_index *index,
                                 const struct cn_query_term *term,
                                 enum cn_posting_kind kind, struct cn_rows *rows,
                                 struct cn_error *err);
CN_CHECK bool cn_match_attribute(const struct cn_store_index *index,
                                 const struct cn_query_term *term,
                                 enum cn_posting_kind kind, struct cn_rows *rows,
                                 struct cn_error *err);
CN_CHECK bool cn_match_text(const struct cn_store_index *index,
                            const struct cn_query_term *term, struct cn_rows *rows,
                            struct cn_error *err);

#endif
