#include "analyze/durations/histogram.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { UNIT_BITS = 7 }; /* a doubling has 128 units */

/* Where the steps of a doubling begin, in units; the last one is where the next
 * doubling does. The largest ratio of two neighbours is 1.057. */
static const uint64_t begins[CN_BUCKET_STEPS + 1] = {
    128, 135, 142, 150, 158, 167, 176, 186, 196, 207, 218, 230, 243, 256,
};

#define TIMES_7(n)  n, n, n, n, n, n, n
#define TIMES_8(n)  TIMES_7(n), n
#define TIMES_9(n)  TIMES_8(n), n
#define TIMES_10(n) TIMES_9(n), n
#define TIMES_11(n) TIMES_10(n), n
#define TIMES_12(n) TIMES_11(n), n
#define TIMES_13(n) TIMES_12(n), n

const uint8_t cn_bucket_steps[128] = {
    TIMES_7(0),   TIMES_7(1),   TIMES_8(2),   TIMES_8(3),  TIMES_9(4),
    TIMES_9(5),   TIMES_10(6),  TIMES_10(7),  TIMES_11(8), TIMES_11(9),
    TIMES_12(10), TIMES_13(11), TIMES_13(12),
};

/* The first whole number of a step. */
static uint64_t begin_of(unsigned doubling, unsigned step)
{
    if (doubling >= UNIT_BITS)
        return begins[step] << (doubling - UNIT_BITS);
    return (begins[step] + (UINT64_C(1) << (UNIT_BITS - doubling)) - 1) >>
           (UNIT_BITS - doubling);
}

struct cn_bucket_range cn_bucket_range(unsigned number)
{
    if (number == 0)
        return (struct cn_bucket_range){0, 0};
    unsigned doubling = (number - 1) / CN_BUCKET_STEPS;
    unsigned step = (number - 1) % CN_BUCKET_STEPS;
    return (struct cn_bucket_range){
        begin_of(doubling, step),
        number == CN_BUCKET_COUNT - 1 ? UINT64_MAX : begin_of(doubling, step + 1) - 1};
}

void cn_histogram_add(struct cn_histogram *histogram, uint64_t ns)
{
    struct cn_histogram_bucket bucket = cn_bucket_of(ns);
    uint64_t **doubling = &histogram->doublings[bucket.doubling];

    if (!*doubling)
        *doubling = cn_alloc(CN_BUCKET_STEPS, sizeof(**doubling));
    (*doubling)[bucket.step]++;
}

void cn_histogram_merge(struct cn_histogram *into, const struct cn_histogram *from)
{
    for (unsigned d = 0; d < CN_BUCKET_DOUBLINGS; d++) {
        if (!from->doublings[d])
            continue;
        if (!into->doublings[d])
            into->doublings[d] = cn_alloc(CN_BUCKET_STEPS, sizeof(*into->doublings[d]));
        for (unsigned i = 0; i < CN_BUCKET_STEPS; i++)
            into->doublings[d][i] += from->doublings[d][i];
    }
}

void cn_histogram_done(struct cn_histogram *histogram)
{
    for (unsigned d = 0; d < CN_BUCKET_DOUBLINGS; d++)
        free(histogram->doublings[d]);
    *histogram = (struct cn_histogram){0};
}

size_t cn_histogram_list(const struct cn_histogram *histogram,
                         struct cn_bucket_calls out[CN_BUCKET_COUNT])
{
    size_t count = 0;

    for (unsigned i = 0; i < CN_BUCKET_DOUBLINGS * CN_BUCKET_STEPS; i++) {
        struct cn_histogram_bucket at = {(uint8_t)(i / CN_BUCKET_STEPS),
                                         (uint8_t)(i % CN_BUCKET_STEPS)};
        const uint64_t *doubling = histogram->doublings[at.doubling];

        if (doubling && doubling[at.step] > 0)
            out[count++] =
                (struct cn_bucket_calls){.range = cn_bucket_range(cn_bucket_number(at)),
                                         .calls = (double)doubling[at.step]};
    }
    return count;
}
