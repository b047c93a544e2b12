/* Prints groups of the traces or spans that match the query of `cairn store search`.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_STORE_SEARCH_GROUPS_H
#define CN_CLI_STORE_SEARCH_GROUPS_H

#include "base/error.h"
#include "store/search/search.h"

struct cn_args;
struct cn_store_query;

/* By the values of the attribute that --group-by or --values names: `limit` of them, after `offset`. */
CN_CHECK bool cn_store_print_groups(struct cn_store_query *query,
                                    const struct cn_args *args, enum cn_search_unit unit,
                                    uint64_t limit, uint64_t offset,
                                    struct cn_error *err);

/* By time, in `count` steps or a few more. */
CN_CHECK bool cn_store_print_steps(struct cn_store_query *query,
                                   const struct cn_args *args, enum cn_search_unit unit,
                                   uint64_t count, struct cn_error *err);

#endif
