#include "model/contexts/bucket.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/contexts/metric.h"

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

bool cn_metric_bucket(const struct cn_metric *metric, struct cn_bucket_range *out)
{
    return metric->instance_count == 1 && metric->statistic_count == 1 &&
           metric->statistics[0].scope == metric->instances[0].scope &&
           metric->statistics[0].combine == CN_COMBINE_SUM &&
           strcmp(metric->statistics[0].formula, "$$") == 0 &&
           cn_bucket_name_parse(metric->name, out);
}
