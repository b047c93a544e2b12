#include "analyze/buckets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

struct cn_bucket_range cn_bucket_range(unsigned bucket)
{
    unsigned doubling, step;

    if (bucket == 0)
        return (struct cn_bucket_range){0, 0};
    doubling = (bucket - 1) / CN_BUCKET_STEPS;
    step = (bucket - 1) % CN_BUCKET_STEPS;
    return (struct cn_bucket_range){begin_of(doubling, step),
                                    begin_of(doubling, step + 1) - 1};
}

double cn_bucket_middle(struct cn_bucket_range range)
{
    double low = (double)range.low_ns, high = (double)range.high_ns;

    return low + high > 0 ? 2 * low * high / (low + high) : 0;
}

void cn_bucket_name_print(struct cn_bucket_range range, char name[CN_BUCKET_NAME_MAX])
{
    (void)snprintf(name, CN_BUCKET_NAME_MAX, "latency %" PRIu64 "..%" PRIu64 " ns",
                   range.low_ns, range.high_ns);
}

bool cn_bucket_name_parse(const char *name, struct cn_bucket_range *out)
{
    static const char prefix[] = "latency ";
    char again[CN_BUCKET_NAME_MAX];
    struct cn_bucket_range range;
    char *end;

    if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
        return false;
    range.low_ns = strtoull(name + sizeof(prefix) - 1, &end, 10);
    if (strncmp(end, "..", 2) != 0)
        return false;
    range.high_ns = strtoull(end + 2, NULL, 10);
    cn_bucket_name_print(range, again);
    if (strcmp(name, again) != 0 || range.high_ns < range.low_ns)
        return false;
    *out = range;
    return true;
}
