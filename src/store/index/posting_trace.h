/* The postings of a trace: the keys of a row.
 *
 * These are the method of every call; every attribute with its value, where the elements of a
 * list are values of their own and those of a map are named "map.key"; class and message of every
 * exception and its causes. Values other than strings are indexed as text ("200", "true").
 *
 * Of spans also: attributes of the resource, as "KEY" and "resource.KEY"; of the scope "scope.name",
 * "scope.version" and "scope.KEY"; of events "event" (or "annotation"), their name, and "event.KEY";
 * of links "link.trace", "link.span" and "link.KEY", the same after "links."; "status.code" ("ok",
 * "error"), "status.message" and "trace_state".
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_POSTING_TRACE_H
#define CN_STORE_INDEX_POSTING_TRACE_H

#include "base/map.h"
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
    struct cn_text text; /* scratch */

    /* What was found once: names by prefix and key, and the keys of resources and scopes, as
     * positions in `keys`: there is a count, then keys without a kind. */
    uint64_t born_ns; /* of the words when that was */
    struct cn_map names, shared;
    cn_posting_key *keys;
    size_t key_count, key_capacity;
};
void cn_posting_words_done(struct cn_posting_words *words);

/* Add the keys of the span at `node` and of the calls below, without spans that have rows of their
 * own, then end the row. Rows are added in ascending order. */
void cn_postings_add_trace(struct cn_postings *postings, uint32_t row,
                           const struct cn_trace *trace, uint32_t node,
                           struct cn_posting_words *words);

#endif
