/* The postings of a trace: which keys describe a row.
 *
 * Method of every call; every attribute with its value, where the elements of a list are values
 * of their own and those of a map have the name "map.key"; class and message of every exception
 * and its causes. Values that are not strings are found by their text ("200", "true", "null").
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_POSTING_TRACE_H
#define CN_STORE_INDEX_POSTING_TRACE_H

#include "base/text.h"
#include "store/index/postings.h"

struct cn_trace;
struct cn_words;

/* Whose words the keys speak. A text that is no word yet is added to `extra`: the writer's own
 * dictionary (`extra` is `words`), or words that only this index knows, numbered behind those
 * of the store. */
struct cn_posting_words {
    const struct cn_words *words;
    struct cn_words *extra;
    struct cn_text text; /* for printing numbers; released by the owner */
};

/* Add the keys of the span that begins at `node` and of everything below it, then end the row.
 * Rows are added in ascending order. */
void cn_postings_add_trace(struct cn_postings *postings, uint32_t row,
                           const struct cn_trace *trace, uint32_t node,
                           struct cn_posting_words *words);

#endif
