/* Samples of a timeline, stored while calls are counted: where few are kept, and for tasks that
 * switch each other on and off and cannot be followed again on their own.
 *
 *     cn_cct_samples_init(&samples, &spool, lane);
 *     cn_cct_samples_add(&samples, sample, err) ...
 *     cn_cct_samples_end(&samples, err)
 *     cn_cct_samples_read(&samples, first, count, out, err)
 *     cn_cct_samples_done(&samples);
 *
 * Zero-initialised means that none are stored. The spool is borrowed; several tasks may
 * share it, and a lane of it.
 * Threads: one thread at a time for each; any thread may read what has ended.
 */
#ifndef CN_ANALYZE_CCT_SAMPLES_H
#define CN_ANALYZE_CCT_SAMPLES_H

#include "base/files/spool.h"
#include "model/contexts/database.h"

struct cn_cct_samples {
    struct cn_spool *spool;
    unsigned lane;
    struct cn_sample *chunk; /* not written yet */
    uint64_t *offs;          /* of written chunks */
    size_t off_count, off_capacity;
    uint64_t count;
};

void cn_cct_samples_init(struct cn_cct_samples *samples, struct cn_spool *spool,
                         unsigned lane);
void cn_cct_samples_done(struct cn_cct_samples *samples);

CN_CHECK bool cn_cct_samples_add(struct cn_cct_samples *samples, struct cn_sample sample,
                                 struct cn_error *err);
CN_CHECK bool cn_cct_samples_end(struct cn_cct_samples *samples, struct cn_error *err);

/* `count` samples from number `first` on, which must exist. */
CN_CHECK bool cn_cct_samples_read(const struct cn_cct_samples *samples, uint64_t first,
                                  size_t count, struct cn_sample *out,
                                  struct cn_error *err);

#endif
