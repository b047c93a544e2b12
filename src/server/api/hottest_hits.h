/* The hottest of many things that match: as many as are asked for, found in one pass.
 *
 *   cn_hits_begin(&hits, limit); for all that match: cn_hits_add(&hits, number, value);
 *   cn_hits_sort(&hits); ... hits.list[0 .. hits.count] ...; cn_hits_done(&hits);
 *
 * Largest value first, those without a value last; of equals, smaller numbers first.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_HOTTEST_HITS_H
#define CN_SERVER_API_HOTTEST_HITS_H

#include <stddef.h>
#include <stdint.h>

struct cn_hit {
    uint32_t number;
    double value; /* NAN: none */
};

struct cn_hits {
    struct cn_hit *list; /* until sorted, a heap with the coldest first */
    size_t count, limit;
    uint64_t match_count; /* of all that were added */
};

void cn_hits_begin(struct cn_hits *hits, size_t limit); /* at least 1 */
void cn_hits_done(struct cn_hits *hits);

/* Numbers must be added in rising order. */
void cn_hits_add(struct cn_hits *hits, uint32_t number, double value);
void cn_hits_sort(struct cn_hits *hits);

#endif
