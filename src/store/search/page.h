/* The page of a search: the best rows or traces so far, in the order that was asked for.
 *
 * Hits with equal keys are ordered by time, then by id, wherever they are stored.
 * Internal to store/search. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_PAGE_H
#define CN_STORE_SEARCH_PAGE_H

#include "base/best.h"
#include "store/search/search.h"

/* Up to three numbers that order hits; false if they cannot be read. */
typedef bool (*cn_search_page_id)(void *arg, uint32_t segment, uint32_t row,
                                  uint64_t id[3]);

struct cn_search_page {
    const struct cn_search_order *order;
    cn_search_page_id read_id;
    void *arg;     /* of read_id */
    uint64_t flip; /* all bits if reversed: the largest complements come first */
    struct cn_best best;
};

/* Begin a page that has `order`, `read_id` and `arg`, or empty it. The page must not move. */
void cn_search_page_begin(struct cn_search_page *page);

static inline void cn_search_page_offer(struct cn_search_page *page, uint64_t key,
                                        uint64_t time_ns, uint32_t segment, uint32_t row)
{
    cn_best_offer(&page->best, &(struct cn_best_item){
                                   .key = key ^ page->flip,
                                   .second = time_ns ^ page->flip,
                                   .id = ((uint64_t)segment << 32 | row) ^ page->flip,
                               });
}

/* By time: true if a hit at `time_ns` may still be on the page. */
bool cn_search_page_may_improve(struct cn_search_page *page, uint64_t time_ns);

/* Sort the page and list its hits, to be released with free(). Ends it. */
struct cn_search_hit *cn_search_page_take(struct cn_search_page *page, size_t *count);

#endif
