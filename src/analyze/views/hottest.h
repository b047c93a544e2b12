/* The contexts with the largest values, over the whole tree.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_HOTTEST_H
#define CN_ANALYZE_VIEWS_HOTTEST_H

#include "analyze/views/context_index.h"
#include "analyze/views/costs.h"
#include "analyze/views/view.h"
#include "base/name_filter.h"

struct cn_hottest {
    struct cn_context_index index;
    struct cn_cost_rows rows; /* by node of the index */
    uint32_t *nodes;          /* hottest first */
    size_t count;
};

struct cn_hottest_request {
    size_t column;    /* of the costs: what "hot" means */
    unsigned kinds;   /* 1 << CN_ROW_FUNCTION and so on: which contexts take part */
    size_t count;     /* how many */
    bool is_reversed; /* the smallest instead */
    const struct cn_name_filter *filter; /* only contexts with such labels */
};

/* After a failure it has what could be read; release it in any case. */
CN_CHECK bool cn_hottest_find(struct cn_hottest *out, struct cn_costs *costs,
                              const struct cn_hottest_request *request,
                              const struct cn_progress *progress, struct cn_error *err);
void cn_hottest_done(struct cn_hottest *hottest);

/* Append the calls that led to a node, outermost first: "main > solve > norm"; loops, lines
 * and the entry point are left out, long paths shortened in the middle. */
CN_CHECK bool cn_hottest_path(const struct cn_hottest *hottest, struct cn_database *db,
                              uint32_t node, struct cn_text *text, struct cn_error *err);

#endif
