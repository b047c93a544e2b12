/* The best of many items, in order, without sorting all of them.
 *
 *     cn_best_init(&best, limit);
 *     cn_best_offer(&best, &item) ...
 *     cn_best_sort(&best, 0);
 *     ... best.list[0 .. best.count] ...
 *     cn_best_done(&best);
 *
 * Items are gathered until there are twice as many as wanted, then the worse half is dropped.
 * So the work is linear in the number of items, in whatever order they are offered.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_BEST_H
#define CN_BASE_BEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ordered by key, then by `second`, then by id; the largest first. */
struct cn_best_item {
    uint64_t key, second, id;
};

/* Order two ids in another way: positive if the first is larger. No two are equal. */
typedef int (*cn_best_compare)(const void *arg, uint64_t a, uint64_t b);

struct cn_best {
    cn_best_compare compare; /* NULL: ids are numbers */
    const void *arg;         /* of `compare` */
    struct cn_best_item *list;
    size_t count, capacity, limit;
    uint64_t offered; /* items, accepted or not */
    bool has_worst;
    struct cn_best_item worst; /* of `limit` items: items after it are refused */
};

void cn_best_init(struct cn_best *best, size_t limit);
void cn_best_done(struct cn_best *best);

static inline bool cn_best_is_before(const struct cn_best *best,
                                     const struct cn_best_item *a,
                                     const struct cn_best_item *b)
{
    if (a->key != b->key)
        return a->key > b->key;
    if (a->second != b->second)
        return a->second > b->second;
    return best->compare && a->id != b->id ? best->compare(best->arg, a->id, b->id) > 0
                                           : a->id > b->id;
}

/* False if an item is certainly not among the best. */
static inline bool cn_best_takes(const struct cn_best *best,
                                 const struct cn_best_item *item)
{
    return best->limit > 0 &&
           (!best->has_worst || cn_best_is_before(best, item, &best->worst));
}

void cn_best_offer(struct cn_best *best, const struct cn_best_item *item);

/* Keep `limit` items at most, so that `worst` is exact. */
void cn_best_trim(struct cn_best *best);

/* Sort the list, without its first `skipped` items. */
void cn_best_sort(struct cn_best *best, size_t skipped);

/* An item for a number with a value: the largest value first, NAN last, of equal values the
 * smallest number. */
struct cn_best_item cn_best_of_value(double value, uint32_t number);
uint32_t cn_best_number(const struct cn_best_item *item);

#endif
