/* What GPUs did while slow calls waited for them, and typical ones did not; and which operation began
 * late, behind which other one.
 *
 * Looks at the sampled calls of each group, and at the operations that they launched.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_WHY_GPU_H
#define CN_ANALYZE_WHY_GPU_H

#include "analyze/why/why.h"

struct cn_why_gpu {
    /* The operation that a device ran longer while slow calls waited for it; NULL: none. */
    const char *ran;
    uint32_t device;              /* its number */
    double ran_ns[CN_WHY_GROUPS]; /* in a call, during its waits */
    /* The operation of these calls that began later after its launch; NULL: none. */
    const char *late;
    double late_ns[CN_WHY_GROUPS]; /* from the launch to the begin, on average */
    const char
        *before; /* what the device ran meanwhile for the longest time; NULL: nothing */
};

/* `whole_ns` is the difference of the groups: what explains less than a tenth of it is left out. Without
 * GPU work, nothing is found. */
void cn_why_gpu_find(struct cn_why_gpu *out, const struct cn_why *why,
                     const struct cn_recording *rec, double whole_ns);

#endif
