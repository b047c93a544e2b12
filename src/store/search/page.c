#include "store/search/page.h"

#include "base/alloc.h"
#include "base/sort.h"

static int compare_hits(const void *arg, uint64_t a, uint64_t b)
{
    const struct cn_search_page *page = arg;
    uint64_t place_a = a ^ page->flip, place_b = b ^ page->flip, x[3] = {0}, y[3] = {0};
    int order = 0;

    if (page->read_id(page->arg, (uint32_t)(place_a >> 32), (uint32_t)place_a, x) &&
        page->read_id(page->arg, (uint32_t)(place_b >> 32), (uint32_t)place_b, y))
        for (size_t i = 0; i < 3 && order == 0; i++)
            order = cn_compare_u64(x[i], y[i]);
    if (order == 0)
        return cn_compare_u64(a, b);
    return page->flip ? -order : order;
}

void cn_search_page_begin(struct cn_search_page *page)
{
    const struct cn_search_order *order = page->order;

    cn_best_done(&page->best);
    cn_best_init(&page->best, order->limit < SIZE_MAX - order->offset
                                  ? (size_t)(order->limit + order->offset)
                                  : SIZE_MAX);
    page->best.compare = compare_hits;
    page->best.arg = page;
    page->flip = order->is_reversed ? UINT64_MAX : 0;
}

bool cn_search_page_may_improve(struct cn_search_page *page, uint64_t time_ns)
{
    cn_best_trim(&page->best);
    return page->best.limit > 0 &&
           (!page->best.has_worst || (time_ns ^ page->flip) >= page->best.worst.key);
}

struct cn_search_hit *cn_search_page_take(struct cn_search_page *page, size_t *count)
{
    cn_best_sort(&page->best, (size_t)page->order->offset);
    *count = page->best.count;
    struct cn_search_hit *hits = cn_alloc(*count, sizeof(*hits));
    for (size_t i = 0; i < *count; i++) {
        const struct cn_best_item *item = &page->best.list[i];
        uint64_t place = item->id ^ page->flip;

        hits[i] = (struct cn_search_hit){
            .segment = (uint32_t)(place >> 32),
            .row = (uint32_t)place,
            .key = item->key ^ page->flip,
            .time_ns = item->second ^ page->flip,
        };
    }
    cn_best_done(&page->best);
    return hits;
}
