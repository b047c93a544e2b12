/* Statistics over threads of one context.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_CCT_CCT_SUMMARY_H
#define CN_ANALYZE_CCT_CCT_SUMMARY_H

#include "analyze/cct/cct_metrics.h"

/* From the values of a context by (metric, profile) its values in the summary
 * profile, by statistic. Returns how many; `out` has room for
 * CN_CCT_SUMMARY_MAX(plane.count). */
#define CN_CCT_SUMMARY_MAX(value_count) \
    ((value_count) * (size_t)CN_CCT_STATISTICS_MAX * CN_CCT_SCOPES)
size_t cn_cct_summarise(struct cn_value_batch plane, uint32_t context, bool has_all,
                        struct cn_value *out);

#endif
