/* Latency metrics: the number of calls by duration, one metric for each bucket of durations.
 *
 * They are values of the context itself, and no part of a taxonomy: views show percentiles
 * instead. Their name tells the bucket.
 * Threads: any thread.
 */
#ifndef CN_MODEL_CONTEXTS_BUCKET_H
#define CN_MODEL_CONTEXTS_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct cn_metric;

/* Durations from low_ns up to and including high_ns. */
struct cn_bucket_range {
    uint64_t low_ns, high_ns;
};

/* "latency 96..101 ns". Parsing accepts any bounds, so databases with other buckets can be
 * read. */
enum { CN_BUCKET_NAME_MAX = 64 };
void cn_bucket_name_print(struct cn_bucket_range range, char name[CN_BUCKET_NAME_MAX]);
bool cn_bucket_name_parse(const char *name, struct cn_bucket_range *out);

/* True for a latency metric: its name is that of a bucket, and it has one scope and the sum
 * over threads. */
bool cn_metric_bucket(const struct cn_metric *metric, struct cn_bucket_range *out);

#endif
