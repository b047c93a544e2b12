/* The postings of a trace: the keys of a row.
 *
 * These are the method of every call; every attribute with its value, where the elements of a
 * list are values of their own and those of a map are named "map.key"; class and message of every
 * exception and its causes. Values other than strings are indexed as text ("200", "true").
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_POSTING_TRACE_H
#define CN_STORE_INDEX_POSTING_TRACE_H

#include "base/text.h"
#include "store/index/postings.h"

struct cn_trace;
struct cn_words;

/* The dictionary of the keys. A text that is not in it yet is added to `extra`: to the same
 * dictionary when writing, or to that of an index, whose words are numbered after those of
 * `words`. */
struct cn_posting_words {
    const struct cn_words *words;
    struct cn_words *extra;
    struct cn_text text; /* scratch; released by the owner */
};

/* Add the keys of the span at `node` and of the calls below, without spans that have rows of their
 * own, then end the row. Rows are added in ascending order. */
void cn_postings_add_trace(struct cn_postings *postings, uint32_t row,
                           const struct cn_trace *trace, uint32_t node,
                           struct cn_posting_words *words);

#endif
