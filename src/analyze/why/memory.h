/* What slow calls allocate that typical ones do not, and in which function most of it.
 *
 * Looks at the sampled calls of each group; reads the calls, and the records of memory, once more.
 * Threads: one thread at a time; starts `workers` threads of its own.
 */
#ifndef CN_ANALYZE_WHY_MEMORY_H
#define CN_ANALYZE_WHY_MEMORY_H

#include "analyze/why/why.h"

struct cn_why_memory {
    bool is_more; /* slow calls allocate more; else the rest is 0 */
    /* In a call. */
    double bytes[CN_WHY_GROUPS], allocations[CN_WHY_GROUPS];
    const char *
        function; /* of the recording, that has most of the difference; NULL: none is known */
    double share; /* of the difference */
};

/* Without records of memory, nothing is found. False if interrupted. */
CN_CHECK bool cn_why_memory_find(struct cn_why_memory *out, const struct cn_why *why,
                                 const struct cn_call_query *query, unsigned workers,
                                 struct cn_error *err);

#endif
