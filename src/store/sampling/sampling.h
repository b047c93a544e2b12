/* Tail sampling: drops traces by rules once their segments are settled, whole and for good.
 *
 *     cn_sampler_open(&sampler, base, rules, err)
 *     cn_sampler_run(sampler, &care, settle_ns, &done, err) ...
 *     cn_sampler_close(sampler)
 *
 * A segment is settled when it is sealed and nothing was written to it for a while. Then each of its
 * traces is decided by all of its spans that are in the store by now, also in other segments and in
 * those that are written; decisions are written to disk (store/sampling/decisions.h), and segments
 * are replaced by one without what is dropped (store/maintenance/care.h). A segment is sampled once.
 * Pinned traces stay.
 *
 * Rules are borrowed. After a failure nothing is lost: what was not replaced is there.
 * Threads: one thread at a time for each store.
 */
#ifndef CN_STORE_SAMPLING_SAMPLING_H
#define CN_STORE_SAMPLING_SAMPLING_H

#include "base/text.h"
#include "store/sampling/rules.h"

struct cn_sampler;
struct cn_store_care;

CN_CHECK bool cn_sampler_open(struct cn_sampler **out, const char *base,
                              const struct cn_sample_rules *rules, struct cn_error *err);
void cn_sampler_close(struct cn_sampler *sampler); /* NULL is fine */

struct cn_sampling_counts {
    uint64_t segments; /* that were sampled */
    uint64_t kept_traces, dropped_traces, kept_spans, dropped_spans;
    /* Traces by rule; those that no rule matches are the last. */
    uint64_t kept[CN_SAMPLE_RULES_MAX + 1], dropped[CN_SAMPLE_RULES_MAX + 1];
};

/* Sample all segments that were not written to for this time. `counts` is added to, also on failure. */
CN_CHECK bool cn_sampler_run(struct cn_sampler *sampler, const struct cn_store_care *care,
                             uint64_t settle_ns, struct cn_sampling_counts *counts,
                             struct cn_error *err);

void cn_sampling_counts_add(struct cn_sampling_counts *sum,
                            const struct cn_sampling_counts *counts);

/* Append "sampled 2 segments: kept 12 traces with 30 spans, dropped 188 with 470". */
void cn_sampling_counts_print(struct cn_text *out,
                              const struct cn_sampling_counts *counts);

/* The same for a store that no process writes, whatever its age. */
CN_CHECK bool cn_store_sample(const char *path, const struct cn_sample_rules *rules,
                              struct cn_sampling_counts *out, struct cn_error *err);

#endif
